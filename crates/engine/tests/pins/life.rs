//! Pins through the life of sessions: forks, splits, undo, merges, prunes, deletes.

use crate::home::{Home, SETTINGS, everywhere};
use segue_core::entry::{Body, Bytes, Kind, Seq};
use segue_core::pins::Pinned;
use segue_core::session::Number;
use segue_engine::{Pick, Request};

/// The texts that pins point at and that are still there.
async fn texts(home: &Home) -> Vec<String> {
    let log = home.store().tail(&home.scope, Seq::ZERO, usize::MAX).await.unwrap();
    let text = |body| match body {
        Ok(Body::Pinned(Pinned::Text { text, .. })) => Some(text),
        _ => None,
    };
    log.iter().filter(|r| r.kind == Kind::Pinned).filter_map(|record| text(record.body())).collect()
}

#[tokio::test]
async fn l9_a_text_is_written_once_for_all_sessions_of_a_scope() {
    everywhere(async |home| {
        for _ in 0..5 {
            home.say("hello").await;
            home.say("/new").await;
        }
        let texts = texts(home).await;
        assert_eq!(texts.len(), 3, "the persona, the index of skills, what they say: {texts:?}");
    })
    .await;
}

#[tokio::test]
async fn l9_a_fork_and_a_split_go_on_with_the_pins_of_their_parent() {
    everywhere(async |home| {
        home.say("hello").await;
        home.say("/model fast").await;
        let second = home.say("and then?").await.seq.unwrap();
        home.file("SOUL.md", "Be brief.");
        home.fork(1).await;
        assert_eq!(home.pinned(2).await, home.pinned(1).await);
        // What is changed in the fork is changed there only.
        home.say("/agent use work").await;
        home.say("/reload_persona").await;
        assert_eq!((home.pinned(1).await.agent, home.pinned(2).await.agent), ("main".into(), "work".into()));
        home.say("/session resume 1").await;
        assert!(home.front().await.contains("Be kind."));
        home.say(&format!("/session split {second}")).await;
        assert_eq!(home.pinned(3).await, home.pinned(1).await);
    })
    .await;
}

#[tokio::test]
async fn l9_undo_and_merge_leave_the_pins_of_the_session_that_stays() {
    everywhere(async |home| {
        home.say("hello").await;
        let before = home.pinned(1).await;
        home.file("SOUL.md", "Be brief.");
        home.say("/new").await;
        home.say("something else").await;
        home.say("/model fast").await;
        home.say("/undo").await;
        assert_eq!(home.state().await.latest(), Some(Number(1)));
        assert_eq!(home.pinned(1).await, before);
        home.say("/new").await;
        let third = home.pinned(3).await;
        home.ask(&Request::Merge(Pick::Numbered(Number(1)), Pick::Numbered(Number(3)))).await;
        assert_eq!(home.pinned(3).await, third);
    })
    .await;
}

#[tokio::test]
async fn l9_a_rotation_by_the_clock_and_by_words_captures_anew() {
    let mut home = Home::new("sqlite:log.db", &format!("lifecycle.auto_route = 'auto'\n{SETTINGS}")).await;
    home.say("hello").await;
    home.file("SOUL.md", "Be brief.");
    home.now += jiff::SignedDuration::from_hours(50);
    let outcome = home.say("good morning").await;
    assert_eq!((outcome.action.name(), outcome.session), ("new", Number(2)), "{outcome:?}");
    assert_eq!(home.pinned(2).await.persona.parts[0].text, "Be brief.");
    home.file("SOUL.md", "Be exact.");
    let outcome = home.say("Let's start a new conversation").await;
    assert_eq!((outcome.action.name(), outcome.session), ("new", Number(3)), "{outcome:?}");
    assert_eq!(home.pinned(3).await.persona.parts[0].text, "Be exact.");
    home.verify().await;
}

#[tokio::test]
async fn l9_what_only_a_deleted_session_was_pinned_to_is_erased_with_it() {
    everywhere(async |home| {
        home.file("USER.md", "Ann, born 1990");
        home.say("hello").await;
        home.file("USER.md", "nobody");
        home.say("/reload_persona").await;
        home.say("/new").await;
        home.say("hello").await;
        let said = |texts: &[String], word: &str| texts.iter().any(|text| text.contains(word));
        assert!(said(&texts(home).await, "1990"), "it was pinned once, and stays as long as its session");
        home.say("/session delete 1").await;
        let left = texts(home).await;
        assert!(!said(&left, "1990") && said(&left, "nobody"), "{left:?}");
        let log = home.store().tail(&home.scope, Seq::ZERO, usize::MAX).await.unwrap();
        let erased = log.iter().filter(|record| matches!(record.bytes, Bytes::Erased(_)));
        assert_eq!(erased.filter(|record| record.kind == Kind::Pinned).count(), 1);
        home.restart(SETTINGS).await;
        assert_eq!(home.pinned(2).await.persona.parts[1].text, "nobody");
        home.file("USER.md", "Ann, born 1990");
        home.say("/reload_persona").await;
        assert!(home.front().await.contains("1990"), "what was erased can be taken in again");
    })
    .await;
}

#[tokio::test]
async fn l9_a_home_without_anything_writes_nothing_extra() {
    let mut home = Home::new("memory:", "").await;
    home.remove("skills");
    home.remove("SOUL.md");
    home.remove("AGENTS.md");
    home.say("hello").await;
    home.say("/new").await;
    home.say("hello again").await;
    let log = home.store().tail(&home.scope, Seq::ZERO, usize::MAX).await.unwrap();
    assert!(log.iter().all(|record| record.kind != Kind::Pinned));
    let pinned = home.pinned(2).await;
    assert_eq!((pinned.agent.as_str(), pinned.model.name.as_str()), ("main", "main"));
    assert_eq!(home.drift(2).await, Vec::<String>::new());
    assert_eq!(home.front().await, "");
}
