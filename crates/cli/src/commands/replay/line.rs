//! A line of a recorded conversation.

use crate::commands::import::tool_calls;
use anyhow::{Context as _, bail};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session;
use segue_engine::route::{Address, Peer};
use segue_engine::{Inbound, Target};
use serde_json::Value;

/// A line: what comes in.
#[derive(Debug)]
pub struct Line {
    /// The message.
    pub inbound: Inbound,
}

impl Line {
    /// Reads a line.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        let value: Value = serde_json::from_str(text).context("it is not JSON")?;
        if !value.is_object() {
            bail!("it is not a JSON object");
        }
        if let Some(op) = value.get("op") {
            bail!("there is no operation {op}: tasks are not built yet");
        }
        let at = word(&value, "at")?.context("it has no time (\"at\")")?;
        let at: Timestamp = at.parse().with_context(|| format!("its time \"{at}\" cannot be read"))?;
        let role = word(&value, "role")?.unwrap_or_else(|| "user".to_owned());
        let role = Role::named(&role).with_context(|| format!("there is no role \"{role}\""))?;
        let text = match (word(&value, "text")?, word(&value, "content")?) {
            (Some(text), _) | (None, Some(text)) => text,
            (None, None) => String::new(),
        };
        let message = Message {
            text,
            given_at: None,
            message_id: word(&value, "message_id")?.map(MessageId),
            sender: word(&value, "sender")?,
            tool_call_id: word(&value, "tool_call_id")?,
            tool_calls: tool_calls(&value),
        };
        let (to, session) = target(&value)?;
        Ok(Self { inbound: Inbound { at, to, role, message, session } })
    }
}

/// Reads a field that is text, or a number where people write ids as numbers.
fn word(value: &Value, name: &str) -> anyhow::Result<Option<String>> {
    match value.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(Value::Number(number)) => Ok(Some(number.to_string())),
        Some(_) => bail!("\"{name}\" is not text"),
    }
}

fn target(value: &Value) -> anyhow::Result<(Target, Option<session::Number>)> {
    let named = word(value, "session")?.map(|key| key.parse::<session::Key>()).transpose()?;
    let session = named.as_ref().map(|key| key.number);
    let scope = word(value, "scope")?.map(|scope| scope.parse()).transpose()?;
    if let (Some(scope), Some(key)) = (&scope, &named)
        && *scope != key.scope
    {
        bail!("the session {key} is not one of the scope {scope}");
    }
    if let Some(scope) = scope.or(named.map(|key| key.scope)) {
        return Ok((Target::Scope(scope), session));
    }
    let Some(channel) = word(value, "channel")? else {
        bail!("it has neither a scope (\"scope\") nor an address (\"channel\" and \"peer\")");
    };
    let peer = word(value, "peer")?.unwrap_or_default();
    let peer = match (word(value, "group")?, word(value, "kind")?.as_deref()) {
        (Some(group), _) => Peer::Group(group),
        (None, Some("group" | "channel")) => Peer::Group(peer),
        (None, None | Some("direct")) => Peer::Direct(peer),
        (None, Some(kind)) => bail!("there is no kind of peer \"{kind}\": it is direct, group or channel"),
    };
    let address = Address {
        agent: word(value, "agent")?.unwrap_or_default(),
        channel,
        account: word(value, "account")?.unwrap_or_default(),
        peer,
        thread: word(value, "thread")?,
    };
    Ok((Target::Address(address), None))
}
