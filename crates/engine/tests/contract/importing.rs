//! Imports of long conversations: many messages share a commit, and one that is cut off is completed by the next.

use super::script::stage_on;
use async_trait::async_trait;
use segue_core::Timestamp;
use segue_core::entry::{Record, Seq};
use segue_core::message::{Message, MessageId, Role};
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use segue_engine::port::Conversation;
use segue_store::memory::Memory;
use segue_store::{Append, Error, Page, Reading, ScopeRow, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

/// Counts commits, and breaks off once in the middle of many appends.
struct Breaking {
    memory: Memory,
    commits: AtomicUsize,
    /// How many of the next many appends are still written.
    left: AtomicUsize,
}

#[async_trait]
impl Store for Breaking {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        self.memory.load(scope).await
    }
    async fn append(&self, append: Append) -> Result<(), Error> {
        self.commits.fetch_add(1, SeqCst);
        self.memory.append(append).await
    }
    async fn append_all(&self, mut appends: Vec<Append>) -> (usize, Result<(), Error>) {
        self.commits.fetch_add(1, SeqCst);
        let left = self.left.swap(usize::MAX, SeqCst);
        let is_cut_off = left < appends.len();
        appends.truncate(left);
        match self.memory.append_all(appends).await {
            (written, Ok(())) if is_cut_off => (written, Err(Error::unavailable("the disk", "it is gone"))),
            done => done,
        }
    }
    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        self.memory.seen(scope, id).await
    }
    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        self.memory.read(scope, reading).await
    }
    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        self.memory.get(scope, seq).await
    }
    async fn log(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        self.memory.log(scope, after, limit).await
    }
    async fn before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error> {
        self.memory.before(scope, seq, segments).await
    }
    async fn scopes(&self, page: &Page) -> Result<Vec<ScopeRow>, Error> {
        self.memory.scopes(page).await
    }
    async fn sweep(&self) -> Result<usize, Error> {
        self.memory.sweep().await
    }
    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error> {
        self.memory.audit(scope).await
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
    let store = Arc::new(Breaking { memory: Memory::default(), commits, left });
    let mut stage = stage_on(store.clone(), "").await;
    stage.play("10:00 user: here before").await;
    let texts: Vec<String> = long().messages.iter().map(|(_, _, message)| message.text.clone()).collect();
    store.left.store(100, SeqCst);
    assert!(stage.engine.import(&stage.scope, long()).await.is_err());
    assert_eq!(stage.texts(2).await, texts[..101], "the first ones");
    stage.verify().await;
    let before = store.commits.load(SeqCst);
    let imported = stage.engine.import(&stage.scope, long()).await.unwrap();
    assert_eq!((imported.taken, imported.known), (899, 101));
    assert_eq!(stage.texts(2).await, texts);
    assert_eq!(stage.texts(1).await, ["here before"]);
    let commits = store.commits.load(SeqCst) - before;
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
