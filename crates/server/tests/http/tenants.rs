//! Two tokens, two tenants: every operation of the description with the other's token and with none.

use crate::harness::World;
use segue_server::Server;
use segue_server::auth::Right;
use serde_json::{Value, json};

/// Returns a body with which an operation would succeed for its owner, as far as it needs one.
fn body(path: &str, scope: &str) -> Value {
    match path {
        "/api/v1/messages" => json!({ "scope": scope, "text": "hello" }),
        "/api/v1/replies" => json!({ "scope": scope, "text": "hello" }),
        "/api/v1/tool-results" => json!({ "scope": scope, "tool_call_id": "c", "text": "hello" }),
        path if path.ends_with("/recall") => json!({ "query": "secret", "why": "a test" }),
        path if path.ends_with("/split") => json!({ "at": 1 }),
        path if path.ends_with("/answer") => json!({ "answer": "fresh" }),
        _ => json!({}),
    }
}

#[tokio::test]
async fn s6_a_token_sees_its_prefixes_and_nothing_else_on_every_operation() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let (tokens, now) = (Server::tokens(&engine), engine.now());
    let ann = tokens.add("ann", vec!["ann:".into()], Right::Admin, None, now).await.unwrap().secret;
    let bob = tokens.add("bob", vec!["bob:".into()], Right::Admin, None, now).await.unwrap().secret;
    let reader = tokens.add("reader", vec!["ann:".into()], Right::Read, None, now).await.unwrap().secret;
    world.token = Some(ann.clone());
    world.say("ann:chat", "the secret word is heron").await;
    world.say("ann:chat", "/new").await;

    let description: Value = serde_json::from_str(&Server::description()).unwrap();
    let mut tried = 0;
    for (path, item) in description["paths"].as_object().unwrap() {
        for method in ["get", "post", "patch", "delete"] {
            if item.get(method).is_none() {
                continue;
            }
            tried += 1;
            let filled = path.replace("{scope}", "ann:chat").replace("{n}", "1").replace("{seq}", "1");
            let filled = filled.replace("{op}", "start");
            let body = (method != "get").then(|| body(path, "ann:chat"));
            let method = method.to_uppercase();
            let none = world.call(&method, &filled, body.as_ref(), &[("authorization", "")]).await;
            assert_eq!(none.status, 401, "{method} {path} without a token: {}", none.text);
            let bad = [("authorization", "Bearer sgt_0000")];
            assert_eq!(
                world.call(&method, &filled, body.as_ref(), &bad).await.status,
                401,
                "{method} {path}"
            );
            if path.ends_with("/events") && !path.contains("{scope}") {
                continue;
            }
            let header = format!("Bearer {bob}");
            let others = world.call(&method, &filled, body.as_ref(), &[("authorization", &header)]).await;
            let is_list = path == "/api/v1/scopes";
            assert_eq!(others.status, if is_list { 200 } else { 404 }, "{method} {path}: {}", others.text);
            assert!(!others.text.contains("heron"), "{method} {path} leaks");
            if is_list {
                assert_eq!(others.json()["items"], json!([]));
            }
            let changes = method != "GET" && !path.ends_with("/recall");
            if changes {
                let header = format!("Bearer {reader}");
                let read_only =
                    world.call(&method, &filled, body.as_ref(), &[("authorization", &header)]).await;
                assert_eq!(read_only.status, 403, "{method} {path}: {}", read_only.text);
            }
        }
    }
    assert!(tried > 20, "{tried} operations");
    assert_eq!(world.told("ann:chat", 1).await, ["user the secret word is heron"]);

    // The OpenAI-compatible part keeps them apart too: the same user is another scope for each.
    let chat = json!({ "model": "main", "user": "sam", "messages": [{ "role": "user", "content": "hi" }] });
    let hers = world.post("/v1/chat/completions", chat.clone()).await;
    assert_eq!(hers.header("x-segue-session"), Some("ann:sam"), "{}", hers.text);
    let header = format!("Bearer {bob}");
    let his = world.call("POST", "/v1/chat/completions", Some(&chat), &[("authorization", &header)]).await;
    assert_eq!(his.header("x-segue-session"), Some("bob:sam"));
    let forced = [("authorization", header.as_str()), ("x-segue-scope", "ann:chat")];
    assert_eq!(world.call("POST", "/v1/chat/completions", Some(&chat), &forced).await.status, 404);

    // Neither do ids of one tenant mean anything to the other.
    let made = world.post("/v1/conversations", json!({})).await.json();
    let ask = json!({ "model": "main", "conversation": made["id"], "input": "hi" });
    let answer = world.post("/v1/responses", ask.clone()).await.json();
    let (conversation, response) = (made["id"].as_str().unwrap(), answer["id"].as_str().unwrap());
    for (method, path) in [
        ("GET", format!("/v1/responses/{response}")),
        ("DELETE", format!("/v1/responses/{response}")),
        ("POST", format!("/v1/responses/{response}/cancel")),
        ("GET", format!("/v1/responses/{response}/input_items")),
        ("GET", format!("/v1/conversations/{conversation}")),
        ("POST", format!("/v1/conversations/{conversation}")),
        ("DELETE", format!("/v1/conversations/{conversation}")),
        ("GET", format!("/v1/conversations/{conversation}/items")),
        ("POST", format!("/v1/conversations/{conversation}/items")),
    ] {
        let body = (method == "POST").then(|| json!({ "items": [], "metadata": {} }));
        for (authorization, status) in [(header.as_str(), 404), ("", 401)] {
            let answer = world.call(method, &path, body.as_ref(), &[("authorization", authorization)]).await;
            assert_eq!(answer.status, status, "{method} {path}: {}", answer.text);
        }
    }
    let stolen = json!({ "model": "main", "user": "sam", "previous_response_id": response, "input": "hi" });
    for body in [ask, stolen] {
        let answer = world.call("POST", "/v1/responses", Some(&body), &[("authorization", &header)]).await;
        assert_eq!(answer.status, 404, "{}", answer.text);
    }

    tokens.revoke("ann", now).await.unwrap();
    assert_eq!(world.get("/api/v1/scopes").await.status, 401, "a revoked token ends at once");
}

/// P-1: the name of a user is no key of a scope. Two of them never meet, also if one reads like a key of the token's own.
#[tokio::test]
async fn p1_a_user_whose_name_reads_like_a_key_meets_no_other_one() {
    let mut world = World::new().await;
    let engine = world.engine().await;
    let made = Server::tokens(&engine).add("t", vec!["t:".into()], Right::Write, None, engine.now()).await;
    world.token = Some(made.unwrap().secret);
    for (user, scope) in [("x", "t:x"), ("t:x", "t:t:x")] {
        let chat =
            json!({ "model": "main", "user": user, "messages": [{ "role": "user", "content": "hi" }] });
        assert_eq!(world.post("/v1/chat/completions", chat).await.header("x-segue-session"), Some(scope));
    }
    // A key is named as one.
    let chat = json!({ "model": "main", "metadata": { "segue_scope": "t:x" }, "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(world.post("/v1/chat/completions", chat).await.header("x-segue-session"), Some("t:x"));
}
