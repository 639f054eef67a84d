//! Promises that were broken once: each was a failing test first (issue 16).

use super::script::{config, stage_on};
use segue_core::Timestamp;
use segue_core::decision::Action;
use segue_core::message::{Message, MessageId, Role, ToolCall};
use segue_engine::route::Address;
use segue_engine::{Delivery, Engine, Error, Inbound, Outcome, Request, Target};
use segue_store::memory::Memory;
use std::sync::Arc;

fn at(time: &str) -> Timestamp {
    time.parse().unwrap()
}

fn from(address: Address, sender: Option<&str>, id: &str, text: &str) -> Inbound {
    let message = Message {
        message_id: Some(MessageId(id.to_owned())),
        sender: sender.map(str::to_owned),
        ..Message::text(text)
    };
    let to = Target::Address(address);
    Inbound { at: at("2026-03-01T10:00:00Z"), to, role: Role::User, message, session: None }
}

async fn texts(engine: &Engine, outcome: &Outcome) -> Vec<String> {
    let state = engine.state(&outcome.scope).await.unwrap();
    let told = engine.messages(&state, outcome.session, 100).await.unwrap();
    told.into_iter().map(|told| told.text).collect()
}

/// Row 2: message 5 of one channel, account or member is not message 5 of another one in the same scope.
#[tokio::test]
async fn x7_a_message_is_known_by_channel_account_sender_and_id() {
    let settings = "[session]\nidentity_links = { ann = ['telegram:111', 'signal:222'] }";
    let stage = stage_on(Arc::new(Memory::default()), settings).await;
    let second_bot = Address { account: "bot2".to_owned(), ..Address::direct("telegram", "111") };
    let linked = [
        from(Address::direct("telegram", "111"), None, "5", "from telegram"),
        from(Address::direct("signal", "222"), None, "5", "from signal"),
        from(second_bot, None, "5", "to the other bot"),
    ];
    let mut last = None;
    for inbound in &linked {
        let taken = stage.engine.receive(inbound.clone()).await.unwrap();
        assert_eq!(taken.delivery, Delivery::First, "{}", inbound.message.text);
        last = Some(taken);
    }
    for inbound in linked {
        assert_eq!(stage.engine.receive(inbound).await.unwrap().delivery, Delivery::Again);
    }
    let said = texts(&stage.engine, &last.unwrap()).await;
    assert_eq!(said, ["from telegram", "from signal", "to the other bot"]);

    let group = || Address::group("telegram", "g");
    stage.engine.receive(from(group(), Some("ann"), "7", "yes")).await.unwrap();
    let bob = stage.engine.receive(from(group(), Some("bob"), "7", "yes")).await.unwrap();
    assert_eq!(bob.delivery, Delivery::First);
    assert_eq!(texts(&stage.engine, &bob).await, ["yes", "yes"]);
}

/// Under a scope of the host a sender and an id are not the id of a message without a sender. An id that an older version
/// accepted is known.
#[tokio::test]
async fn x7_a_sender_and_an_id_are_not_another_id() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let say = async |sender: Option<&str>, id: &str| {
        let message = Message {
            message_id: Some(MessageId(id.to_owned())),
            sender: sender.map(str::to_owned),
            ..Message::text("yes")
        };
        let to = Target::Scope(stage.scope.clone());
        let at = at("2026-03-01T10:00:00Z");
        let inbound = Inbound { at, to, role: Role::User, message, session: None };
        stage.engine.receive(inbound).await.unwrap().delivery
    };
    assert_eq!(say(Some("ann"), "5").await, Delivery::First);
    assert_eq!(say(None, "ann:5").await, Delivery::First);
    assert_eq!((say(Some("ann"), "5").await, say(None, "ann:5").await), (Delivery::Again, Delivery::Again));
    // As an older version wrote it.
    let message = Message { message_id: Some(MessageId("msg:7".to_owned())), ..Message::text("yes") };
    let older = Request::Say(Role::User, message);
    stage.engine.request(&stage.scope, at("2026-03-01T10:00:00Z"), &older).await.unwrap();
    assert_eq!((say(None, "msg:7").await, say(Some("msg"), "7").await), (Delivery::Again, Delivery::First));
}

/// Row 2: the same id with another text is no second delivery. Some channels send an edited message under its old id.
#[tokio::test]
async fn x7_the_same_id_with_another_text_is_kept() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let say = |text: &str| stage.engine.receive(from(Address::direct("telegram", "1"), None, "5", text));
    say("bake at 200 degrees").await.unwrap();
    for _ in 0..2 {
        let edited = say("bake at 220 degrees").await.unwrap();
        assert_eq!(texts(&stage.engine, &edited).await, ["bake at 200 degrees", "bake at 220 degrees"]);
    }
    assert_eq!(say("bake at 220 degrees").await.unwrap().delivery, Delivery::Again);
    assert_eq!(say("bake at 200 degrees").await.unwrap().delivery, Delivery::Again);
    // The same words of another role are another message.
    let scope = say("bake at 200 degrees").await.unwrap().scope;
    let id = Some(MessageId("9".to_owned()));
    for role in [Role::Assistant, Role::System] {
        let message = Message { message_id: id.clone(), ..Message::text("at 220") };
        let to = Target::Scope(scope.clone());
        let inbound = Inbound { at: at("2026-03-01T10:00:00Z"), to, role, message, session: None };
        assert_eq!(stage.engine.receive(inbound).await.unwrap().delivery, Delivery::First, "{role}");
    }
    let command = say("/new").await.unwrap();
    assert_eq!((command.delivery, command.session.0), (Delivery::First, 2));
    assert_eq!(say("/new").await.unwrap().session.0, 2);
}

/// Row 2: under the id of a deleted message nothing is dropped in silence: it is refused with a word.
#[tokio::test]
async fn x7_the_id_of_a_deleted_message_is_refused_with_a_word() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let say = |id: &'static str, text: &'static str| {
        stage.engine.receive(from(Address::direct("telegram", "1"), None, id, text))
    };
    say("5", "bake at 200 degrees").await.unwrap();
    say("6", "/new").await.unwrap();
    say("7", "/session delete 1").await.unwrap();
    for text in ["bake at 220 degrees", "bake at 200 degrees"] {
        let refused = say("5", text).await.unwrap();
        assert_eq!((refused.action, refused.delivery), (Action::Refused, Delivery::Again));
        assert!(refused.reply.as_deref().is_some_and(|word| word.contains("was deleted")), "{refused:?}");
        assert!(!refused.wants_reply());
    }
}

/// Row 13: a stamp more than a day ahead of the host's clock is kept as given, and not believed.
#[tokio::test]
async fn a_stamp_far_ahead_does_not_stop_the_clock_of_a_scope() {
    let engine = Engine::open(Arc::new(Memory::default()), config("")).await.unwrap();
    let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
    let far = at("9998-01-01T00:00:00Z");
    engine.receive(Inbound::user(scope.clone(), far, "from the future")).await.unwrap();
    let state = engine.state(&scope).await.unwrap();
    assert!(state.clock < at("9000-01-01T00:00:00Z"), "{}", state.clock);
    let told = engine.messages(&state, state.latest().unwrap(), 1).await.unwrap();
    assert_eq!(told[0].at, far);
    let now = engine.now();
    engine.receive(Inbound::user(scope.clone(), now, "and from now")).await.unwrap();
    let state = engine.state(&scope).await.unwrap();
    assert!(state.clock < at("9000-01-01T00:00:00Z"));
}

/// A blank peer id shares no conversation with another blank one by accident; the error names the setting.
#[tokio::test]
async fn x9_a_blank_peer_is_refused() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let blank =
        [Address::direct("telegram", "  "), Address::group("telegram", "\t"), Address::group("telegram", "")];
    for address in blank {
        let refused = stage.engine.receive(from(address, None, "1", "hello")).await.unwrap_err();
        assert!(matches!(refused, Error::BlankPeer { .. }));
        assert!(refused.to_string().contains("session.blank_peer"), "{refused}");
    }
    let stage = stage_on(Arc::new(Memory::default()), "[session]\nblank_peer = 'main'").await;
    let taken =
        stage.engine.receive(from(Address::direct("telegram", " "), None, "1", "hello")).await.unwrap();
    assert_eq!(taken.scope.as_str(), "agent:main:main");
}

/// Limits count everything that a message carries.
#[tokio::test]
async fn limits_count_calls_senders_and_ids() {
    let stage = stage_on(Arc::new(Memory::default()), "[limits]\nmessage_bytes_max = 1000").await;
    let long = "x".repeat(2_000);
    let call = ToolCall { id: "c".into(), name: "write".into(), arguments: long.clone() };
    let messages = [
        Message { tool_calls: vec![call], ..Message::text("short") },
        Message { sender: Some(long.clone()), ..Message::text("short") },
        Message { tool_call_id: Some(long), ..Message::text("short") },
    ];
    for message in messages {
        let mut inbound = Inbound::user(stage.scope.clone(), at("2026-03-01T10:00:00Z"), "");
        (inbound.role, inbound.message) = (Role::Assistant, message);
        let refused = stage.engine.receive(inbound).await;
        assert!(matches!(refused, Err(Error::TooLong { max: 1000, .. })), "{refused:?}");
    }
}

/// What a host asks of an outcome: is there something to answer, to show, to choose?
#[tokio::test]
async fn an_outcome_tells_the_host_what_to_do() {
    let mut stage = stage_on(Arc::new(Memory::default()), "[lifecycle]\npolicy = 'adaptive'").await;
    let heard = stage.say("10:00 user: how long does sourdough bread rise?").await;
    assert!(heard.wants_reply());
    assert_eq!((heard.say(), heard.question()), (None, None));
    assert!(!stage.say("10:01 assistant: about four hours").await.wants_reply());
    let asked = stage.say("16:00 user: and how hot is the oven?").await;
    let question = asked.question().unwrap();
    assert!(!asked.wants_reply());
    assert_eq!(question.options.len(), 2, "{question:?}");
    assert_eq!((question.options[1].command, question.options[1].label.as_str()), ("/fresh", "Start fresh"));
    let fresh = stage.say("16:01 user: /fresh").await;
    assert!(fresh.wants_reply(), "the message that was held waits for its answer");
    let new = stage.say("16:02 user: /new").await;
    assert!(!new.wants_reply());
    assert_eq!(new.say().as_deref(), Some("Started new session: #3"));
    assert!(!stage.say("16:03 user: /status").await.say().unwrap().contains("agent:main"));
    assert!(!stage.say("16:03 user: /nothing").await.wants_reply());
}

/// What is shown names sessions by their numbers, and changes no word because the scope's key stands in it.
#[tokio::test]
async fn what_is_shown_is_not_damaged_by_a_short_key() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let scope: segue_core::scope::Key = "s".parse().unwrap();
    let receive = async |text: &str| {
        let inbound = Inbound::user(scope.clone(), at("2026-03-01T10:00:00Z"), text);
        stage.engine.receive(inbound).await.unwrap()
    };
    receive("The best sessions are short").await;
    assert_eq!(receive("/new").await.say().as_deref(), Some("Started new session: #2"));
    let listed = receive("/session list").await;
    assert_eq!(listed.say(), listed.reply);
    let helped = receive("/help").await;
    assert_eq!(helped.say(), helped.reply);
}

/// A second delivery is to be answered only if the first was not.
#[tokio::test]
async fn x7_a_second_delivery_wants_an_answer_only_if_there_was_none() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let say = || stage.engine.receive(from(Address::direct("telegram", "1"), None, "5", "hello there"));
    let heard = say().await.unwrap();
    assert!(heard.wants_reply() && say().await.unwrap().wants_reply());
    let reply = Inbound {
        at: at("2026-03-01T10:00:01Z"),
        to: Target::Scope(heard.scope.clone()),
        role: Role::Assistant,
        message: Message::text("hi"),
        session: Some(heard.session),
    };
    stage.engine.receive(reply).await.unwrap();
    assert!(!say().await.unwrap().wants_reply());
}
