//! Messages of people.

use super::context::{ContextQuery, assemble};
use super::id::{EmptyOrId, Id, PresentId};
use super::wire::Turn;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Body};
use crate::idempotency::{self, AsOf, InScope};
use crate::problem::Problem;
use axum::extract::State;
use axum::{Extension, Json};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::task::intent::MessageIntent;
use segue_engine::route::{Address, Peer};
use segue_engine::{Inbound, Target};
use serde::Deserialize;
use std::sync::Arc;
use utoipa::ToSchema;

/// How many attachments a message may name.
const ATTACHMENTS_MAX: usize = 100;

/// A message of a person.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewMessage {
    /// The scope; or else `address`.
    #[serde(default)]
    #[schema(example = "agent:main:telegram:direct:user123")]
    scope: Option<String>,
    /// Where it comes from; or else `scope`.
    #[serde(default, deserialize_with = "body::optional_object")]
    address: Option<NewAddress>,
    /// What is said, or a slash command.
    #[serde(default)]
    text: Option<String>,
    /// The channel's id of it: a second delivery with the same one changes nothing.
    #[serde(default)]
    message_id: Option<Id>,
    /// When it was sent; now if nothing is said.
    #[serde(default)]
    #[schema(example = "2026-03-01T10:00:00Z", format = DateTime)]
    at: Option<String>,
    /// Who said it, where several people share a scope.
    #[serde(default)]
    sender: Option<Id>,
    /// What came with it: names or addresses of files, or what is known about each.
    #[serde(default)]
    #[schema(max_items = 100)]
    attachments: Option<Vec<Attachment>>,
    /// What it is to the task, if the host knows: response, modification, confirmation, new_task, abandon or unclear.
    #[serde(default)]
    intent: Option<String>,
    /// To get the context for the model with the answer.
    #[serde(default, deserialize_with = "body::optional_object")]
    context: Option<ContextQuery>,
}

/// Where a message comes from, as the channel tells it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAddress {
    /// The channel, such as telegram.
    #[serde(default)]
    pub(crate) channel: Option<Id>,
    /// The agent's account there.
    #[serde(default)]
    pub(crate) account: Option<Id>,
    /// The person. In a group it is who speaks; without a person and a group it is the agent's main scope.
    #[serde(default)]
    #[schema(value_type = Option<EmptyOrId>)]
    pub(crate) peer: Option<Id>,
    /// The group or channel.
    #[serde(default)]
    #[schema(value_type = Option<PresentId>)]
    pub(crate) group: Option<Id>,
    /// The thread.
    #[serde(default)]
    pub(crate) thread: Option<Id>,
    /// The agent that is spoken to.
    #[serde(default)]
    pub(crate) agent: Option<Id>,
}

impl NewAddress {
    /// Tells whether anything is named in it.
    pub(crate) fn says_something(&self) -> bool {
        let Self { channel, account, peer, group, thread, agent } = self;
        [channel, account, peer, group, thread, agent].into_iter().any(Option::is_some)
    }

    /// Reads the address, and who speaks, where that is not the address.
    pub(crate) fn read(self) -> (Address, Option<String>) {
        let text = |id: Option<Id>| id.map(Id::text);
        let (peer, sender) = match (text(self.group), text(self.peer)) {
            (Some(group), peer) => (Peer::Group(group), peer),
            (None, peer) => (Peer::Direct(peer.unwrap_or_default()), None),
        };
        let address = Address {
            agent: text(self.agent).unwrap_or_default(),
            channel: text(self.channel).unwrap_or_default(),
            account: text(self.account).unwrap_or_default(),
            peer,
            thread: text(self.thread),
        };
        (address, sender)
    }
}

/// Something that came with a message: a name, or an object with one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Attachment {
    /// Its name or address.
    Name(String),
    /// What is known about it.
    Described(#[serde(deserialize_with = "body::object")] AttachmentFields),
}

/// What is known about an attachment. All of it becomes part of the message's text.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AttachmentFields {
    /// Its name.
    #[serde(default)]
    name: Option<String>,
    /// The same.
    #[serde(default)]
    filename: Option<String>,
    /// Its media type.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// The same.
    #[serde(default)]
    mime_type: Option<String>,
    /// Where it is.
    #[serde(default)]
    url: Option<String>,
    /// What it shows or holds.
    #[serde(default)]
    caption: Option<String>,
    /// The same.
    #[serde(default)]
    alt: Option<String>,
}

impl Attachment {
    /// Writes it as a line of the message.
    fn line(&self) -> String {
        let described = match self {
            Self::Name(name) => name.trim().to_owned(),
            Self::Described(fields) => {
                let AttachmentFields { name, filename, kind, mime_type, url, caption, alt } = fields;
                let words = [name, filename, kind, mime_type, url, caption, alt].into_iter().flatten();
                let words = words.map(|word| word.trim()).filter(|word| !word.is_empty());
                words.collect::<Vec<_>>().join(" ")
            }
        };
        match described.is_empty() {
            true => "[attachment]".to_owned(),
            false => format!("[attachment: {described}]"),
        }
    }
}

/// Send a message
///
/// It is decided on and durable when the answer comes. Show `say` to the person, if there is one, and call the model
/// exactly if `wants_reply`.
#[utoipa::path(post, path = "/api/v1/messages", tag = "messages", request_body = NewMessage,
    responses((status = 200, description = "The turn", body = Turn)))]
pub(crate) async fn send(
    State(app): State<Arc<App>>,
    caller: Caller,
    key: Option<Extension<idempotency::Key>>,
    Body(mut new): Body<NewMessage>,
) -> Result<InScope<Result<Json<Turn>, Problem>>, Problem> {
    let (to, speaker) = target(&app, &caller, new.scope.as_deref(), new.address.take())?;
    caller.may(Right::Write)?;
    let mut as_of = AsOf::now(&app, &app.scope_of(&to), key.as_ref()).await?;
    let answer = receive(&app, &caller, key, new, (to, speaker), &mut as_of).await;
    Ok(as_of.answer(answer))
}

async fn receive(
    app: &App,
    caller: &Caller,
    key: Option<Extension<idempotency::Key>>,
    new: NewMessage,
    (to, speaker): (Target, Option<String>),
    as_of: &mut AsOf,
) -> Result<Json<Turn>, Problem> {
    let given = new.at.as_deref().map(time_stamp).transpose()?;
    let at = given.unwrap_or_else(|| app.engine.now());
    new.context.as_ref().map(ContextQuery::check).transpose()?;
    let intent = new.intent.as_deref().map(intent).transpose()?;
    let attachments = new.attachments.unwrap_or_default();
    if attachments.len() > ATTACHMENTS_MAX {
        return Err(Problem::wrong(format!("a message has at most {ATTACHMENTS_MAX} attachments")));
    }
    let mut text = new.text.unwrap_or_default();
    for attachment in &attachments {
        if !text.is_empty() {
            text.push('\n');
        }
        text += &attachment.line();
    }
    let message_id = new.message_id.map(Id::text).or_else(|| key.map(|Extension(key)| key.message_id()));
    let (message_id, sender) = (message_id.map(MessageId), new.sender.map(Id::text).or(speaker));
    let message = Message { text, message_id, sender, ..Message::default() };
    let is_new_scope = app.admit_scope(caller, &to).await?;
    app.clocks.note(&app.scope_of(&to), given, app.engine.now());
    let inbound = Inbound { at, to, role: Role::User, message, session: None };
    let outcome = app.receive(inbound, intent).await?;
    as_of.behind(app, &outcome).await;
    app.begun_scope(caller, is_new_scope).await;
    let wish = new.context.filter(|_| outcome.wants_reply());
    let context = match wish {
        Some(wish) => Some(assemble(app, &outcome.scope, &wish).await),
        None => None,
    };
    // The message is durable: a context that cannot be had does not take the turn back.
    let (context, why) = match context.transpose() {
        Ok(context) => (context, None),
        Err(problem) => (None, Some(format!("There is no context: {}", problem.detail()))),
    };
    let mut turn = Turn::of(&outcome, context);
    turn.reasons.extend(why);
    Ok(Json(turn))
}

/// Finds out where a message falls and who speaks, and that the caller may know of it.
pub(crate) fn target(
    app: &App,
    caller: &Caller,
    scope: Option<&str>,
    address: Option<NewAddress>,
) -> Result<(Target, Option<String>), Problem> {
    let (target, speaker) = match (scope, address) {
        (Some(scope), None) => (Target::Scope(body::scope(caller, scope)?), None),
        (None, Some(address)) => {
            let (address, speaker) = address.read();
            (Target::Address(address), speaker)
        }
        (Some(_), Some(_)) => return Err(Problem::wrong("send \"scope\" or \"address\", not both")),
        (None, None) => return Err(Problem::wrong("a message needs a \"scope\" or an \"address\"")),
    };
    caller.check(&app.scope_of(&target))?;
    Ok((target, speaker))
}

/// Reads a time stamp.
pub(crate) fn time_stamp(at: &str) -> Result<Timestamp, Problem> {
    at.parse().map_err(|_| {
        Problem::wrong(format!("{at:?} is no time stamp")).hint("write one such as 2026-03-01T10:00:00Z")
    })
}

fn intent(name: &str) -> Result<MessageIntent, Problem> {
    MessageIntent::named(name).ok_or_else(|| {
        Problem::wrong(format!("there is no intent {name:?}"))
            .hint("it is response, modification, confirmation, new_task, abandon or unclear")
    })
}
