//! Endpoints that speak responses themselves.

use crate::harness::{Script, World};
use serde_json::{Value, json};

const WHOLE: &str = r#"{"id":"resp_1","object":"response","status":"completed","model":"scripted","output":[
    {"type":"reasoning","id":"rs_1","summary":[]},
    {"type":"message","id":"msg_1","role":"assistant","status":"completed",
     "content":[{"type":"output_text","text":"hi","annotations":[]}]}],
    "usage":{"input_tokens":3,"output_tokens":1,"total_tokens":4}}"#;

const STREAM: &str = concat!(
    "event: response.created\ndata: {\"type\":\"response.created\",\"response\":{\"id\":\"resp_1\",\"status\":\"in_progress\",\"output\":[]}}\n\n",
    "event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"msg_1\",\"delta\":\"hi\"}\n\n",
    "event: response.output_text.done\ndata: {\"type\":\"response.output_text.done\",\"item_id\":\"msg_1\",\"text\":\"hi\"}\n\n",
    "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{\"id\":\"resp_1\",\"status\":\"completed\",\"output\":[{\"type\":\"message\",\"id\":\"msg_1\",\"role\":\"assistant\",\"content\":[{\"type\":\"output_text\",\"text\":\"hi\"}]}]}}\n\n",
);

#[tokio::test]
async fn a_response_has_our_id_and_names_what_it_goes_on_from() {
    let world = World::new().await;
    world.model.next(Script::Response(WHOLE));
    let first =
        world.post("/v1/responses", json!({ "model": "native", "user": "s", "input": "one" })).await.json();
    let id = first["id"].as_str().unwrap();
    assert_ne!(id, "resp_1", "two endpoints may give the same id");
    let shown = world.get(&format!("/v1/responses/{id}")).await.json();
    assert_eq!(shown["output"][1]["id"], "msg_1", "reasoning has its own id: {shown}");
    world.model.next(Script::Response(STREAM));
    let body = json!({ "model": "native", "previous_response_id": id, "input": "two", "stream": true });
    let answer = world.post("/v1/responses", body).await;
    let last: Value = serde_json::from_str(answer.data().last().unwrap()).unwrap();
    assert_eq!(last["response"]["previous_response_id"], id, "{}", answer.text);
    assert!(!answer.text.contains("resp_1"), "{}", answer.text);
    assert_eq!(world.told("s", 1).await, ["user one", "assistant hi", "user two", "assistant hi"]);
}

#[tokio::test]
async fn a_notice_stands_before_the_reply_and_not_in_the_log() {
    let world = World::new().await;
    let scope = json!({ "segue_scope": "s" });
    let ask = |text: &str, stream: bool| json!({ "model": "native", "metadata": scope, "input": text, "stream": stream });
    world.model.next(Script::Response(WHOLE));
    world.post("/v1/responses", ask("Plan a trip to Lisbon in May for two people.", false)).await;
    for (stream, script) in [(false, WHOLE), (true, STREAM)] {
        world.model.next(Script::Response(script));
        let answer = world
            .post("/v1/responses", ask("Forget that, start over: fix my Rust build error.", stream))
            .await;
        let Some(notice) = answer.header("x-segue-notice") else { panic!("no notice: {}", answer.text) };
        assert!(!notice.is_empty());
        let value: Value = match stream {
            true => serde_json::from_str(answer.data().last().unwrap()).unwrap(),
            false => json!({ "response": answer.json() }),
        };
        let output = value["response"]["output"].as_array().unwrap();
        let text = output.last().unwrap()["content"][0]["text"].as_str().unwrap();
        assert!(text.ends_with("\n\nhi") && text.len() > 4, "{text}");
        if stream {
            let delta: Value = serde_json::from_str(&answer.data()[1]).unwrap();
            assert_eq!(delta["delta"], text);
        }
    }
    let told = world.told("s", 2).await;
    assert_eq!(told.last().unwrap(), "assistant hi");
}

/// What is shown is kept: a reply that is longer than a message may be is none.
#[tokio::test]
async fn s4_a_native_stream_that_is_too_long_to_keep_ends_as_a_failure() {
    let world = World::with("[limits]\nmessage_bytes_max = 10").await;
    world.model.next(Script::Drip("event: response.output_text.delta\ndata: {\"type\":\"response.output_text.delta\",\"item_id\":\"m\",\"delta\":\"four\"}\n\n"));
    let ask = json!({ "model": "native", "user": "s", "input": "go on", "stream": true });
    let answer = world.post("/v1/responses", ask).await;
    assert_eq!(answer.events().last().unwrap(), "response.failed", "{}", answer.text);
    assert_eq!(world.told("s", 1).await, ["user go on"]);
}
