//! What a context costs does not depend on how long the session is.

use crate::table::{CALM, Table};
use segue_core::message::Role;
use segue_store::Error;
use segue_store::conformance::{Call, Hook, Hooked};
use segue_store::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts the rows that are read.
#[derive(Default)]
struct Counting(AtomicUsize);

impl Hook for Counting {
    fn after(&self, call: Call, rows: usize) -> Result<(), Error> {
        if matches!(call, Call::Get | Call::Read | Call::Tail) {
            self.0.fetch_add(rows, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Assembles at a budget of about fifty messages, and tells how many rows that read and how many are shown.
async fn cost(messages: usize) -> (usize, usize) {
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Counting::default()));
    let mut table = Table::on(store.clone(), CALM).await;
    for n in 0..messages {
        // A message of the agent is kept as it is: ten thousand of them are no long test.
        table.say(Role::Assistant, format!("{n:06} {}", "word ".repeat(16))).await;
    }
    store.hook.0.store(0, Ordering::Relaxed);
    let context = table.context(1_680).await.unwrap();
    assert_eq!(context.messages.len() + context.older, messages);
    (store.hook.0.load(Ordering::Relaxed), context.messages.len())
}

#[tokio::test]
async fn m_d1_ten_thousand_messages_cost_no_more_than_twice_a_hundred() {
    let ((short, few), (long, many)) = (cost(100).await, cost(10_000).await);
    println!("100 messages: {short} rows, {few} shown; 10000 messages: {long} rows, {many} shown");
    assert!((20..=55).contains(&few) && (20..=55).contains(&many), "{few} {many}");
    assert!(long <= 2 * short, "{short} {long}");
}
