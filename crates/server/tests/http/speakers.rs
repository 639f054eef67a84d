//! Who speaks, where several people share a scope: the OpenAI-compatible interface knows it as Segue's own one does.

use crate::harness::World;
use segue_server::Server;
use serde_json::{Value, json};

const GROUP: &str = "agent:main:telegram:group:g";

/// Says something in a group through the OpenAI-compatible interface.
async fn say(world: &World, peer: &str, text: &str, id: &str) -> crate::harness::Answer {
    let body = json!({ "model": "main", "messages": [{ "role": "user", "content": text }] });
    let headers = [
        ("x-segue-channel", "telegram"),
        ("x-segue-group", "g"),
        ("x-segue-peer", peer),
        ("x-segue-message-id", id),
    ];
    let answer = world.call("POST", "/v1/chat/completions", Some(&body), &headers).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    answer
}

async fn senders(world: &World) -> Vec<(String, Option<String>)> {
    let items = world.get(&format!("/api/v1/scopes/{GROUP}/sessions/1/messages")).await.json();
    let users = items["items"].as_array().unwrap().iter().filter(|item| item["role"] == "user").cloned();
    let line =
        |item: Value| (item["text"].as_str().unwrap().to_owned(), item["sender"].as_str().map(str::to_owned));
    users.map(line).collect()
}

/// S-3, P-1: message 5 of Ann is not message 5 of Bob, and what Ann sends twice is there once.
#[tokio::test]
async fn s3_a_message_of_one_member_of_a_group_is_not_that_of_another() {
    let world = World::new().await;
    for peer in ["ann", "bob", "ann"] {
        say(&world, peer, "the same words", "5").await;
    }
    let of = |peer: &str| ("the same words".to_owned(), Some(peer.to_owned()));
    assert_eq!(senders(&world).await, [of("ann"), of("bob")]);
    // Segue's own interface knows them again.
    let own = json!({ "address": { "channel": "telegram", "group": "g", "peer": "ann" }, "text": "the same words", "message_id": "5" });
    assert_eq!(world.post("/api/v1/messages", own).await.json()["duplicate"], true);
}

/// A whole history: the last message is said by who sends it; who said the others is not known.
#[tokio::test]
async fn s2_the_last_message_of_a_history_is_said_by_who_sends_it() {
    let world = World::new().await;
    let message = |role: &str, text: &str| json!({ "role": role, "content": text });
    let history = json!([message("user", "one"), message("assistant", "ok"), message("user", "two")]);
    let body = json!({ "model": "main", "messages": history });
    let headers = [
        ("x-segue-channel", "telegram"),
        ("x-segue-group", "g"),
        ("x-segue-peer", "bob"),
        ("x-segue-message-id", "7"),
    ];
    for _ in 0..2 {
        let answer = world.call("POST", "/v1/chat/completions", Some(&body), &headers).await;
        assert_eq!(answer.header("x-segue-session"), Some(GROUP), "{}", answer.text);
    }
    assert_eq!(senders(&world).await, [("one".to_owned(), None), ("two".to_owned(), Some("bob".to_owned()))]);
}

/// what a person said is found, whichever way it came.
#[tokio::test]
async fn x17_what_a_person_said_through_openais_interface_is_found() {
    let world = World::new().await;
    say(&world, "ann", "my number is 0171", "1").await;
    say(&world, "bob", "mine is secret", "1").await;
    let direct = [("x-segue-channel", "telegram"), ("x-segue-peer", "ann")];
    let body = json!({ "model": "main", "messages": [{ "role": "user", "content": "just us" }] });
    world.call("POST", "/v1/chat/completions", Some(&body), &direct).await;
    let engine = world.engine().await;
    let found = engine.to_erase_of("telegram:ann").await.unwrap();
    let scopes: Vec<&str> = found.entries.iter().map(|(scope, _)| scope.as_str()).collect();
    assert_eq!(scopes.len(), 2, "{scopes:?}");
    assert!(found.unknown.is_empty(), "{:?}", found.unknown);
    for (scope, entries) in &found.entries {
        engine.erase_unpurged(scope, entries).await.unwrap();
    }
    let said: Vec<String> = senders(&world).await.into_iter().map(|(text, _)| text).collect();
    assert_eq!(said, ["", "mine is secret"]);
    drop(Server::tokens(&engine));
}

/// Moderators are who the configuration says, whichever way they speak.
#[tokio::test]
async fn s1_only_moderators_delete_sessions_of_a_group() {
    let world = World::with("[groups]\nmoderators = [\"telegram:ann\"]").await;
    say(&world, "bob", "hello", "1").await;
    say(&world, "bob", "/new", "2").await;
    say(&world, "bob", "/session delete 1", "3").await;
    let sessions = async || {
        let listed = world.get(&format!("/api/v1/scopes/{GROUP}/sessions")).await.json();
        listed["items"].as_array().unwrap().len()
    };
    assert_eq!(sessions().await, 2, "a member may not");
    say(&world, "ann", "/session delete 1", "3").await;
    assert_eq!(sessions().await, 1, "a moderator may");
}
