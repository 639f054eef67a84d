//! Imports of long conversations: many messages share a commit, and one that is cut off is completed by the next.

use super::script::stage_on;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
use segue_core::session::Number;
use segue_engine::Engine;
use segue_engine::config::Config;
use segue_engine::port::Conversation;
use segue_store::Error;
use segue_store::conformance::{Call, Hook, Hooked};
use segue_store::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts commits, and breaks off once in the middle of many appends.
struct Breaking {
    commits: AtomicUsize,
    /// How many of the next many appends are still written.
    left: AtomicUsize,
}

impl Hook for Breaking {
    fn before(&self, call: Call) -> Result<(), Error> {
        if matches!(call, Call::Append | Call::AppendMany) {
            self.commits.fetch_add(1, SeqCst);
        }
        Ok(())
    }

    fn made_of(&self, appends: usize) -> usize {
        self.left.swap(usize::MAX, SeqCst).min(appends)
    }
}

fn long() -> Conversation {
    let at: Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    let role = |n: usize| if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
    let said = |n: usize| (at, role(n), Message::text(format!("message {n}")));
    Conversation { pins: None, title: None, messages: (0..1_000).map(said).collect() }
}

#[tokio::test]
async fn x12_an_import_shares_commits_and_is_completed_where_it_was_cut_off() {
    let (commits, left) = (0.into(), usize::MAX.into());
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Breaking { commits, left }));
    let mut stage = stage_on(store.clone(), "").await;
    stage.play("10:00 user: here before").await;
    let texts: Vec<String> = long().messages.iter().map(|(_, _, message)| message.text.clone()).collect();
    store.hook.left.store(100, SeqCst);
    assert!(stage.engine.import(&stage.scope, long()).await.is_err());
    assert_eq!(stage.texts(2).await, texts[..101], "the first ones");
    stage.verify().await;
    let before = store.hook.commits.load(SeqCst);
    let imported = stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!((imported.taken, imported.known), (899, 101));
    assert_eq!(stage.texts(2).await, texts);
    assert_eq!(stage.texts(1).await, ["here before"]);
    let commits = store.hook.commits.load(SeqCst) - before;
    assert!(commits <= 8, "{commits} commits for 899 messages");
    let head = stage.state().await.head;
    let again = stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!((again.taken, again.known), (0, 1_000));
    assert_eq!(stage.state().await.head, head, "a second import changes nothing");
    stage.verify().await;
}

/// A message that is there twice is known in the middle of the others, too. Other words under the same id are another
/// message (issue 16, row 2), also in a second conversation.
#[tokio::test]
async fn x12_the_same_id_with_other_words_is_another_message() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: here before").await;
    let mut conversation = long();
    let count = conversation.messages.len();
    for (n, (_, _, message)) in conversation.messages.iter_mut().enumerate() {
        let id = if n == 500 { 7 } else { n };
        message.message_id = Some(MessageId(format!("id{id}")));
    }
    let repeated = conversation.messages[7].clone();
    conversation.messages.insert(600, repeated);
    let imported = stage.engine.import(&stage.scope, conversation.clone()).await.unwrap();
    assert_eq!((imported.taken, imported.known, imported.back), (count, 1, 0));
    assert!(stage.texts(2).await.contains(&"message 500".to_owned()));
    let mut other = conversation.clone();
    other.messages.truncate(3);
    other.messages[1].2.text = "said elsewhere".to_owned();
    let imported = stage.engine.import(&stage.scope, other.clone()).await.unwrap();
    assert_eq!((imported.taken, imported.known, imported.back), (1, 2, 0));
    for known in [conversation, other] {
        let again = stage.engine.import(&stage.scope, known.clone()).await.unwrap();
        assert_eq!((again.taken, again.known), (0, known.messages.len()), "a second import changes nothing");
    }
    stage.verify().await;
}

/// The person goes on where they were; nothing of the import is there to be undone.
#[tokio::test]
async fn x12_an_import_leaves_the_person_where_they_were() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: my own\n10:01 user: /new\n10:02 user: my second").await;
    stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!(stage.state().await.latest(), Some(Number(2)));
    stage.play("10:03 user: and on => continue #2\n10:04 user: /undo => merge command #1").await;
    assert_eq!(stage.texts(1).await, ["my own", "my second", "and on"]);
    assert_eq!(stage.texts(3).await.len(), 1_000);
    stage.verify().await;
}

/// Where nobody has talked yet, one goes on with what was taken over last; who has, goes on there.
#[tokio::test]
async fn x12_imports_into_an_empty_scope_end_with_the_last_one() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    let conversation = |n: usize| {
        let mut conversation = long();
        conversation.messages.truncate(4);
        conversation
            .messages
            .iter_mut()
            .for_each(|(_, _, message)| message.text.push_str(&format!(" of {n}")));
        conversation
    };
    for n in 1..=3 {
        stage.engine.import(&stage.scope, conversation(n)).await.unwrap();
        assert_eq!(stage.state().await.latest(), Some(Number(n as u32)));
    }
    stage.play("10:03 user: and on => continue #3").await;
    stage.engine.import(&stage.scope, conversation(4)).await.unwrap();
    assert_eq!(stage.state().await.latest(), Some(Number(3)));
    stage.verify().await;
}

/// Issue 16, row 13: a stamp far ahead is kept as it was given, and counts as the one before it.
#[tokio::test]
async fn x12_a_stamp_far_ahead_is_kept_as_given_and_not_believed() {
    let engine = Engine::open(Arc::new(Memory::default()), Config::load(Vec::new(), &TimeZone::UTC).unwrap());
    let (engine, scope) = (engine.await.unwrap(), "agent:main:cli:direct:me".parse().unwrap());
    let mut conversation = long();
    conversation.messages.truncate(4);
    let (far, usual) = ("9999-01-01T00:00:00Z".parse::<Timestamp>().unwrap(), conversation.messages[0].0);
    conversation.messages[2].0 = far;
    engine.import(&scope, conversation).await.unwrap();
    let state = engine.state(&scope).await.unwrap();
    assert_eq!(state.clock, usual);
    let held = engine.all_messages(&state, Number(1)).await.unwrap();
    let given: Vec<_> = held.iter().map(|said| said.message.as_ref().unwrap().given_at).collect();
    assert_eq!(given, [None, None, Some(far), None]);
}

/// Found by the random model: the first session of a scope counted as its own if it was imported, and so the backlog could
/// delete it.
#[tokio::test]
async fn p8_a_conversation_that_is_imported_into_an_empty_scope_is_never_deleted_by_the_backlog() {
    let settings = "[session]\nbacklog = 'delete'\nbacklog_limit = 2";
    let mut stage = stage_on(Arc::new(Memory::default()), settings).await;
    let mut conversation = long();
    conversation.messages.truncate(3);
    stage.engine.import(&stage.scope, conversation).await.unwrap();
    stage.play("10:00 user: /new\n10:01 user: /new\n10:02 user: /new\n10:03 user: /new").await;
    assert_eq!(stage.texts(1).await.len(), 3);
}
