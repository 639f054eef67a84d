//! Cases that are worth reading, one for each rule of the pairing.

use segue_core::message::{Message, ReplyEnd, Role, ToolCall};
use segue_engine::shapes::pair::{LeftOut, Why, pair};
use segue_engine::shapes::{Shape, project};
use serde_json::{Value, json};

fn says(role: Role, text: &str) -> (Role, Message) {
    (role, Message::text(text))
}

fn calls(text: &str, calls: &[(&str, &str, &str)]) -> (Role, Message) {
    let call = |(id, name, arguments): &(&str, &str, &str)| ToolCall {
        id: (*id).to_owned(),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    };
    let tool_calls = calls.iter().map(call).collect();
    (Role::Assistant, Message { tool_calls, ..Message::text(text) })
}

fn result(id: &str, text: &str) -> (Role, Message) {
    (Role::Tool, Message { tool_call_id: Some(id.to_owned()), ..Message::text(text) })
}

fn chat(messages: &[(Role, Message)]) -> Vec<String> {
    let value = project(Shape::OpenAiChat, messages);
    let line = |message: &Value| {
        let calls = message["tool_calls"].as_array().map_or(0, Vec::len);
        let text = message["content"].as_str().unwrap_or("-");
        let role = message["role"].as_str().unwrap();
        if calls > 0 { format!("{role}: {text} +{calls}") } else { format!("{role}: {text}") }
    };
    value["messages"].as_array().unwrap().iter().map(line).collect()
}

fn left_out(messages: &[(Role, Message)]) -> Vec<(usize, Why)> {
    pair(messages).left_out.into_iter().map(|LeftOut { at, why }| (at, why)).collect()
}

#[test]
fn l7_a_late_result_stands_behind_its_call() {
    let messages = [
        says(Role::User, "look it up"),
        calls("", &[("a", "search", "{}"), ("b", "read", "{}")]),
        says(Role::User, "and hurry"),
        result("b", "B"),
        result("a", "A"),
    ];
    assert_eq!(
        chat(&messages),
        ["user: look it up", "assistant: - +2", "tool: A", "tool: B", "user: and hurry"]
    );
}

#[test]
fn l7_an_orphan_of_either_kind_never_stays_alone() {
    let messages = [
        result("a", "early"),
        result("z", "of nobody"),
        calls("on it", &[("a", "send", "{}")]),
        says(Role::User, " "),
        says(Role::User, "well?"),
    ];
    assert_eq!(chat(&messages), ["assistant: on it +1", "tool: [no result: interrupted]", "user: well?"]);
    assert_eq!(left_out(&messages), [(0, Why::EarlyResult), (1, Why::OrphanResult), (3, Why::Blank)]);
}

#[test]
fn l7_the_first_result_counts() {
    let messages = [calls("", &[("a", "x", "")]), result("a", "first"), result("a", "second")];
    assert_eq!(chat(&messages), ["assistant: - +1", "tool: first"]);
    assert_eq!(left_out(&messages), [(2, Why::SecondResult)]);
}

#[test]
fn l7_ids_that_come_again_belong_to_the_latest_call() {
    let messages = [
        calls("one", &[("call_0", "x", "")]),
        calls("two", &[("call_0", "x", "")]),
        result("call_0", "2"),
        result("call_0", "2 again"),
    ];
    assert_eq!(
        chat(&messages),
        ["assistant: one +1", "tool: [no result: interrupted]", "assistant: two +1", "tool: 2"]
    );
    let without = [
        calls("", &[("", "x", ""), ("", "y", "")]),
        says(Role::Tool, "X"),
        says(Role::Tool, " "),
        says(Role::Tool, "Z"),
    ];
    assert_eq!(chat(&without), ["assistant: - +2", "tool: X", "tool: [empty result]"]);
}

fn conversation() -> Vec<(Role, Message)> {
    vec![
        says(Role::System, "Be brief."),
        says(Role::User, "Weather?"),
        says(Role::User, "In Bern."),
        calls("Looking.", &[("call_1", "weather.now", "{\"city\": \"Bern\"}"), ("call_2", "clock", "")]),
        result("call_1", "rain"),
        says(Role::System, "Heartbeat."),
        says(Role::Assistant, "It rains."),
    ]
}

#[test]
fn l7_openai_chat_looks_like_this() {
    let weather = json!({"name": "weather_now", "arguments": "{\"city\": \"Bern\"}"});
    let clock = json!({"name": "clock", "arguments": "{}"});
    let expected = json!({"messages": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Weather?"},
        {"role": "user", "content": "In Bern."},
        {"role": "assistant", "content": "Looking.", "tool_calls": [
            {"id": "call_1", "type": "function", "function": weather},
            {"id": "call_2", "type": "function", "function": clock},
        ]},
        {"role": "tool", "tool_call_id": "call_1", "content": "rain"},
        {"role": "tool", "tool_call_id": "call_2", "content": "[no result: interrupted]"},
        {"role": "system", "content": "Heartbeat."},
        {"role": "assistant", "content": "It rains."},
    ]});
    assert_eq!(project(Shape::OpenAiChat, &conversation()), expected);
}

#[test]
fn l7_openai_responses_look_like_this() {
    let arguments = "{\"city\": \"Bern\"}";
    let expected = json!({"input": [
        {"type": "message", "role": "system", "content": "Be brief."},
        {"type": "message", "role": "user", "content": "Weather?"},
        {"type": "message", "role": "user", "content": "In Bern."},
        {"type": "message", "role": "assistant", "content": "Looking."},
        {"type": "function_call", "call_id": "call_1", "name": "weather_now", "arguments": arguments},
        {"type": "function_call", "call_id": "call_2", "name": "clock", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "rain"},
        {"type": "function_call_output", "call_id": "call_2", "output": "[no result: interrupted]"},
        {"type": "message", "role": "system", "content": "Heartbeat."},
        {"type": "message", "role": "assistant", "content": "It rains."},
    ]});
    assert_eq!(project(Shape::OpenAiResponses, &conversation()), expected);
}

#[test]
fn l7_anthropic_looks_like_this() {
    let missing = "[no result: interrupted]";
    let host = "[from the system, not from the user]\nHeartbeat.";
    let expected = json!({
        "system": [{"type": "text", "text": "Be brief."}],
        "messages": [
            {"role": "user", "content": [
                {"type": "text", "text": "Weather?"},
                {"type": "text", "text": "In Bern."},
            ]},
            {"role": "assistant", "content": [
                {"type": "text", "text": "Looking."},
                {"type": "tool_use", "id": "call_1", "name": "weather_now", "input": {"city": "Bern"}},
                {"type": "tool_use", "id": "call_2", "name": "clock", "input": {}},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "rain"},
                {"type": "tool_result", "tool_use_id": "call_2", "content": missing, "is_error": true},
                {"type": "text", "text": host},
            ]},
            {"role": "assistant", "content": [{"type": "text", "text": "It rains."}]},
            {"role": "user", "content": [{"type": "text", "text": "[no new message]"}]},
        ],
    });
    assert_eq!(project(Shape::Anthropic, &conversation()), expected);
}

#[test]
fn l7_a_conversation_without_a_word_is_taken() {
    for shape in Shape::ALL {
        let value = project(shape, &[]);
        assert_eq!(crate::valid(shape, &value), Ok(()), "{value}");
        assert!(value.to_string().contains("[no message yet]"));
        assert_eq!(Shape::named(shape.name()), Some(shape));
        assert_eq!(serde_json::to_value(shape).unwrap(), shape.name());
    }
}

/// Finding 20: what a model failed to answer does not pile up, what nobody tried to answer stays, and half an answer gives way
/// to the next one.
#[test]
fn fc20_failed_turns_are_left_out() {
    let failed = || (Role::Assistant, Message::failed());
    let half = || (Role::Assistant, Message { end: ReplyEnd::CutOff, ..Message::text("half [interrupted]") });
    let messages = [
        says(Role::User, "nobody was asked about this"),
        says(Role::User, "one"),
        failed(),
        failed(),
        says(Role::User, "two"),
        failed(),
        says(Role::Assistant, "Two."),
        says(Role::User, "three"),
        half(),
        says(Role::Assistant, "Three."),
        says(Role::User, "four"),
        half(),
        says(Role::User, "five"),
        failed(),
    ];
    assert_eq!(
        chat(&messages),
        [
            "user: nobody was asked about this",
            "user: two",
            "assistant: Two.",
            "user: three",
            "assistant: Three.",
            "user: four",
            "assistant: half [interrupted]",
            "user: five"
        ]
    );
    let why = [
        (1, Why::Unanswered),
        (2, Why::Blank),
        (3, Why::Blank),
        (5, Why::Blank),
        (8, Why::CutOff),
        (13, Why::Blank),
    ];
    assert_eq!(left_out(&messages), why);
}
