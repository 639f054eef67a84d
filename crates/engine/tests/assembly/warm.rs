//! What was read for one context is used for the next: whatever happens between, by this engine or by another one on the
//! same store, the context is the one that an engine gives which has read nothing yet.

use crate::table::Table;
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use segue_core::entry::Seq;
use segue_core::message::{Message, Role, ToolCall};
use segue_core::session::Number;
use segue_engine::{Pick, Request};
use segue_store::memory::Memory;
use std::sync::Arc;
use tokio::runtime::Runtime;

const SAID: [&str; 7] = [
    "how long should the sourdough bread rise before I bake it?",
    "and what temperature does the oven need for the loaf?",
    "my invoice of March was never paid by the customer in Oslo",
    "let's start over",
    "we decided to take the ferry at nine",
    "no, go back",
    "面团要发酵多久？",
];

#[derive(Debug, Clone)]
enum Op {
    Say(usize),
    Answer(usize),
    Call,
    Long,
    Wait(i64),
    New,
    Undo,
    Fork(usize),
    Resume(u32),
    Split(usize),
    Merge(u32, u32),
    Delete(u32),
    Erase(usize),
    Keep,
    Context(u64),
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        12 => (0..SAID.len()).prop_map(Op::Say),
        8 => (1usize..40).prop_map(Op::Answer),
        2 => Just(Op::Call),
        1 => Just(Op::Long),
        3 => prop::sample::select(vec![5, 20, 90, 200, 1_500, 5_000]).prop_map(Op::Wait),
        1 => Just(Op::New),
        2 => Just(Op::Undo),
        1 => (1usize..9).prop_map(Op::Fork),
        1 => (1u32..5).prop_map(Op::Resume),
        1 => (1usize..6).prop_map(Op::Split),
        1 => (1u32..5, 1u32..5).prop_map(|(from, to)| Op::Merge(from, to)),
        1 => (1u32..5).prop_map(Op::Delete),
        2 => (1usize..12).prop_map(Op::Erase),
        2 => Just(Op::Keep),
        4 => (300u64..3_000).prop_map(Op::Context),
    ]
}

/// Finds the message that is so many before the newest.
async fn back(table: &Table, count: usize) -> Option<Seq> {
    let state = table.engine.state(&table.scope).await.ok()?;
    let messages = table.engine.messages(&state, state.latest()?, count).await.ok()?;
    messages.first().map(|told| told.seq)
}

async fn run(table: &mut Table, op: &Op) {
    let pick = |number: u32| Pick::Numbered(Number(number));
    let request = match op {
        Op::Say(n) => return drop(table.say(Role::User, SAID[*n]).await),
        Op::Answer(words) => {
            return drop(table.say(Role::Assistant, "well, four hours. ".repeat(*words)).await);
        }
        Op::Long => return drop(table.say(Role::Assistant, "a very long answer. ".repeat(900)).await),
        Op::Call => {
            let call = ToolCall { id: "c".into(), name: "look".into(), arguments: "{}".into() };
            let calls = Message { tool_calls: vec![call], ..Message::default() };
            table.take(Role::Assistant, calls).await.unwrap();
            let result = Message { tool_call_id: Some("c".into()), ..Message::text("it is there") };
            table.take(Role::Tool, result).await.unwrap();
            return;
        }
        Op::Wait(minutes) => return table.now += SignedDuration::from_mins(*minutes),
        Op::Context(window) => return drop(table.context(*window).await),
        Op::New => Request::New(None),
        Op::Undo => Request::Undo,
        Op::Fork(count) => Request::Fork(Pick::Latest, back(table, *count).await),
        Op::Resume(number) => Request::Resume(pick(*number)),
        Op::Split(count) => match back(table, *count).await {
            Some(seq) => Request::Split(seq),
            None => return,
        },
        Op::Merge(from, to) => Request::Merge(pick(*from), pick(*to)),
        Op::Delete(number) => Request::Delete(pick(*number)),
        Op::Erase(count) => match back(table, *count).await {
            Some(seq) => Request::Erase(vec![seq]),
            None => return,
        },
        Op::Keep => Request::Keep(Role::User, Message::text("kept as it is")),
    };
    table.now += SignedDuration::from_secs(60);
    // Not everything can be done at any time, and what cannot be done changes nothing.
    let _ = table.engine.request(&table.scope, table.now, &request).await;
}

#[test]
fn m_d1_a_warm_context_is_the_one_that_is_read_anew() {
    check(&tokio::runtime::Builder::new_current_thread().build().unwrap(), 120);
}

/// There the next context is prepared by another thread while the store writes.
#[test]
fn m_d1_a_context_that_was_prepared_is_the_one_that_is_read_anew() {
    check(&tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap(), 40);
}

fn check(runtime: &Runtime, cases: u32) {
    let strategy = (prop::collection::vec((op(), prop::bool::weighted(0.15)), 1..60), 400u64..4_000);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |(ops, window)| {
            let store = Arc::new(Memory::default());
            let mut own = runtime.block_on(Table::on(store.clone(), ""));
            let mut other = runtime.block_on(Table::on(store.clone(), ""));
            for (op, is_of_other) in ops {
                let table = if is_of_other { &mut other } else { &mut own };
                runtime.block_on(run(table, &op));
                let now = own.now.max(other.now);
                (own.now, other.now) = (now, now);
                let cold = runtime.block_on(Table::on(store.clone(), ""));
                // The last one is what the next turn prepares.
                for window in [window, 100_000, window] {
                    let cold = runtime.block_on(cold.context(window)).map_err(|error| error.to_string());
                    let warm = runtime.block_on(own.context(window)).map_err(|error| error.to_string());
                    prop_assert_eq!(warm, cold, "after {:?}", op);
                }
            }
            Ok(())
        })
        .unwrap();
}
