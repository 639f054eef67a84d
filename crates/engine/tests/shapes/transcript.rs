//! Random transcripts: what crashes, second deliveries, old models and careless hosts leave behind.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use segue_core::message::{Message, Reasoning, ReasoningForm, Role, ToolCall};

const BLANKS: [&str; 5] = ["", " ", "\n\t", "\u{3000}", "\u{0}"];

const ARGUMENTS: [&str; 10] = [
    "",
    "{}",
    "{\"q\": 1}",
    " {\"a\":{\"b\":[null,1e3,\"ü\"]}}\n",
    "[1]",
    "null",
    "\"text\"",
    "{\"cut\": \"off",
    "{\"a\":1}{\"a\":2}",
    "{\"big\":1e999}",
];

/// Few ids, so that they meet; some that no provider takes.
fn ids() -> Vec<String> {
    let made = "call_0123456789abcdef01234567";
    let short = ["call_0", "call_1", "call_2", "toolu_01", "", "a|b", "a b", "é", made];
    short.into_iter().map(str::to_owned).chain(["x".repeat(41), "x".repeat(70)]).collect()
}

fn names() -> Vec<String> {
    ["search", "fs.read", "", "查", "a b"].into_iter().map(str::to_owned).chain(["n".repeat(80)]).collect()
}

fn call() -> impl Strategy<Value = ToolCall> {
    (select(ids()), select(names()), select(&ARGUMENTS[..])).prop_map(|(id, name, arguments)| ToolCall {
        id,
        name,
        arguments: arguments.to_owned(),
    })
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![1 => select(&BLANKS[..]).prop_map(str::to_owned), 4 => "[a-zé你\\[\\]\"\\\\ ]{1,8}x"]
}

/// The model that is asked, and one that was asked before.
pub(crate) const MODELS: [&str; 2] = ["main", "other"];

/// What a model thought: signed or not, by this model or another one, in any form, with ids that meet.
fn reasoning() -> impl Strategy<Value = Reasoning> {
    let forms = [ReasoningForm::Thinking, ReasoningForm::Redacted, ReasoningForm::Item];
    let ids = ["rs_1", "rs_2", "", "rs_", "msg_1", "rs_a b"].map(|id| Some(id.to_owned()));
    let ids = select(ids.into_iter().chain([None]).collect::<Vec<_>>());
    let signatures = prop_oneof![1 => select(&BLANKS[..]).prop_map(str::to_owned), 5 => "[A-Za-z0-9+/]{8}"];
    // Most are small; some are longer than a small window, and a few longer than a large one.
    let sizes = || prop_oneof![60 => Just(1), 12 => Just(500), 1 => Just(60_000)];
    (select(forms.to_vec()), text(), signatures, ids, select(&MODELS[..]), sizes(), sizes()).prop_map(
        |(form, text, signature, id, model, short, long)| {
            let signed = || format!("{}~{model}", signature.repeat(short));
            let signature = if signature.len() == 8 { signed() } else { signature };
            Reasoning { form, text: text.repeat(long), signature, id, model: model.to_owned() }
        },
    )
}

/// A message of any role: a result may come before its call, twice, late or never.
fn message() -> impl Strategy<Value = (Role, Message)> {
    let calls = prop_oneof![2 => Just(Vec::new()), 3 => vec(call(), 1..4)];
    let answered = prop_oneof![1 => Just(None), 9 => select(ids()).prop_map(Some)];
    let role = prop_oneof![
        2 => Just(Role::User), 3 => Just(Role::Assistant), 5 => Just(Role::Tool), 1 => Just(Role::System)
    ];
    let thoughts = prop_oneof![3 => Just(Vec::new()), 2 => vec(reasoning(), 1..3)];
    (role, text(), calls, answered, thoughts).prop_map(|(role, text, calls, answered, thoughts)| {
        let mut message = Message::text(text);
        // A careless host puts calls and ids on messages of other roles too.
        message.tool_calls = calls;
        message.tool_call_id = answered;
        message.reasoning = thoughts;
        (role, message)
    })
}

/// Some messages are answered well, so that not all transcripts are rubble.
fn exchange() -> impl Strategy<Value = Vec<(Role, Message)>> {
    (text(), vec((call(), text()), 1..4)).prop_map(|(said, answered)| {
        let mut message = Message::text(said);
        message.tool_calls = answered.iter().map(|(call, _)| call.clone()).collect();
        let results = answered.into_iter().map(|(call, result)| {
            let mut message = Message::text(result);
            message.tool_call_id = Some(call.id);
            (Role::Tool, message)
        });
        std::iter::once((Role::Assistant, message)).chain(results).collect()
    })
}

/// Any transcript. The texts that say something are told apart by their places.
pub(crate) fn any() -> impl Strategy<Value = Vec<(Role, Message)>> {
    let part = prop_oneof![4 => message().prop_map(|one| vec![one]), 1 => exchange()];
    vec(part, 0..24).prop_map(|parts| {
        let mut messages: Vec<(Role, Message)> = parts.into_iter().flatten().collect();
        for (at, (_, message)) in messages.iter_mut().enumerate() {
            if message.text.ends_with('x') {
                message.text = format!("{}#{at}", message.text);
            }
        }
        messages
    })
}
