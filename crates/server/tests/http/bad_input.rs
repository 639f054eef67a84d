//! Bad input: a clear answer, never a 500, and the next message works.

use crate::harness::World;
use serde_json::json;

const ME: &str = "agent:main:cli:direct:me";

#[tokio::test]
async fn s1_bad_input_is_answered_clearly() {
    let world = World::with("[serve]\nbody_bytes_max = 4096\n[limits]\nmessage_bytes_max = 1000").await;
    world.say(ME, "hello").await;
    let long = "x".repeat(1001);
    let deep = format!("{}{}", "[".repeat(3000), "]".repeat(900));
    let json = "application/json";
    for (method, path, kind, body, status) in [
        ("POST", "/api/v1/messages", json, "", 400),
        ("POST", "/api/v1/messages", json, "{", 400),
        ("POST", "/api/v1/messages", json, deep.as_str(), 400),
        ("POST", "/api/v1/messages", json, "[]", 422),
        ("POST", "/api/v1/messages", json, r#"["a",null,"hello"]"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"address":["telegram"],"text":"a"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","text":"a","context":[300]}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","scope":"b","text":"a"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"address":{"peer":"a","peer":"b"},"text":"a"}"#, 422),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/undo", json, "[]", 422),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/undo", json, "\n", 400),
        ("POST", "/api/v1/messages", json, r#"{"text":"a"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","address":{"peer":"b"},"text":"a"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a b","text":"a"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","text":" "}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","text":"a","at":"noon"}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","text":"a","strange":1}"#, 422),
        ("POST", "/api/v1/messages", json, r#"{"scope":"a","text":"a","intent":"dance"}"#, 422),
        ("POST", "/api/v1/messages", "text/plain", r#"{"scope":"a","text":"a"}"#, 415),
        ("GET", "/api/v1/nothing", json, "", 404),
        ("PUT", "/api/v1/messages", json, "", 405),
        ("GET", "/api/v1/scopes?limit=0", json, "", 422),
        ("GET", "/api/v1/scopes?limit=many", json, "", 422),
        ("GET", "/api/v1/scopes?cursor=x", json, "", 422),
        ("GET", "/api/v1/scopes?cursor=%2bf", json, "", 422),
        ("GET", "/api/v1/scopes/agent:main:cli:direct:me/decisions?cursor=%2b5", json, "", 422),
        (
            "POST",
            "/api/v1/tool-results",
            json,
            r#"{"scope":"agent:main:cli:direct:me","tool_call_id":" "}"#,
            422,
        ),
        (
            "POST",
            "/api/v1/replies",
            json,
            r#"{"scope":"agent:main:cli:direct:me","text":"a","usage":{"prompt_tokens":9007199254740992}}"#,
            422,
        ),
        ("GET", "/api/v1/scopes/%2e%2e/sessions", json, "", 404),
        ("GET", "/api/v1/scopes/%00/sessions", json, "", 404),
        ("POST", "/api/v1/scopes/%00/sessions", json, "", 404),
        ("GET", "/api/v1/scopes/a%23b/sessions", json, "", 404),
        ("GET", "/api/v1/scopes/%F0%9F%98%80/sessions", json, "", 404),
        ("GET", "/api/v1/scopes/%ff/sessions", json, "", 422),
        ("GET", "/api/v1/scopes/agent:main:cli:direct:me/sessions/x", json, "", 422),
        ("GET", "/api/v1/scopes/agent:main:cli:direct:me/sessions/99", json, "", 404),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/sessions/99/resume", json, "", 404),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/sessions/1/resume", json, "", 409),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/recall", json, r#"{"query":"a"}"#, 422),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/answer", json, r#"{"answer":"fresh"}"#, 409),
        ("POST", "/api/v1/scopes/agent:main:cli:direct:me/answer", json, r#"{"answer":"what"}"#, 422),
        ("GET", "/api/v1/scopes/agent:main:cli:direct:me/context?window=1", json, "", 422),
        ("GET", "/api/v1/scopes/agent:main:cli:direct:me/context?shape=round", json, "", 422),
        ("DELETE", "/api/v1/scopes/agent:main:cli:direct:me/messages/999", json, "", 404),
        ("DELETE", "/api/v1/scopes/agent:main:cli:direct:me/sessions/1", json, "", 409),
        ("POST", "/v1/chat/completions", json, "{}", 422),
        (
            "POST",
            "/v1/chat/completions",
            json,
            r#"{"model":"none","messages":[{"role":"user","content":"a"}]}"#,
            404,
        ),
        (
            "POST",
            "/v1/chat/completions",
            json,
            r#"{"user":"u","messages":[{"role":"king","content":"a"}]}"#,
            422,
        ),
        ("POST", "/v1/responses", json, r#"{"user":"u","input":5}"#, 422),
        ("GET", "/v1/responses/resp_none", json, "", 404),
        ("GET", "/v1/conversations/conv_none", json, "", 404),
    ] {
        let bytes = (method == "POST").then(|| body.as_bytes().to_vec());
        let answer = world.send(method, path, bytes, &[("content-type", kind)]).await;
        assert_eq!(answer.status, status, "{method} {path} {body:.80}: {}", answer.text);
        let said = answer.json();
        match path.starts_with("/v1/") {
            true => assert!(said["error"]["message"].is_string(), "{method} {path}: {}", answer.text),
            false => {
                assert_eq!(said["status"], status);
                assert!(said["detail"].is_string() && said["title"].is_string());
                assert_eq!(answer.header("content-type"), Some("application/problem+json"));
            }
        }
    }
    let too_long = world.post("/api/v1/messages", json!({ "scope": ME, "text": long })).await;
    assert_eq!(too_long.status, 413);
    let too_large = world.post("/api/v1/messages", json!({ "scope": ME, "text": "x".repeat(5000) })).await;
    assert_eq!(too_large.status, 413);
    assert_eq!(world.say(ME, "and the next message works").await["wants_reply"], true);
    assert_eq!(world.get(&format!("/api/v1/scopes/{ME}/verify")).await.json()["ok"], true);
}

#[tokio::test]
async fn a_scope_in_a_path_is_percent_encoded() {
    let world = World::new().await;
    for (scope, encoded) in
        // Not "..": the client itself takes "%2e%2e" for a step up.
        [
            ("a/b:c", "a%2Fb%3Ac"),
            ("李雷", "%E6%9D%8E%E9%9B%B7"),
            ("a%b", "a%25b"),
            ("😀", "%F0%9F%98%80"),
            ("a?b&c", "a%3Fb%26c"),
        ]
    {
        world.say(scope, "hello").await;
        let sessions = world.get(&format!("/api/v1/scopes/{encoded}/sessions")).await;
        assert_eq!(sessions.json()["items"][0]["key"], scope, "{}", sessions.text);
    }
}

#[tokio::test]
async fn a_token_may_begin_so_many_scopes_and_ask_so_often() {
    let mut world = World::with("[serve]\nscopes_per_token_max = 2\nrequests_per_minute = 5").await;
    let engine = world.engine().await;
    let now = engine.now();
    let tokens = segue_server::Server::tokens(&engine);
    let made = tokens.add("t", vec![], segue_server::auth::Right::Write, None, now).await.unwrap();
    world.token = Some(made.secret);
    for (scope, status) in [("a", 200), ("b", 200), ("c", 409), ("a", 200), ("b", 200), ("b", 429)] {
        let answer = world.post("/api/v1/messages", json!({ "scope": scope, "text": "hi" })).await;
        assert_eq!(answer.status, status, "{scope}: {}", answer.text);
        assert_eq!(answer.header("retry-after").is_some(), status == 429);
    }
}
