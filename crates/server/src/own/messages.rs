//! Messages of people.

use super::context::{ContextQuery, assemble};
use super::wire::Turn;
use crate::app::App;
use crate::auth::{Caller, Right};
use crate::body::{self, Body};
use crate::idempotency;
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
    #[schema(example = "agent:main:telegram:direct:user123", pattern = "^[^\\s\\x00-\\x1f\\x7f-\\x9f#]+$")]
    scope: Option<String>,
    /// Where it comes from; or else `scope`.
    #[serde(default)]
    address: Option<NewAddress>,
    /// What is said, or a slash command.
    text: String,
    /// The channel's id of it: a second delivery with the same one changes nothing.
    #[serde(default)]
    message_id: Option<String>,
    /// When it was sent; now if nothing is said.
    #[serde(default)]
    #[schema(example = "2026-03-01T10:00:00Z", format = DateTime)]
    at: Option<String>,
    /// Who said it, where several people share a scope.
    #[serde(default)]
    sender: Option<String>,
    /// What came with it: names or addresses of files.
    #[serde(default)]
    #[schema(max_items = 100)]
    attachments: Vec<Attachment>,
    /// What it is to the task, if the host knows: response, modification, confirmation, new_task, abandon or unclear.
    #[serde(default)]
    #[schema(pattern = "^(response|modification|confirmation|new_task|abandon|unclear)$")]
    intent: Option<String>,
    /// To get the context for the model with the answer.
    #[serde(default)]
    context: Option<ContextQuery>,
}

/// Where a message comes from, as the channel tells it.
#[derive(Debug, Default, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewAddress {
    /// The channel, such as telegram.
    #[serde(default)]
    pub(crate) channel: Option<String>,
    /// The agent's account there.
    #[serde(default)]
    pub(crate) account: Option<String>,
    /// The person, in a direct message.
    #[serde(default)]
    pub(crate) peer: Option<String>,
    /// The group or channel.
    #[serde(default)]
    pub(crate) group: Option<String>,
    /// The thread.
    #[serde(default)]
    pub(crate) thread: Option<String>,
    /// The agent that is spoken to.
    #[serde(default)]
    pub(crate) agent: Option<String>,
}

impl NewAddress {
    /// Reads the address.
    pub(crate) fn read(self) -> Result<Address, Problem> {
        let peer = match (self.group, self.peer) {
            (Some(group), _) => Peer::Group(group),
            (None, Some(peer)) => Peer::Direct(peer),
            (None, None) => return Err(Problem::wrong("an address needs a \"peer\" or a \"group\"")),
        };
        Ok(Address {
            agent: self.agent.unwrap_or_default(),
            channel: self.channel.unwrap_or_default(),
            account: self.account.unwrap_or_default(),
            peer,
            thread: self.thread,
        })
    }
}

/// Something that came with a message: a name, or an object with one.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(untagged)]
pub enum Attachment {
    /// Its name or address.
    Name(String),
    /// An object: `name`, `url`, `type` are shown.
    Described(AttachmentFields),
}

/// What is known about an attachment.
#[derive(Debug, Default, Deserialize, ToSchema)]
pub struct AttachmentFields {
    /// Its name.
    #[serde(default)]
    name: Option<String>,
    /// Its media type.
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// Where it is.
    #[serde(default)]
    url: Option<String>,
}

impl Attachment {
    fn shown(&self) -> String {
        match self {
            Self::Name(name) => name.clone(),
            Self::Described(fields) => {
                let words = [&fields.name, &fields.kind, &fields.url];
                words.into_iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ")
            }
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
    Body(new): Body<NewMessage>,
) -> Result<Json<Turn>, Problem> {
    caller.may(Right::Write)?;
    let to = target(&app, &caller, new.scope.as_deref(), new.address)?;
    let at = instant(&app, new.at.as_deref())?;
    let intent = new.intent.as_deref().map(intent).transpose()?;
    if new.attachments.len() > ATTACHMENTS_MAX {
        return Err(Problem::wrong(format!("a message has at most {ATTACHMENTS_MAX} attachments")));
    }
    let mut text = new.text;
    for attachment in &new.attachments {
        text += &format!("\n[attachment: {}]", attachment.shown());
    }
    let message_id = new.message_id.or_else(|| key.map(|Extension(key)| key.message_id()));
    let message =
        Message { text, message_id: message_id.map(MessageId), sender: new.sender, ..Message::default() };
    app.admit_scope(&caller, &to).await?;
    let inbound = Inbound { at, to, role: Role::User, message, session: None };
    let outcome = app.receive(inbound, intent).await?;
    let context = match new.context {
        Some(wish) if outcome.wants_reply() => Some(assemble(&app, &outcome.scope, &wish).await?),
        _ => None,
    };
    Ok(Json(Turn::of(&outcome, context)))
}

/// Finds out where a message falls, and that the caller may know of it.
pub(crate) fn target(
    app: &App,
    caller: &Caller,
    scope: Option<&str>,
    address: Option<NewAddress>,
) -> Result<Target, Problem> {
    let target = match (scope, address) {
        (Some(scope), None) => Target::Scope(body::scope(caller, scope)?),
        (None, Some(address)) => Target::Address(address.read()?),
        (Some(_), Some(_)) => return Err(Problem::wrong("send \"scope\" or \"address\", not both")),
        (None, None) => return Err(Problem::wrong("a message needs a \"scope\" or an \"address\"")),
    };
    caller.check(&app.scope_of(&target))?;
    Ok(target)
}

/// Reads a time stamp; now, if there is none.
pub(crate) fn instant(app: &App, at: Option<&str>) -> Result<Timestamp, Problem> {
    match at {
        None => Ok(app.engine.now()),
        Some(at) => at.parse().map_err(|_| {
            Problem::wrong(format!("{at:?} is no time stamp")).hint("write one such as 2026-03-01T10:00:00Z")
        }),
    }
}

fn intent(name: &str) -> Result<MessageIntent, Problem> {
    MessageIntent::named(name).ok_or_else(|| {
        Problem::wrong(format!("there is no intent {name:?}"))
            .hint("it is response, modification, confirmation, new_task, abandon or unclear")
    })
}
