//! What was read for one context or recall is used for the next: whatever happens between, by this engine or by another one
//! on the same store, it is the one that an engine gives which has read nothing yet.

use crate::table::Table;
use jiff::SignedDuration;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use segue_core::entry::Seq;
use segue_core::message::{Message, Reasoning, ReasoningForm, Role, ToolCall};
use segue_core::observed::Observed;
use segue_core::session::Number;
use segue_engine::recall::Recall;
use segue_engine::{Outcome, Pick, Request};
use segue_store::Store;
use segue_store::memory::Memory;
use segue_store::search::Reach;
use segue_store::sqlite::Sqlite;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
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

/// A question in English that no message has a word of, but for the smallest.
const OTHER_WORDS: &str = "which boat do we catch in the morning";

#[derive(Debug, Clone)]
enum Op {
    Say(usize),
    Answer(usize),
    Late(u32),
    Call,
    Think,
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
        2 => (1u32..5).prop_map(Op::Late),
        2 => Just(Op::Call),
        2 => Just(Op::Think),
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
        Op::Late(number) => {
            let state = table.engine.state(&table.scope).await;
            if state.is_ok_and(|state| state.live(Number(*number)).is_some()) {
                table.reply(Number(*number), Message::text("the ferry leaves at nine from the pier")).await;
            }
            return;
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
        Op::Think => {
            let thought = Reasoning {
                form: ReasoningForm::Thinking,
                text: "it rises slowly".into(),
                signature: "s".into(),
                id: None,
                model: "claude".into(),
            };
            let answer = Message { reasoning: vec![thought], ..Message::text("give it the night") };
            return drop(table.take(Role::Assistant, answer).await);
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

/// Runs random operations by two engines on one store; after each, one of them is compared with a third that is new.
fn after_whatever_happens(
    runtime: &Runtime,
    cases: u32,
    compare: impl AsyncFn(&Table, &Table, u64) -> Result<(), TestCaseError>,
) {
    after_whatever_happens_in(runtime, cases, || Arc::new(Memory::default()), compare);
}

fn after_whatever_happens_in(
    runtime: &Runtime,
    cases: u32,
    new: impl Fn() -> Arc<dyn Store>,
    compare: impl AsyncFn(&Table, &Table, u64) -> Result<(), TestCaseError>,
) {
    let strategy = (prop::collection::vec((op(), prop::bool::weighted(0.15)), 1..60), 400u64..4_000);
    let config = Config { cases, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&strategy, |(ops, window)| {
            let store = new();
            let mut own = runtime.block_on(Table::on(store.clone(), ""));
            let mut other = runtime.block_on(Table::on(store.clone(), ""));
            for (op, is_of_other) in ops {
                let table = if is_of_other { &mut other } else { &mut own };
                runtime.block_on(run(table, &op));
                let now = own.now.max(other.now);
                (own.now, other.now) = (now, now);
                let cold = runtime.block_on(Table::on(store.clone(), ""));
                runtime.block_on(compare(&own, &cold, window))?;
            }
            Ok(())
        })
        .unwrap();
}

fn one_thread() -> Runtime {
    tokio::runtime::Builder::new_current_thread().build().unwrap()
}

async fn same_context(own: &Table, cold: &Table, window: u64) -> Result<(), TestCaseError> {
    // The last one is what the next one is made of; half of the time it is never another.
    let windows = [window, 100_000, window];
    let count = if window.is_multiple_of(2) { 1 } else { windows.len() };
    for window in windows.into_iter().take(count) {
        let cold = cold.context(window).await.map_err(|error| error.to_string());
        let warm = own.context(window).await.map_err(|error| error.to_string());
        prop_assert_eq!(warm, cold);
    }
    Ok(())
}

/// A recall embeds a few messages itself; here all of them are.
async fn prepared(table: &Table) -> Result<(), TestCaseError> {
    let prepared = table.engine.prepare_recall(&table.scope).await;
    prepared.map_err(|error| TestCaseError::fail(error.to_string()))
}

async fn same_recall(own: &Table, cold: &Table, window: u64) -> Result<(), TestCaseError> {
    // To embed everything anew takes long.
    if !own.engine.state(&own.scope).await.is_ok_and(|state| state.head.0.is_multiple_of(3)) {
        return Ok(());
    }
    prepared(own).await?;
    prepared(cold).await?;
    for question in ["烤面包要多少度", "挪威的账单 ferry"] {
        same_answer(own, cold, window, question).await?;
    }
    Ok(())
}

async fn same_answer(own: &Table, cold: &Table, window: u64, question: &str) -> Result<(), TestCaseError> {
    let reach = if window.is_multiple_of(2) { Reach::Archived } else { Reach::Everything };
    let recall = Recall { reach, ..Recall::new(question, "a test") };
    let cold = cold.engine.recall(&cold.scope, &recall).await.map_err(|error| error.to_string());
    let warm = own.engine.recall(&own.scope, &recall).await.map_err(|error| error.to_string());
    prop_assert_eq!(warm, cold);
    Ok(())
}

#[test]
fn m_d1_a_warm_context_is_the_one_that_is_read_anew() {
    after_whatever_happens(&one_thread(), 120, same_context);
}

/// There notes are written by another thread while the store writes.
#[test]
fn m_d1_a_context_is_the_same_where_a_thread_writes_its_notes() {
    let threads = tokio::runtime::Builder::new_multi_thread().worker_threads(1).build().unwrap();
    after_whatever_happens(&threads, 40, same_context);
}

#[test]
fn m_d2_a_warm_recall_is_the_one_that_is_read_anew() {
    after_whatever_happens(&one_thread(), 12, same_recall);
}

/// What the sentence encoder says is kept by the store as well: there the engine is compared with one that finds nothing kept.
#[test]
#[allow(clippy::disallowed_methods, reason = "plays another program, which forgets what was kept")]
fn m_d2_a_recall_by_what_is_kept_is_the_one_that_is_read_anew() {
    let folder = tempfile::tempdir().unwrap();
    let file = |number: usize| folder.path().join(format!("{number}.db"));
    let number = AtomicUsize::new(0);
    let new = || -> Arc<dyn Store> {
        Arc::new(Sqlite::open(&file(number.fetch_add(1, Ordering::Relaxed) + 1)).unwrap())
    };
    let compare = async |own: &Table, cold: &Table, window: u64| {
        // To read everything anew takes long.
        if !own.engine.state(&own.scope).await.is_ok_and(|state| state.head.0.is_multiple_of(3)) {
            return Ok(());
        }
        // The latest session grows, and what is kept of it with it.
        let recall = Recall { reach: Reach::Everything, ..Recall::new(OTHER_WORDS, "a test") };
        prepared(own).await?;
        let warm = own.engine.recall(&own.scope, &recall).await.map_err(|error| error.to_string());
        let db = rusqlite::Connection::open(file(number.load(Ordering::Relaxed))).unwrap();
        db.execute("DELETE FROM embeddings", []).unwrap();
        prepared(cold).await?;
        let anew = cold.engine.recall(&cold.scope, &recall).await.map_err(|error| error.to_string());
        prop_assert_eq!(warm, anew);
        same_answer(own, cold, window, OTHER_WORDS).await
    };
    after_whatever_happens_in(&one_thread(), 10, new, compare);
}

/// Runs operations on an engine that goes on and on ones that have read nothing: both judge alike.
fn judge_alike(runtime: &Runtime, ops: &[Op]) -> Result<(), TestCaseError> {
    let judged = |outcome: &Outcome| {
        let observed =
            outcome.observed.as_deref().map(|observed| Observed { took_us: 0, ..observed.clone() });
        (outcome.action, outcome.cause, outcome.confidence, outcome.because.clone(), observed)
    };
    let (mut warm, store) = runtime.block_on(async { (Table::new("").await, Arc::new(Memory::default())) });
    let new = |now| {
        let cold = runtime.block_on(Table::on(store.clone(), ""));
        Table { now, ..cold }
    };
    for op in ops {
        let mut cold = new(warm.now);
        for table in [&mut warm, &mut cold] {
            runtime.block_on(run(table, op));
        }
        // Said twice, so that the second one finds the first unread.
        for said in ["and how long in the oven?", "the invoice from Oslo came back"] {
            let mut cold = new(warm.now);
            let warm = runtime.block_on(warm.say(Role::User, said));
            let cold = runtime.block_on(cold.say(Role::User, said));
            prop_assert_eq!(judged(&warm), judged(&cold));
        }
    }
    Ok(())
}

/// What is known about a session is kept from one message to the next, and some of it is read later.
#[test]
fn r1_a_warm_engine_judges_as_one_that_has_read_nothing() {
    let runtime = one_thread();
    let config = Config { cases: 60, failure_persistence: None, ..Config::default() };
    TestRunner::new(config)
        .run(&prop::collection::vec(op(), 1..50), |ops| judge_alike(&runtime, &ops))
        .unwrap();
}

/// What was read of a session was kept although messages came: it had become the latest by a merge, or replies came late.
#[test]
fn r1_what_was_read_of_an_earlier_session_is_read_again_when_it_has_grown() {
    let merged = [Op::Say(3), Op::Merge(2, 1)];
    let late = [Op::Say(0), Op::New, Op::Say(2), Op::Late(1), Op::Say(1), Op::Late(1), Op::Say(1)];
    for ops in [&merged[..], &late] {
        judge_alike(&one_thread(), ops).unwrap();
    }
}
