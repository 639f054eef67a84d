//! Segue's own interface, row by row.

use crate::harness::World;
use serde_json::{Value, json};

const ME: &str = "agent:main:cli:direct:me";

#[tokio::test]
async fn s1_a_conversation_through_every_row() {
    let world = World::new().await;
    let turn = world.say(ME, "Let us plan a trip to Lisbon in May.").await;
    assert_eq!(
        (&turn["action"], &turn["wants_reply"], &turn["say"]),
        (&json!("continue"), &json!(true), &json!(null))
    );
    assert_eq!(turn["session"], ME);

    let reply = json!({ "scope": ME, "session": ME, "text": "Gladly.", "model": "main",
        "tool_calls": [{ "id": "c1", "name": "search", "arguments": "{}" }], "usage": { "tokens_in": 5, "tokens_out": 1 } });
    let written = world.post("/api/v1/replies", reply).await;
    assert_eq!(written.status, 200, "{}", written.text);
    assert_eq!((&written.json()["session"], &written.json()["state"]), (&json!(ME), &json!("none")));
    let result = json!({ "scope": ME, "session": ME, "tool_call_id": "c1", "text": "3 flights" });
    assert_eq!(world.post("/api/v1/tool-results", result).await.status, 200);

    let told = world.told(ME, 1).await;
    assert_eq!(told, ["user Let us plan a trip to Lisbon in May.", "assistant Gladly. +1", "tool 3 flights"]);
    let context =
        world.get(&format!("/api/v1/scopes/{ME}/context?shape=openai_chat&window=8000")).await.json();
    assert_eq!((&context["session"], &context["window"]), (&json!(ME), &json!(8000)));
    assert!(context["request"]["messages"].is_array() && context["tokens"].as_u64().unwrap() > 0);

    let begun = world
        .post(&format!("/api/v1/scopes/{ME}/sessions"), json!({ "text": "Now a new topic: bread." }))
        .await;
    assert_eq!(begun.status, 200, "{}", begun.text);
    assert_eq!(begun.json()["session"], format!("{ME}#2"));
    let sessions = world.get(&format!("/api/v1/scopes/{ME}/sessions?limit=1")).await.json();
    assert_eq!((&sessions["items"][0]["index"], &sessions["next"]), (&json!(2), &json!("2")));
    let rest = world.get(&format!("/api/v1/scopes/{ME}/sessions?cursor=2")).await.json();
    assert_eq!((&rest["items"][0]["key"], &rest["next"]), (&json!(ME), &json!(null)));

    let path = format!("/api/v1/scopes/{ME}/sessions/1");
    let changed = world.call("PATCH", &path, Some(&json!({ "title": "Lisbon", "kept": true })), &[]).await;
    assert_eq!((&changed.json()["title"], &changed.json()["kept"]), (&json!("Lisbon"), &json!(true)));
    assert_eq!(world.get(&path).await.json()["conversation_state"][0]["role"], "user");

    let found = world
        .post(&format!("/api/v1/scopes/{ME}/recall"), json!({ "query": "Lisbon", "why": "a test" }))
        .await;
    assert_eq!(found.json()["fragments"][0]["session"], ME, "{}", found.text);
    let messages = world.get(&format!("/api/v1/scopes/{ME}/sessions/1/messages")).await.json();
    let first = &messages["items"][0]["seq"];
    for (verb, body, action) in
        [("sessions/1/resume", json!({}), "resume"), ("sessions/1/fork", json!({ "at": first }), "fork")]
    {
        let moved = world.post(&format!("/api/v1/scopes/{ME}/{verb}"), body).await;
        assert_eq!((moved.status, &moved.json()["action"]), (200, &json!(action)), "{verb}: {}", moved.text);
    }
    assert_eq!(world.post(&format!("/api/v1/scopes/{ME}/undo"), json!({})).await.status, 200);
    assert_eq!(world.call("DELETE", &format!("/api/v1/scopes/{ME}/sessions/2"), None, &[]).await.status, 200);

    let decisions = world.get(&format!("/api/v1/scopes/{ME}/decisions?limit=1")).await.json();
    assert!(decisions["items"][0]["action"].is_string() && decisions.get("next").is_some(), "{decisions}");
    let scopes = world.get("/api/v1/scopes?prefix=agent:").await.json();
    assert_eq!(scopes["items"][0]["scope"], ME);
    let verified = world.get(&format!("/api/v1/scopes/{ME}/verify")).await.json();
    assert_eq!((&verified["ok"], &verified["problems"]), (&json!(true), &json!([])));
    assert!(world.get(&format!("/api/v1/scopes/{ME}/head")).await.json()["digest"].is_string());

    let seq = turn["seq"].as_u64().unwrap();
    let erased = world.call("DELETE", &format!("/api/v1/scopes/{ME}/messages/{seq}"), None, &[]).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert_eq!(world.told(ME, 1).await[0], "user ");
    assert_eq!(world.get(&format!("/api/v1/scopes/{ME}/verify")).await.json()["ok"], true);
}

/// what is deleted here goes from `MEMORY.md`, too.
#[tokio::test]
async fn x17_memory_file_goes_with_a_session_that_is_deleted() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::with(&format!("[memory]\ndir = '{}'\n", folder.path().display())).await;
    world.say(ME, "My name is Ann and I live in Graz.").await;
    world.post(&format!("/api/v1/scopes/{ME}/sessions"), json!({ "text": "Now a new topic: bread." })).await;
    let engine = world.engine().await;
    let scope = ME.parse().unwrap();
    engine.archive(&scope).await.unwrap();
    engine.write_memory_file(&scope).await.unwrap();
    let file = || std::fs::read_to_string(folder.path().join("MEMORY.md")).unwrap();
    assert!(file().contains("Graz"));
    let deleted = world.call("DELETE", &format!("/api/v1/scopes/{ME}/sessions/1"), None, &[]).await;
    assert_eq!((deleted.status, &deleted.json()["finished"]), (200, &json!(true)), "{}", deleted.text);
    assert!(!file().contains("Graz"), "{}", file());
}

#[tokio::test]
async fn s1_addresses_are_routed_and_a_context_comes_along() {
    let world = World::new().await;
    let body = json!({ "address": { "channel": "telegram", "peer": "User123" }, "text": "hello there",
        "message_id": "7", "at": "2026-03-01T10:00:00Z", "context": { "window": 4000, "shape": "anthropic" } });
    let turn = world.post("/api/v1/messages", body.clone()).await.json();
    assert_eq!(turn["scope"], "agent:main:telegram:direct:user123");
    assert_eq!(turn["context"]["messages"][0]["content"], "hello there");
    let again = world.post("/api/v1/messages", body).await.json();
    assert_eq!((&again["duplicate"], &again["seq"]), (&json!(true), &turn["seq"]));
}

#[tokio::test]
async fn s1_messages_come_page_by_page_both_ways() {
    let world = World::new().await;
    for n in 0..5 {
        world.say(ME, &format!("message number {n} about the garden")).await;
    }
    for (order, expected) in [("asc", ["0", "1", "2", "3", "4"]), ("desc", ["4", "3", "2", "1", "0"])] {
        let (mut seen, mut cursor) = (Vec::new(), String::new());
        loop {
            let path = format!("/api/v1/scopes/{ME}/sessions/1/messages?limit=2&order={order}{cursor}");
            let page = world.get(&path).await.json();
            let number = |m: &Value| m["text"].as_str().unwrap().split(' ').nth(2).unwrap().to_owned();
            seen.extend(page["items"].as_array().unwrap().iter().map(number));
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        assert_eq!(seen, expected, "{order}");
    }
}

#[tokio::test]
async fn s1_tasks_are_started_asked_about_and_interrupted() {
    let world = World::new().await;
    let act = |op: &'static str, body: Value| {
        let world = &world;
        async move { world.post(&format!("/api/v1/scopes/{ME}/task/{op}"), body).await }
    };
    assert_eq!(act("finish", json!({ "summary": "x" })).await.status, 404, "there is no scope yet");
    let started = act("start", json!({ "task": "Add retry logic" })).await;
    assert_eq!((started.status, &started.json()["state"]), (200, &json!("running")), "{}", started.text);
    assert_eq!(act("note", json!({ "text": "looked at the code" })).await.status, 200);
    assert_eq!(act("dance", json!({})).await.status, 422);
    assert_eq!(act("interrupt", json!({ "text": "use exponential backoff" })).await.status, 200);
    let heard = world.get(&format!("/api/v1/scopes/{ME}/interrupts?wait=1")).await.json();
    assert_eq!(heard["interrupts"][0]["text"], "use exponential backoff");
    let confirmed = act("confirm", json!({})).await;
    assert_eq!(confirmed.status, 409, "{}", confirmed.text);
}

#[tokio::test]
async fn s3_the_same_key_gives_the_same_answer_also_after_a_restart() {
    let mut world = World::new().await;
    let body = json!({ "scope": ME, "text": "remember the milk" });
    let key = [("idempotency-key", "k1")];
    let first = world.call("POST", "/api/v1/messages", Some(&body), &key).await;
    let second = world.call("POST", "/api/v1/messages", Some(&body), &key).await;
    assert_eq!((first.status, &first.text), (second.status, &second.text));
    world.restart().await;
    let third = world.call("POST", "/api/v1/messages", Some(&body), &key).await;
    assert_eq!(first.text, third.text);
    assert_eq!(world.told(ME, 1).await.len(), 1);
    let other =
        world.call("POST", "/api/v1/messages", Some(&json!({ "scope": ME, "text": "x" })), &key).await;
    assert_eq!(other.status, 409);
}

/// an answer that is kept for a second request tells nothing that was erased since.
#[tokio::test]
async fn x17_an_erasure_reaches_the_answers_that_are_kept() {
    let world = World::new().await;
    world.say(ME, "remember the MILKSECRET").await;
    let key = [("idempotency-key", "k2")];
    let rename = json!({ "scope": ME, "text": "/session rename the MILKSECRET" });
    let first = world.call("POST", "/api/v1/messages", Some(&rename), &key).await;
    let list = json!({ "scope": ME, "text": "/session list" });
    let listed = world.call("POST", "/api/v1/messages", Some(&list), &[("idempotency-key", "k3")]).await;
    assert!(listed.text.contains("MILKSECRET"), "{} {}", first.text, listed.text);
    let erased = world.call("DELETE", &format!("/api/v1/scopes/{ME}/messages/2"), None, &[]).await;
    assert_eq!((erased.status, &erased.json()["finished"]), (200, &json!(true)), "{}", erased.text);
    let again = world.call("POST", "/api/v1/messages", Some(&list), &[("idempotency-key", "k3")]).await;
    assert_eq!(again.status, 409, "{}", again.text);
}

#[tokio::test]
async fn s7_what_was_acknowledged_is_there_after_a_restart() {
    let mut world = World::new().await;
    for n in 0..20 {
        world.say(ME, &format!("note {n}")).await;
        if n % 5 == 4 {
            world.restart().await;
        }
    }
    let told = world.told(ME, 1).await;
    assert_eq!(told.len(), 20, "{told:?}");
    assert_eq!(world.get(&format!("/api/v1/scopes/{ME}/verify")).await.json()["ok"], true);
}

#[tokio::test]
async fn the_server_says_how_it_is() {
    let world = World::new().await;
    assert_eq!(world.get("/healthz").await.status, 200);
    assert_eq!(world.get("/readyz").await.status, 200);
    let ask = json!({ "model": "main", "metadata": { "segue_scope": ME }, "messages": [{ "role": "user", "content": "hello" }] });
    assert_eq!(world.post("/v1/chat/completions", ask).await.status, 200);
    let metrics = world.get("/metrics").await;
    for metric in [
        "segue_http_requests_total{method=\"GET\",route=\"/healthz\",status=\"200\"} 1",
        "segue_http_request_seconds_bucket{",
        "segue_turns_total{action=\"continue\",cause=",
        "segue_turn_seconds_count 2",
        "# TYPE segue_questions_total counter",
        "segue_upstream_requests_total{model=\"main\",result=\"200\"} 1",
        "segue_upstream_first_byte_seconds_count{model=\"main\"} 1",
        "segue_upstream_tokens_total{model=\"main\",direction=\"in\"} 7",
        "segue_upstream_tokens_total{model=\"main\",direction=\"cached\"} 0",
        "segue_store_up 1",
        "segue_store_answer_seconds ",
        "segue_store_commits_total ",
        "segue_cache_scopes 1",
        "segue_cache_lookups_total{result=\"miss\"} 1",
        "# TYPE segue_worker_runs_total counter",
        "# TYPE segue_control_calls_total counter",
    ] {
        assert!(metrics.text.contains(metric), "{metric}: {}", metrics.text);
    }
    for line in metrics.text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        assert!(name.starts_with("segue_") && value.parse::<f64>().is_ok(), "{line}");
    }
    assert!(!metrics.text.contains("hello") && !metrics.text.contains("direct:me"), "no words, no people");
}

#[tokio::test]
async fn s1_what_a_schema_allows_is_taken() {
    let world = World::new().await;
    world.say("s", "hello").await;
    world.say("other", "hello").await;
    // A body that is null is none, and 2.0 is a whole number.
    let fork = "/api/v1/scopes/s/sessions/1/fork";
    assert_eq!(world.post(fork, Value::Null).await.status, 200);
    let at =
        world.get("/api/v1/scopes/s/sessions/1/messages").await.json()["items"][0]["seq"].as_u64().unwrap();
    let body = format!("{{\"at\":{at}.0}}").into_bytes();
    assert_eq!(world.send("POST", fork, Some(body), &[]).await.status, 200);
    // A session of another scope is not there.
    for session in ["other", "s#99", "nonsense#x"] {
        let body = json!({ "scope": "s", "session": session, "text": "hi" });
        assert_eq!(world.post("/api/v1/replies", body).await.status, 404, "{session}");
    }
    let thought = json!({ "form": "item", "id": "rs_1", "signature": "x" });
    for reasoning in [json!("hm"), thought.clone(), json!([thought])] {
        let body = json!({ "scope": "s", "text": "hi", "model": "m", "reasoning": reasoning });
        assert_eq!(world.post("/api/v1/replies", body).await.status, 200);
    }
}

#[tokio::test]
async fn s1_heads_are_signed_if_there_is_a_key() {
    let world = World::new().await;
    world.say("s", "hello").await;
    world.say("s", "/new").await;
    let head = world.get("/api/v1/scopes/s/head").await.json();
    assert_eq!(head["signature"], Value::Null);
    let report = world.get("/api/v1/scopes/s/verify").await.json();
    let digests = report["digests"].as_array().unwrap();
    assert_eq!(
        (digests[0]["sealed"].clone(), &digests[0]["digest"]),
        (json!(true), &head["chain"]),
        "{report}"
    );
    assert_eq!(digests.last().unwrap()["digest"], head["open"]);

    let world = World::with("[serve]\nsigning_key_env = \"TEST_SIGNING_KEY\"").await;
    world.say("s", "hello").await;
    let head = world.get("/api/v1/scopes/s/head").await.json();
    let bytes = |text: &Value| -> Vec<u8> {
        let text = text.as_str().unwrap();
        (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap()).collect()
    };
    let key = bytes(&head["signature"]["public_key"]);
    let key = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, key);
    let digest = head["digest"].as_str().unwrap();
    key.verify(digest.as_bytes(), &bytes(&head["signature"]["value"])).unwrap();

    let world = World::with("[serve]\nsigning_key_env = \"NO_SUCH_KEY\"").await;
    world.say("s", "hello").await;
    assert_eq!(
        world.get("/api/v1/scopes/s/head").await.status,
        503,
        "never unsigned where a key was promised"
    );
}
