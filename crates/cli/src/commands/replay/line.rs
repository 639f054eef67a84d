//! A line of a recorded conversation.

use anyhow::{Context as _, bail};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Reasoning, Role};
use segue_core::session;
use segue_core::task::intent::MessageIntent;
use segue_engine::route::{Address, Peer, Routing, route};
use segue_engine::tasks::op::Op;
use segue_engine::{Engine, Inbound, Outcome, Target};
use serde_json::Value;

/// A line: what comes in.
#[derive(Debug)]
pub struct Line {
    /// The message; for an operation, what it says in a few words.
    pub inbound: Inbound,
    /// The operation of the host, if it is one.
    pub op: Option<Op>,
    /// What the host says the message is to the task.
    pub intent: Option<MessageIntent>,
}

impl Line {
    /// Reads a line. Where it names a session and an address, they must be of one scope.
    pub fn parse(text: &str, routing: &Routing) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text.trim())
            .map_err(|error| anyhow::anyhow!("it is not JSON ({})", wrong(&error)))?;
        if !value.is_object() {
            bail!("it is not a JSON object: write {{\"at\":..., \"scope\":..., \"role\":..., \"text\":...}}");
        }
        let at = word(&value, "at")?
            .context("it has no time: add \"at\", such as \"at\":\"2026-03-01T10:00:00Z\"")?;
        let at: Timestamp = at.parse().map_err(|_| {
            anyhow::anyhow!("its time \"{}\" cannot be read: write it as 2026-03-01T10:00:00Z", short(&at))
        })?;
        if let Some(name) = word(&value, "op")? {
            let (to, session) = target(&value, routing)?;
            let op = Some(Op::parse(&name, &value)?);
            let message = Message::text(Op::describe(&name, &value));
            let inbound = Inbound { at, to, role: Role::System, message, session };
            return Ok(Self { inbound, op, intent: None });
        }
        let role = word(&value, "role")?.unwrap_or_else(|| "user".to_owned());
        let role = Role::named(&role).with_context(|| {
            format!("there is no role \"{}\": it is user, assistant, tool or system", short(&role))
        })?;
        let text = word(&value, "text")?.or(word(&value, "content")?).unwrap_or_default();
        let message = Message {
            text,
            message_id: word(&value, "message_id")?.map(MessageId),
            sender: sender(&value)?,
            tool_call_id: word(&value, "tool_call_id")?,
            tool_calls: segue_engine::port::tool_calls(&value).map_err(anyhow::Error::msg)?,
            reasoning: reasoning(&value)?,
            ..Message::default()
        };
        let (to, session) = target(&value, routing)?;
        if session.is_some() && role == Role::User {
            bail!(
                "a person speaks to the latest session, so \"session\" is for replies only: remove it, or \
                 resume that session first"
            );
        }
        let intent = word(&value, "intent")?.map(|name| {
            MessageIntent::named(&name).with_context(|| format!("there is no intent \"{}\"", short(&name)))
        });
        Ok(Self {
            inbound: Inbound { at, to, role, message, session },
            op: None,
            intent: intent.transpose()?,
        })
    }
}

impl Line {
    /// Gives the line to an engine.
    pub async fn run(&self, engine: &Engine) -> Result<Outcome, segue_engine::Error> {
        match (&self.op, self.intent) {
            (Some(op), _) => {
                let scope = match &self.inbound.to {
                    Target::Scope(scope) => scope.clone(),
                    Target::Address(address) => route(&engine.config().routing, address),
                };
                op.run(engine, &scope, self.inbound.at).await
            }
            (None, Some(intent)) => engine.receive_stated(self.inbound.clone(), intent).await,
            (None, None) => engine.receive(self.inbound.clone()).await,
        }
    }
}

/// How much of a field is repeated in an error, in characters.
const SHORT_CHARS_MAX: usize = 60;

pub(super) fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// Says what is wrong with the JSON. A line has no lines, so only the column tells where.
fn wrong(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let what = text.split(" at line ").next().unwrap_or_default();
    format!("{what}, at character {}", error.column())
}

/// Reads who speaks, where several people share a scope: in a group that is the peer.
fn sender(value: &Value) -> anyhow::Result<Option<String>> {
    match (word(value, "sender")?, word(value, "group")?) {
        (Some(sender), _) => Ok(Some(sender)),
        (None, Some(_)) => word(value, "peer"),
        (None, None) => Ok(None),
    }
}

/// Reads a field that is text, or a number where people write ids as numbers.
pub(super) fn word(value: &Value, name: &str) -> anyhow::Result<Option<String>> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => bail!("\"{name}\" is not text"),
    }
}

fn target(value: &Value, routing: &Routing) -> anyhow::Result<(Target, Option<session::Number>)> {
    let named = word(value, "session")?.map(|key| key.parse::<session::Key>()).transpose()?;
    let session = named.as_ref().map(|key| key.number);
    let scope = word(value, "scope")?.map(|scope| scope.parse()).transpose()?;
    let target = match (scope, address(value)?) {
        (Some(scope), _) => Target::Scope(scope),
        (None, Some(address)) => Target::Address(address),
        (None, None) => match &named {
            Some(key) => Target::Scope(key.scope.clone()),
            None => {
                bail!("it says not where it belongs: add \"scope\", or an address (\"channel\" and \"peer\")")
            }
        },
    };
    if let Some(key) = named {
        let scope = match &target {
            Target::Scope(scope) => scope.clone(),
            Target::Address(address) => route(routing, address),
        };
        if scope != key.scope {
            bail!("the session {key} is not one of the scope {scope}");
        }
    }
    Ok((target, session))
}

fn address(value: &Value) -> anyhow::Result<Option<Address>> {
    let Some(channel) = word(value, "channel")? else { return Ok(None) };
    let peer = word(value, "peer")?.unwrap_or_default();
    let peer = match (word(value, "group")?, word(value, "kind")?.as_deref()) {
        (Some(group), _) => Peer::Group(group),
        (None, Some("group" | "channel")) => Peer::Group(peer),
        (None, None | Some("direct")) => Peer::Direct(peer),
        (None, Some(kind)) => {
            bail!("there is no kind of peer \"{}\": it is direct, group or channel", short(kind))
        }
    };
    Ok(Some(Address {
        agent: word(value, "agent")?.unwrap_or_default(),
        channel,
        account: word(value, "account")?.unwrap_or_default(),
        peer,
        thread: word(value, "thread")?,
    }))
}
/// What the model thought, as `segue export` writes it.
fn reasoning(value: &Value) -> anyhow::Result<Vec<Reasoning>> {
    match value.get("reasoning") {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(list) => serde_json::from_value(list.clone()).map_err(|_| {
            anyhow::anyhow!(
                "its \"reasoning\" is not a list of {{\"form\":..., \"text\":..., \"signature\":..., \"model\":...}}"
            )
        }),
    }
}
