//! The book of what the child was told, and whether the store says the same.

use crate::child;
use crate::line::Line;
use segue_core::entry::{Body, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_store::{Location, Store};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Debug, Clone)]
struct Kept {
    text: String,
    seq: Seq,
    session: Number,
}

#[derive(Default)]
pub struct Book {
    kept: BTreeMap<(Key, String), Kept>,
    /// What was sent and not yet answered.
    open: BTreeMap<(Key, String), String>,
    dropped: BTreeSet<(Key, Number)>,
    /// How many messages were cut off by a crash.
    pub unanswered: u64,
}

impl Book {
    pub fn note(&mut self, line: Line) {
        match line {
            Line::Opening => {}
            Line::Sent { scope, id, text } => drop(self.open.insert((scope, id), text)),
            Line::Refused { scope, id } => drop(self.open.remove(&(scope, id))),
            Line::Acknowledged { scope, id, text, seq, session, dropped } => {
                self.dropped.extend(dropped.into_iter().map(|number| (scope.clone(), number)));
                self.open.remove(&(scope.clone(), id.clone()));
                self.kept.insert((scope, id), Kept { text, seq, session });
            }
            Line::Dropped { scope, dropped } => {
                self.dropped.extend(dropped.into_iter().map(|number| (scope.clone(), number)));
            }
            Line::Wrong(what) => panic!("{what}"),
        }
    }

    /// Counts what the crash cut off.
    pub fn cut_off(&mut self) {
        self.unanswered += self.open.len() as u64;
    }

    /// What a channel delivers again: all that was not answered, and a few that were.
    pub fn redeliveries(&self) -> Vec<Line> {
        let open = self.open.iter().map(|((scope, id), text)| Line::Sent {
            scope: scope.clone(),
            id: id.clone(),
            text: text.clone(),
        });
        let answered = self.kept.iter().rev().step_by(7).take(10).map(|((scope, id), kept)| {
            let (scope, id, text) = (scope.clone(), id.clone(), kept.text.clone());
            Line::Acknowledged { scope, id, text, seq: kept.seq, session: kept.session, dropped: Vec::new() }
        });
        open.chain(answered).collect()
    }

    pub fn acknowledged(&self) -> u64 {
        self.kept.len() as u64
    }

    pub fn dropped(&self) -> u64 {
        self.dropped.len() as u64
    }

    /// Opens the store as it was left, and compares.
    pub fn check(&self, at: &Location) {
        with(at, async |store| {
            for scope in child::scopes() {
                let report = segue_store::verify::verify(store, &scope).await.unwrap();
                assert_eq!(report.problems, Vec::<String>::new(), "{at}: {scope}");
                self.compare(store, &scope).await;
            }
            assert_eq!(store.audit(None).await.unwrap(), Vec::<String>::new(), "{at}");
        });
    }

    async fn compare(&self, store: &dyn Store, scope: &Key) {
        let records = store.tail(scope, Seq::ZERO, usize::MAX).await.unwrap();
        let (said, gone) = (said(&records), gone(&records));
        for ((_, id), kept) in self.kept.iter().filter(|((of, _), _)| of == scope) {
            match said.get(id).map(Vec::as_slice) {
                Some([(seq, text)]) => {
                    assert_eq!(*seq, kept.seq, "{scope}: {id}");
                    assert!(kept.text.ends_with(text.as_str()), "{scope}: {id} is kept as {text}");
                }
                Some(many) => panic!("{scope}: {id} is kept {} times", many.len()),
                None => {
                    let dropped = gone.iter().any(|(first, last)| (*first..=*last).contains(&kept.seq));
                    assert!(dropped, "{scope}: {id} was acknowledged as entry {} and is lost", kept.seq);
                    let seen = store.seen(scope, &MessageId(id.clone())).await.unwrap();
                    assert_eq!(seen, Some(kept.seq), "{scope}: {id} would be taken again");
                }
            }
        }
        let twice = said.iter().find(|(_, places)| places.len() > 1);
        assert!(twice.is_none(), "{scope}: {twice:?}");
        let Some(state) = store.load(scope).await.unwrap() else { return };
        for (_, number) in self.dropped.iter().filter(|(of, _)| of == scope) {
            assert!(!state.sessions.contains_key(number), "{scope}: session {number} is back");
        }
    }

    /// Forgets what was not answered: it is not delivered again.
    pub fn forget_unanswered(&mut self) {
        self.open.clear();
    }

    /// Tells whether a text was sent and not answered.
    pub fn was_cut_off(&self, text: &str) -> bool {
        self.open.values().any(|open| open == text)
    }

    /// Tells the newest session that a command was answered with.
    pub fn newest(&self, text: &str) -> Option<Number> {
        self.kept.values().filter(|kept| kept.text == text).map(|kept| kept.session).max()
    }
}

/// Finds the messages and commands of a log by their ids.
fn said(records: &[Record]) -> BTreeMap<String, Vec<(Seq, String)>> {
    let mut said: BTreeMap<String, Vec<(Seq, String)>> = BTreeMap::new();
    for record in records {
        let (id, text) = match record.body().unwrap() {
            Body::Message(_, message) => (message.message_id, message.text),
            Body::Command(spoken) => (spoken.message_id, spoken.text),
            _ => continue,
        };
        if let Some(id) = id {
            said.entry(id.0).or_default().push((record.seq, text));
        }
    }
    said
}

/// Finds where the segments lay that the log says were dropped: their structural entries are still there.
fn gone(records: &[Record]) -> Vec<(Seq, Seq)> {
    let mut places: BTreeMap<segment::Number, (Seq, Seq)> = BTreeMap::new();
    let mut dropped = BTreeSet::new();
    for record in records {
        let place = places.entry(record.segment).or_insert((record.seq, record.seq));
        place.1 = record.seq;
        if let Ok(Body::Pruned(of) | Body::Deleted(of)) = record.body() {
            dropped.extend(of.segments);
        }
    }
    places.into_iter().filter(|(number, _)| dropped.contains(number)).map(|(_, place)| place).collect()
}

/// Tells which session is latest.
pub fn latest(at: &Location, scope: &Key) -> Option<Number> {
    with(at, async |store| store.load(scope).await.unwrap().and_then(|state| state.latest()))
}

fn with<T>(at: &Location, work: impl AsyncFnOnce(&dyn Store) -> T) -> T {
    let _starting = crate::round::STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let store = at.open().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(work(store.as_ref()))
}
