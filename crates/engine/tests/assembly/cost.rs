//! What a context costs does not depend on how long the session is.

use crate::table::{CALM, Table};
use async_trait::async_trait;
use segue_core::entry::{Record, Seq};
use segue_core::message::{MessageId, Role};
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use segue_store::memory::Memory;
use segue_store::{Append, Error, Page, Reading, ScopeRow, Store};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the rows that are read.
#[derive(Default)]
struct Counting {
    memory: Memory,
    rows: AtomicUsize,
}

#[async_trait]
impl Store for Counting {
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error> {
        self.memory.load(scope).await
    }
    async fn append(&self, append: Append) -> Result<(), Error> {
        self.memory.append(append).await
    }
    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error> {
        self.memory.seen(scope, id).await
    }
    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error> {
        let records = self.memory.read(scope, reading).await?;
        self.rows.fetch_add(records.len(), Ordering::Relaxed);
        Ok(records)
    }
    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.memory.get(scope, seq).await
    }
    async fn log(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let records = self.memory.log(scope, after, limit).await?;
        self.rows.fetch_add(records.len(), Ordering::Relaxed);
        Ok(records)
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

/// Assembles at a budget of about fifty messages, and tells how many rows that read and how many are shown.
async fn cost(messages: usize) -> (usize, usize) {
    let store = Arc::new(Counting::default());
    let mut table = Table::on(store.clone(), CALM).await;
    for n in 0..messages {
        // A message of the agent is kept as it is: ten thousand of them are no long test.
        table.say(Role::Assistant, format!("{n:06} {}", "word ".repeat(16))).await;
    }
    store.rows.store(0, Ordering::Relaxed);
    let context = table.context(1_680).await.unwrap();
    assert_eq!(context.messages.len() + context.older, messages);
    (store.rows.load(Ordering::Relaxed), context.messages.len())
}

#[tokio::test]
async fn m_d1_ten_thousand_messages_cost_no_more_than_twice_a_hundred() {
    let ((short, few), (long, many)) = (cost(100).await, cost(10_000).await);
    println!("100 messages: {short} rows, {few} shown; 10000 messages: {long} rows, {many} shown");
    assert!((20..=55).contains(&few) && (20..=55).contains(&many), "{few} {many}");
    assert!(long <= 2 * short, "{short} {long}");
}
