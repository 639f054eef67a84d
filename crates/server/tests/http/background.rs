//! Responses that are made while nobody waits, and answers that nobody waits for any more.

use crate::harness::{Script, World};
use serde_json::{Value, json};

fn ask(text: &str) -> Value {
    json!({ "model": "main", "user": "s", "background": true, "input": text })
}

async fn status(world: &World, id: &str) -> String {
    let shown = world.get(&format!("/v1/responses/{id}")).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    shown.json()["status"].as_str().unwrap().to_owned()
}

async fn until(world: &World, id: &str, expected: &str) {
    while status(world, id).await != expected {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_response_is_made_while_nobody_waits() {
    let world = World::new().await;
    world.model.next(Script::Wait("done"));
    let begun = world.post("/v1/responses", ask("take your time")).await;
    assert_eq!((begun.status, &begun.json()["status"]), (200, &json!("in_progress")), "{}", begun.text);
    assert_eq!(begun.json()["background"], true);
    let id = begun.json()["id"].as_str().unwrap().to_owned();
    assert_eq!(status(&world, &id).await, "in_progress");
    world.model.go.notify_one();
    until(&world, &id, "completed").await;
    let shown = world.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(shown["output"][0]["content"][0]["text"], "done");
    assert_eq!(world.told("s", 1).await, ["user take your time", "assistant done"]);
    // What is over is not cancelled.
    let late = world.post(&format!("/v1/responses/{id}/cancel"), json!({})).await.json();
    assert_eq!(late["status"], "completed");
}

#[tokio::test]
async fn a_response_can_be_cancelled() {
    let world = World::new().await;
    for streams in [false, true] {
        world.model.next(Script::Hang);
        let mut body = ask("never mind");
        body["stream"] = streams.into();
        let count = world.model.requests().len();
        let asking = world.post("/v1/responses", body);
        if streams {
            // The head of the stream comes when the endpoint answers; hanging up does not end the work.
            tokio::select! {
                _ = asking => panic!("the model hangs"),
                () = async { while world.model.requests().len() == count { tokio::task::yield_now().await } } => {}
            }
            continue;
        }
        let id = asking.await.json()["id"].as_str().unwrap().to_owned();
        let cancelled = world.post(&format!("/v1/responses/{id}/cancel"), json!({})).await.json();
        assert_eq!(cancelled["status"], "cancelled");
        assert_eq!(status(&world, &id).await, "cancelled");
        assert_eq!(world.told("s", 1).await, ["user never mind"], "no half reply");
    }
}

#[tokio::test]
async fn a_response_that_failed_says_why() {
    let world = World::new().await;
    world.model.next(Script::Status(400, "{\"error\":{\"message\":\"too many tokens\"}}"));
    let id = world.post("/v1/responses", ask("hello")).await.json()["id"].as_str().unwrap().to_owned();
    until(&world, &id, "failed").await;
    let shown = world.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(shown["error"]["message"], "too many tokens");
}

#[tokio::test]
async fn a_response_whose_maker_is_gone_has_failed() {
    let mut world = World::with("[serve]\nshutdown_grace = \"1ms\"").await;
    world.model.next(Script::Hang);
    let id = world.post("/v1/responses", ask("hello")).await.json()["id"].as_str().unwrap().to_owned();
    // The lease of a process that ends is given back.
    world.restart().await;
    until(&world, &id, "failed").await;
    assert_eq!(world.told("s", 1).await, ["user hello"]);
    let answer = world.post("/v1/responses", json!({ "model": "main", "user": "s", "input": "again" })).await;
    assert_eq!(answer.status, 200, "the next message works");
}

#[tokio::test]
async fn what_cannot_be_made_in_the_background_is_said() {
    let world = World::new().await;
    let mut body = ask("hello");
    body["store"] = false.into();
    assert_eq!(world.post("/v1/responses", body).await.status, 422);
    let body = json!({ "model": "main", "background": true, "input": "hello" });
    assert_eq!(world.post("/v1/responses", body).await.status, 422, "it belongs to no scope");
}
