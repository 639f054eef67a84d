//! Bounds: what is too large or too slow gets a clear answer.

use crate::harness::{Script, World};
use segue_server::Server;
use segue_server::auth::Right;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// A client that sends all of its body first reads why it was refused.
#[tokio::test]
async fn s1_a_body_that_is_too_large_is_answered_before_the_connection_ends() {
    let world = World::with("[serve]\nbody_bytes_max = 1024").await;
    let address = world.url.strip_prefix("http://").unwrap();
    let body = vec![b'x'; 24 << 20];
    for (name, head, body) in [
        ("a length", format!("content-length: {}\r\n", body.len()), body.clone()),
        ("chunks", "transfer-encoding: chunked\r\n".to_owned(), {
            let mut chunked = format!("{:x}\r\n", body.len()).into_bytes();
            chunked.extend_from_slice(&body);
            chunked.extend_from_slice(b"\r\n0\r\n\r\n");
            chunked
        }),
    ] {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /api/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{head}\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap_or_else(|error| panic!("{name}: {error}"));
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(&answer, b"HTTP/1.1 413", "{name}");
    }
    assert_eq!(world.say("s", "the next message works").await["wants_reply"], true);
}

/// A server whose connections are all taken ends when it is told to.
#[tokio::test]
async fn a_server_that_is_full_can_be_stopped() {
    let mut world = World::with("[serve]\nconnections_max = 1\nheader_timeout = \"10m\"").await;
    let address = world.url.strip_prefix("http://").unwrap().to_owned();
    let mut idle = TcpStream::connect(address).await.unwrap();
    idle.write_all(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").await.unwrap();
    let mut answer = [0; 12];
    idle.read_exact(&mut answer).await.unwrap();
    world.stop().await;
}

/// S-4: a model that sends a little now and then does not hold a request for ever.
#[tokio::test]
async fn s4_a_model_that_never_ends_is_given_up() {
    let piece = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"half\"}}]}\n\n";
    let world = World::with("[serve]\nupstream_timeout = \"1s\"").await;
    let chat = |stream: bool| json!({ "model": "main", "user": "s", "stream": stream, "messages": [{ "role": "user", "content": "hi" }] });
    world.model.next(Script::Drip(piece));
    let answer = world.post("/v1/chat/completions", chat(true)).await;
    let last: Value = serde_json::from_str(answer.data().last().unwrap()).unwrap();
    assert!(last["error"]["message"].is_string(), "{}", answer.text);
    world.model.next(Script::Hang);
    assert_eq!(world.post("/v1/chat/completions", chat(false)).await.status, 504);
    let told = world.told("s", 1).await;
    assert!(told.iter().all(|line| line == "user hi"), "no half reply: {told:?}");
}

/// S-4: what is shown is kept; a reply that is too long to be kept ends with an error.
#[tokio::test]
async fn s4_a_reply_that_is_too_long_ends_with_an_error() {
    let world = World::with("[limits]\nmessage_bytes_max = 1000").await;
    let long: &'static str = Box::leak("word ".repeat(1000).into_boxed_str());
    for (path, body) in [
        ("/v1/chat/completions", json!({ "messages": [{ "role": "user", "content": "hi" }] })),
        ("/v1/responses", json!({ "input": "hi" })),
    ] {
        for stream in [true, false] {
            let mut body = body.clone();
            (body["model"], body["user"], body["stream"]) = (json!("main"), json!("s"), json!(stream));
            world.model.next(Script::Say(long));
            let answer = world.post(path, body).await;
            match stream {
                true => {
                    let last: Value = serde_json::from_str(answer.data().last().unwrap()).unwrap();
                    let error = last.get("error").or(last.pointer("/response/error")).unwrap();
                    assert!(error["message"].as_str().unwrap().contains("1000"), "{path}: {last}");
                    assert!(answer.text.len() < 100_000, "{path}");
                }
                false => assert_eq!(answer.status, 502, "{path}: {}", answer.text),
            }
        }
    }
    let told = world.told("s", 1).await;
    assert!(told.iter().all(|line| line == "user hi"), "{told:?}");
}

/// The bound on scopes holds across a restart, and a message that is refused counts for nothing.
#[tokio::test]
async fn s6_the_scopes_of_a_token_are_counted_for_good() {
    let mut world =
        World::with("[serve]\nscopes_per_token_max = 2\n[limits]\nmessage_bytes_max = 1000").await;
    let engine = world.engine().await;
    let made = Server::tokens(&engine).add("t", vec![], Right::Write, None, engine.now()).await.unwrap();
    world.token = Some(made.secret);
    let long = "x".repeat(2000);
    for (scope, text, status) in
        [("a", long.as_str(), 413), ("b", " ", 422), ("c", "hi", 200), ("d", "hi", 200), ("e", "hi", 409)]
    {
        let answer = world.post("/api/v1/messages", json!({ "scope": scope, "text": text })).await;
        assert_eq!(answer.status, status, "{scope}: {}", answer.text);
    }
    world.restart().await;
    for (scope, status) in [("e", 409), ("c", 200)] {
        let answer = world.post("/api/v1/messages", json!({ "scope": scope, "text": "hi" })).await;
        assert_eq!(answer.status, status, "{scope}: {}", answer.text);
    }
}
