//! What no HTTP client sends: bytes straight to the socket. A clear answer or an end, and the next message works.

use crate::harness::World;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

/// Sends bytes, and reads until the server closes or has answered once.
async fn send(world: &World, bytes: &[u8]) -> String {
    let address = world.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    // The server may close before it has read everything.
    let _ = stream.write_all(bytes).await;
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    loop {
        match stream.read(&mut piece).await {
            Ok(0) | Err(_) => break,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
        }
        if has_whole_answer(&answer) {
            break;
        }
    }
    String::from_utf8_lossy(&answer).into_owned()
}

fn has_whole_answer(bytes: &[u8]) -> bool {
    let text = String::from_utf8_lossy(bytes);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let head = head.to_ascii_lowercase();
    let length =
        head.lines().find_map(|line| line.strip_prefix("content-length: ")?.trim().parse::<usize>().ok());
    length.is_some_and(|length| body.len() >= length)
}

fn status(answer: &str) -> Option<u16> {
    answer.split(' ').nth(1)?.parse().ok()
}

const BODY: &str = r#"{"scope":"s","text":"smuggled"}"#;

fn post(head: &str, body: &str) -> Vec<u8> {
    format!("POST /api/v1/messages HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n{head}\r\n{body}")
        .into_bytes()
}

#[tokio::test]
async fn odd_bytes_are_refused_and_the_next_message_works() {
    let world =
        World::with("[serve]\nheader_bytes_max = 8192\nheader_timeout = \"300ms\"\nbody_timeout = \"300ms\"")
            .await;
    world.say("s", "hello").await;
    let length = BODY.len();
    let large = format!("x-large: {}\r\ncontent-length: {length}\r\n", "y".repeat(100_000));
    let many: String = (0..500).map(|n| format!("x-{n}: y\r\n")).collect();
    let cases: Vec<(&str, Vec<u8>, &[u16])> = vec![
        ("no HTTP", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03".to_vec(), &[400]),
        ("garbage", b"\0\0\0\0\r\n\r\n".to_vec(), &[400]),
        ("two lengths", post(&format!("content-length: {length}\r\ncontent-length: 5\r\n"), BODY), &[400]),
        ("a negative length", post("content-length: -1\r\n", BODY), &[400]),
        ("a length that is no number", post("content-length: 3x\r\n", BODY), &[400]),
        ("an unknown coding", post("transfer-encoding: gzip\r\n", BODY), &[400, 501]),
        ("a chunk that is none", post("transfer-encoding: chunked\r\n", "zz\r\n"), &[400]),
        (
            "a space before the colon",
            post(&format!("x-segue-scope : other\r\ncontent-length: {length}\r\n"), BODY),
            &[400],
        ),
        ("a folded header", post(&format!("x-a: b\r\n c: d\r\ncontent-length: {length}\r\n"), BODY), &[400]),
        ("a NUL in a header", post(&format!("x-a: b\0c\r\ncontent-length: {length}\r\n"), BODY), &[400]),
        ("a large head", post(&large, BODY), &[431]),
        ("many headers", post(&format!("{many}content-length: {length}\r\n"), BODY), &[431]),
        (
            "two Authorization headers",
            post(
                &format!(
                    "authorization: Bearer a\r\nauthorization: Bearer b\r\ncontent-length: {length}\r\n"
                ),
                BODY,
            ),
            &[400],
        ),
        (
            "a length and chunks",
            post(&format!("content-length: {length}\r\ntransfer-encoding: chunked\r\n"), "0\r\n\r\n"),
            &[400],
        ),
        ("no body at all", post("", ""), &[400]),
        ("a body that never comes", post("content-length: 100\r\n", "{"), &[400]),
        ("a path that is none", b"GET /%zz HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(), &[400, 404]),
        ("a path with a NUL", b"GET /api/v1/scopes/\0/head HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(), &[400]),
        ("another version", b"GET /healthz HTTP/9.9\r\nhost: x\r\n\r\n".to_vec(), &[400, 505]),
        // A head that never ends gets no answer: the connection is closed.
        ("a slow head", b"GET /healthz HTTP/1.1\r\nhost: x\r\nx-slow: ".to_vec(), &[0, 408]),
    ];
    for (name, bytes, expected) in cases {
        let answer = send(&world, &bytes).await;
        let status = status(&answer).unwrap_or(0);
        assert!(expected.contains(&status), "{name}: {answer}");
        assert_eq!(world.told("s", 1).await, ["user hello"], "{name}: nothing was taken");
    }
    let double = [("x-segue-scope", "a"), ("x-segue-scope", "b")];
    let body = serde_json::json!({ "model": "main", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(world.call("POST", "/v1/chat/completions", Some(&body), &double).await.status, 400);
    assert_eq!(world.say("s", "the next message works").await["wants_reply"], true);
}

/// A client that takes nothing of what it is sent is cut off, and others are told everything.
#[tokio::test]
async fn a_client_that_does_not_read_is_cut_off() {
    let world =
        World::with("[serve]\nwrite_timeout = \"300ms\"\n[limits]\nmessage_bytes_max = 1048576").await;
    world.say("s", "hello").await;
    let address = world.url.strip_prefix("http://").unwrap();
    let mut lazy = TcpStream::connect(address).await.unwrap();
    let head = "GET /api/v1/scopes/s/events HTTP/1.1\r\nhost: x\r\nlast-event-id: 0\r\n\r\n";
    lazy.write_all(head.as_bytes()).await.unwrap();
    let streams = async |count: &str| {
        let line = format!("\nsegue_event_streams {count}\n");
        while !world.get("/metrics").await.text.contains(&line) {
            tokio::task::yield_now().await;
        }
    };
    streams("1").await;
    // More than the buffers of a connection hold.
    let long = "word ".repeat(200_000);
    for _ in 0..12 {
        world.say("s", &long).await;
    }
    streams("0").await;
    assert_eq!(world.say("s", "the next message works").await["wants_reply"], true);
}

/// A path is taken as it is: no step up, no end amid a scope.
#[tokio::test]
async fn a_scope_of_dots_is_a_scope_like_any_other() {
    let world = World::new().await;
    world.say("..", "hello").await;
    for (path, expected) in [
        ("/api/v1/scopes/%2e%2e/sessions", 200),
        ("/api/v1/scopes/%2E%2E/head", 200),
        ("/api/v1/scopes/../head", 200),
        ("/api/v1/scopes/%2e%2e%2fmessages/head", 404),
        ("/api/v1/scopes/%00/head", 404),
        ("/api/v1/scopes/..%00/head", 404),
        ("/api/v1/scopes/..%23/head", 404),
        ("/api/v1/scopes//head", 404),
    ] {
        let answer = send(&world, format!("GET {path} HTTP/1.1\r\nhost: x\r\n\r\n").as_bytes()).await;
        assert_eq!(status(&answer), Some(expected), "{path}: {answer}");
    }
}
