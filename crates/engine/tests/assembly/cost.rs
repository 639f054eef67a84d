//! What a context costs does not depend on how long the session is.

use crate::table::{CALM, Table};
use segue_core::message::{Message, Role};
use segue_core::session::Title;
use segue_engine::{Pick, Request};
use segue_signals::context::{EstimatedTokens, TokenCounter};
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

/// The road that a host takes: a message, its context, and the reply for the session that it was answered in.
#[tokio::test]
async fn a_reply_that_names_its_session_leads_to_no_reading() {
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Counting::default()));
    let mut table = Table::on(store.clone(), CALM).await;
    for n in 0..40 {
        let heard = table.say(Role::User, format!("how does part {n} of the sourdough recipe go?")).await;
        table.context(1_680).await.unwrap();
        let reply = Message::text(format!("part {n} is about the dough and the oven"));
        table.reply(heard.session, reply).await;
        if n == 9 {
            store.hook.0.store(0, Ordering::Relaxed);
        }
    }
    assert_eq!(store.hook.0.load(Ordering::Relaxed), 0, "rows were read for thirty warm exchanges");
}

/// Counts what is counted.
#[derive(Default)]
struct CountedBytes(AtomicUsize);

impl TokenCounter for CountedBytes {
    fn count(&self, text: &str) -> u64 {
        self.0.fetch_add(text.len(), Ordering::Relaxed);
        EstimatedTokens.count(text)
    }

    fn name(&self) -> Option<&'static str> {
        Some("counted bytes")
    }
}

/// Issue 16, row 18: a session that goes on beyond its window, because nothing may move it, costs the same with each
/// message: nothing is read again, and no more is counted than at the beginning.
#[tokio::test]
async fn a_full_window_that_nothing_may_move_costs_no_more_with_each_message() {
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Counting::default()));
    let counter = Arc::new(CountedBytes::default());
    let table = Table::on(store.clone(), &format!("context.window = 1000\n{CALM}")).await;
    let mut table = table.counting(counter.clone());
    let mut costs = Vec::new();
    for n in 0..400 {
        store.hook.0.store(0, Ordering::Relaxed);
        counter.0.store(0, Ordering::Relaxed);
        let heard = table.say(Role::User, format!("how does part {n:03} of the sourdough recipe go?")).await;
        let reply = Message::text(format!("part {n:03} is about the dough and the oven"));
        table.reply(heard.session, reply).await;
        costs.push((store.hook.0.load(Ordering::Relaxed), counter.0.load(Ordering::Relaxed)));
    }
    let window = table.engine.context(&table.scope).await.unwrap();
    assert!(window.older > 300, "the window is long full: {}", window.older);
    let early: Vec<_> = costs[2..12].to_vec();
    let late = &costs[costs.len() - 100..];
    let most = |costs: &[(usize, usize)]| costs.iter().map(|(_, bytes)| *bytes).max().unwrap();
    assert_eq!(late.iter().map(|(rows, _)| rows).sum::<usize>(), 0, "rows were read");
    assert!(
        most(late) <= 2 * most(&early),
        "counted {} bytes, and {} at the beginning",
        most(late),
        most(&early)
    );
}

/// So do requests that do nothing to what was said: a title, a control model, a session that is kept.
#[tokio::test]
async fn a_request_beside_the_conversation_leads_to_no_reading() {
    let store = Arc::new(Hooked::new(Arc::new(Memory::default()), Counting::default()));
    let mut table = Table::on(store.clone(), CALM).await;
    let heard = table.say(Role::User, "how does the sourdough recipe go?").await;
    table.reply(heard.session, Message::text("it is about the dough")).await;
    table.say(Role::User, "and how hot is the oven?").await;
    store.hook.0.store(0, Ordering::Relaxed);
    let title = Title::new("Bread").unwrap();
    table.engine.request(&table.scope, table.now, &Request::Rename(Pick::Latest, title)).await.unwrap();
    let before = store.hook.0.load(Ordering::Relaxed);
    table.say(Role::User, "and how long does it bake?").await;
    assert_eq!(store.hook.0.load(Ordering::Relaxed), before);
}
