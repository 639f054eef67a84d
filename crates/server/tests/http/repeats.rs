//! Requests that are sent again: the same answer, and nothing is done twice.

use crate::harness::{Answer, Script, World};
use segue_server::Server;
use segue_server::auth::Right;
use serde_json::{Value, json};

const KEY: [(&str, &str); 1] = [("idempotency-key", "k")];

/// Takes the kept answers away, as if the server had been killed after the commit and before the answer was kept.
async fn lose_answers(world: &World) {
    let engine = world.engine().await;
    for value in engine.store().values("serve.answer", "", None, 100, engine.now()).await.unwrap() {
        engine.store().delete_value("serve.answer", &value.key).await.unwrap();
    }
}

/// S-3: the log itself knows the keys, so that a request whose answer was lost is recognised.
#[tokio::test]
async fn s3_a_request_whose_answer_was_lost_is_not_done_again() {
    let world = World::new().await;
    world.say("s", "hello").await;
    let second = world.say("s", "hello again").await["seq"].clone();
    let made = world.post("/v1/conversations", json!({})).await.json();
    let items = format!("/v1/conversations/{}/items", made["id"].as_str().unwrap());
    let item = json!({ "type": "message", "role": "user", "content": "an item" });
    let path = |rest: &str| format!("/api/v1/scopes/s/{rest}");
    for (path, body) in [
        (path("sessions"), Value::Null),
        (path("undo"), Value::Null),
        (path("redo"), Value::Null),
        (path("sessions/1/resume"), Value::Null),
        (path("sessions/1/fork"), Value::Null),
        (path("sessions/1/resume"), json!({})),
        (path("split"), json!({ "at": second })),
        (path("task/start"), json!({ "task": "Add retry logic" })),
        (path("task/note"), json!({ "text": "looked at it" })),
        (path("task/interrupt"), json!({ "text": "the first one" })),
        (path("task/incorporate"), Value::Null),
        (path("task/ask"), json!({ "question": "Which one?" })),
        ("/api/v1/messages".to_owned(), json!({ "scope": "s", "text": "a message" })),
        ("/api/v1/replies".to_owned(), json!({ "scope": "s", "text": "a reply" })),
        (items, json!({ "items": [item, item] })),
        ("/v1/conversations".to_owned(), json!({ "items": [item] })),
    ] {
        let bytes = (!body.is_null()).then(|| body.clone());
        let key = format!("{path} {body}");
        let headers = [("idempotency-key", key.as_str())];
        let first = world.call("POST", &path, bytes.as_ref(), &headers).await;
        assert_eq!(first.status, 200, "{key}: {}", first.text);
        let heads = heads(&world).await;
        lose_answers(&world).await;
        let again = world.call("POST", &path, bytes.as_ref(), &headers).await;
        assert_eq!(again.status, 200, "{key}: {}", again.text);
        assert_eq!(self::heads(&world).await, heads, "{key} was done twice");
        for field in ["action", "session", "session_id", "notice", "state", "id", "data", "seq"] {
            assert_eq!(again.json()[field], first.json()[field], "{key}: {field}");
        }
    }
    assert_eq!(world.get("/v1/conversations").await.json()["data"].as_array().unwrap().len(), 2);
    assert_eq!(world.get("/api/v1/scopes/s/verify").await.json()["ok"], true);
}

/// Where the logs of all scopes end.
async fn heads(world: &World) -> Vec<(String, u64)> {
    let engine = world.engine().await;
    let mut heads = Vec::new();
    for scope in engine.every_scope().await.unwrap() {
        let head = engine.store().head(&scope).await.unwrap().unwrap();
        heads.push((scope.as_str().to_owned(), head.0));
    }
    heads.sort();
    heads
}

#[tokio::test]
async fn s3_an_error_is_repeated_in_the_same_shape() {
    let world = World::new().await;
    let body = json!({ "model": "none", "messages": [{ "role": "user", "content": "hi" }] });
    let first = world.call("POST", "/v1/chat/completions", Some(&body), &KEY).await;
    let second = world.call("POST", "/v1/chat/completions", Some(&body), &KEY).await;
    assert_eq!((first.status, &first.text), (404, &second.text));
    assert_eq!(first.header("content-type"), second.header("content-type"));
}

/// The text of a streamed answer, of whichever interface, or the name of the tool that it calls.
fn said(answer: &Answer) -> String {
    let values: Vec<Value> =
        answer.data().iter().filter_map(|data| serde_json::from_str(data).ok()).collect();
    let output = values.iter().find_map(|value| value.pointer("/response/output/0").cloned());
    let item = values.iter().rev().find_map(|value| value.pointer("/response/output/0").cloned()).or(output);
    match item {
        Some(item) => {
            item.pointer("/content/0/text").or(item.get("name")).unwrap().as_str().unwrap().to_owned()
        }
        None => {
            let call = |value: &Value| {
                Some(value.pointer("/choices/0/delta/tool_calls/0/function/name")?.as_str()?.to_owned())
            };
            answer.streamed() + &values.iter().find_map(call).unwrap_or_default()
        }
    }
}

/// S-3: a stream is not kept as it was; it is made again of what the log holds.
#[tokio::test]
async fn s3_a_stream_is_answered_again_without_a_fork_and_without_the_model() {
    for reply in [Script::Say("ok two"), Script::Call("c1", "weather", "{}")] {
        let world = World::new().await;
        let message = |role: &str, text: &str| json!({ "role": role, "content": text });
        let history = json!([message("user", "one"), message("assistant", "ok one"), message("user", "two")]);
        let chat = json!({ "model": "main", "user": "s", "stream": true, "messages": history });
        world.model.next(reply.clone());
        let first = world.call("POST", "/v1/chat/completions", Some(&chat), &KEY).await;
        let asked = world.model.requests().len();
        let second = world.call("POST", "/v1/chat/completions", Some(&chat), &KEY).await;
        assert_eq!(said(&first), said(&second), "{}", second.text);
        assert_eq!(first.header("x-segue-session"), second.header("x-segue-session"));
        assert_eq!(world.model.requests().len(), asked, "the model is not asked again");
        let sessions = world.get("/api/v1/scopes/s/sessions").await.json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "no fork: {sessions}");
        assert_eq!(world.told("s", 1).await.len(), 4);
        // The last reply is asked for again, under another key: a fork, once.
        for key in ["again", "again"] {
            world.call("POST", "/v1/chat/completions", Some(&chat), &[("idempotency-key", key)]).await;
        }
        let sessions = world.get("/api/v1/scopes/s/sessions").await.json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 2, "one fork: {sessions}");
        assert_eq!(world.told("s", 2).await.len(), 4);
    }
}

#[tokio::test]
async fn s3_a_streamed_response_is_answered_again_with_its_id() {
    for reply in [Script::Say("two"), Script::Call("c1", "weather", "{}")] {
        let world = World::new().await;
        let first =
            world.post("/v1/responses", json!({ "model": "main", "user": "s", "input": "one" })).await.json();
        let body =
            json!({ "model": "main", "previous_response_id": first["id"], "input": "go on", "stream": true });
        world.model.next(reply.clone());
        let second = world.call("POST", "/v1/responses", Some(&body), &KEY).await;
        let asked = world.model.requests().len();
        let again = world.call("POST", "/v1/responses", Some(&body), &KEY).await;
        assert_eq!(said(&second), said(&again), "{}", again.text);
        let id = |answer: &Answer| -> Value {
            let last: Value = serde_json::from_str(answer.data().last().unwrap()).unwrap();
            last["response"]["id"].clone()
        };
        assert_eq!(id(&second), id(&again));
        assert_eq!(world.model.requests().len(), asked);
        assert_eq!(world.told("s", 1).await.len(), 4);
        let sessions = world.get("/api/v1/scopes/s/sessions").await.json();
        assert_eq!(sessions["items"].as_array().unwrap().len(), 1, "no fork: {sessions}");
    }
}

/// One key means something else for another caller and at another path.
#[tokio::test]
async fn s3_a_key_is_one_callers_at_one_path() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let body = json!({ "scope": "s", "text": "the same words" });
    for name in ["ann", "bob"] {
        world.token = Some(tokens.add(name, vec![], Right::Write, None, now).await.unwrap().secret);
        let answer = world.call("POST", "/api/v1/messages", Some(&body), &KEY).await;
        assert_eq!(answer.json()["duplicate"], false, "{name}: {}", answer.text);
    }
    world.call("POST", "/api/v1/replies", Some(&body), &KEY).await;
    let expected = ["user the same words", "user the same words", "assistant the same words"];
    assert_eq!(world.told("s", 1).await, expected);
    // A host's own id of a message and of a reply: the roles tell them apart.
    let body = json!({ "scope": "s", "text": "again the same", "message_id": "5" });
    world.post("/api/v1/messages", body.clone()).await;
    world.post("/api/v1/replies", body).await;
    assert_eq!(world.told("s", 1).await[3..], ["user again the same", "assistant again the same"]);
}

/// X-17: an answer that tells what is in a conversation goes when something of it is erased.
#[tokio::test]
async fn x17_answers_about_conversations_go_with_what_was_erased() {
    let world = World::new().await;
    let made = world.post("/v1/conversations", json!({})).await.json();
    let id = made["id"].as_str().unwrap();
    let items = json!({ "items": [{ "type": "message", "role": "user", "content": "the MILKSECRET" }] });
    let path = format!("/v1/conversations/{id}/items");
    let first = world.call("POST", &path, Some(&items), &KEY).await.json();
    let item = first["data"][0]["id"].as_str().unwrap().to_owned();
    let gone = world.call("DELETE", &format!("{path}/{item}"), None, &[]).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    let again = world.call("POST", &path, Some(&items), &KEY).await;
    assert_eq!(again.status, 409, "{}", again.text);
}

/// S-3: an upstream's failure may pass, whatever its status: it is no answer to keep.
#[tokio::test]
async fn s3_a_failure_of_the_upstream_is_not_kept() {
    let world = World::with("[serve]\nupstream_retries = 0").await;
    for status in [400, 404, 408, 409, 418, 429] {
        let key = format!("k{status}");
        let key = [("idempotency-key", key.as_str())];
        let text = format!("try {status}");
        let chat = json!({ "model": "main", "user": "s", "messages": [{ "role": "user", "content": text }] });
        let response = json!({ "model": "main", "user": "r", "input": text });
        for (path, body) in [("/v1/chat/completions", chat), ("/v1/responses", response)] {
            world.model.next(Script::Status(status, "{\"error\":{\"message\":\"later\"}}"));
            assert_eq!(world.call("POST", path, Some(&body), &key).await.status, status, "{path}");
            world.model.next(Script::Say("here"));
            let again = world.call("POST", path, Some(&body), &key).await;
            assert_eq!(again.status, 200, "{path}: {}", again.text);
            assert!(again.text.contains("here"), "{}", again.text);
        }
    }
    for scope in ["s", "r"] {
        let told = world.told(scope, 1).await;
        assert_eq!(told.iter().filter(|line| line.starts_with("user")).count(), 6, "{told:?}");
    }
}

/// S-3: what a turn drops itself is no erasure behind it, whichever interface it comes by.
#[tokio::test]
async fn s3_a_turn_that_deletes_is_answered_again() {
    let world = World::with("[session]\nbacklog = \"delete\"\nbacklog_limit = 1").await;
    let own = "/api/v1/messages";
    let (chat, response) = ("/v1/chat/completions", "/v1/responses");
    let message = |scope: &str, text: &str| json!({ "scope": scope, "text": text });
    let asked = |scope: &str, text: &str| json!({ "model": "main", "user": scope, "messages": [{ "role": "user", "content": text }] });
    let input = |scope: &str, text: &str| json!({ "model": "main", "user": scope, "input": text });
    let over = "Forget that, start over: what is for dinner?";
    for (scope, path, body) in [
        ("a", own, message("a", "/new")),
        ("b", own, message("b", over)),
        ("c", "/api/v1/scopes/c/sessions", json!({})),
        ("d", "/api/v1/scopes/d/sessions/1/fork", Value::Null),
        ("e", chat, asked("e", "/new")),
        ("f", chat, asked("f", over)),
        ("g", response, input("g", "/new")),
        ("h", response, input("h", over)),
    ] {
        world.say(scope, "Plan a trip to Lisbon in May for two people.").await;
        let key = [("idempotency-key", scope)];
        let body = (!body.is_null()).then_some(body);
        let first = world.call("POST", path, body.as_ref(), &key).await;
        let dropped = world.get(&format!("/api/v1/scopes/{scope}/sessions/1")).await;
        assert_eq!((first.status, dropped.status), (200, 404), "{path} {body:?}: {}", first.text);
        let again = world.call("POST", path, body.as_ref(), &key).await;
        assert_eq!((again.status, &again.text), (200, &first.text), "{path} {body:?}");
        assert_eq!(again.header("idempotent-replayed"), Some("true"));
        if path == response {
            let shown = world.get(&format!("/v1/responses/{}", first.json()["id"].as_str().unwrap())).await;
            assert_eq!(shown.json()["output"], first.json()["output"], "{}", shown.text);
            assert!(first.json()["output"][0].is_object(), "{}", first.text);
        }
    }
}

/// S-3: neither is a session that is deleted on request. What others erase meanwhile is one.
#[tokio::test]
async fn s3_a_command_that_deletes_a_session_is_answered_again() {
    let world = World::new().await;
    for text in ["hello", "/new", "/new", "/new"] {
        world.say("s", text).await;
    }
    for n in [1, 2] {
        let key = format!("k{n}");
        let (key, body) = (
            [("idempotency-key", key.as_str())],
            json!({ "scope": "s", "text": format!("/session delete {n}") }),
        );
        let first = world.call("POST", "/api/v1/messages", Some(&body), &key).await;
        assert!(first.text.contains("Deleted"), "{}", first.text);
        let again = world.call("POST", "/api/v1/messages", Some(&body), &key).await;
        assert_eq!((again.status, &again.text), (200, &first.text));
        // The next one is an erasure behind it.
        let other = json!({ "scope": "s", "text": format!("/session delete {}", n + 2) });
        if n == 2 {
            break;
        }
        world.say("s", "/new").await;
        world.post("/api/v1/messages", other).await;
        assert_eq!(world.call("POST", "/api/v1/messages", Some(&body), &key).await.status, 409);
    }
}
