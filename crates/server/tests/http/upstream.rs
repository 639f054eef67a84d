//! Models that fail, hang or lie: the log is consistent, and the next message works.

use crate::harness::{Script, World};
use serde_json::{Value, json};

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
