//! Models that fail, hang or lie: the log is consistent, and the next message works.

use crate::harness::{Script, World};
use serde_json::{Value, json};
use std::sync::atomic::Ordering;

fn chat(text: &str) -> Value {
    json!({ "model": "main", "user": "s", "stream": true, "messages": [{ "role": "user", "content": text }] })
}

#[tokio::test]
async fn a_stream_is_passed_on_piece_by_piece_and_stored() {
    let world = World::new().await;
    world.model.next(Script::Say("one two three"));
    let answer = world.post("/v1/chat/completions", chat("count")).await;
    assert_eq!(answer.streamed(), "one two three");
    assert_eq!(answer.data().last().unwrap(), "[DONE]");
    assert_eq!(world.told("s", 1).await, ["user count", "assistant one two three"]);
}

#[tokio::test]
async fn s4_no_half_reply_is_taken_for_a_whole_one() {
    let piece: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let cut: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ha";
    let not_text: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\xfe\"}}]}\n\n";
    let garbage: &[u8] = b"data: <html>\n\ndata: [DONE]\n\n";
    let error: &[u8] = b"data: {\"error\":{\"message\":\"full\",\"code\":\"overloaded\"}}\n\n";
    for (name, script) in [
        ("stops", Script::Bytes(piece)),
        ("half an event", Script::Bytes(cut)),
        ("no UTF-8", Script::Bytes(not_text)),
        ("garbage", Script::Bytes(garbage)),
        ("nothing", Script::Bytes(b"")),
        ("an error amid the stream", Script::Bytes(error)),
    ] {
        let world = World::new().await;
        world.model.next(script);
        let answer = world.post("/v1/chat/completions", chat("hello")).await;
        assert_eq!(answer.status, 200, "{name}");
        let last: Value = serde_json::from_str(answer.data().last().unwrap()).unwrap();
        assert!(last["error"]["message"].is_string(), "{name}: {}", answer.text);
        assert_eq!(world.told("s", 1).await, ["user hello"], "{name}");
        world.model.next(Script::Say("fine"));
        assert_eq!(world.post("/v1/chat/completions", chat("again")).await.streamed(), "fine", "{name}");
        assert_eq!(world.told("s", 1).await, ["user hello", "user again", "assistant fine"], "{name}");
        assert_eq!(world.get("/api/v1/scopes/s/verify").await.json()["ok"], true, "{name}");
    }
}

/// The same for responses, which are made of a chat's pieces here, and for answers that are no stream.
#[tokio::test]
async fn s4_no_half_response_is_taken_for_a_whole_one() {
    let cut: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"ha";
    let piece: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let not_text: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"\xff\"}}]}\n\n";
    let ask = |stream: bool| json!({ "model": "main", "user": "s", "stream": stream, "input": "hello" });
    let world = World::new().await;
    for (name, bytes) in
        [("half an event", cut), ("stops", piece), ("no UTF-8", not_text), ("garbage", b"data: <html>\n\n")]
    {
        world.model.next(Script::Bytes(bytes));
        let answer = world.post("/v1/responses", ask(true)).await;
        assert_eq!(answer.status, 200, "{name}");
        assert_eq!(
            answer.events().last().map(String::as_str),
            Some("response.failed"),
            "{name}: {}",
            answer.text
        );
    }
    for (name, body) in [
        ("a page", "<html>"),
        ("another object", "{\"object\":\"list\"}"),
        ("nothing", ""),
        ("half", "{\"choices\":[{"),
    ] {
        for (path, body) in [
            ("/v1/responses", (body, ask(false))),
            (
                "/v1/chat/completions",
                (body, {
                    let mut chat = chat("hello");
                    chat["stream"] = json!(false);
                    chat
                }),
            ),
        ] {
            world.model.next(Script::Status(200, body.0));
            let answer = world.post(path, body.1).await;
            assert_eq!(answer.status, 502, "{name} {path}: {}", answer.text);
            assert!(answer.json()["error"]["message"].is_string(), "{name} {path}: {}", answer.text);
        }
    }
    let told = world.told("s", 1).await;
    assert!(told.iter().all(|line| line == "user hello"), "the messages stay, and no reply: {told:?}");
    world.model.next(Script::Say("fine"));
    assert_eq!(world.post("/v1/chat/completions", chat("again")).await.streamed(), "fine");
    assert_eq!(world.get("/api/v1/scopes/s/verify").await.json()["ok"], true);
}

/// A client that goes on as soon as it is told why the reply ended: by then the reply is stored.
#[tokio::test]
async fn s7_a_reply_is_stored_before_a_client_is_told_that_it_is_whole() {
    let first = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";
    let world = World::new().await;
    world.model.next(Script::Pause(first, "data: [DONE]\n\n"));
    let mut answer = world.open("/v1/chat/completions", chat("hello")).await;
    let mut text = String::new();
    while !text.contains("hi") {
        text += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert!(!text.contains("stop"), "{text}");
    world.model.go.notify_one();
    while !text.contains("stop") {
        text += std::str::from_utf8(&answer.chunk().await.unwrap().unwrap()).unwrap();
    }
    assert_eq!(world.told("s", 1).await, ["user hello", "assistant hi"]);
}

/// What comes behind the end of a reply takes nothing of it back.
#[tokio::test]
async fn s4_a_reply_that_is_whole_is_kept_whatever_comes_behind_it() {
    let garbage: &[u8] = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}]}\n\ndata: <html>\n\n";
    let world = World::new().await;
    world.model.next(Script::Bytes(garbage));
    let answer = world.post("/v1/chat/completions", chat("hello")).await;
    assert_eq!((answer.streamed().as_str(), answer.data().last().unwrap().as_str()), ("hi", "[DONE]"));
    world.model.next(Script::Bytes(garbage));
    let ask = json!({ "model": "main", "user": "s", "stream": true, "input": "again" });
    let answer = world.post("/v1/responses", ask).await;
    assert_eq!(answer.events().last().unwrap(), "response.completed", "{}", answer.text);
    let told = ["user hello", "assistant hi", "user again", "assistant hi"];
    assert_eq!(world.told("s", 1).await, told);
}

/// The message is stored, and the answer tells where, also if nobody is there to answer it.
#[tokio::test]
async fn s4_an_upstream_that_is_not_there_is_told_with_the_session() {
    let world = World::with(
        "[serve]\nupstream_retries = 0\n[models.gone]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"x\"\n",
    )
    .await;
    for (path, body) in [
        (
            "/v1/chat/completions",
            json!({ "model": "gone", "user": "s", "messages": [{ "role": "user", "content": "hi" }] }),
        ),
        ("/v1/responses", json!({ "model": "gone", "user": "s", "input": "hi" })),
    ] {
        let answer = world.post(path, body).await;
        assert_eq!((answer.status, answer.header("x-segue-session")), (502, Some("s")), "{}", answer.text);
        assert!(answer.header("x-segue-action").is_some() && answer.json()["error"]["message"].is_string());
    }
    assert_eq!(world.told("s", 1).await, ["user hi", "user hi"]);
}

#[tokio::test]
async fn s4_an_error_of_the_model_reaches_the_client_as_it_is() {
    let world = World::new().await;
    let body = "{\"error\":{\"message\":\"too many tokens\",\"code\":\"context_length_exceeded\"}}";
    world.model.next(Script::Status(400, body));
    let answer = world.post("/v1/chat/completions", chat("hello")).await;
    assert_eq!((answer.status, answer.text.as_str()), (400, body));
    assert_eq!(world.told("s", 1).await, ["user hello"], "the message stays");
    // What may pass is tried again before the first byte.
    world.model.next(Script::Status(503, "{}"));
    world.model.next(Script::Say("here"));
    assert_eq!(world.post("/v1/chat/completions", chat("again")).await.streamed(), "here");
}

#[tokio::test]
async fn s4_a_model_that_hangs_stops_no_other_turn() {
    let world = World::with("[serve]\nupstream_idle_timeout = \"1s\"").await;
    world.model.next(Script::Hang);
    let body = chat("hello");
    let hanging = world.post("/v1/chat/completions", body);
    let other = async {
        // The scripted model takes the first request for the one that hangs.
        while world.model.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        let body =
            json!({ "model": "main", "user": "other", "messages": [{ "role": "user", "content": "hi" }] });
        world.post("/v1/chat/completions", body).await
    };
    let (hung, other) = tokio::join!(hanging, other);
    assert_eq!((hung.status, other.status), (504, 200), "{}", hung.text);
    assert_eq!(world.told("s", 1).await, ["user hello"]);
}

#[tokio::test]
async fn a_model_that_is_not_there_is_said() {
    let world = World::new().await;
    assert!(world.upstream().starts_with("http://127.0.0.1"));
    let models = world.get("/v1/models").await.json();
    assert_eq!(models["data"][0]["id"], "main");
    assert_eq!(world.get("/v1/models/none").await.status, 404);
}

#[tokio::test]
async fn s4_a_client_that_hangs_up_ends_the_work_at_the_model() {
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let ask = |streams: bool| json!({ "model": "main", "user": "s", "stream": streams, "messages": [{ "role": "user", "content": "hi" }] });
    let input = |streams: bool| json!({ "model": "main", "user": "s", "stream": streams, "input": "hi" });
    for (name, path, body, script) in [
        ("chat", "/v1/chat/completions", ask(false), Script::Hang),
        ("chat before the first byte", "/v1/chat/completions", ask(true), Script::Hang),
        ("chat amid the stream", "/v1/chat/completions", ask(true), Script::Half(piece)),
        ("response", "/v1/responses", input(false), Script::Hang),
        ("response amid the stream", "/v1/responses", input(true), Script::Half(piece)),
        (
            "passed through",
            "/v1/chat/completions",
            json!({ "model": "main", "stream": true, "messages": [{ "role": "user", "content": "hi" }] }),
            Script::Half(piece),
        ),
    ] {
        let world = World::new().await;
        world.model.next(script);
        {
            let asked = world.post(path, body);
            tokio::select! {
                answer = asked => panic!("{name}: {}", answer.text),
                () = async { while world.model.requests().is_empty() { tokio::task::yield_now().await } } => {}
            }
        }
        while world.model.given_up.load(Ordering::SeqCst) == 0 {
            tokio::task::yield_now().await;
        }
        if !name.starts_with("passed") {
            assert_eq!(world.told("s", 1).await, ["user hi"], "{name}: the message stays, and no half reply");
            world.model.next(Script::Say("fine"));
            assert_eq!(world.post("/v1/chat/completions", chat("again")).await.streamed(), "fine", "{name}");
        }
    }
}

#[tokio::test]
async fn s2_the_model_and_its_usage_are_kept() {
    let world = World::new().await;
    let messages = json!([{ "role": "user", "content": "hi" }]);
    world.post("/v1/chat/completions", json!({ "model": "main", "user": "s", "messages": messages })).await;
    let reply = |scope: &str| {
        let path = format!("/api/v1/scopes/{scope}/sessions/1/messages");
        let world = &world;
        async move { world.get(&path).await.json()["items"][1].clone() }
    };
    let kept = reply("s").await;
    assert_eq!(
        (&kept["model"], &kept["usage"]["tokens_in"], &kept["usage"]["tokens_out"]),
        (&json!("scripted"), &json!(7), &json!(2))
    );
    world.say("t", "hi").await;
    let own =
        json!({ "scope": "t", "text": "hello", "model": "m", "usage": { "tokens_in": 3, "tokens_out": 4 } });
    assert_eq!(world.post("/api/v1/replies", own).await.status, 200);
    let kept = reply("t").await;
    assert_eq!((&kept["model"], &kept["usage"]["tokens_out"]), (&json!("m"), &json!(4)));
}

#[tokio::test]
async fn s2_a_notice_is_in_the_header_alone_where_the_client_manages_its_history() {
    let world = World::new().await;
    let said = |role: &str, text: &str| json!({ "role": role, "content": text });
    let ask = |messages: Value| json!({ "model": "main", "user": "s", "messages": messages });
    let first = json!([said("user", "<environment>"), said("user", "one")]);
    world.post("/v1/chat/completions", ask(first)).await;
    let edited = json!([
        said("user", "<environment>"),
        said("user", "one"),
        said("assistant", "ok"),
        said("user", "two")
    ]);
    world.post("/v1/chat/completions", ask(edited)).await;
    let edited = json!([
        said("user", "<environment>"),
        said("user", "one"),
        said("assistant", "ok"),
        said("user", "other")
    ]);
    let forked = world.post("/v1/chat/completions", ask(edited)).await;
    assert_eq!(
        (forked.header("x-segue-action"), forked.header("x-segue-session")),
        (Some("fork"), Some("s#2"))
    );
    assert!(forked.header("x-segue-notice").is_some());
    assert_eq!(forked.json()["choices"][0]["message"]["content"], "ok");
    // Another thread begins with the same words, and is no fork.
    let other = json!([said("user", "<environment>"), said("user", "something else")]);
    let new = world.post("/v1/chat/completions", ask(other)).await;
    assert_eq!((new.header("x-segue-action"), new.header("x-segue-session")), (Some("new"), Some("s#3")));
    assert_eq!(world.told("s", 3).await, ["user <environment>", "user something else", "assistant ok"]);
}

/// What comes behind the end of a reply is waited for once, however much of it comes.
#[tokio::test]
async fn s4_an_endpoint_that_never_ends_its_stream_does_not_hold_a_reply_back() {
    let piece =
        "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\".\"},\"finish_reason\":\"stop\"}]}\n\n";
    let world = World::new().await;
    let input = json!({ "model": "main", "user": "r", "stream": true, "input": "hello" });
    let ended = async |path: &str, body: Value| {
        world.model.next(Script::Drip(piece));
        let answer = tokio::time::timeout(std::time::Duration::from_secs(60), world.post(path, body)).await;
        answer.expect("the client is told the end")
    };
    let (chat, response) =
        tokio::join!(ended("/v1/chat/completions", chat("hello")), ended("/v1/responses", input));
    assert_eq!(chat.data().last().unwrap(), "[DONE]");
    assert_eq!(response.events().last().unwrap(), "response.completed", "{}", response.text);
    for scope in ["s", "r"] {
        assert!(world.told(scope, 1).await[1].starts_with("assistant ."));
    }
}

/// Some endpoints say why a reply ended in each piece, and nothing as long as it has not.
#[tokio::test]
async fn s4_an_empty_reason_is_no_end() {
    let piece: &[u8] =
        b"data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"},\"finish_reason\":\"\"}]}\n\n";
    let world = World::new().await;
    world.model.next(Script::Bytes(piece));
    let answer = world.post("/v1/chat/completions", chat("hello")).await;
    assert!(answer.data().last().unwrap().contains("error"), "{}", answer.text);
    assert_eq!(world.told("s", 1).await, ["user hello"]);
}
