//! What stands beside the log, and how an erasure reaches it.

use crate::harness::{Script, World};
use segue_core::entry::Seq;
use segue_server::values::Space;
use segue_store::values::{Erased, NAMESPACES};
use serde_json::{Value, json};

/// What everything says that is to go.
const MARK: &[u8] = b"MILKSECRET";

fn holds_mark(world: &World) -> bool {
    world.files().windows(MARK.len()).any(|bytes| bytes == MARK)
}

/// Erases every message of a scope, as `segue erase` does.
async fn erase_all(world: &World, scope: &str) {
    let engine = world.engine().await;
    let scope = scope.parse().unwrap();
    let records = engine.store().tail(&scope, Seq::ZERO, 1_000).await.unwrap();
    let said = records.iter().filter(|record| segue_core::erasure::Place::is_kept_in(record));
    let entries: Vec<Seq> = said.map(|record| record.seq).collect();
    engine.erase_unpurged(&scope, &entries).await.unwrap();
    assert!(engine.purge().await);
}

/// X-17: a new namespace fails here until somebody has said how an erasure reaches it.
#[tokio::test]
async fn x17_every_namespace_of_values_is_known() {
    let named: Vec<&str> = NAMESPACES.iter().map(|(name, _)| *name).collect();
    for space in Space::ALL {
        assert!(named.contains(&space.name()), "{}: how does an erasure reach it?", space.name());
    }
    let world = World::new().await;
    let made = said_everything(&world).await;
    // What holds no words holds none, and what holds words goes with its scope.
    let engine = world.engine().await;
    for (name, erased) in NAMESPACES {
        let values = engine.store().values(name, "", None, 10_000, segue_core::Timestamp::MIN).await.unwrap();
        let marked = values.iter().any(|value| value.bytes.windows(MARK.len()).any(|bytes| bytes == MARK));
        assert_eq!(marked, erased == Erased::WithScope, "{name}");
    }
    assert!(holds_mark(&world));
    for scope in made {
        erase_all(&world, &scope).await;
    }
    assert!(!holds_mark(&world), "something of what was erased is left");
}

/// Says the mark wherever a client can say something, and returns the scopes.
async fn said_everything(world: &World) -> Vec<String> {
    let key = |name: &'static str| [("idempotency-key", name)];
    let mark = "MILKSECRET";
    let conversation = json!({ "metadata": { "topic": mark }, "items": [{ "role": "user", "content": [
        { "type": "input_text", "text": mark }, { "type": "input_image", "image_url": format!("https://example.org/{mark}") },
    ] }] });
    let made = world.call("POST", "/v1/conversations", Some(&conversation), &key("a")).await.json();
    let id = made["id"].as_str().unwrap();
    let tool = json!({ "type": "function", "name": "f", "description": mark, "parameters": { "type": "object", "properties": {} } });
    let ask = json!({ "model": "main", "conversation": id, "metadata": { "why": mark }, "tools": [tool], "instructions": mark,
        "safety_identifier": mark, "text": { "format": { "type": "json_schema", "name": "x", "schema": { "title": mark } } },
        "input": [{ "role": "developer", "content": mark }, { "role": "user", "content": mark }] });
    let response = world.call("POST", "/v1/responses", Some(&ask), &key("b")).await;
    assert_eq!(response.status, 200, "{}", response.text);
    // A native endpoint says what nobody knows.
    let native = r#"{"id":"r","object":"response","status":"incomplete","model":"m","strange":{"MILKSECRET":1},
        "incomplete_details":{"reason":"MILKSECRET"},"usage":{"input_tokens":1,"MILKSECRET":2},"truncation":"MILKSECRET",
        "output":[{"type":"message","id":"m1","role":"assistant","content":[{"type":"output_text","text":"MILKSECRET"}]}]}"#;
    world.model.next(Script::Response(native));
    let ask = json!({ "model": "native", "conversation": id, "input": mark });
    assert_eq!(world.call("POST", "/v1/responses", Some(&ask), &key("c")).await.status, 200);
    // One in the background fails, and tells why.
    world.model.next(Script::Status(400, r#"{"error":{"message":"no MILKSECRET please"}}"#));
    let ask =
        json!({ "model": "main", "user": "s", "background": true, "input": mark, "instructions": mark });
    let begun = world.call("POST", "/v1/responses", Some(&ask), &key("d")).await.json();
    let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
    loop {
        let shown = world.get(&path).await.json();
        if shown["status"] == "failed" {
            assert!(shown["error"]["message"].as_str().unwrap().contains(mark), "{shown}");
            break;
        }
    }
    // Segue's own interface, with an answer that tells a title, and a refusal that does.
    for (text, name) in [(mark, "e"), ("/session rename MILKSECRET", "f"), ("/session list", "g")] {
        let body = json!({ "scope": "s", "text": text });
        assert_eq!(world.call("POST", "/api/v1/messages", Some(&body), &key(name)).await.status, 200);
    }
    let refused = world.call("POST", "/api/v1/scopes/s/sessions/1/resume", None, &key("h")).await;
    assert_eq!(refused.status, 409, "{}", refused.text);
    vec!["s".to_owned(), id.to_owned()]
}

/// An item that is deleted takes nothing along of the others, and no label.
#[tokio::test]
async fn x17_what_tells_of_one_message_goes_with_that_message() {
    let world = World::new().await;
    let picture = |text: &str| {
        json!({ "role": "user", "content": [{ "type": "input_text", "text": text },
        { "type": "input_image", "image_url": format!("https://example.org/{text}") }] })
    };
    let body =
        json!({ "metadata": { "topic": "animals" }, "items": [picture("MILKSECRET"), picture("cats")] });
    let id = world.post("/v1/conversations", body).await.json()["id"].as_str().unwrap().to_owned();
    let path = format!("/v1/conversations/{id}/items");
    let listed = world.get(&format!("{path}?order=asc")).await.json();
    let first = listed["data"][0]["id"].as_str().unwrap();
    let gone = world.call("DELETE", &format!("{path}/{first}"), None, &[]).await;
    assert_eq!((gone.status, &gone.json()["finished"]), (200, &json!(true)), "{}", gone.text);
    assert_eq!(gone.json()["metadata"]["topic"], "animals");
    let listed = world.get(&path).await.json();
    assert_eq!(listed["data"][0]["content"][1]["image_url"], "https://example.org/cats", "{listed}");
    assert!(!holds_mark(&world));
}

/// A response in the background that was asked for before an erasure writes nothing of it down again.
#[tokio::test]
async fn x17_a_response_that_ends_after_an_erasure_keeps_nothing_of_it() {
    let world = World::new().await;
    world.model.next(Script::Wait("fine"));
    let ask = json!({ "model": "main", "user": "s", "background": true, "input": "hello", "instructions": "MILKSECRET" });
    let begun = world.post("/v1/responses", ask).await.json();
    assert_eq!(begun["instructions"], "MILKSECRET");
    while world.model.requests().is_empty() {
        tokio::task::yield_now().await;
    }
    erase_all(&world, "s").await;
    assert!(!holds_mark(&world));
    world.model.go.notify_one();
    let path = format!("/v1/responses/{}", begun["id"].as_str().unwrap());
    let shown = loop {
        let shown = world.get(&path).await.json();
        if shown["status"] != "in_progress" {
            break shown;
        }
    };
    assert_eq!((&shown["status"], &shown["instructions"]), (&json!("completed"), &Value::Null), "{shown}");
    assert_eq!(shown["output"][0]["content"][0]["text"], "fine", "{shown}");
    assert!(!holds_mark(&world));
}

/// An answer that is kept for a second request is not kept once more after an erasure.
#[tokio::test]
async fn x17_an_answer_that_comes_after_an_erasure_is_not_kept() {
    let world = World::new().await;
    world.model.next(Script::Wait("the MILKSECRET"));
    let ask = json!({ "model": "main", "user": "s", "messages": [{ "role": "user", "content": "hello" }] });
    let key = [("idempotency-key", "k")];
    let asked = world.call("POST", "/v1/chat/completions", Some(&ask), &key);
    let erased = async {
        while world.model.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        erase_all(&world, "s").await;
        world.model.go.notify_one();
    };
    let (answer, ()) = tokio::join!(asked, erased);
    assert_eq!(answer.status, 200, "{}", answer.text);
    let again = world.call("POST", "/v1/chat/completions", Some(&ask), &key).await;
    assert_eq!(again.status, 409, "{}", again.text);
}

/// What an earlier version labelled a conversation with goes to where an erasure reaches it as soon as it is read.
#[tokio::test]
async fn x17_labels_that_an_earlier_version_wrote_go_with_what_is_erased() {
    for change in [None, Some(json!({})), Some(json!({ "metadata": { "topic": "cats" } }))] {
        let world = World::new().await;
        world.say("s", "hello").await;
        let old = json!({ "scope": "s", "created_at": 1, "metadata": { "topic": "MILKSECRET" } });
        let value = segue_store::Value::new("conv_old", old.to_string());
        world.engine().await.store().put_value("serve.conversation", value).await.unwrap();
        let path = "/v1/conversations/conv_old";
        let shown = match &change {
            None => world.get(path).await,
            Some(change) => world.post(path, change.clone()).await,
        };
        let topic =
            if change == Some(json!({ "metadata": { "topic": "cats" } })) { "cats" } else { "MILKSECRET" };
        assert_eq!(shown.json()["metadata"]["topic"], topic, "{}", shown.text);
        assert_eq!(world.get("/v1/conversations").await.json()["data"][0]["metadata"]["topic"], topic);
        erase_all(&world, "s").await;
        assert_eq!(world.get(path).await.json()["metadata"], json!({}), "{change:?}");
        assert!(!holds_mark(&world), "{change:?}");
    }
}

/// An item is not gone as long as a damaged file may hold it, as its message is not.
#[tokio::test]
async fn x17_an_item_that_a_damaged_file_may_hold_is_not_finished() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::node(segue_store::Location::Files(folder.path().to_owned()), "").await;
    let item = |text: &str| json!({ "items": [{ "role": "user", "content": text }] });
    let id = world.post("/v1/conversations", item("one")).await.json()["id"].as_str().unwrap().to_owned();
    world.stop().await;
    let file = folder.path().join(format!("sessions/{}/journal.jsonl", id.replace('_', "%5f")));
    let whole = std::fs::read_to_string(&file).unwrap();
    assert!(whole.contains("\"kind\":\"opened\""), "{whole}");
    std::fs::write(&file, whole.replacen("\"kind\":\"opened\"", "\"kind\":", 1)).unwrap();
    // What it said cannot be read either.
    let file = file.with_file_name("000001.jsonl");
    let whole = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, whole.replacen("\"len\"", "\"l%n\"", 1)).unwrap();
    world.restart_stopped().await;
    let path = format!("/v1/conversations/{id}/items");
    let added = world.post(&path, item("two")).await.json();
    let gone = world
        .call("DELETE", &format!("{path}/{}", added["data"][0]["id"].as_str().unwrap()), None, &[])
        .await;
    assert_eq!((gone.status, &gone.json()["finished"]), (200, &json!(false)), "{}", gone.text);
}
