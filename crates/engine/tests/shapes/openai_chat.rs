//! What `POST /v1/chat/completions` takes as `messages`.
//!
//! "An assistant message with 'tool_calls' must be followed by tool messages responding to each
//! 'tool_call_id'"; "messages with role 'tool' must be a response to a preceding message with
//! 'tool_calls'"; `content` of an assistant is required unless there are `tool_calls`; names are
//! `^[a-zA-Z0-9_-]{1,64}$`; ids have at most 64 characters, on older models 40; no empty `messages`.

use crate::check::{arguments, list, new, object, string, text, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn valid(value: &Value) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    for message in list(&object(value, &["messages"], &[])?["messages"])? {
        let role = string(&message["role"])?;
        if role != "tool" && !open.is_empty() {
            return Err(format!("{open:?} have no response before {message}"));
        }
        match role {
            "system" | "user" => {
                text(&object(message, &["role", "content"], &[])?["content"])?;
            }
            "assistant" => {
                let fields = object(message, &["role", "content"], &["tool_calls"])?;
                match fields.get("tool_calls") {
                    None => drop(text(&fields["content"])?),
                    Some(calls) => {
                        if !fields["content"].is_null() {
                            text(&fields["content"])?;
                        }
                        for call in list(calls)? {
                            open.insert(new(&mut seen, called(call)?)?);
                        }
                    }
                }
            }
            "tool" => {
                let fields = object(message, &["role", "tool_call_id", "content"], &[])?;
                text(&fields["content"])?;
                if !open.remove(string(&fields["tool_call_id"])?) {
                    return Err(format!("it responds to no call: {message}"));
                }
            }
            other => return Err(format!("there is no role {other}")),
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} have no response")) }
}

fn called(call: &Value) -> Result<&str, String> {
    let fields = object(call, &["id", "type", "function"], &[])?;
    if fields["type"] != "function" {
        return Err(format!("not a function: {call}"));
    }
    let function = object(&fields["function"], &["name", "arguments"], &[])?;
    word(&function["name"], 64)?;
    arguments(&function["arguments"])?;
    word(&fields["id"], 40)
}
