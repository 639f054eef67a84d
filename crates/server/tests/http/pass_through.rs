//! Requests that belong to no scope pass through untouched.

use crate::harness::{Script, World};
use serde_json::json;

#[tokio::test]
async fn s1_a_response_without_a_scope_goes_to_an_endpoint_that_speaks_responses() {
    let world = World::new().await;
    let whole = r#"{"id":"resp_theirs","object":"response","status":"completed","output":[]}"#;
    let input =
        json!([{ "type": "message", "role": "user", "content": "hi" }, { "type": "of_the_future", "x": 1 }]);
    let body = json!({ "model": "open", "input": input, "strange": { "kept": true } });
    world.model.next(Script::Response(whole));
    let answer = world.post("/v1/responses", body).await;
    assert_eq!((answer.status, answer.text.as_str()), (200, whole));
    let (path, _) = world.model.heads.lock().unwrap().pop().unwrap();
    let sent = world.model.requests().pop().unwrap();
    assert_eq!(
        (path.as_str(), &sent["input"], &sent["strange"]),
        ("/v1/responses", &input, &json!({ "kept": true }))
    );
    assert_eq!(world.get("/api/v1/scopes").await.json()["items"], json!([]));
}

#[tokio::test]
async fn s1_an_endpoint_that_speaks_chat_only_is_found_out_once() {
    let world = World::new().await;
    let body = json!({ "model": "open", "input": "hi" });
    world.model.next(Script::Status(404, "{}"));
    for _ in 0..2 {
        world.model.next(Script::Say("hello"));
        let answer = world.post("/v1/responses", body.clone()).await;
        assert_eq!(answer.json()["output"][0]["content"][0]["text"], "hello", "{}", answer.text);
    }
    let paths: Vec<String> = world.model.heads.lock().unwrap().iter().map(|(path, _)| path.clone()).collect();
    assert_eq!(paths, ["/v1/responses", "/v1/chat/completions", "/v1/chat/completions"]);
}

#[tokio::test]
async fn s1_headers_pass_both_ways_but_not_secrets() {
    let world = World::new().await;
    world.model.next(Script::Head(429, ("retry-after", "7"), "{\"error\":{\"message\":\"slow\"}}"));
    let body = json!({ "model": "main", "messages": [{ "role": "user", "content": "hi" }] });
    let headers = [
        ("openai-beta", "x=1"),
        ("authorization", "Bearer mine"),
        ("cookie", "a=b"),
        ("x-segue-message-id", "5"),
        ("idempotency-key", "k"),
    ];
    let answer = world.call("POST", "/v1/chat/completions", Some(&body), &headers).await;
    assert_eq!((answer.status, answer.header("retry-after")), (429, Some("7")), "{}", answer.text);
    let (_, sent) = world.model.heads.lock().unwrap().pop().unwrap();
    assert_eq!(sent.get("openai-beta").unwrap(), "x=1");
    for name in ["authorization", "cookie", "x-segue-message-id"] {
        assert!(sent.get(name).is_none(), "{name}");
    }
    // The same for an error of a model that answers in a scope.
    world.model.next(Script::Head(400, ("x-request-id", "r1"), "{}"));
    let mut scoped = body;
    scoped["user"] = json!("s");
    let answer = world.post("/v1/chat/completions", scoped).await;
    assert_eq!((answer.status, answer.header("x-request-id")), (400, Some("r1")), "{}", answer.text);
}

/// Nothing is stored of what passes through, a kept answer neither.
#[tokio::test]
async fn s1_nothing_is_kept_of_what_passes_through() {
    let world = World::new().await;
    let body = json!({ "model": "main", "messages": [{ "role": "user", "content": "hi" }] });
    let key = [("idempotency-key", "k")];
    for reply in ["first PASSED", "second PASSED"] {
        world.model.next(Script::Say(reply));
        let answer = world.call("POST", "/v1/chat/completions", Some(&body), &key).await;
        assert_eq!(answer.json()["choices"][0]["message"]["content"], reply, "{}", answer.text);
    }
    let values = world.engine().await;
    let kept = values.store().values("serve.answer", "", None, 10, values.now()).await.unwrap();
    assert!(kept.is_empty(), "{kept:?}");
}
