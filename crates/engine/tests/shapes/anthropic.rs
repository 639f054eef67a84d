//! What `POST /v1/messages` takes as `system` and `messages`.
//!
//! "first message must use the user role"; roles alternate; "text content blocks must contain
//! non-whitespace text"; "tool_use ids were found without tool_result blocks immediately after"; "unexpected
//! tool_use_id found in tool_result blocks"; "each tool_use must have a single result"; "tool_use ids must
//! be unique"; ids are `^[a-zA-Z0-9_-]+$`; `input` is an object; results come before any text. Strictest:
//! the last message is the user's, since newer models take no prefilled answer; thoughts stand first in their message,
//! signed, and never alone.

use crate::check::{list, new, object, string, text, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn valid(value: &Value) -> Result<(), String> {
    let fields = object(value, &["messages"], &["system"])?;
    if let Some(system) = fields.get("system") {
        for block in list(system)? {
            text_block(block)?;
        }
    }
    let mut seen = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let messages = list(&fields["messages"])?;
    if messages.len() % 2 == 0 {
        return Err("the first and the last message are not both of the user".to_owned());
    }
    for (at, message) in messages.iter().enumerate() {
        let fields = object(message, &["role", "content"], &[])?;
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        if fields["role"] != expected {
            return Err(format!("message {at} is not of the {expected}"));
        }
        let blocks = list(&fields["content"])?;
        if expected == "user" {
            user(blocks, &mut open)?;
        } else {
            open = assistant(blocks, &mut seen)?;
        }
    }
    Ok(())
}

fn user(blocks: &[Value], open: &mut BTreeSet<&str>) -> Result<(), String> {
    let mut texts = 0;
    for block in blocks {
        if block["type"] == "tool_result" {
            let fields = object(block, &["type", "tool_use_id", "content"], &["is_error"])?;
            text(&fields["content"])?;
            if fields.get("is_error").is_some_and(|error| !error.is_boolean()) {
                return Err(format!("is_error is no truth: {block}"));
            }
            if texts > 0 {
                return Err(format!("a result after a text: {block}"));
            }
            if !open.remove(string(&fields["tool_use_id"])?) {
                return Err(format!("unexpected tool_use_id: {block}"));
            }
        } else {
            text_block(block)?;
            texts += 1;
        }
    }
    if open.is_empty() { Ok(()) } else { Err(format!("tool_use without tool_result after it: {open:?}")) }
}

fn assistant<'a>(blocks: &'a [Value], seen: &mut BTreeSet<&'a str>) -> Result<BTreeSet<&'a str>, String> {
    let mut calls = BTreeSet::new();
    let mut spoke = false;
    for block in blocks {
        if block["type"] == "thinking" || block["type"] == "redacted_thinking" {
            thought(block)?;
            if spoke {
                return Err(format!("a thought after a text or a call: {block}"));
            }
            continue;
        }
        spoke = true;
        if block["type"] == "tool_use" {
            let fields = object(block, &["type", "id", "name", "input"], &[])?;
            word(&fields["name"], 64)?;
            if !fields["input"].is_object() {
                return Err(format!("input is no object: {block}"));
            }
            calls.insert(new(seen, word(&fields["id"], 64)?)?);
        } else {
            text_block(block)?;
            if !calls.is_empty() {
                return Err(format!("a text after a call: {block}"));
            }
        }
    }
    if !spoke {
        return Err("nothing but thoughts".to_owned());
    }
    Ok(calls)
}

/// "thinking blocks cannot be modified": the text and its signature, or what nobody can read.
fn thought(block: &Value) -> Result<(), String> {
    if block["type"] == "thinking" {
        let fields = object(block, &["type", "thinking", "signature"], &[])?;
        string(&fields["thinking"])?;
        return text(&fields["signature"]).map(drop);
    }
    let fields = object(block, &["type", "data"], &[])?;
    text(&fields["data"]).map(drop)
}

fn text_block(block: &Value) -> Result<(), String> {
    let fields = object(block, &["type", "text"], &[])?;
    if fields["type"] != "text" {
        return Err(format!("not a text: {block}"));
    }
    text(&fields["text"]).map(drop)
}
