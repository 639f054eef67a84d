//! Imports of long conversations: many messages share a commit, and one that is cut off is completed by the next.

use super::script::stage_on;
use segue_core::Timestamp;
use segue_core::message::{Message, MessageId, Role};
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

/// A message that is there twice, and one that was taken over before, are known in the middle of the others, too.
#[tokio::test]
async fn x12_what_is_known_in_the_middle_is_left_alone() {
    let mut stage = stage_on(Arc::new(Memory::default()), "").await;
    stage.play("10:00 user: here before").await;
    let mut conversation = long();
    for (n, (_, _, message)) in conversation.messages.iter_mut().enumerate() {
        let id = if n == 500 { 7 } else { n };
        message.message_id = Some(MessageId(format!("id{id}")));
    }
    let imported = stage.engine.import(&stage.scope, conversation).await.unwrap();
    assert_eq!((imported.taken, imported.known), (999, 1));
    assert_eq!(stage.texts(2).await.len(), 999);
    stage.verify().await;
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
