//! Chat completions, with and without the whole history.

use crate::harness::{Script, World};
use serde_json::{Value, json};

fn chat(scope: &str, messages: &[(&str, &str)]) -> Value {
    let message = |(role, text): &(&str, &str)| json!({ "role": role, "content": text });
    let messages: Vec<Value> = messages.iter().map(message).collect();
    json!({ "model": "main", "metadata": { "segue_scope": scope }, "messages": messages })
}

#[tokio::test]
async fn s2_only_the_new_message_is_sent_and_the_context_is_ours() {
    let world = World::new().await;
    world.model.next(Script::Say("Lisbon is lovely in May."));
    let first = world.post("/v1/chat/completions", chat("s", &[("user", "Tell me about Lisbon.")])).await;
    assert_eq!(first.json()["choices"][0]["message"]["content"], "Lisbon is lovely in May.");
    assert_eq!(
        (first.header("x-segue-session"), first.header("x-segue-action")),
        (Some("s"), Some("continue"))
    );
    world.model.next(Script::Say("Try the tram."));
    let second = chat("s", &[("system", "Be brief."), ("user", "What should I see in Lisbon?")]);
    assert_eq!(world.post("/v1/chat/completions", second).await.status, 200);
    let given = world.model.given();
    let expected =
        ["Be brief.", "Tell me about Lisbon.", "Lisbon is lovely in May.", "What should I see in Lisbon?"];
    assert_eq!(given, expected);
    assert_eq!(world.told("s", 1).await.len(), 4);
    let sent = world.model.requests();
    assert_eq!((&sent[1]["model"], sent[1].get("metadata")), (&json!("scripted"), None));
}

#[tokio::test]
async fn s2_a_whole_history_is_taken_over_once_and_sent_on_as_it_is() {
    let world = World::new().await;
    let mut history = vec![("user", "one"), ("assistant", "ok one"), ("user", "two")];
    world.model.next(Script::Say("ok two"));
    assert_eq!(
        world.post("/v1/chat/completions", chat("s", &history)).await.header("x-segue-action"),
        Some("new")
    );
    assert_eq!(world.told("s", 1).await, ["user one", "assistant ok one", "user two", "assistant ok two"]);
    history.extend([("assistant", "ok two"), ("user", "three")]);
    world.model.next(Script::Say("ok three"));
    let answer = world.post("/v1/chat/completions", chat("s", &history)).await;
    assert_eq!(answer.header("x-segue-action"), Some("continue"));
    assert_eq!(world.model.given(), ["one", "ok one", "two", "ok two", "three"]);
    assert_eq!(world.told("s", 1).await.len(), 6);

    // The second message is edited: a fork that shares the beginning.
    let edited = [("user", "one"), ("assistant", "ok one"), ("user", "two, but other")];
    world.model.next(Script::Say("ok other"));
    let answer = world.post("/v1/chat/completions", chat("s", &edited)).await;
    assert_eq!(
        (answer.header("x-segue-session"), answer.header("x-segue-action")),
        (Some("s#2"), Some("fork"))
    );
    assert_eq!(
        world.told("s", 2).await,
        ["user one", "assistant ok one", "user two, but other", "assistant ok other"]
    );
    assert_eq!(world.told("s", 1).await.len(), 6, "the first one is as it was");

    // The last reply is asked for again: a fork before it.
    let again = [("user", "one"), ("assistant", "ok one"), ("user", "two, but other")];
    world.model.next(Script::Say("ok other again"));
    let answer = world.post("/v1/chat/completions", chat("s", &again)).await;
    assert_eq!(
        (answer.header("x-segue-session"), answer.header("x-segue-action")),
        (Some("s#3"), Some("fork"))
    );
    assert_eq!(world.told("s", 3).await.last().unwrap(), "assistant ok other again");
    assert_eq!(world.get("/api/v1/scopes/s/verify").await.json()["ok"], true);
}

#[tokio::test]
async fn s2_tool_calls_are_stored_and_paired() {
    let world = World::new().await;
    world.model.next(Script::Call("call_1", "weather", "{\"city\":\"Lisbon\"}"));
    let first = world.post("/v1/chat/completions", chat("s", &[("user", "weather in Lisbon?")])).await.json();
    assert_eq!(first["choices"][0]["finish_reason"], "tool_calls");
    world.model.next(Script::Say("Sunny."));
    let body = json!({ "model": "main", "metadata": { "segue_scope": "s" },
        "messages": [{ "role": "tool", "tool_call_id": "call_1", "content": "25 degrees" }] });
    assert_eq!(world.post("/v1/chat/completions", body).await.status, 200);
    let sent = world.model.requests().pop().unwrap();
    assert_eq!(sent["messages"][1]["tool_calls"][0]["id"], "call_1");
    assert_eq!(sent["messages"][2]["tool_call_id"], "call_1");
    let told = world.told("s", 1).await;
    assert_eq!(told, ["user weather in Lisbon?", "assistant  +1", "tool 25 degrees", "assistant Sunny."]);
}

#[tokio::test]
async fn without_a_scope_nothing_is_stored() {
    let world = World::new().await;
    let body = json!({ "model": "main", "messages": [{ "role": "user", "content": "hi" }], "seed": 7 });
    let answer = world.post("/v1/chat/completions", body).await;
    assert_eq!((answer.status, answer.header("x-segue-session")), (200, None));
    assert_eq!(world.model.requests()[0]["seed"], 7);
    assert_eq!(world.get("/api/v1/scopes").await.json()["items"], json!([]));
}

#[tokio::test]
async fn commands_are_answered_by_segue_itself_and_notices_stand_before_replies() {
    let world = World::new().await;
    world.post("/v1/chat/completions", chat("s", &[("user", "Let us talk about bread.")])).await;
    let asked = world.model.requests().len();
    let mut command = chat("s", &[("user", "/new")]);
    command["stream"] = json!(true);
    let answer = world.post("/v1/chat/completions", command).await;
    assert!(answer.streamed().contains("s#2") || answer.streamed().contains("#2"), "{}", answer.text);
    assert_eq!(answer.data().last().unwrap(), "[DONE]");
    assert_eq!(world.model.requests().len(), asked, "no model was asked");
    assert_eq!(answer.header("x-segue-session"), Some("s#2"));

    let fresh =
        world.post("/v1/chat/completions", chat("s", &[("user", "Start over. Tell me about rain.")])).await;
    let text = fresh.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    if let Some(notice) = fresh.header("x-segue-notice") {
        assert!(!notice.is_empty() && text.contains("\n\n"), "{text}");
    }
}

#[tokio::test]
async fn scopes_come_from_headers_users_and_cache_keys() {
    let world = World::new().await;
    let plain = |field: &str, value: &str| json!({ "model": "main", field: value, "messages": [{ "role": "user", "content": "hi" }] });
    let session = |answer: crate::harness::Answer| answer.header("x-segue-session").unwrap().to_owned();
    let call = |body: Value, headers: Vec<(&'static str, &'static str)>| {
        let world = &world;
        async move { world.call("POST", "/v1/chat/completions", Some(&body), &headers).await }
    };
    let body = plain("user", "ann");
    assert_eq!(session(call(body.clone(), vec![("x-segue-scope", "top")]).await), "top");
    let address = vec![("x-segue-channel", "telegram"), ("x-segue-peer", "7")];
    assert_eq!(session(call(body.clone(), address).await), "agent:main:telegram:direct:7");
    assert_eq!(session(call(body, vec![]).await), "ann");
    assert_eq!(session(call(plain("prompt_cache_key", "k"), vec![]).await), "k");
    // What is told in a header is percent-encoded, and a key may hold escapes of its own.
    assert_eq!(session(call(plain("user", "ann smith#2"), vec![]).await), "ann%2520smith%25232");
    // P-1: two names never meet in one scope.
    let names = ["ann ", " ann", "ann", "a b", "a%20b", "a%2520b"];
    let mut seen = std::collections::BTreeSet::new();
    for name in names {
        assert!(seen.insert(session(call(plain("user", name), vec![]).await)), "{name}");
    }
    // The same address leads to the same scope as in Segue's own interface, also without a peer.
    let channel = vec![("x-segue-channel", "telegram")];
    let nobody = json!({ "model": "main", "messages": [{ "role": "user", "content": "hi" }] });
    assert_eq!(session(call(nobody, channel).await), "agent:main:main");
    let own = json!({ "address": { "channel": "telegram" }, "text": "hello" });
    assert_eq!(world.post("/api/v1/messages", own).await.json()["scope"], "agent:main:main");
    for wrong in [json!(5), json!(["s"]), json!({}), json!(true)] {
        let mut body = plain("user", "ann");
        body["metadata"] = json!({ "segue_scope": wrong });
        assert_eq!(world.post("/v1/chat/completions", body.clone()).await.status, 422, "{wrong}");
        assert_eq!(world.post("/v1/conversations", body).await.status, 422, "{wrong}");
    }
}

/// what stands in front of many people may name the channel alone. Who speaks is told by the request, in the order in which
/// scopes are found.
#[tokio::test]
async fn x9_a_header_without_a_person_takes_the_person_of_the_request() {
    let world = World::new().await;
    let headers = |name: &'static str| [(name, "telegram")];
    let ask = |field: &str, value: Value| json!({ "model": "main", field: value, "messages": [{ "role": "user", "content": "hi" }] });
    for (header, scope) in [
        ("x-segue-channel", "agent:main:telegram:direct:ann"),
        ("x-segue-account", "agent:main:unknown:direct:ann"),
        ("x-segue-agent", "agent:telegram:unknown:direct:ann"),
    ] {
        for field in ["conversation", "prompt_cache_key", "user", "safety_identifier"] {
            let mut body = ask(field, json!("ann"));
            if field != "safety_identifier" {
                body["safety_identifier"] = json!("somebody else");
            }
            let answer = world.call("POST", "/v1/chat/completions", Some(&body), &headers(header)).await;
            assert_eq!(answer.header("x-segue-session"), Some(scope), "{header} {field}: {}", answer.text);
        }
    }
    let channel = headers("x-segue-channel");
    let bob = ask("user", json!("bob"));
    let answer = world.call("POST", "/v1/chat/completions", Some(&bob), &channel).await;
    assert_eq!(answer.header("x-segue-session"), Some("agent:main:telegram:direct:bob"));
    assert_eq!(world.model.given(), ["hi"], "nothing of what Ann said");
    // Who is named in a header is that, and so is a scope.
    let named = [("x-segue-channel", "telegram"), ("x-segue-peer", "7")];
    let answer = world.call("POST", "/v1/chat/completions", Some(&bob), &named).await;
    assert_eq!(answer.header("x-segue-session"), Some("agent:main:telegram:direct:7"));
    let answer = world
        .call("POST", "/v1/chat/completions", Some(&ask("metadata", json!({ "segue_scope": "s" }))), &channel)
        .await;
    assert_eq!(answer.header("x-segue-session"), Some("s"));
    // A response goes on where the one before was, also if nobody is named any more.
    let first = json!({ "model": "main", "user": "ann", "input": "one" });
    let first = world.call("POST", "/v1/responses", Some(&first), &channel).await;
    assert_eq!(first.header("x-segue-session"), Some("agent:main:telegram:direct:ann"), "{}", first.text);
    let next = json!({ "model": "main", "previous_response_id": first.json()["id"], "input": "two" });
    let next = world.call("POST", "/v1/responses", Some(&next), &channel).await;
    assert_eq!(
        (next.status, next.header("x-segue-session")),
        (200, first.header("x-segue-session")),
        "{}",
        next.text
    );
}
