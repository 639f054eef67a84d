//! Storing a reply, and where the response is.

use super::background::Maker;
use super::record::Record;
use crate::app::App;
use crate::openai::items::ItemMarks;
use crate::openai::relay::Sink;
use crate::openai::reply::Reply;
use crate::openai::turn::{Sent, Turn};
use crate::openai::upstream::Upstream;
use crate::problem::Problem;
use crate::traces::ModelCall;
use axum::response::Response;
use serde_json::Value;
use std::sync::Arc;

/// Who stores the reply.
pub(crate) enum Keeper {
    /// Nobody: the request belongs to no scope.
    Nobody(ModelCall),
    /// The turn.
    Turn(Box<PendingReply>),
}

/// What is needed to store a reply.
pub(crate) struct PendingReply {
    pub(crate) app: Arc<App>,
    pub(crate) upstream: Arc<Upstream>,
    pub(crate) turn: Turn,
    pub(crate) keeps: KeepsResponse,
    pub(crate) maker: Option<Arc<Maker>>,
}

/// Whether the response can be asked for later.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeepsResponse {
    /// It can.
    Yes,
    /// The client said that it need not.
    No,
}

impl KeepsResponse {
    pub(crate) fn of(fields: &Value) -> Self {
        match fields.get("store").and_then(Value::as_bool) {
            Some(false) => Self::No,
            _ => Self::Yes,
        }
    }
}

impl Keeper {
    /// Stores the reply, and where the response is.
    pub(crate) async fn keep(&self, reply: &Reply, response: &Value) -> Result<(), Problem> {
        let kept = match self {
            Self::Nobody(call) => {
                call.whole(reply);
                return Ok(());
            }
            Self::Turn(kept) => kept,
        };
        if let Some(maker) = &kept.maker {
            maker.store()?;
        }
        let seq = kept.app.keep_reply(&kept.upstream, &kept.turn, reply).await?;
        kept.mark_items(seq, response).await?;
        match kept.keeps {
            KeepsResponse::Yes => {
                let (id, mut record) = kept.turn.record(seq, response);
                record.words.notice = kept.turn.prefix(kept.app.serve().notices);
                kept.app.keep_response(&id, record, kept.turn.since).await
            }
            KeepsResponse::No => Ok(()),
        }
    }

    /// Tells why a reply of so many bytes cannot be kept, if it cannot.
    pub(crate) fn too_long(&self, bytes: usize) -> Option<String> {
        match self {
            Self::Nobody(_) => None,
            Self::Turn(kept) => kept.app.too_long(bytes),
        }
    }

    /// Writes down that a response in the background has failed.
    pub(crate) async fn failed(&self, response: &Value) {
        let kept = match self {
            Self::Nobody(call) => return call.failed("broken"),
            Self::Turn(kept) => kept,
        };
        kept.turn.call.failed("broken");
        if let Some(maker) = &kept.maker
            && maker.store().is_ok()
        {
            let (id, record) = kept.turn.record(None, response);
            if let Err(problem) = kept.app.keep_response(&id, record, kept.turn.since).await {
                tracing::warn!(why = problem.detail(), "the end of a response was not written down");
            }
        }
    }

    /// Makes the sink of a streamed answer.
    pub(crate) fn sink(&self) -> (Sink, Response) {
        match self {
            Self::Nobody(_) => Sink::new(None),
            Self::Turn(kept) => Sink::new(kept.maker.clone()),
        }
    }
}

impl PendingReply {
    /// Writes down the ids of the items that are in a conversation: the client may ask for one.
    async fn mark_items(&self, seq: Option<u64>, response: &Value) -> Result<(), Problem> {
        let in_conversation = response.get("conversation").is_some_and(|value| !value.is_null());
        let Some(seq) = seq.filter(|_| in_conversation) else { return Ok(()) };
        let output = response.get("output").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let id = |item: &Value| item.get("id").and_then(Value::as_str).map(str::to_owned);
        let marks = ItemMarks { ids: output.iter().filter_map(id).collect(), kind: None };
        self.app.mark_items(&self.turn.scope, seq, &marks).await
    }
}

impl Turn {
    /// Tells where a response of the turn is, with its id.
    pub(crate) fn record(&self, seq: Option<u64>, response: &Value) -> (String, Record) {
        let mut record = Record::new(&self.scope, self.session, seq, response);
        record.sent = self
            .sent
            .iter()
            .map(|sent| match sent {
                Sent::Entry(seq) => Some(seq.0),
                Sent::Apart(_) => None,
            })
            .collect();
        let apart = self.sent.iter().enumerate().filter_map(|(at, sent)| match sent {
            Sent::Entry(_) => None,
            Sent::Apart(items) => Some((at, items.clone())),
        });
        record.words.sent = apart.collect();
        (response.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(), record)
    }
}
