//! Boundaries in a session of 10 messages and in one of 100,000.

use crate::Outcome;
use crate::figure::{Figure, Goal, micros, shuffle};
use crate::ours::{self, Scope};
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::session::Number;
use segue_core::span::Cut;
use segue_store::{Filter, Reading, Store, Take};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

const SIZES: [usize; 2] = [10, 100_000];
const ROUNDS: usize = 60;
const TURNS_PER_APPEND: usize = 1_000;

struct Session {
    scope: Scope,
    store: Arc<dyn Store>,
    middle: Seq,
    clock: usize,
}

impl Session {
    async fn make(store: &Arc<dyn Store>, messages: usize) -> Outcome<Self> {
        let mut scope = Scope::new(store.clone(), messages)?;
        scope.turns(0..1).await?;
        scope.run(1, &Command::New { first: None }).await?;
        for first in (0..messages / 2).step_by(TURNS_PER_APPEND) {
            scope.turns(first..(first + TURNS_PER_APPEND).min(messages / 2)).await?;
        }
        let key = scope.state.scope.clone();
        let view = scope.state.view(Number(2));
        let reading = Reading { view, filter: Filter::Messages, take: Take::Oldest(messages / 2) };
        let middle = store.read(&key, &reading).await?.last().ok_or("no messages")?.seq;
        Ok(Self { scope, store: store.clone(), middle, clock: messages })
    }

    async fn time(&mut self, command: &Command) -> Outcome<f64> {
        self.clock += 1;
        let begun = Instant::now();
        self.scope.run(self.clock, command).await?;
        Ok(micros(begun.elapsed()))
    }

    /// Finds where the session is cut in its middle, as the engine does.
    async fn cut(&self) -> Outcome<Cut> {
        let key = &self.scope.state.scope;
        let record = self.store.get(key, self.middle).await?.ok_or("no such message")?;
        let across = self.scope.state.view(Number(2)).across(self.middle);
        let before = self.store.count_before(key, self.middle, &across).await?;
        Ok(Cut { message: self.middle, segment: record.segment, before })
    }

    /// Goes through all boundaries and ends where it began.
    async fn round(&mut self, times: &mut BTreeMap<&'static str, Vec<f64>>) -> Outcome<()> {
        let long = Number(2);
        let mut note = |name, time| times.entry(name).or_default().push(time);
        self.clock += 1;
        let begun = Instant::now();
        self.scope.turn(self.clock).await?;
        note("one more turn", micros(begun.elapsed()));
        note("/new", self.time(&Command::New { first: None }).await?);
        note("undo of /new", self.time(&Command::Undo).await?);
        self.time(&Command::Resume { session: Number(1) }).await?;
        note("resume", self.time(&Command::Resume { session: long }).await?);
        note("undo of resume", self.time(&Command::Undo).await?);
        self.time(&Command::Resume { session: long }).await?;
        let begun = Instant::now();
        let at = Some(self.cut().await?);
        let cut = micros(begun.elapsed());
        note("fork", cut + self.time(&Command::Fork { session: long, at }).await?);
        self.time(&Command::Undo).await?;
        let begun = Instant::now();
        let at = self.cut().await?;
        let cut = micros(begun.elapsed());
        note("split", cut + self.time(&Command::Split { at }).await?);
        note("undo of split", self.time(&Command::Undo).await?);
        let begun = Instant::now();
        self.store.load(&self.scope.state.scope).await?;
        note("load", micros(begun.elapsed()));
        Ok(())
    }
}

pub fn figures() -> Outcome<Vec<Figure>> {
    let folder = tempfile::tempdir()?;
    let runtime = ours::runtime()?;
    let store = ours::open(folder.path())?;
    let mut sessions = Vec::new();
    for messages in SIZES {
        sessions.push((runtime.block_on(Session::make(&store, messages))?, BTreeMap::new()));
    }
    let mut seed = 3;
    for _ in 0..ROUNDS {
        let mut order = [0, 1];
        shuffle(&mut order, &mut seed);
        for at in order {
            let (session, times) = &mut sessions[at];
            runtime.block_on(session.round(times))?;
        }
    }
    let mut figures = Vec::new();
    for (name, short) in sessions[0].1.clone() {
        let long = sessions[1].1.get(name).cloned().unwrap_or_default();
        figures.push(Figure::paired(name, "us", ("10", &short), ("100,000", &long), Goal::AtMost(1.5)));
    }
    Ok(figures)
}
