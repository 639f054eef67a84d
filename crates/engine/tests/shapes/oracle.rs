//! What a projection must show, found in another way than the shapes find it.

use proptest::prelude::TestCaseError;
use segue_core::message::{Message, Role};
use segue_engine::shapes::anthropic::{BEGINNING, END, HOST_SAYS};
use segue_engine::shapes::{EMPTY_RESULT, NO_RESULT, NOTHING_SAID, Shape};
use serde_json::Value;
use std::collections::BTreeSet;

/// The texts of all but the tools, with who said them, in order.
pub(crate) fn texts_said(shape: Shape, messages: &[(Role, Message)]) -> Vec<(String, String)> {
    let said = messages.iter().filter(|(role, message)| *role != Role::Tool && message.text.contains('#'));
    let mut texts: Vec<(String, String)> =
        said.map(|(role, message)| (role.name().to_owned(), message.text.clone())).collect();
    if shape == Shape::Anthropic {
        // What the host says before anybody else comes first in any case; the rest is in the user's turn.
        for (role, _) in &mut texts {
            if role == "system" {
                "host".clone_into(role);
            }
        }
    }
    texts
}

/// The texts that a projection shows, without the marks and the results.
pub(crate) fn texts_shown(shape: Shape, value: &Value) -> Vec<(String, String)> {
    let pair =
        |role: &Value, text: &Value| (role.as_str().unwrap().to_owned(), text.as_str().unwrap().to_owned());
    let all: Vec<(String, String)> = match shape {
        Shape::OpenAiChat => {
            let spoken = value["messages"].as_array().unwrap().iter();
            let spoken = spoken.filter(|message| message["role"] != "tool" && message["content"].is_string());
            spoken.map(|message| pair(&message["role"], &message["content"])).collect()
        }
        Shape::OpenAiResponses => {
            let spoken = value["input"].as_array().unwrap().iter().filter(|item| item["type"] == "message");
            spoken.map(|item| pair(&item["role"], &item["content"])).collect()
        }
        Shape::Anthropic => {
            let host = Value::from("host");
            let system = value["system"].as_array().into_iter().flatten();
            let mut texts: Vec<_> = system.map(|block| pair(&host, &block["text"])).collect();
            for message in value["messages"].as_array().unwrap() {
                for block in message["content"].as_array().unwrap() {
                    match block["text"].as_str().map(|text| text.strip_prefix(HOST_SAYS)) {
                        Some(Some(text)) => texts.push(("host".to_owned(), text.to_owned())),
                        Some(None) => texts.push(pair(&message["role"], &block["text"])),
                        None => {}
                    }
                }
            }
            texts
        }
        _ => panic!("nothing is known of {shape}"),
    };
    all.into_iter().filter(|(_, text)| ![NOTHING_SAID, BEGINNING, END].contains(&text.as_str())).collect()
}

/// The results that a projection shows, in the order of their calls.
pub(crate) fn results_shown(shape: Shape, value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    match shape {
        Shape::OpenAiChat => {
            let tools = value["messages"].as_array().unwrap().iter();
            tools.filter(|one| one["role"] == "tool").map(|one| text(&one["content"])).collect()
        }
        Shape::OpenAiResponses => {
            let items = value["input"].as_array().unwrap().iter();
            items
                .filter(|one| one["type"] == "function_call_output")
                .map(|one| text(&one["output"]))
                .collect()
        }
        Shape::Anthropic => {
            let messages = value["messages"].as_array().unwrap().iter();
            let blocks = messages.flat_map(|message| message["content"].as_array().unwrap());
            blocks.filter(|one| one["type"] == "tool_result").map(|one| text(&one["content"])).collect()
        }
        _ => panic!("nothing is known of {shape}"),
    }
}

/// The id that a tool's message answers.
fn answers(message: &Message) -> &str {
    message.tool_call_id.as_deref().unwrap_or("")
}

/// Every call has a result of its own, which came after it; and it is missing only if there is none.
pub(crate) fn results_belong(shown: &[String], messages: &[(Role, Message)]) -> Result<(), TestCaseError> {
    let mut calls = Vec::new();
    for (at, (_, message)) in messages.iter().enumerate().filter(|(_, (role, _))| *role == Role::Assistant) {
        calls.extend(message.tool_calls.iter().map(|call| (at, call.id.as_str())));
    }
    let fail = |why: String| Err(TestCaseError::fail(why));
    if calls.len() != shown.len() {
        return fail(format!("{} calls and {} results", calls.len(), shown.len()));
    }
    let mut used = BTreeSet::new();
    for ((at, id), text) in calls.iter().zip(shown) {
        // A later call with the same id takes over what comes after it.
        let until = calls.iter().map(|(later, _)| *later).zip(calls.iter().map(|(_, id)| *id));
        let until = until.filter(|(later, other)| later > at && other == id).map(|(later, _)| later).min();
        let window = at + 1..until.unwrap_or(messages.len());
        let mine: Vec<usize> = window
            .filter(|place| messages[*place].0 == Role::Tool && answers(&messages[*place].1) == *id)
            .collect();
        let twins = calls.iter().filter(|call| **call == (*at, *id)).count();
        match text.as_str() {
            NO_RESULT if mine.len() < twins => {}
            EMPTY_RESULT if mine.iter().any(|place| !messages[*place].1.text.contains('#')) => {}
            _ => match mine.iter().find(|place| messages[**place].1.text == *text) {
                Some(place) if used.insert(*place) => {}
                Some(_) | None => return fail(format!("{text:?} is no result of {id:?} at {at}")),
            },
        }
        if twins == 1 && !mine.is_empty() {
            let first = &messages[mine[0]].1.text;
            let expected = if first.contains('#') { first.as_str() } else { EMPTY_RESULT };
            if text != expected {
                return fail(format!("{id:?} at {at} has {text:?}, the first is {expected:?}"));
            }
        }
    }
    Ok(())
}

/// What the model that is asked thought before the first thing that it said is shown, each in its own shape.
pub(crate) fn thoughts_shown(
    shape: Shape,
    shown: &str,
    messages: &[(Role, Message)],
) -> Result<(), TestCaseError> {
    use segue_core::message::ReasoningForm::{Item, Redacted, Thinking};
    let spoken = |(role, message): &&(Role, Message)| {
        *role == Role::Assistant && (message.text.contains('#') || !message.tool_calls.is_empty())
    };
    let Some((_, first)) = messages.iter().find(spoken) else { return Ok(()) };
    let mut ids = BTreeSet::new();
    for one in first.reasoning.iter().filter(|one| one.signature.ends_with("~main")) {
        let fits = match (shape, one.form) {
            (Shape::Anthropic, Thinking | Redacted) => true,
            (Shape::OpenAiResponses, Item) => {
                one.id.as_ref().is_none_or(|id| !id.starts_with("rs_") || ids.insert(id.as_str()))
            }
            _ => false,
        };
        // Two thoughts may have been signed alike; one place is enough then.
        if fits && !shown.contains(&one.signature) {
            return Err(TestCaseError::fail(format!("{shape} does not show {one:?}: {shown}")));
        }
    }
    Ok(())
}
