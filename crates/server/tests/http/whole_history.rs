//! Clients that send their whole history: commands amid it, forks, notices.

use crate::harness::{Answer, Script, World};
use serde_json::{Value, json};

/// A client that keeps its history, as most chat front ends do.
struct Client<'a> {
    world: &'a World,
    history: Vec<Value>,
}

impl<'a> Client<'a> {
    fn new(world: &'a World) -> Self {
        Self { world, history: Vec::new() }
    }

    /// Says something with all that was said before, and keeps the answer.
    async fn say(&mut self, text: &str, reply: &'static str) -> Answer {
        self.history.push(json!({ "role": "user", "content": text }));
        if !reply.is_empty() {
            self.world.model.next(Script::Say(reply));
        }
        let body = json!({ "model": "main", "messages": self.history });
        let answer =
            self.world.call("POST", "/v1/chat/completions", Some(&body), &[("x-segue-scope", "s")]).await;
        assert_eq!(answer.status, 200, "{text}: {}", answer.text);
        self.history.push(answer.json()["choices"][0]["message"].clone());
        answer
    }
}

/// S-2: a command is no message, and what Segue answers to it is no reply.
#[tokio::test]
async fn s2_commands_amid_a_whole_history_are_done_once_and_stored_nowhere() {
    let world = World::new().await;
    let mut client = Client::new(&world);
    client.say("one", "a one").await;
    client.say("two", "a two").await;
    let new = client.say("/new", "").await;
    assert_eq!((new.header("x-segue-session"), new.header("x-segue-action")), (Some("s#2"), Some("new")));
    assert!(new.header("x-segue-notice").is_some(), "Segue's own answers carry it, too");
    let third = client.say("three", "a three").await;
    assert_eq!(third.header("x-segue-session"), Some("s#2"), "the new session goes on");
    assert_eq!(client.say("/session list", "").await.header("x-segue-action"), Some("command"));
    assert_eq!(client.say("four", "a four").await.header("x-segue-session"), Some("s#2"));
    let second = ["user three", "assistant a three", "user four", "assistant a four"];
    assert_eq!(world.told("s", 2).await, second);
    client.say("/session resume 1", "").await;
    assert_eq!(client.say("five", "a five").await.header("x-segue-session"), Some("s"));
    assert_eq!(client.say("six", "a six").await.header("x-segue-action"), Some("continue"));
    client.say("/new about seven", "a seven").await;
    assert_eq!(client.say("eight", "a eight").await.header("x-segue-session"), Some("s#3"));
    let first =
        ["one", "two", "five", "six"].map(|n| [format!("user {n}"), format!("assistant a {n}")]).concat();
    assert_eq!(world.told("s", 1).await, first);
    assert_eq!(world.told("s", 2).await, second);
    let third = ["user about seven", "assistant a seven", "user eight", "assistant a eight"];
    assert_eq!(world.told("s", 3).await, third);
    let sessions = world.get("/api/v1/scopes/s/sessions").await.json();
    assert_eq!(sessions["items"].as_array().unwrap().len(), 3, "{sessions}");
}

/// The same where the context is Segue's.
#[tokio::test]
async fn s2_commands_amid_a_history_that_is_managed_are_done_once() {
    let world = World::with("[serve]\ncontext = \"managed\"").await;
    let mut client = Client::new(&world);
    client.say("Tell me about Lisbon.", "It is lovely.").await;
    client.say("What should I see in Lisbon?", "The tram.").await;
    client.say("/new", "").await;
    client.say("How do I bake bread?", "With patience.").await;
    client.say("/status", "").await;
    client.say("And how long does the bread bake?", "An hour.").await;
    assert_eq!(world.told("s", 1).await.len(), 4);
    let second = world.told("s", 2).await;
    let expected =
        ["user How do I bake bread?", "assistant With patience.", "user And how long does the bread bake?"];
    assert_eq!(second[..3], expected, "{second:?}");
    assert_eq!(
        world.model.given(),
        ["How do I bake bread?", "With patience.", "And how long does the bread bake?"]
    );
}

/// An edited message is a fork, also where the context is Segue's; and so is a branch from an older response.
#[tokio::test]
async fn s2_a_fork_is_told_as_one_where_the_context_is_managed() {
    let world = World::with("[serve]\ncontext = \"managed\"").await;
    let mut client = Client::new(&world);
    client.say("Tell me about Lisbon.", "It is lovely.").await;
    client.say("What should I see in Lisbon?", "The tram.").await;
    client.history.truncate(2);
    let forked = client.say("What should I eat in Lisbon?", "Fish.").await;
    assert_eq!(
        (forked.header("x-segue-action"), forked.header("x-segue-session")),
        (Some("fork"), Some("s#2"))
    );
    assert!(forked.header("x-segue-notice").is_some());
    let text = forked.json()["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert!(text.ends_with("\n\nFish.") && text.contains("#2"), "{text}");
}

#[tokio::test]
async fn s2_a_branch_from_an_older_response_is_told_as_a_fork() {
    let world = World::new().await;
    let ask = |input: &str, previous: Option<&str>| json!({ "model": "main", "user": "s", "input": input, "previous_response_id": previous });
    let first = world.post("/v1/responses", ask("count the cats", None)).await.json();
    let id = first["id"].as_str().unwrap();
    world.post("/v1/responses", ask("count the dogs", Some(id))).await;
    let forked = world.post("/v1/responses", ask("count the cats again", Some(id))).await;
    assert_eq!(
        (forked.header("x-segue-action"), forked.header("x-segue-session")),
        (Some("fork"), Some("s#2"))
    );
    assert!(forked.header("x-segue-notice").is_some());
}

/// A notice stands before text, and never before a call: what the client sends back must be what the model said.
#[tokio::test]
async fn s2_no_notice_stands_before_a_call() {
    let world = World::new().await;
    let ask = |text: &str, stream: bool| json!({ "model": "main", "user": "s", "stream": stream, "messages": [{ "role": "user", "content": text }] });
    world.post("/v1/chat/completions", ask("Plan a trip to Lisbon in May for two people.", false)).await;
    for stream in [false, true] {
        world.model.next(Script::Call("c1", "weather", "{}"));
        let answer = world
            .post("/v1/chat/completions", ask("Forget that, start over: fix my Rust build error.", stream))
            .await;
        assert!(answer.header("x-segue-notice").is_some(), "{}", answer.text);
        match stream {
            false => assert_eq!(answer.json()["choices"][0]["message"]["content"], Value::Null),
            true => assert_eq!(answer.streamed(), "", "{}", answer.text),
        }
    }
    // Where there is text it stands before it, once.
    world.model.next(Script::Say("Which error?"));
    let answer =
        world.post("/v1/chat/completions", ask("Forget that, start over: what is for dinner?", true)).await;
    let text = answer.streamed();
    assert!(text.ends_with("\n\nWhich error?") && text.matches("\n\n").count() == 1, "{text}");
}

/// The usage is kept in any case, and told to the client if it asked for it.
#[tokio::test]
async fn s2_usage_is_kept_of_streams_and_told_to_who_asked() {
    let world = World::new().await;
    let piece: &[u8] = b"data: {\"id\":\"c\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hi\"},\"finish_reason\":\"stop\"}],\"usage\":null}\n\ndata: {\"id\":\"c\",\"choices\":[],\"usage\":{\"prompt_tokens\":7,\"completion_tokens\":2,\"total_tokens\":9}}\n\ndata: [DONE]\n\n";
    let ask = |text: &str, options: Value| json!({ "model": "main", "user": "s", "stream": true, "stream_options": options, "messages": [{ "role": "user", "content": text }] });
    for (options, is_told) in [(Value::Null, false), (json!({ "include_usage": true }), true)] {
        world.model.next(Script::Bytes(piece));
        let answer = world.post("/v1/chat/completions", ask("hello", options.clone())).await;
        assert_eq!(world.model.requests().pop().unwrap()["stream_options"]["include_usage"], true);
        assert_eq!(answer.text.contains("prompt_tokens"), is_told, "{}", answer.text);
        assert_eq!(answer.text.contains("\"choices\":[]"), is_told, "{}", answer.text);
        let items = world.get("/api/v1/scopes/s/sessions/1/messages").await.json()["items"].clone();
        assert_eq!(items.as_array().unwrap().last().unwrap()["usage"]["tokens_in"], 7, "{items}");
        // Segue's own answers cost nothing, and say so.
        let answer = world.post("/v1/chat/completions", ask("/status", options)).await;
        assert_eq!(answer.text.contains("\"total_tokens\":0"), is_told, "{}", answer.text);
    }
}

/// An edited reply of the assistant is a fork, as an edited message is: also the first one.
#[tokio::test]
async fn s2_an_edited_reply_is_a_fork() {
    let world = World::new().await;
    let mut client = Client::new(&world);
    client.say("one", "a one").await;
    client.history[1]["content"] = json!("another one");
    let forked = client.say("two", "a two").await;
    assert_eq!(
        (forked.header("x-segue-action"), forked.header("x-segue-session")),
        (Some("fork"), Some("s#2"))
    );
    assert_eq!(world.told("s", 1).await, ["user one", "assistant a one"]);
    let told = ["user one", "assistant another one", "user two", "assistant a two"];
    assert_eq!(world.told("s", 2).await, told);
}

/// A client that has sent its history so far and sends a single message has edited its first one, or asks for it again.
#[tokio::test]
async fn s2_a_single_message_of_a_client_that_sends_its_history_is_a_thread_of_its_own() {
    let world = World::new().await;
    let mut client = Client::new(&world);
    client.say("one", "a one").await;
    client.say("two", "a two").await;
    client.history.clear();
    let edited = client.say("one, but other", "a other").await;
    assert_eq!(
        (edited.header("x-segue-action"), edited.header("x-segue-session")),
        (Some("new"), Some("s#2"))
    );
    assert_eq!(world.model.given(), ["one, but other"]);
    client.say("three", "a three").await;
    assert_eq!(world.told("s", 2).await.len(), 4);
    client.history.clear();
    let again = client.say("one, but other", "a third one").await;
    assert_eq!(
        (again.header("x-segue-action"), again.header("x-segue-session")),
        (Some("fork"), Some("s#3"))
    );
    assert_eq!(world.told("s", 3).await, ["user one, but other", "assistant a third one"]);
    // Nobody knows that of a client that has sent nothing but single messages.
    let world = World::new().await;
    for text in ["one", "one", "two"] {
        let mut client = Client::new(&world);
        assert_eq!(client.say(text, "ok").await.header("x-segue-session"), Some("s"), "{text}");
    }
    assert_eq!(world.told("s", 1).await.len(), 6);
}

/// A message that was erased does not tell how it came: its decision is gone with it.
#[tokio::test]
async fn s2_a_single_message_behind_an_erased_one_goes_on() {
    let world = World::new().await;
    for text in ["one", "two"] {
        let mut client = Client::new(&world);
        client.say(text, "ok").await;
    }
    let items = world.get("/api/v1/scopes/s/sessions/1/messages").await.json();
    let seq = &items["items"][2]["seq"];
    let gone = world.call("DELETE", &format!("/api/v1/scopes/s/messages/{seq}"), None, &[]).await;
    assert_eq!(gone.status, 200, "{}", gone.text);
    let next = Client::new(&world).say("three", "ok").await;
    assert_eq!(next.header("x-segue-session"), Some("s"));
    assert!(world.model.given().contains(&"one".to_owned()), "{:?}", world.model.given());
}

/// What was put into a conversation was sent by no client that sends its history.
#[tokio::test]
async fn s2_a_single_message_in_a_conversation_with_items_goes_on() {
    let world = World::new().await;
    let item = |role: &str, text: &str| json!({ "type": "message", "role": role, "content": text });
    let items =
        [item("user", "one"), item("assistant", "a one"), item("user", "two"), item("assistant", "a two")];
    let id = world.post("/v1/conversations", json!({ "items": items })).await.json()["id"].clone();
    let body = json!({ "model": "main", "conversation": id, "messages": [
        { "role": "system", "content": "Be brief." }, { "role": "user", "content": "three" },
    ] });
    let answer = world.post("/v1/chat/completions", body).await;
    assert_eq!(answer.header("x-segue-session"), id.as_str(), "{}", answer.text);
    assert_eq!(world.model.given(), ["Be brief.", "one", "a one", "two", "a two", "three"]);
}

/// Nor was what was imported, also if the session was forked since.
#[tokio::test]
async fn s2_a_single_message_in_an_imported_session_goes_on() {
    let world = World::new().await;
    let engine = world.engine().await;
    let text = [("user", "one"), ("assistant", "a one"), ("user", "two"), ("assistant", "a two")];
    let at: segue_core::Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    let message = |(role, text): (&str, &str)| {
        let role = segue_core::message::Role::named(role).unwrap();
        (at, role, segue_core::message::Message::text(text))
    };
    let messages = text.into_iter().map(message).collect();
    let conversation = segue_engine::port::Conversation { messages, title: None, pins: None };
    Client::new(&world).say("mine", "ok").await;
    engine.import(&"s".parse().unwrap(), conversation).await.unwrap();
    for (command, session) in [("/session resume 2", "s#2"), ("/session fork", "s#3")] {
        Client::new(&world).say(command, "").await;
        let next = Client::new(&world).say("three", "ok").await;
        assert_eq!(next.header("x-segue-session"), Some(session), "{command}");
        let given = world.model.given();
        assert!(
            given.starts_with(&["one", "a one", "two", "a two"].map(str::to_owned)),
            "{command}: {given:?}"
        );
    }
}
