//! What the road takes, whom it keeps apart, and what it refuses.

use super::script::{play, stage_on};
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::{Number, Title};
use segue_engine::port::Conversation;
use segue_engine::route::Address;
use segue_engine::{Error, Inbound, Pick, Request, Target};
use segue_store::memory::Memory;
use std::sync::Arc;

fn now() -> Timestamp {
    "2026-03-01T10:00:00Z".parse().unwrap()
}

fn from(address: Address, text: &str) -> Inbound {
    let message = Message::text(text);
    Inbound { at: now(), to: Target::Address(address), role: Role::User, message, session: None }
}

/// two people never share a context by default, whatever their ids look like.
#[tokio::test]
async fn x9_two_people_never_share_a_context() {
    let stage = stage_on(Arc::new(Memory::default()), "").await;
    let peers = ["ann", "bob", "ann:bob", "ann#2", "../ann", "ann%3abob", "安", "👩", &"x".repeat(10_000)];
    for peer in peers {
        for channel in ["telegram", "discord"] {
            let said = format!("{channel} {peer}");
            stage.engine.receive(from(Address::direct(channel, peer), &said)).await.unwrap();
        }
    }
    for peer in peers {
        for channel in ["telegram", "discord"] {
            let scope =
                segue_engine::route::route(&stage.engine.config().routing, &Address::direct(channel, peer));
            let context = stage.engine.context(&scope).await.unwrap();
            let texts: Vec<String> = context.messages.into_iter().map(|told| told.text.clone()).collect();
            assert_eq!(texts, [format!("{channel} {peer}")]);
        }
    }
}

#[tokio::test]
async fn what_cannot_be_kept_is_refused_and_nothing_changes() {
    let stage = stage_on(Arc::new(Memory::default()), "[limits]\nmessage_bytes_max = 10").await;
    let say = |text: &str| stage.engine.receive(Inbound::user(stage.scope.clone(), now(), text));
    assert!(matches!(say("").await, Err(Error::Empty)));
    assert!(matches!(say(" \n\t ").await, Err(Error::Empty)));
    assert!(matches!(say("12345678901").await, Err(Error::TooLong { bytes: 11, max: 10 })));
    assert!(say("1234567890").await.is_ok());
    let mut inbound = Inbound::user(stage.scope.clone(), now(), "ok");
    inbound.message.message_id = Some(MessageId("x".repeat(5_000)));
    assert!(matches!(stage.engine.receive(inbound).await, Err(Error::IdTooLong { .. })));
    assert_eq!(stage.texts(1).await, ["1234567890"]);
}

/// export, erase and delete; a second import changes nothing.
#[tokio::test]
async fn x8_import_twice_changes_nothing() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: here before").await;
    let said = |role, text: &str| (now(), role, Message::text(text));
    let conversation = Conversation {
        pins: None,
        title: Title::new("from elsewhere"),
        messages: vec![said(Role::User, "hello"), said(Role::Assistant, "hi"), said(Role::User, "hello")],
    };
    let first = stage.engine.import(&stage.scope, conversation.clone()).await.unwrap();
    assert_eq!((first.taken, first.known), (3, 0));
    assert_eq!(stage.texts(2).await, ["hello", "hi", "hello"]);
    assert_eq!(stage.texts(1).await, ["here before"]);
    let head = stage.state().await.head;
    let second = stage.engine.import(&stage.scope, conversation).await.unwrap();
    assert_eq!((second.session, second.taken, second.known), (None, 0, 3));
    assert_eq!(stage.state().await.head, head);
    stage.verify().await;
}

#[tokio::test]
async fn an_erased_message_is_gone_and_the_proof_holds() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: my number is 12345\n10:01 user: hello").await;
    let seq = stage.outcomes[0].seq.unwrap();
    let erase = Request::Erase(vec![seq]);
    let done = stage.engine.request(&stage.scope, now(), &erase).await.unwrap();
    assert_eq!(done.notice.as_deref(), Some("Erased 1 message for good."));
    assert_eq!(stage.texts(1).await, ["", "hello"]);
    let context = stage.engine.context(&stage.scope).await.unwrap();
    assert_eq!(context.messages.len(), 1, "an erased message never reaches a model");
    let again = stage.engine.request(&stage.scope, now(), &erase).await.unwrap();
    assert_eq!(again.reply.as_deref(), Some("There is nothing left to erase."));
    stage.verify().await;
}

#[tokio::test]
async fn a_deleted_session_takes_its_titles_along() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: one\n10:01 user: /session rename my secret\n10:02 user: /new").await;
    stage.engine.request(&stage.scope, now(), &Request::Delete(Pick::Numbered(Number(1)))).await.unwrap();
    let log = stage.engine.store().tail(&stage.scope, segue_core::entry::Seq(0), 1000).await.unwrap();
    let holds = |r: &segue_core::entry::Record| matches!(&r.bytes, segue_core::entry::Bytes::Kept(t) if t.contains("secret"));
    assert!(!log.iter().any(holds));
    stage.verify().await;
}

/// Hundreds of turns at once, over many scopes: none is lost, none is answered twice.
#[tokio::test]
async fn turns_at_once_do_not_disturb_each_other() {
    let stage = Arc::new(stage_on(Arc::new(Memory::default()), "").await);
    let mut turns = tokio::task::JoinSet::new();
    for n in 0..300 {
        let stage = stage.clone();
        turns.spawn(async move {
            let scope: segue_core::scope::Key = format!("agent:main:cli:direct:p{}", n % 7).parse().unwrap();
            stage.engine.receive(Inbound::user(scope, now(), format!("message {n}"))).await.unwrap()
        });
    }
    let mut seqs = std::collections::BTreeSet::new();
    while let Some(outcome) = turns.join_next().await {
        let outcome = outcome.unwrap();
        assert!(seqs.insert((outcome.scope.clone(), outcome.seq)));
    }
    for n in 0..7 {
        let scope = format!("agent:main:cli:direct:p{n}").parse().unwrap();
        let context = stage.engine.context(&scope).await.unwrap();
        assert_eq!(context.messages.len(), (300_usize - n).div_ceil(7));
    }
}

/// An import that was cut off goes on where it began.
#[tokio::test]
async fn an_import_that_was_cut_off_goes_on() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: here before").await;
    let said = |role, id: &str| {
        let message = Message { message_id: Some(MessageId(id.into())), ..Message::text(id) };
        (now(), role, message)
    };
    let whole = vec![said(Role::User, "a"), said(Role::Assistant, "b"), said(Role::User, "c")];
    let begun = Conversation { title: None, pins: None, messages: whole[..1].to_vec() };
    stage.engine.import(&stage.scope, begun).await.unwrap();
    stage.play("10:01 user: /session resume 1\n10:02 user: meanwhile").await;
    let rest = Conversation { title: None, pins: None, messages: whole };
    let imported = stage.engine.import(&stage.scope, rest).await.unwrap();
    assert_eq!((imported.taken, imported.known), (2, 1));
    assert_eq!(stage.texts(2).await, ["a", "b", "c"]);
    assert_eq!(stage.texts(1).await, ["here before", "meanwhile"]);
    stage.verify().await;
}

/// A bare command is answered in the language of the conversation.
#[tokio::test]
async fn a_bare_command_is_answered_in_the_language_of_the_conversation() {
    let mut stage = stage_on(Arc::new(Memory::default()), "language = 'auto'").await;
    stage.play("10:00 user: 帮我订一家酒店\n10:01 user: /new").await;
    assert!(stage.reply().starts_with("已开始新会话"), "{}", stage.reply());
    stage.play("10:02 user: find me a hotel\n10:03 user: /new").await;
    assert!(stage.reply().starts_with("Started new session"), "{}", stage.reply());
}

/// A person's settings hold whether the address or the scope is named.
#[tokio::test]
async fn a_persons_settings_hold_however_the_scope_is_named() {
    let settings = "[users.'tg:9']\nsession.backlog_limit = 50\ntimezone = 'Asia/Tokyo'";
    let stage = stage_on(Arc::new(Memory::default()), settings).await;
    let address = Address::direct("tg", "9");
    let scope = segue_engine::route::route(&stage.engine.config().routing, &address);
    let config = stage.engine.config();
    assert_eq!(config.policy_for(&scope, None), config.policy_for(&scope, Some("tg:9")));
    assert_eq!(config.policy_for(&scope, None).backlog.get(), 50);
    let other = "agent:main:tg:direct:8".parse().unwrap();
    assert_eq!(config.policy_for(&other, None).backlog.get(), 20);
}

/// notices and `/why` name sessions by their titles, with the key beside; one that has just begun has none.
#[tokio::test]
async fn x11_notices_and_why_name_sessions() {
    for (language, named, why) in
        [("en", "#1 \"Bread\"", "went on in #1 \"Bread\"."), ("zh", "#1「Bread」", "留在了 #1「Bread」。")]
    {
        let mut stage = play(
            &format!("language = '{language}'"),
            "10:00 user: how long should sourdough bread rise?
             10:01 user: /session rename Bread
             10:02 user: let's talk about something else => new intent #2",
        )
        .await;
        let notice = stage.last().notice.clone().unwrap();
        assert!(notice.contains(named), "{notice}");
        assert!(!notice.contains("#2 \"") && !notice.contains("#2「"), "{notice}");
        stage.play("10:03 user: /undo").await;
        assert!(stage.reply().contains(named), "{}", stage.reply());
        stage.play("10:04 user: and how long does the bread dough rest?\n10:05 user: /why").await;
        assert!(stage.reply().contains(why), "{}", stage.reply());
        // What was erased is not named.
        stage.play("10:06 user: /new").await;
        let said = stage.engine.said_in(&*stage.state().await, segue_core::session::Number(1)).await.unwrap();
        let at = stage.engine.now();
        stage.engine.request(&stage.scope, at, &segue_engine::Request::Erase(said)).await.unwrap();
        stage.play("10:07 user: /session resume 1").await;
        assert!(!stage.reply().contains("Bread"), "{}", stage.reply());
        stage.verify().await;
    }
}

/// Two engines on one database: what is stale refuses nothing, and `#2` is the same session for both.
#[tokio::test]
async fn a_stale_cache_refuses_nothing_and_deletes_what_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segue.db");
    let open = || Arc::new(segue_store::sqlite::Sqlite::open(&path).unwrap());
    let (mut ours, mut theirs) = (stage_on(open(), "").await, stage_on(open(), "").await);
    ours.play("10:00 user: one\n10:01 user: /new\n10:02 user: two\n10:03 user: /new\n10:04 user: three")
        .await;
    theirs.play("10:05 user: on we go => continue #3").await;
    ours.play("10:06 user: /new => new command #4\n10:07 user: four").await;
    theirs.play("10:08 user: /session resume 4 => refused command #4").await;
    assert!(theirs.reply().contains("already"), "{}", theirs.reply());
    ours.play("10:09 user: /session delete 1 => command command #4").await;
    theirs.play("10:10 user: /session delete 2 => command command #4").await;
    let left: Vec<u32> = ours.state().await.list().map(|(number, _)| number.0).collect();
    assert_eq!(left, [4, 3]);
    ours.verify().await;
}
