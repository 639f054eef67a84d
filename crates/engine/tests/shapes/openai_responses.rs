//! What `POST /v1/responses` takes as `input`.
//!
//! Items are messages (`role` of user, assistant, system or developer; a string as `content` fits all of
//! them), `function_call` and `function_call_output`. "No tool output found for function call", "No tool
//! call found for function call output"; a `call_id` has at most 64 characters; an item's own `id` would
//! have to begin with `fc_` or `msg_` and be known to OpenAI. Strictest: outputs follow their calls at once. Reasoning is
//! encrypted, its id is `rs_...` and new if there is one, and what came of it follows.

use crate::check::{arguments, list, new, object, string, text, word};
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn valid(value: &Value) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut thoughts = BTreeSet::new();
    let mut open: BTreeSet<&str> = BTreeSet::new();
    let mut answering = false;
    let mut thinking = false;
    for item in list(&object(value, &["input"], &[])?["input"])? {
        let kind = string(&item["type"])?;
        let follows = kind == "reasoning" || kind == "function_call" || item["role"] == "assistant";
        if thinking && !follows {
            return Err(format!("reasoning was provided without its required following item: {item}"));
        }
        thinking = kind == "reasoning";
        match kind {
            "reasoning" => {
                let fields = object(item, &["type", "summary", "encrypted_content"], &["id"])?;
                text(&fields["encrypted_content"])?;
                if let Some(id) = fields.get("id") {
                    let id = word(id, 64)?;
                    if !id.starts_with("rs_") {
                        return Err(format!("not an id of reasoning: {id}"));
                    }
                    new(&mut thoughts, id)?;
                }
                for part in fields["summary"].as_array().ok_or("the summary is no list")? {
                    let fields = object(part, &["type", "text"], &[])?;
                    if fields["type"] != "summary_text" {
                        return Err(format!("not a summary: {part}"));
                    }
                    text(&fields["text"])?;
                }
                if answering && !open.is_empty() {
                    return Err(format!("no tool output found for {open:?}"));
                }
            }
            "message" => {
                let fields = object(item, &["type", "role", "content"], &[])?;
                text(&fields["content"])?;
                let role = string(&fields["role"])?;
                if !["user", "assistant", "system", "developer"].contains(&role) {
                    return Err(format!("there is no role {role}"));
                }
                if !open.is_empty() {
                    return Err(format!("no tool output found for {open:?}"));
                }
                answering = false;
            }
            "function_call" => {
                let fields = object(item, &["type", "call_id", "name", "arguments"], &[])?;
                if answering && !open.is_empty() {
                    return Err(format!("no tool output found for {open:?}"));
                }
                answering = false;
                word(&fields["name"], 64)?;
                arguments(&fields["arguments"])?;
                open.insert(new(&mut seen, word(&fields["call_id"], 64)?)?);
            }
            "function_call_output" => {
                let fields = object(item, &["type", "call_id", "output"], &[])?;
                text(&fields["output"])?;
                if !open.remove(string(&fields["call_id"])?) {
                    return Err(format!("no tool call found for {item}"));
                }
                answering = true;
            }
            other => return Err(format!("there is no item {other}")),
        }
    }
    if thinking {
        return Err("reasoning was provided without its required following item".to_owned());
    }
    if open.is_empty() { Ok(()) } else { Err(format!("no tool output found for {open:?}")) }
}
