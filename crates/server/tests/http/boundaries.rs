//! Nothing is silent: a boundary that a program makes has its event and its decision record, as one that a person makes.

use crate::events::read;
use crate::harness::{Script, World};
use serde_json::{Value, json};

const ME: &str = "agent:main:cli:direct:me";

/// Promise 3, over HTTP: one decision and one event for each boundary, whoever made it.
#[tokio::test]
async fn s1_every_boundary_over_http_has_an_event_and_a_decision() {
    let world = World::new().await;
    let path = |rest: &str| format!("/api/v1/scopes/{ME}/{rest}");
    let first = world.say(ME, "Let us plan a trip to Lisbon.").await["seq"].clone();
    let second = world.say(ME, "In May, for two people.").await["seq"].clone();
    let moves = [
        ("sessions", json!({}), "new"),
        ("sessions/1/resume", json!({}), "resume"),
        ("sessions/1/fork", json!({ "at": first }), "fork"),
        ("undo", json!({}), "merge"),
        ("redo", json!({}), "new"),
        ("sessions/1/resume", json!({}), "resume"),
        ("split", json!({ "at": second }), "split"),
    ];
    for (at, (rest, body, action)) in moves.iter().enumerate() {
        let moved = world.post(&path(rest), body.clone()).await;
        assert_eq!((moved.status, &moved.json()["action"]), (200, &json!(action)), "{rest}: {}", moved.text);
        let decisions = world.get(&path("decisions")).await.json()["items"].clone();
        assert_eq!(decisions.as_array().unwrap().len(), at + 3, "{rest}: {decisions}");
        assert_eq!(decisions[0]["action"], *action, "{rest}");
        assert_eq!(decisions[0]["session"], moved.json()["session"], "{rest}");
        assert!(decisions[0]["notice"].is_string() && !decisions[0]["reasons"][0].is_null(), "{decisions}");
    }
    let seen = read(&world, &path("events"), Some("0"), 2 + moves.len()).await;
    let told: Vec<&Value> =
        seen.iter().filter(|(_, name, _)| name == "boundary").map(|event| &event.2["action"]).collect();
    let expected: Vec<Value> = moves.iter().map(|(_, _, action)| json!(action)).collect();
    assert_eq!(told, expected.iter().collect::<Vec<_>>(), "{seen:?}");
    assert_eq!(world.get(&path("verify")).await.json()["ok"], true);
}

/// The same for a client that edits its whole history.
#[tokio::test]
async fn s2_a_fork_of_a_whole_history_has_an_event_and_a_decision() {
    let world = World::new().await;
    let ask = |texts: &[(&str, &str)]| {
        let message = |(role, text): &(&str, &str)| json!({ "role": role, "content": text });
        let messages: Vec<Value> = texts.iter().map(message).collect();
        json!({ "model": "main", "user": "s", "messages": messages })
    };
    world.model.next(Script::Say("ok two"));
    let begun = ask(&[("user", "one"), ("assistant", "ok one"), ("user", "two")]);
    world.post("/v1/chat/completions", begun).await;
    let edited = ask(&[("user", "one"), ("assistant", "ok one"), ("user", "other")]);
    let answer = world.post("/v1/chat/completions", edited).await;
    assert_eq!(answer.header("x-segue-action"), Some("fork"));
    let decisions = world.get("/api/v1/scopes/s/decisions").await.json();
    assert_eq!(decisions["items"][0]["action"], "fork", "{decisions}");
    let seen = read(&world, "/api/v1/scopes/s/events", Some("0"), 6).await;
    let boundaries = seen.iter().filter(|(_, name, _)| name == "boundary").count();
    assert_eq!(boundaries, 1, "{seen:?}");
}

/// An answer to a question by a button: what was asked is told with its options, and so is what came of it.
#[tokio::test]
async fn s1_a_question_and_its_answer_are_told() {
    let world = World::with("[lifecycle]\npolicy = \"adaptive\"").await;
    let said = |text: &str, at: &str| json!({ "scope": ME, "text": text, "at": at });
    world.post("/api/v1/messages", said("Let us plan a trip to Lisbon.", "2026-03-01T10:00:00Z")).await;
    let asked = world.post("/api/v1/messages", said("And the hotel?", "2026-03-01T16:00:00Z")).await.json();
    assert_eq!(asked["action"], "ask", "{asked}");
    let path = format!("/api/v1/scopes/{ME}/events");
    let seen = read(&world, &path, Some("0"), 3).await;
    let (_, name, question) = &seen[2];
    assert_eq!(name, "question");
    assert!(question["text"].as_str().unwrap().contains("?"), "{question}");
    assert_eq!(question["options"], asked["question"]["options"]);
    let answer = format!("/api/v1/scopes/{ME}/answer");
    let fresh = world.post(&answer, json!({ "answer": "fresh" })).await;
    assert_eq!((fresh.status, &fresh.json()["action"]), (200, &json!("new")), "{}", fresh.text);
    let seen = read(&world, &path, Some("0"), 4).await;
    assert_eq!((seen[3].1.as_str(), &seen[3].2["action"]), ("boundary", &json!("new")), "{seen:?}");
    let decisions = world.get(&format!("/api/v1/scopes/{ME}/decisions")).await.json();
    assert_eq!(decisions["items"][0]["action"], "new", "{decisions}");
}

/// Events of the past tell how it was then, and what was deleted.
#[tokio::test]
async fn s5_an_event_tells_the_state_of_its_time_and_what_was_deleted() {
    let world = World::new().await;
    let task = |op: &str| format!("/api/v1/scopes/{ME}/task/{op}");
    let seq = world.say(ME, "Please add retry logic.").await["seq"].as_u64().unwrap();
    for (op, body) in [
        ("start", json!({ "task": "Add retry logic" })),
        ("ask", json!({ "question": "Which strategy?" })),
        ("respond", json!({ "text": "Backoff." })),
        ("finish", json!({ "summary": "Done." })),
    ] {
        let done = world.post(&task(op), body).await;
        assert_eq!(done.status, 200, "{op}: {}", done.text);
    }
    let seen = read(&world, &format!("/api/v1/scopes/{ME}/events"), Some("0"), 5).await;
    let states: Vec<&Value> =
        seen.iter().filter(|(_, name, _)| name == "task").map(|event| &event.2["state"]).collect();
    assert_eq!(states, ["running", "awaiting_user", "running", "pending_complete"], "{seen:?}");
    let aborted = world.post(&task("abort"), json!({ "reason": "no" })).await;
    assert_eq!(aborted.status, 200, "{}", aborted.text);
    let erased = world.call("DELETE", &format!("/api/v1/scopes/{ME}/messages/{seq}"), None, &[]).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    let last = seen[4].0.clone();
    let seen = read(&world, &format!("/api/v1/scopes/{ME}/events"), Some(&last), 2).await;
    assert_eq!((seen[0].1.as_str(), &seen[0].2["state"]), ("task", &json!("aborted")), "{seen:?}");
    let deleted = &seen[1].2;
    assert_eq!((&deleted["session"], &deleted["messages"]), (&json!(ME), &json!([seq])), "{deleted:?}");
    world.say(ME, "/new").await;
    let gone = world.call("DELETE", &format!("/api/v1/scopes/{ME}/sessions/1"), None, &[]).await;
    assert_eq!((gone.status, &gone.json()["finished"]), (200, &json!(true)), "{}", gone.text);
    let seen = read(&world, &format!("/api/v1/scopes/{ME}/events"), Some(&seen[1].0), 1).await;
    assert_eq!((seen[0].1.as_str(), &seen[0].2["sessions"]), ("deleted", &json!([ME])), "{seen:?}");
}

/// Who subscribes before the first message is told of it.
#[tokio::test]
async fn s5_a_scope_can_be_watched_before_anything_is_said_there() {
    let world = World::new().await;
    let path = "/api/v1/scopes/fresh/events";
    let (seen, ()) = tokio::join!(read(&world, path, None, 1), async {
        while !world.get("/metrics").await.text.contains("\nsegue_event_streams 1\n") {
            tokio::task::yield_now().await;
        }
        world.say("fresh", "hello").await;
    });
    assert_eq!(seen[0].2["text"], "hello");
    let none = world.get("/api/v1/scopes/newer/interrupts").await;
    assert_eq!((none.status, &none.json()["interrupts"]), (200, &json!([])), "{}", none.text);
    let (heard, ()) = tokio::join!(world.get("/api/v1/scopes/newer/interrupts?wait=30"), async {
        let started =
            world.post("/api/v1/scopes/newer/task/start", json!({ "task": "Add retry logic" })).await;
        assert_eq!(started.status, 200, "{}", started.text);
        world.say("newer", "use exponential backoff").await;
    });
    assert_eq!(heard.json()["interrupts"][0]["text"], "use exponential backoff", "{}", heard.text);
}

/// S-6: a stream ends with the token that opened it.
#[tokio::test]
async fn s6_a_stream_ends_with_its_token() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let tokens = segue_server::Server::tokens(&engine);
    let right = segue_server::auth::Right::Write;
    let secret = tokens.add("t", vec![], right, None, engine.now()).await.unwrap().secret;
    world.token = Some(secret.clone());
    world.say("s", "hello").await;
    let http = crate::harness::http_client();
    let mut streams = Vec::new();
    for path in ["/api/v1/events", "/api/v1/scopes/s/events"] {
        let request = http.get(format!("{}{path}", world.url)).bearer_auth(&secret);
        streams.push(request.send().await.unwrap());
    }
    tokens.revoke("t", engine.now()).await.unwrap();
    for mut stream in streams {
        while let Some(chunk) = stream.chunk().await.unwrap_or_default() {
            assert!(chunk.starts_with(b":"), "nothing more is told");
        }
    }
}
