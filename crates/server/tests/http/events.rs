//! Events that resume without loss.

use crate::harness::World;
use serde_json::{Value, json};

const ME: &str = "agent:main:cli:direct:me";

/// After how long a stream that tells nothing is taken for broken, so that a test fails and does not hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(120);

/// Reads so many events of a stream: id, name, data.
pub async fn read(
    world: &World,
    path: &str,
    last_id: Option<&str>,
    count: usize,
) -> Vec<(String, String, Value)> {
    let http = crate::harness::http_client();
    let mut request = http.get(format!("{}{path}", world.url));
    if let Some(id) = last_id {
        request = request.header("last-event-id", id);
    }
    let mut response = request.send().await.unwrap();
    assert_eq!(response.status().as_u16(), 200);
    let (mut text, mut events) = (String::new(), Vec::new());
    while events.len() < count {
        let chunk = tokio::time::timeout(PATIENCE, response.chunk()).await.expect("an event comes");
        let chunk = chunk.unwrap().expect("the stream goes on");
        text += std::str::from_utf8(&chunk).unwrap();
        while let Some((event, rest)) = text.split_once("\n\n") {
            let field = |name: &str| {
                event.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned).unwrap_or_default()
            };
            let data = field("data: ");
            if !data.is_empty() {
                events.push((field("id: "), field("event: "), serde_json::from_str(&data).unwrap()));
            }
            text = rest.to_owned();
        }
    }
    events
}

#[tokio::test]
async fn s5_events_resume_by_id_without_loss_across_a_restart() {
    let mut world = World::new().await;
    world.say(ME, "hello").await;
    world.post("/api/v1/replies", json!({ "scope": ME, "text": "hi" })).await;
    let path = format!("/api/v1/scopes/{ME}/events");
    let seen = read(&world, &path, Some("0"), 2).await;
    let names: Vec<&str> = seen.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(names, ["message", "message"]);
    assert_eq!((&seen[1].2["role"], &seen[1].2["text"]), (&json!("assistant"), &json!("hi")));
    let last = seen[1].0.clone();
    world.restart().await;
    world.say(ME, "/new").await;
    world.say(ME, "another topic").await;
    let rest = read(&world, &path, Some(&last), 2).await;
    let names: Vec<&str> = rest.iter().map(|(_, name, _)| name.as_str()).collect();
    assert_eq!(names, ["boundary", "message"]);
    assert_eq!(rest[1].2["session"], format!("{ME}#2"));
}

#[tokio::test]
async fn an_event_comes_while_somebody_waits() {
    let world = World::new().await;
    world.say(ME, "hello").await;
    let path = format!("/api/v1/scopes/{ME}/events");
    let (seen, _) = tokio::join!(read(&world, &path, Some("0"), 2), async {
        world.say(ME, "second").await;
    });
    assert_eq!(seen[1].2["text"], "second");
}

#[tokio::test]
async fn a_stream_ends_when_the_server_stops() {
    let mut world = World::new().await;
    world.say(ME, "hello").await;
    let http = crate::harness::http_client();
    let mut response = http.get(format!("{}/api/v1/scopes/{ME}/events", world.url)).send().await.unwrap();
    world.stop().await;
    assert!(response.chunk().await.unwrap_or_default().is_none_or(|chunk| chunk.starts_with(b":")));
}
