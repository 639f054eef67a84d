//! What a decision costs: a message through the whole engine beside the same message straight to the store, in the
//! same run, both durable on SQLite. No model is asked.
//!
//!     cargo bench -p segue-engine --bench decision

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

#[path = "warm/talk.rs"]
mod talk;

use segue_core::decide::{Circumstances, Command, decide};
use segue_core::facts::Facts;
use segue_core::message::{Message, Role};
use segue_core::policy::Policy;
use segue_core::session::Id;
use segue_core::state::State;
use segue_engine::config::Config;
use segue_engine::{Engine, Inbound, Target};
use segue_store::sqlite::Sqlite;
use segue_store::{Append, Store};
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use talk::TALK;

type Outcome<T> = Result<T, Box<dyn Error>>;

const ROUNDS: usize = 15;

/// Each round is a conversation of its own, long enough that what is known about a session is built anew within it
/// and short enough for its window.
const TURNS: usize = 400;

/// The goal of issue 4.
const GOAL: f64 = 1.2;

fn at(turn: usize) -> Outcome<jiff::Timestamp> {
    Ok(jiff::Timestamp::from_second(1_772_359_200 + 20 * turn as i64)?)
}

/// Straight to the store: what the log costs by itself.
struct Bare {
    store: Arc<dyn Store>,
    state: Arc<State>,
    policy: Policy,
}

impl Bare {
    async fn say(&mut self, turn: usize, role: Role, text: &str) -> Outcome<()> {
        let command = Command::Say { role, message: Message::text(text) };
        let fresh = Id(uuid::Uuid::from_u128(turn as u128));
        let circumstances = Circumstances { now: at(turn)?, fresh, spoken: None };
        let mut decided = decide(&self.state, &self.policy, &command, &Facts::default(), &circumstances)?;
        let append = Append::of(fresh.into(), self.state.clone(), &mut decided, None);
        let next = append.next.clone();
        self.store.append(append).await?;
        self.state = next;
        Ok(())
    }
}

async fn bare_round(bare: &mut Bare, round: usize) -> Outcome<Duration> {
    bare.state = Arc::new(State::empty(format!("agent:main:bench:direct:bare{round}").parse()?));
    let begun = Instant::now();
    for turn in 0..TURNS {
        let (said, answer) = TALK[turn % TALK.len()];
        bare.say(turn, Role::User, said).await?;
        bare.say(turn, Role::Assistant, answer).await?;
    }
    Ok(begun.elapsed())
}

async fn engine_round(engine: &Engine, round: usize) -> Outcome<Duration> {
    let scope: segue_core::scope::Key = format!("agent:main:bench:direct:engine{round}").parse()?;
    let begun = Instant::now();
    for turn in 0..TURNS {
        let (said, answer) = TALK[turn % TALK.len()];
        for (role, text) in [(Role::User, said), (Role::Assistant, answer)] {
            let (to, message) = (Target::Scope(scope.clone()), Message::text(text));
            engine.receive(Inbound { at: at(turn)?, to, role, message, session: None }).await?;
        }
    }
    Ok(begun.elapsed())
}

async fn measure() -> Outcome<()> {
    let (ours, theirs) = (tempfile::tempdir()?, tempfile::tempdir()?);
    let config = Config::load(vec![], &jiff::tz::TimeZone::UTC)?;
    let engine = Engine::open(Arc::new(Sqlite::open(&ours.path().join("segue.db"))?), config).await?;
    let store: Arc<dyn Store> = Arc::new(Sqlite::open(&theirs.path().join("segue.db"))?);
    let state = Arc::new(State::empty("agent:main:bench:direct:bare".parse()?));
    let mut bare = Bare { store, state, policy: Policy::default() };
    let mut ratios = Vec::new();
    for round in 0..ROUNDS {
        // Who goes first changes, so that a slow moment of the machine favours nobody.
        let (with, without) = if round % 2 == 0 {
            let with = engine_round(&engine, round).await?;
            (with, bare_round(&mut bare, round).await?)
        } else {
            let without = bare_round(&mut bare, round).await?;
            (engine_round(&engine, round).await?, without)
        };
        let micros = |time: Duration| time.as_secs_f64() * 1e6 / TURNS as f64;
        let ratio = with.as_secs_f64() / without.as_secs_f64();
        println!(
            "round {round:2}: engine {:8.1} µs a turn, store {:8.1} µs, {ratio:.2} x",
            micros(with),
            micros(without)
        );
        ratios.push(ratio);
    }
    ratios.sort_by(f64::total_cmp);
    let median = ratios[ratios.len() / 2];
    let verdict = if median <= GOAL { "ok" } else { "MISSED" };
    println!("a decision through the engine: {median:.2} x the store's own turn (goal {GOAL}): {verdict}");
    Ok(())
}

fn main() -> Outcome<()> {
    tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?.block_on(measure())
}
