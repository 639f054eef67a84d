//! Responses and conversations.

use crate::harness::{Script, World};
use serde_json::{Value, json};

#[tokio::test]
async fn s2_a_response_is_gone_on_from() {
    let world = World::new().await;
    let ask = |input: &str, previous: Option<&str>| json!({ "model": "main", "user": "s", "input": input, "previous_response_id": previous });
    world.model.next(Script::Say("one"));
    let first = world.post("/v1/responses", ask("count", None)).await.json();
    assert_eq!(
        (&first["status"], &first["output"][0]["content"][0]["text"]),
        (&json!("completed"), &json!("one"))
    );
    assert_eq!(first["usage"]["input_tokens"], 7);
    let id = first["id"].as_str().unwrap();
    world.model.next(Script::Say("two"));
    let second = world.post("/v1/responses", ask("go on", Some(id))).await;
    assert_eq!(second.status, 200, "{}", second.text);
    assert_eq!(world.model.given(), ["count", "one", "go on"]);
    // From the first response again: a fork.
    world.model.next(Script::Say("other"));
    let forked = world.post("/v1/responses", ask("count again, please", Some(id))).await;
    assert_eq!(forked.header("x-segue-session"), Some("s#2"));
    assert_eq!(
        world.told("s", 2).await,
        ["user count", "assistant one", "user count again, please", "assistant other"]
    );

    let shown = world.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!((&shown["output"], &shown["id"]), (&first["output"], &first["id"]));
    let items = world.get(&format!("/v1/responses/{id}/input_items")).await.json();
    assert_eq!(items["data"][0]["content"][0]["text"], "count");
    assert_eq!(world.post(&format!("/v1/responses/{id}/cancel"), json!({})).await.status, 200);
    assert_eq!(world.call("DELETE", &format!("/v1/responses/{id}"), None, &[]).await.json()["deleted"], true);
    assert_eq!(world.get(&format!("/v1/responses/{id}")).await.status, 404);
}

#[tokio::test]
async fn events_have_the_names_and_the_order_of_openai() {
    let world = World::new().await;
    world.model.next(Script::Say("one two"));
    let body = json!({ "model": "main", "user": "s", "stream": true, "input": "count" });
    let answer = world.post("/v1/responses", body).await;
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.delta",
        "response.output_text.delta",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(answer.events(), expected, "{}", answer.text);
    for (at, data) in answer.data().iter().enumerate() {
        let value: Value = serde_json::from_str(data).unwrap();
        assert_eq!((&value["type"], &value["sequence_number"]), (&json!(expected[at]), &json!(at)));
    }
    world.model.next(Script::Call("c1", "shell", "{\"cmd\":\"ls\"}"));
    let body = json!({ "model": "main", "user": "s", "stream": true, "input": "list",
        "tools": [{ "type": "function", "name": "shell", "parameters": {} }] });
    let answer = world.post("/v1/responses", body).await;
    let expected = [
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "response.output_item.done",
        "response.completed",
    ];
    assert_eq!(answer.events(), expected, "{}", answer.text);
}

#[tokio::test]
async fn s2_a_whole_history_of_items_is_one_session_with_every_call() {
    let world = World::new().await;
    let user = |text: &str| json!({ "type": "message", "role": "user", "content": [{ "type": "input_text", "text": text }] });
    let mut input = vec![user("<environment>"), user("list the files")];
    let ask = |input: &[Value]| {
        json!({ "model": "main", "prompt_cache_key": "thread-1", "store": false, "stream": true, "input": input,
            "instructions": "You are Codex.", "tools": [{ "type": "function", "name": "shell", "parameters": {} }] })
    };
    world.model.next(Script::Call("c1", "shell", "{}"));
    world.post("/v1/responses", ask(&input)).await;
    input.push(json!({ "type": "function_call", "call_id": "c1", "name": "shell", "arguments": "{}" }));
    input.push(json!({ "type": "function_call_output", "call_id": "c1", "output": "a.txt" }));
    world.model.next(Script::Say("There is a.txt."));
    world.post("/v1/responses", ask(&input)).await;
    assert_eq!(world.model.given()[0], "You are Codex.");
    let text = json!([{ "type": "output_text", "text": "There is a.txt." }]);
    input.push(json!({ "type": "message", "role": "assistant", "content": text }));
    input.push(user("thanks"));
    world.post("/v1/responses", ask(&input)).await;
    let told = world.told("thread-1", 1).await;
    let expected = [
        "user <environment>",
        "user list the files",
        "assistant  +1",
        "tool a.txt",
        "assistant There is a.txt.",
        "user thanks",
        "assistant ok",
    ];
    assert_eq!(told, expected);
    let sessions = world.get("/api/v1/scopes/thread-1/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_conversation_keeps_its_items_also_after_a_restart() {
    let mut world = World::new().await;
    let user = json!({ "type": "message", "role": "user", "content": "hello" });
    let made =
        world.post("/v1/conversations", json!({ "items": [user], "metadata": { "topic": "t" } })).await;
    let made = made.json();
    let id = made["id"].as_str().unwrap();
    assert_eq!((&made["object"], &made["metadata"]["topic"]), (&json!("conversation"), &json!("t")));
    let items = json!({ "items": [
        { "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "42" },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "It is 42." }] },
    ] });
    let added = world.post(&format!("/v1/conversations/{id}/items"), items).await;
    assert_eq!(added.json()["data"].as_array().unwrap().len(), 3, "{}", added.text);
    world.restart().await;
    let listed = world.get(&format!("/v1/conversations/{id}/items?order=asc")).await.json();
    let kinds: Vec<&str> =
        listed["data"].as_array().unwrap().iter().map(|i| i["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call", "function_call_output", "message"]);
    world.model.next(Script::Say("Yes."));
    let body = json!({ "model": "main", "conversation": id, "input": "Are you sure that it is 42?" });
    assert_eq!(world.post("/v1/responses", body).await.status, 200);
    let newest = world.get(&format!("/v1/conversations/{id}/items?limit=1")).await.json();
    assert_eq!(
        (&newest["data"][0]["content"][0]["text"], &newest["has_more"]),
        (&json!("Yes."), &json!(true))
    );
    let item = listed["data"][0]["id"].as_str().unwrap();
    assert_eq!(world.get(&format!("/v1/conversations/{id}/items/{item}")).await.status, 200);
    assert_eq!(
        world.call("DELETE", &format!("/v1/conversations/{id}/items/{item}"), None, &[]).await.status,
        200
    );
    assert_eq!(world.get(&format!("/v1/conversations/{id}/items/{item}")).await.status, 404);
    assert_eq!(
        world.call("DELETE", &format!("/v1/conversations/{id}"), None, &[]).await.json()["deleted"],
        true
    );
    assert_eq!(world.get(&format!("/v1/conversations/{id}")).await.status, 404);
}
