//! The messages of a session, page by page, and their erasure.

use super::wire::{self, Message, Page};
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Asked, At};
use crate::problem::Problem;
use axum::Json;
use axum::extract::State;
use segue_core::entry::{Body, Seq};
use segue_core::notice::Notice;
use segue_core::scope;
use segue_core::span::{Span, Spans};
use segue_engine::Request;
use segue_engine::history::StoredMessage;
use segue_store::{Filter, Reading, Take};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use utoipa::{IntoParams, ToSchema};

/// In which order messages come.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// The oldest first.
    #[default]
    Asc,
    /// The newest first.
    Desc,
}

/// Which messages are asked for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(deny_unknown_fields)]
pub struct MessagesQuery {
    /// Where the page begins: `next` of the page before.
    #[serde(default)]
    cursor: Option<String>,
    /// How many at most.
    #[serde(default)]
    #[param(minimum = 1, maximum = 1_000_000)]
    limit: Option<usize>,
    /// The oldest first (asc), or the newest (desc).
    #[serde(default)]
    #[param(inline)]
    order: Option<Order>,
}

/// List the messages of a session
#[utoipa::path(get, path = "/api/v1/scopes/{scope}/sessions/{n}/messages", tag = "messages",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("n" = u32, Path, description = "The session's number"), MessagesQuery),
    responses((status = 200, description = "A page of messages", body = Page<Message>)))]
pub(crate) async fn list(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, n)): At<(String, u32)>,
    Asked(query): Asked<MessagesQuery>,
) -> Result<Json<Page<Message>>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    let limit = wire::limit(query.limit)?;
    let from: Option<u64> = match query.cursor.as_deref() {
        None => None,
        Some(cursor) => Some(wire::cursor(cursor)?),
    };
    let (state, number) = app.session(&scope, n).await?;
    let order = query.order.unwrap_or_default();
    let (stored, more) = app.page(&scope, &state.view(number), from.map(Seq), order, limit).await?;
    let next = stored.last().map(|last| last.seq.to_string()).filter(|_| more);
    let items = stored.into_iter().map(|stored| Message::of(&stored.as_data())).collect();
    Ok(Json(Page { items, next }))
}

impl App {
    /// Reads a page of a view's messages behind an entry, and tells whether there are more.
    pub(crate) async fn page(
        &self,
        scope: &scope::Key,
        view: &Spans,
        from: Option<Seq>,
        order: Order,
        limit: usize,
    ) -> Result<(Vec<StoredMessage>, bool), Problem> {
        let (first, last) = match (order, from) {
            (_, None) => (Seq::ZERO, Seq(u64::MAX)),
            (Order::Asc, Some(seq)) => (seq.next(), Seq(u64::MAX)),
            (Order::Desc, Some(seq)) => (Seq::ZERO, seq.previous()),
        };
        let take = match order {
            Order::Asc => Take::Oldest(limit + 1),
            Order::Desc => Take::Newest(limit + 1),
        };
        let reading = Reading { view: between(view, first, last), filter: Filter::Messages, take };
        let records = self.engine.store().read(scope, &reading).await?;
        let mut stored: Vec<StoredMessage> = records
            .iter()
            .filter_map(|record| {
                let message = match record.body() {
                    Ok(Body::Message(_, message)) => Some(message),
                    _ => None,
                };
                Some(StoredMessage {
                    seq: record.seq,
                    role: record.kind.role()?,
                    text: message.as_ref().map(|message| message.text.clone()).unwrap_or_default(),
                    at: message.as_ref().and_then(|message| message.given_at).unwrap_or(record.at),
                    message,
                })
            })
            .collect();
        if order == Order::Desc {
            stored.reverse();
        }
        let more = stored.len() > limit;
        stored.truncate(limit);
        Ok((stored, more))
    }
}

/// Cuts a view down to a range of entries. How many messages lie where does not matter for reading.
fn between(view: &Spans, first: Seq, last: Seq) -> Spans {
    let cut = |span: &Span| Span { first: span.first.max(first), last: span.last.min(last), ..*span };
    let parts = view.iter().map(cut).filter(|span| span.first <= span.last);
    parts.fold(Spans::default(), |all, span| all.with(span))
}

/// What was erased.
#[derive(Debug, Serialize, ToSchema)]
pub struct Erased {
    /// The scope.
    scope: String,
    /// The message.
    seq: u64,
    /// Always true.
    erased: bool,
    /// Whether no byte of it is left in the store's files. If something is in the way, that is finished later, but for
    /// what is `set_aside`.
    finished: bool,
    /// Files that were set aside because they are damaged, and may hold it. They go by `segue erase --set-aside` only, with
    /// everything else that is in them.
    set_aside: Vec<String>,
}

/// Erase a message
///
/// What it says is gone for good, with the decision about it and the summaries made of it; that it was there stays
/// provable.
#[utoipa::path(delete, path = "/api/v1/scopes/{scope}/messages/{seq}", tag = "messages",
    params(("scope" = String, Path, description = "The scope, percent-encoded"),
        ("seq" = u64, Path, description = "The message's place in the log")),
    responses((status = 200, description = "It is gone", body = Erased)))]
pub(crate) async fn erase(
    State(app): State<Arc<App>>,
    caller: Caller,
    At((scope, seq)): At<(String, u64)>,
) -> Result<Json<Erased>, Problem> {
    let scope = body::scope_there(&caller, &scope)?;
    caller.may(Right::Admin)?;
    app.state(&scope).await?;
    let there = app.engine.store().get(&scope, Seq(seq)).await?;
    if there.is_none_or(|record| record.kind.role().is_none()) {
        return Err(Problem::not_found(format!("there is no message {seq} in {scope}")));
    }
    let ErasedNow { finished, set_aside } = app.erase_message(&scope, Seq(seq)).await?;
    Ok(Json(Erased { scope: scope.as_str().to_owned(), seq, erased: true, finished, set_aside }))
}

/// How far an erasure is.
pub(crate) struct ErasedNow {
    /// Whether no byte of it is left in the store's files.
    pub(crate) finished: bool,
    /// Damaged files that may hold it.
    pub(crate) set_aside: Vec<String>,
}

impl App {
    /// Erases a message.
    pub(crate) async fn erase_message(&self, scope: &scope::Key, seq: Seq) -> Result<ErasedNow, Problem> {
        let outcome = self.request(scope, &Request::Erase(vec![seq])).await?;
        let left = self.engine.to_erase_entries(scope, vec![seq]).await?;
        let set_aside: Vec<String> =
            left.perhaps.iter().map(|copy| copy.place.display().to_string()).collect();
        let is_seen = set_aside.is_empty() && left.unseen.is_empty();
        let finished = is_seen && outcome.also != Some(Notice::Unfinished);
        Ok(ErasedNow { finished, set_aside })
    }
}
