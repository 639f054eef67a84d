//! The validators refuse what the providers refuse; else they would prove nothing.

use crate::valid;
use segue_engine::shapes::Shape;
use serde_json::{Value, json};

fn refused(shape: Shape, field: &str, lists: &[Value]) {
    for list in lists {
        let mut request = json!({});
        request[field] = list.clone();
        assert!(valid(shape, &request).is_err(), "{shape} took {request}");
    }
}

#[test]
fn l7_openai_chat_refuses() {
    let user = json!({"role": "user", "content": "hi"});
    let call = |id: &str| {
        let function = json!({"name": "f", "arguments": "{}"});
        json!({"role": "assistant", "content": null, "tool_calls": [
            {"id": id, "type": "function", "function": function}
        ]})
    };
    let result = json!({"role": "tool", "tool_call_id": "a", "content": "r"});
    assert_eq!(valid(Shape::OpenAiChat, &json!({"messages": [user, call("a"), result]})), Ok(()));
    refused(
        Shape::OpenAiChat,
        "messages",
        &[
            json!([]),
            json!([result]),
            json!([call("a")]),
            json!([call("a"), user]),
            json!([call("a"), user, result]),
            json!([call("a"), result, result]),
            json!([call("a"), result, call("a"), result]),
            json!([call(""), {"role": "tool", "tool_call_id": "", "content": "r"}]),
            json!([{"role": "user", "content": " "}]),
            json!([{"role": "assistant", "content": null}]),
            json!([{"role": "assistant", "content": "x", "tool_calls": []}]),
            json!([{"role": "nobody", "content": "x"}]),
            json!([{"role": "user", "content": "x", "sender": "y"}]),
        ],
    );
}

#[test]
fn l7_openai_responses_refuse() {
    let user = json!({"type": "message", "role": "user", "content": "hi"});
    let call = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "f", "arguments": arguments});
    let output = |id: &str| json!({"type": "function_call_output", "call_id": id, "output": "r"});
    let fine = json!({"input": [user, call("a", "{}"), call("b", "{}"), output("b"), output("a")]});
    assert_eq!(valid(Shape::OpenAiResponses, &fine), Ok(()));
    refused(
        Shape::OpenAiResponses,
        "input",
        &[
            json!([]),
            json!([output("a")]),
            json!([call("a", "{}")]),
            json!([call("a", "{}"), user, output("a")]),
            json!([call("a", "{}"), output("a"), output("a")]),
            json!([call("a", "{}"), call("b", "{}"), output("a"), call("c", "{}"), output("b"), output("c")]),
            json!([call("a", "[]"), output("a")]),
            json!([call("a", "{"), output("a")]),
            json!([call(&"x".repeat(65), "{}"), output(&"x".repeat(65))]),
            json!([{"type": "message", "role": "tool", "content": "x"}]),
            json!([{"type": "message", "role": "user", "content": ""}]),
        ],
    );
    let said = json!({"type": "message", "role": "assistant", "content": "x"});
    let thought =
        |id: &str| json!({"type": "reasoning", "id": id, "summary": [], "encrypted_content": "c2ln"});
    let fine = json!({"input": [thought("rs_1"), said, thought("rs_2"), call("a", "{}"), output("a")]});
    assert_eq!(valid(Shape::OpenAiResponses, &fine), Ok(()));
    refused(
        Shape::OpenAiResponses,
        "input",
        &[
            json!([thought("rs_1")]),
            json!([thought("rs_1"), user]),
            json!([thought("rs_1"), said, thought("rs_1"), said]),
            json!([thought("x"), said]),
            json!([{"type": "reasoning", "summary": []}, said]),
            json!([{"type": "reasoning", "encrypted_content": "c2ln"}, said]),
            json!([{"type": "reasoning", "summary": [{"text": "x"}], "encrypted_content": "c2ln"}, said]),
            json!([call("a", "{}"), thought("rs_1"), output("a")]),
        ],
    );
}

#[test]
fn l7_anthropic_refuses() {
    let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
    let call = |id: &str| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": "f", "input": {}}]});
    let block = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "r"});
    let result = |id: &str| json!({"role": "user", "content": [block(id)]});
    let user = text("user", "hi");
    assert_eq!(valid(Shape::Anthropic, &json!({"messages": [user, call("a"), result("a")]})), Ok(()));
    refused(
        Shape::Anthropic,
        "messages",
        &[
            json!([]),
            json!([text("assistant", "hi")]),
            json!([user, user, user]),
            json!([user, text("assistant", "prefill")]),
            json!([text("system", "x")]),
            json!([text("user", "\n")]),
            json!([result("a")]),
            json!([user, call("a"), user]),
            json!([user, call("a"), {"role": "user", "content": [block("a"), block("a")]}]),
            json!([user, call("a"), {"role": "user", "content": [{"type": "text", "text": "x"}, block("a")]}]),
            json!([user, call("a"), result("a"), call("a"), result("a")]),
            json!([user, call("a|b"), result("a|b")]),
            json!([user, {"role": "assistant", "content": [
                {"type": "tool_use", "id": "a", "name": "f", "input": "{}"}
            ]}, result("a")]),
            json!([{"role": "user", "content": []}]),
        ],
    );
    let thinking = json!({"type": "thinking", "thinking": "hm", "signature": "c2ln"});
    let said = json!({"type": "text", "text": "x"});
    let with = |blocks: &[&Value]| json!([user, {"role": "assistant", "content": blocks}, user]);
    let redacted = json!({"type": "redacted_thinking", "data": "c2ln"});
    assert_eq!(valid(Shape::Anthropic, &json!({"messages": with(&[&thinking, &redacted, &said])})), Ok(()));
    refused(
        Shape::Anthropic,
        "messages",
        &[
            with(&[&thinking]),
            with(&[&said, &thinking]),
            with(&[&json!({"type": "thinking", "thinking": "hm"}), &said]),
            with(&[&json!({"type": "thinking", "thinking": "hm", "signature": ""}), &said]),
            with(&[&json!({"type": "redacted_thinking", "data": " "}), &said]),
            json!([{"role": "user", "content": [thinking, said]}]),
        ],
    );
    assert!(valid(Shape::Anthropic, &json!({"system": [], "messages": [user]})).is_err());
}
