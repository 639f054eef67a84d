//! Items of conversations: their ids, their kinds, and what erasing one takes along.

use crate::harness::{Script, World};
use segue_server::Server;
use segue_server::auth::Right;
use serde_json::{Value, json};

async fn conversation(world: &World) -> String {
    world.post("/v1/conversations", json!({})).await.json()["id"].as_str().unwrap().to_owned()
}

async fn listed(world: &World, id: &str) -> Vec<Value> {
    let answer = world.get(&format!("/v1/conversations/{id}/items?order=asc&limit=100")).await;
    answer.json()["data"].as_array().unwrap().clone()
}

#[tokio::test]
async fn s1_an_item_of_a_response_is_found_by_its_id() {
    let mut world = World::new().await;
    let id = conversation(&world).await;
    let native = r#"{"id":"resp_1","object":"response","status":"completed","model":"scripted","output":[
        {"type":"message","id":"msg_theirs","role":"assistant","status":"completed",
         "content":[{"type":"output_text","text":"hi","annotations":[]}]}]}"#;
    let mut ids = Vec::new();
    for (model, script, stream) in [
        ("main", Script::Say("one"), false),
        ("main", Script::Call("c1", "weather", "{}"), false),
        ("main", Script::Say("two"), true),
        ("native", Script::Response(native), false),
    ] {
        world.model.next(script);
        let body = json!({ "model": model, "conversation": id, "input": "go on", "stream": stream });
        let answer = world.post("/v1/responses", body).await;
        let response = match stream {
            true => serde_json::from_str::<Value>(answer.data().last().unwrap()).unwrap()["response"].clone(),
            false => answer.json(),
        };
        ids.push(response["output"][0]["id"].as_str().unwrap().to_owned());
    }
    world.restart().await;
    for item in &ids {
        let shown = world.get(&format!("/v1/conversations/{id}/items/{item}")).await;
        assert_eq!((shown.status, &shown.json()["id"]), (200, &json!(item)), "{}", shown.text);
    }
    let all: Vec<String> =
        listed(&world, &id).await.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect();
    assert!(ids.iter().all(|id| all.contains(id)), "{ids:?} {all:?}");
    let gone = world.call("DELETE", &format!("/v1/conversations/{id}/items/{}", ids[0]), None, &[]).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    assert_eq!(listed(&world, &id).await.len(), all.len() - 1);
}

#[tokio::test]
async fn s1_an_item_is_erased_alone() {
    let world = World::new().await;
    let id = conversation(&world).await;
    let path = format!("/v1/conversations/{id}/items");
    let items = json!({ "items": [
        { "type": "reasoning", "id": "rs_theirs", "summary": [{ "type": "summary_text", "text": "hm" }] },
        { "type": "message", "role": "assistant", "content": [{ "type": "output_text", "text": "Let me look." }] },
        { "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "function_call", "call_id": "c2", "name": "g", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "42" },
    ] });
    let kept = world.post(&path, items).await;
    assert_eq!(kept.json()["data"].as_array().unwrap().len(), 5, "{}", kept.text);
    let kinds = async || -> Vec<String> {
        let kind = |item: &Value| item["type"].as_str().unwrap().to_owned();
        listed(&world, &id).await.iter().map(kind).collect()
    };
    let mut expected = vec!["reasoning", "message", "function_call", "function_call", "function_call_output"];
    assert_eq!(kinds().await, expected);
    for at in [2, 0, 0] {
        let item = listed(&world, &id).await[at]["id"].as_str().unwrap().to_owned();
        let gone = world.call("DELETE", &format!("{path}/{item}"), None, &[]).await;
        assert_eq!(gone.status, 200, "{item}: {}", gone.text);
        expected.remove(at);
        assert_eq!(kinds().await, expected, "{item}");
    }
}

/// To erase needs the same right everywhere.
#[tokio::test]
async fn s6_erasing_an_item_needs_the_right_to_erase() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let writer = tokens.add("w", vec!["t:".into()], Right::Write, None, now).await.unwrap().secret;
    let admin = tokens.add("a", vec!["t:".into()], Right::Admin, None, now).await.unwrap().secret;
    let reader = tokens.add("r", vec!["u:".into()], Right::Read, None, now).await.unwrap().secret;
    world.token = Some(writer);
    let id = conversation(&world).await;
    let path = format!("/v1/conversations/{id}/items");
    let items = json!({ "items": [{ "type": "message", "role": "user", "content": "hello" }] });
    let kept = world.post(&path, items.clone()).await.json();
    let item = format!("{path}/{}", kept["data"][0]["id"].as_str().unwrap());
    assert_eq!(world.call("DELETE", &item, None, &[]).await.status, 403);
    // What a token may not know of is not there, whatever it may do.
    let header = format!("Bearer {reader}");
    let foreign = [("authorization", header.as_str())];
    let in_scope = json!({ "model": "main", "metadata": { "segue_scope": "t:x" }, "input": "hi" });
    for (method, path, body) in [
        ("DELETE", item.as_str(), None),
        ("POST", path.as_str(), Some(items)),
        ("POST", "/api/v1/messages", Some(json!({ "scope": "t:x", "text": "hi" }))),
        ("POST", "/api/v1/replies", Some(json!({ "scope": "t:x", "text": "hi" }))),
        ("POST", "/api/v1/tool-results", Some(json!({ "scope": "t:x", "tool_call_id": "c" }))),
        ("POST", "/v1/responses", Some(in_scope)),
    ] {
        assert_eq!(world.call(method, path, body.as_ref(), &foreign).await.status, 404, "{method} {path}");
    }
    world.token = Some(admin);
    assert_eq!(world.call("DELETE", &item, None, &[]).await.status, 200);
}

#[tokio::test]
async fn s1_items_are_listed_as_they_were_sent() {
    let mut world = World::new().await;
    let id = conversation(&world).await;
    let image = json!({ "type": "input_image", "image_url": "https://example.org/a.png", "detail": "low" });
    let items = json!([
        { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "Be brief." }] },
        { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "What is it?" }, image] },
        { "type": "custom_tool_call", "call_id": "c1", "name": "patch", "input": "*** Begin" },
        { "type": "custom_tool_call_output", "call_id": "c1", "output": "done" },
    ]);
    world.post(&format!("/v1/conversations/{id}/items"), json!({ "items": items })).await;
    world.restart().await;
    let told = listed(&world, &id).await;
    let shown: Vec<Value> = told
        .iter()
        .map(|item| {
            let fields =
                item.as_object().unwrap().iter().filter(|(name, _)| *name != "id" && *name != "status");
            Value::Object(fields.map(|(name, value)| (name.clone(), value.clone())).collect())
        })
        .collect();
    assert_eq!(json!(shown), items);
}

/// A provider's own tools leave items in a history that have no ids.
#[tokio::test]
async fn s2_items_of_a_providers_own_tools_are_taken() {
    let world = World::new().await;
    let input = json!([
        { "role": "user", "content": "search" },
        { "type": "web_search_call", "status": "completed", "action": { "type": "search", "query": "x" } },
        { "role": "assistant", "content": "Found." },
        { "role": "user", "content": "thanks" },
    ]);
    for _ in 0..2 {
        let answer =
            world.post("/v1/responses", json!({ "model": "main", "user": "s", "input": input })).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
}

/// The limits hold for items, too.
#[tokio::test]
async fn s1_an_item_that_is_too_long_is_refused() {
    let world = World::with("[limits]\nmessage_bytes_max = 1000").await;
    let id = conversation(&world).await;
    let items = json!({ "items": [{ "type": "message", "role": "user", "content": "x".repeat(1001) }] });
    let answer = world.post(&format!("/v1/conversations/{id}/items"), items.clone()).await;
    assert_eq!(answer.status, 413, "{}", answer.text);
    assert_eq!(world.post("/v1/conversations", items).await.status, 413);
    assert_eq!(listed(&world, &id).await, Vec::<Value>::new());
}

/// A response can be asked for with what it was told to do, and as events.
#[tokio::test]
async fn s1_a_response_is_shown_as_it_was_made() {
    let mut world = World::new().await;
    let body = json!({ "model": "main", "user": "s", "input": "hi", "instructions": "Be brief." });
    let made = world.post("/v1/responses", body).await.json();
    let path = format!("/v1/responses/{}", made["id"].as_str().unwrap());
    world.restart().await;
    assert_eq!(world.get(&path).await.json(), made);
    let streamed = world.get(&format!("{path}?stream=true")).await;
    assert_eq!(streamed.header("content-type"), Some("text/event-stream"));
    let events = streamed.events();
    assert_eq!(
        (events[0].as_str(), events.last().unwrap().as_str()),
        ("response.created", "response.completed")
    );
    let last: Value = serde_json::from_str(streamed.data().last().unwrap()).unwrap();
    assert_eq!(last["response"], made);
    let rest = world.get(&format!("{path}?stream=true&starting_after=3")).await;
    let first: Value = serde_json::from_str(&rest.data()[0]).unwrap();
    assert_eq!(first["sequence_number"], 4);
}
