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

/// Who may write to a conversation may take an item back: sessions of OpenAI's agents do.
#[tokio::test]
async fn s6_an_item_is_deleted_with_the_right_to_write() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let writer = tokens.add("w", vec!["t:".into()], Right::Write, None, now).await.unwrap().secret;
    let looker = tokens.add("l", vec!["t:".into()], Right::Read, None, now).await.unwrap().secret;
    let reader = tokens.add("r", vec!["u:".into()], Right::Read, None, now).await.unwrap().secret;
    world.token = Some(writer.clone());
    let id = conversation(&world).await;
    let path = format!("/v1/conversations/{id}/items");
    let items = json!({ "items": [{ "type": "message", "role": "user", "content": "hello" }] });
    let kept = world.post(&path, items.clone()).await.json();
    let item = format!("{path}/{}", kept["data"][0]["id"].as_str().unwrap());
    let read_only = format!("Bearer {looker}");
    let read_only = [("authorization", read_only.as_str())];
    assert_eq!(world.call("DELETE", &item, None, &read_only).await.status, 403);
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

/// Lists are paged as at OpenAI: what is not there or makes no sense is said, and never the first page once more.
#[tokio::test]
async fn s1_pages_of_lists_are_refused_as_at_openai() {
    let world = World::new().await;
    let id = conversation(&world).await;
    conversation(&world).await;
    let items =
        json!({ "items": [{ "role": "user", "content": "one" }, { "role": "user", "content": "two" }] });
    world.post(&format!("/v1/conversations/{id}/items"), items).await;
    let made =
        world.post("/v1/responses", json!({ "model": "main", "user": "s", "input": "hi" })).await.json();
    let response = made["id"].as_str().unwrap();
    for path in [
        "/v1/conversations".to_owned(),
        format!("/v1/conversations/{id}/items"),
        format!("/v1/responses/{response}/input_items"),
    ] {
        for (query, status, parameter) in [
            ("after=item_none", 404, "after"),
            ("limit=0", 400, "limit"),
            ("limit=101", 400, "limit"),
            ("limit=many", 400, "limit"),
            ("order=up", 400, "order"),
        ] {
            let answer = world.get(&format!("{path}?{query}")).await;
            assert_eq!(answer.status, status, "{path}?{query}: {}", answer.text);
            let error = &answer.json()["error"];
            assert_eq!(
                (&error["type"], &error["param"]),
                (&json!("invalid_request_error"), &json!(parameter))
            );
        }
        let first = world.get(&format!("{path}?limit=1&order=asc")).await.json();
        let last = first["last_id"].as_str().unwrap();
        let rest = world.get(&format!("{path}?limit=100&order=asc&after={last}")).await;
        assert_eq!(rest.status, 200, "{}", rest.text);
        assert!(!rest.text.contains(last), "{}", rest.text);
    }
}

/// All that a request said is among its input items, in order: what was in the log before, and what no log holds.
#[tokio::test]
async fn s1_input_items_are_all_that_was_sent() {
    let mut world = World::new().await;
    let input = json!([
        { "type": "message", "role": "developer", "content": [{ "type": "input_text", "text": "Be brief." }] },
        { "role": "user", "content": "one" },
        { "type": "reasoning", "id": "rs_1", "summary": [] },
        { "role": "assistant", "content": "a one" },
        { "type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}" },
        { "type": "function_call_output", "call_id": "c1", "output": "42" },
        { "role": "system", "content": "Be kind." },
        { "role": "user", "content": "two" },
    ]);
    let said = async |world: &World, input: &Value| -> Vec<String> {
        let made =
            world.post("/v1/responses", json!({ "model": "main", "user": "s", "input": input })).await.json();
        let path = format!("/v1/responses/{}/input_items?order=asc&limit=100", made["id"].as_str().unwrap());
        let listed = world.get(&path).await.json();
        let word = |item: &Value| match item["type"].as_str() {
            Some("message") => {
                let text = item["content"].as_str().or(item["content"][0]["text"].as_str());
                assert!(item["id"].is_string(), "{item}");
                format!("{} {}", item["role"].as_str().unwrap(), text.unwrap())
            }
            other => other.unwrap().to_owned(),
        };
        listed["data"].as_array().unwrap_or_else(|| panic!("{listed} {made}")).iter().map(word).collect()
    };
    let all = [
        "developer Be brief.",
        "user one",
        "reasoning",
        "assistant a one",
        "function_call",
        "function_call_output",
        "system Be kind.",
        "user two",
    ];
    assert_eq!(said(&world, &input).await, all);
    // The second time most of it is in the log already.
    world.restart().await;
    let mut longer = input.as_array().unwrap().clone();
    longer.push(json!({ "role": "assistant", "content": "ok" }));
    longer.push(json!({ "role": "user", "content": "three" }));
    let expected = [all.as_slice(), &["assistant ok", "user three"]].concat();
    assert_eq!(said(&world, &json!(longer)).await, expected);
    assert_eq!(said(&world, &json!("four")).await, ["user four"]);
}
