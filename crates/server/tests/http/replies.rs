//! What hosts send: replies in the shapes that models give them, addresses as channels give them, paging, limits.

use crate::harness::World;
use serde_json::{Value, json};

#[tokio::test]
async fn s1_replies_are_taken_in_the_shape_of_openai_too() {
    let world = World::new().await;
    world.say("s", "weather?").await;
    let nested = json!([{ "id": "c1", "type": "function", "function": { "name": "weather", "arguments": "{\"a\":1}" } }]);
    let flat = json!([{ "id": "c2", "name": "weather", "arguments": { "a": 1 } }]);
    let none = json!(null);
    for (text, calls) in [(none.clone(), nested), (json!(""), flat), (json!("Sunny."), none.clone())] {
        let body = json!({ "scope": "s", "text": text, "tool_calls": calls, "reasoning": null, "usage": null,
            "model": null, "message_id": null, "at": null, "session": null });
        let answer = world.post("/api/v1/replies", body).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
    }
    let items = world.get("/api/v1/scopes/s/sessions/1/messages").await.json()["items"].clone();
    for at in [1, 2] {
        assert_eq!(items[at]["tool_calls"][0]["name"], "weather", "{items}");
        assert_eq!(items[at]["tool_calls"][0]["arguments"], "{\"a\":1}", "{items}");
    }
    let result = json!({ "scope": "s", "tool_call_id": "c1", "text": null });
    assert_eq!(world.post("/api/v1/tool-results", result).await.status, 200);
    let message = json!({ "scope": "s", "text": "thanks", "attachments": null, "address": null, "context": null,
        "message_id": null, "at": null, "sender": null, "intent": null });
    assert_eq!(world.post("/api/v1/messages", message).await.status, 200);
}

/// P-1: in a group the peer is who speaks; without peer and group it is the main scope; ids may be numbers.
#[tokio::test]
async fn p1_addresses_are_read_as_in_a_replay() {
    let world = World::new().await;
    let say = |peer: Value, text: &str| json!({ "address": { "channel": "telegram", "group": "g", "peer": peer }, "text": text, "message_id": 5 });
    let ann = world.post("/api/v1/messages", say(json!("ann"), "hello")).await;
    assert_eq!(ann.status, 200, "{}", ann.text);
    let bob = world.post("/api/v1/messages", say(json!(7), "hello")).await.json();
    assert_eq!((&bob["duplicate"], &bob["scope"]), (&json!(false), &ann.json()["scope"]), "{bob}");
    let scope = bob["scope"].as_str().unwrap();
    let items = world.get(&format!("/api/v1/scopes/{scope}/sessions/1/messages")).await.json();
    let senders: Vec<&Value> = items["items"].as_array().unwrap().iter().map(|m| &m["sender"]).collect();
    assert_eq!(senders, ["ann", "7"], "{items}");
    let main = json!({ "address": { "channel": "telegram", "account": 3 }, "text": "hello" });
    let main = world.post("/api/v1/messages", main).await;
    assert_eq!((main.status, &main.json()["scope"]), (200, &json!("agent:main:main")), "{}", main.text);
}

#[tokio::test]
async fn s1_a_context_that_does_not_fit_does_not_take_the_turn_back() {
    let told = "every word of this counts ".repeat(500);
    let world = World::with(&format!("[agents.defaults]\ninstructions = \"{told}\"")).await;
    let body = json!({ "scope": "s", "text": "hello", "context": { "window": 256 } });
    let turn = world.post("/api/v1/messages", body).await;
    assert_eq!((turn.status, &turn.json()["context"]), (200, &Value::Null), "{}", turn.text);
    assert_eq!(turn.json()["wants_reply"], true);
    assert!(turn.json()["reasons"].to_string().contains("context"), "{}", turn.text);
}

#[tokio::test]
async fn s1_scopes_come_page_by_page_and_none_is_skipped() {
    let world = World::new().await;
    for name in ["a", "b", "c"] {
        world.say(name, "hello").await;
    }
    let whole = world.get("/api/v1/scopes?limit=3").await.json();
    assert_eq!((whole["items"].as_array().unwrap().len(), &whole["next"]), (3, &Value::Null), "{whole}");
    let (mut seen, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = world.get(&format!("/api/v1/scopes?limit=1{cursor}")).await.json();
        seen.extend(
            page["items"].as_array().unwrap().iter().map(|s| s["scope"].as_str().unwrap().to_owned()),
        );
        // Whatever is still to come is written to meanwhile.
        for name in ["c", "b", "a"] {
            world.say(name, "again").await;
        }
        match page["next"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    seen.sort();
    assert_eq!(seen, ["a", "b", "c"]);
}

#[tokio::test]
async fn s1_a_change_of_a_session_is_made_as_a_whole_or_not_at_all() {
    let world = World::new().await;
    world.say("s", "hello").await;
    let path = "/api/v1/scopes/s/sessions/1";
    let body = json!({ "title": "Changed", "kept": true, "agent": "main", "model": "nope" });
    let refused = world.call("PATCH", path, Some(&body), &[]).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    let session = world.get(path).await.json();
    assert_eq!((&session["title"] != "Changed", &session["kept"]), (true, &json!(false)), "{session}");
    let body = json!({ "title": "Changed", "kept": true, "model": "main" });
    let changed = world.call("PATCH", path, Some(&body), &[]).await;
    assert_eq!((changed.status, &changed.json()["title"]), (200, &json!("Changed")), "{}", changed.text);
}

#[tokio::test]
async fn s1_operations_of_tasks_take_their_fields_and_no_others() {
    let world = World::new().await;
    let act = |op: &'static str, body: Value| {
        let world = &world;
        async move { world.post(&format!("/api/v1/scopes/s/task/{op}"), body).await }
    };
    let started = act("start", json!({ "task": "Add retry logic", "at": "2026-03-01T10:00:00Z" })).await;
    assert_eq!(started.status, 200, "{}", started.text);
    let sessions = world.get("/api/v1/scopes/s/sessions").await.json();
    assert_eq!(sessions["items"][0]["created_at"], "2026-03-01T10:00:00Z", "{sessions}");
    // What is done next without a time is done on the same clock.
    assert_eq!(act("note", json!({ "text": "looked" })).await.status, 200);
    let late = act("resume", json!({ "at": "2026-03-03T10:00:00Z" })).await;
    assert_eq!(late.status, 200, "{}", late.text);
    assert!(late.json()["notice"].as_str().unwrap_or_default().contains('?'), "it asks: {}", late.text);
    for (op, body, status) in [
        ("note", json!({ "text": "x", "at": "noon" }), 422),
        ("note", json!({ "text": "x", "strange": 1 }), 422),
        ("ask", json!({}), 422),
        ("ask", json!({ "question": " " }), 422),
        ("note", json!({}), 422),
        ("file_read", json!({ "content": "x" }), 422),
        ("relations", json!({ "edges": 5 }), 422),
        ("confirm", json!({}), 409),
    ] {
        let answer = act(op, body.clone()).await;
        assert_eq!(answer.status, status, "{op} {body}: {}", answer.text);
    }
    let broken = world.send("POST", "/api/v1/scopes/s/undo", Some(b"{".to_vec()), &[]).await;
    assert_eq!(broken.status, 400, "{}", broken.text);
    let broken = world.send("POST", "/api/v1/scopes/s/sessions/1/resume", Some(b"{".to_vec()), &[]).await;
    assert_eq!(broken.status, 400, "{}", broken.text);
}

#[tokio::test]
async fn s1_numbers_of_a_query_are_taken_as_people_mean_them() {
    let world = World::new().await;
    world.say("s", "hello").await;
    for path in [
        "/api/v1/scopes?limit=1000",
        "/api/v1/scopes/s/sessions?limit=1000",
        "/api/v1/scopes/s/sessions/1/messages?limit=100000",
        "/api/v1/scopes/s/decisions?limit=1000",
        "/api/v1/scopes/s/interrupts?wait=0.5",
    ] {
        assert_eq!(world.get(path).await.status, 200, "{path}");
    }
    for path in [
        "/api/v1/scopes?limit=0",
        "/api/v1/scopes/s/interrupts?wait=-1",
        "/api/v1/scopes/s/interrupts?wait=x",
    ] {
        assert_eq!(world.get(path).await.status, 422, "{path}");
    }
}

/// R-10: names, types and captions of attachments are part of what was said.
#[tokio::test]
async fn r10_what_is_known_about_attachments_is_kept() {
    let world = World::new().await;
    let attachments = json!([
        "notes.txt",
        { "filename": "cat.png", "mime_type": "image/png", "caption": "a cat on a roof" },
        { "name": "report.pdf", "type": "application/pdf", "url": "https://example.org/r" },
        { "alt": "a drawing" },
        {},
    ]);
    let body = json!({ "scope": "s", "text": "look", "attachments": attachments });
    assert_eq!(world.post("/api/v1/messages", body).await.status, 200);
    let body = json!({ "scope": "s", "attachments": [{ "name": "alone.txt" }] });
    assert_eq!(world.post("/api/v1/messages", body).await.status, 200);
    let told = world.told("s", 1).await;
    let lines = [
        "user look",
        "[attachment: notes.txt]",
        "[attachment: cat.png image/png a cat on a roof]",
        "[attachment: report.pdf application/pdf https://example.org/r]",
        "[attachment: a drawing]",
        "[attachment]",
    ];
    assert_eq!(told[0].lines().collect::<Vec<_>>(), lines);
    assert_eq!(told[1], "user [attachment: alone.txt]");
    let body = json!({ "scope": "s", "text": "look", "attachments": [{ "name": "a", "strange": 1 }] });
    assert_eq!(world.post("/api/v1/messages", body).await.status, 422);
}
