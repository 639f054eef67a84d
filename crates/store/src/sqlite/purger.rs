//! When the file is rewritten: a purge takes as long as copying the whole file, and no turn is written meanwhile.
//!
//! One purge runs and one waits: whoever asks meanwhile shares the one that waits, which begins after their erasures. And a
//! purge is followed by a pause of so many times its length, so that erasures, however many, leave the writer to the turns. Only
//! the first one of a process is not: it may be one that an earlier process owed, and an erasure comes right behind it. A pause
//! that is short is waited for; else it is told that the purge is unfinished, and it is done when the pause is over, or when the
//! store is closed.

use super::writer::PurgeJobs;
use crate::error::Error;
use crate::store::Purged;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;

/// How many times as long as a purge took the next one waits: in the long run, purges take a tenth of the writer's time at most.
const PAUSE_FACTOR: u32 = 9;

/// For how long somebody who asks waits for a pause to be over.
const WAIT_MAX: Duration = Duration::from_secs(2);

type Answer = oneshot::Sender<Result<Purged, Error>>;

/// The thread that has the file rewritten, once somebody asked.
#[derive(Debug, Default)]
pub(super) struct Purger {
    running: Mutex<Option<Running>>,
    /// The pace that it begins with.
    pace: Pace,
}

#[derive(Debug)]
struct Running {
    asked: Option<Sender<Answer>>,
    thread: Option<JoinHandle<()>>,
}

impl Purger {
    /// Makes one that never pauses.
    #[cfg(feature = "conformance")]
    pub(super) fn without_pauses() -> Self {
        Self { pace: Pace { factor: 0, ..Pace::default() }, ..Self::default() }
    }

    /// Has the file rewritten. Returns once it is, or once it is known that this takes longer.
    pub(super) async fn purge(&self, jobs: impl FnOnce() -> Option<PurgeJobs>) -> Result<Purged, Error> {
        let (answer, answered) = oneshot::channel();
        self.ask(answer, jobs)?;
        answered.await.map_err(|_| stopped())?
    }

    fn ask(&self, answer: Answer, jobs: impl FnOnce() -> Option<PurgeJobs>) -> Result<(), Error> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if running.is_none() {
            let jobs = jobs().ok_or_else(stopped)?;
            let (asked, inbox) = mpsc::channel();
            let pace = self.pace;
            let thread = std::thread::Builder::new()
                .name("segue-sqlite-purger".to_owned())
                .spawn(move || serve(&inbox, pace, || jobs.purge()))
                .map_err(|error| Error::unavailable("starting the purger", error))?;
            *running = Some(Running { asked: Some(asked), thread: Some(thread) });
        }
        let asked = running.as_ref().and_then(|running| running.asked.as_ref()).ok_or_else(stopped)?;
        asked.send(answer).map_err(|_| stopped())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // What is owed is done before the thread ends. What cannot be done stands in the database as due, for whoever opens it next.
        self.asked = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn stopped() -> Error {
    Error::unavailable("the purger has stopped", "open the store again")
}

/// When the next purge may begin.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// How many times as long as a purge its pause is.
    factor: u32,
    /// A purge was made before.
    has_begun: bool,
    paused_until: Option<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Self { factor: PAUSE_FACTOR, has_begun: false, paused_until: None }
    }
}

/// What becomes of a purge that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// It is done after so long.
    After(Duration),
    /// It is told that it is done later, after so long.
    Later(Duration),
}

impl Pace {
    fn rest(self, now: Instant) -> Duration {
        self.paused_until.map_or(Duration::ZERO, |until| until.saturating_duration_since(now))
    }

    fn plan(self, now: Instant) -> Plan {
        match self.rest(now) {
            rest if rest > WAIT_MAX => Plan::Later(rest),
            rest => Plan::After(rest),
        }
    }

    /// A purge was made. The first one is followed by no pause.
    fn made(self, begun: Instant, ended: Instant) -> Self {
        let pause = ended.saturating_duration_since(begun).saturating_mul(self.factor);
        let paused_until = if self.has_begun { ended.checked_add(pause) } else { None };
        Self { has_begun: true, paused_until, ..self }
    }
}

/// Whether somebody is owed a purge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owed {
    Nothing,
    /// It was told that it is done later.
    One,
}

fn serve(inbox: &Receiver<Answer>, mut pace: Pace, purge: impl Fn() -> Result<Purged, Error>) {
    let mut owed = Owed::Nothing;
    loop {
        let first = match owed {
            Owed::Nothing => inbox.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Owed::One => inbox.recv_timeout(pace.rest(Instant::now())),
        };
        let mut answers = match (first, owed) {
            (Ok(answer), _) => vec![answer],
            (Err(RecvTimeoutError::Timeout), _) => Vec::new(),
            (Err(RecvTimeoutError::Disconnected), Owed::Nothing) => return,
            (Err(RecvTimeoutError::Disconnected), Owed::One) => return finish(purge),
        };
        match pace.plan(Instant::now()) {
            Plan::Later(rest) => {
                tell(answers, || {
                    format!("the file was rewritten just now, and is again in {} s", rest.as_secs() + 1)
                });
                owed = Owed::One;
                continue;
            }
            Plan::After(rest) => {
                let until = Instant::now() + rest;
                // All who have asked by then have erased by then. Where the store is closed meanwhile, nobody else will ask.
                while let Ok(answer) = inbox.recv_timeout(until.saturating_duration_since(Instant::now())) {
                    answers.push(answer);
                }
            }
        }
        let begun = Instant::now();
        let done = purge();
        pace = pace.made(begun, Instant::now());
        // What is in the way for longer is tried again by whoever purges next.
        owed = Owed::Nothing;
        match done {
            Ok(Purged::Complete) => {
                answers.into_iter().for_each(|answer| drop(answer.send(Ok(Purged::Complete))))
            }
            Ok(Purged::Unfinished { why }) => tell(answers, || why.clone()),
            Err(error) => tell(answers, || error.to_string()),
        }
    }
}

/// Makes the purge that is owed, before the store is closed: no turn waits for the writer any more.
fn finish(purge: impl Fn() -> Result<Purged, Error>) {
    let why = match purge() {
        Ok(Purged::Complete) => return,
        Ok(Purged::Unfinished { why }) => why,
        Err(error) => error.to_string(),
    };
    tracing::warn!(%why, "what was erased is not gone from the store's files yet; who opens it next tries again");
}

/// Tells those who asked that something may be left.
fn tell(answers: Vec<Answer>, why: impl Fn() -> String) {
    for answer in answers {
        // Somebody who has gone meanwhile need not be told.
        let _ = answer.send(Ok(Purged::Unfinished { why: why() }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::World;
    use crate::sqlite::Sqlite;
    use crate::store::{Maintenance, Store};
    use segue_core::decide::Command;
    use std::cell::Cell;
    use std::sync::Arc;

    /// SQLite raises this with each rewriting of the file.
    fn rewritings(path: &std::path::Path) -> i64 {
        let db = crate::sqlite::open::for_reading(path, &crate::encryption::Vault::off()).unwrap();
        db.pragma_query_value(None, "schema_version", |row| row.get(0)).unwrap()
    }

    /// However many erasures there are, the turns have nine tenths of the writer's time. What is put off is told.
    #[test]
    fn a_purge_is_followed_by_a_pause_of_many_times_its_length() {
        let (begun, seconds) = (Instant::now(), Duration::from_secs);
        let pace = Pace::default().made(begun, begun).made(begun, begun + seconds(5));
        assert_eq!(pace.plan(begun + seconds(5)), Plan::Later(seconds(45)));
        assert_eq!(pace.plan(begun + seconds(47)), Plan::Later(seconds(3)));
        assert_eq!(pace.plan(begun + seconds(48)), Plan::After(seconds(2)));
        assert_eq!(pace.plan(begun + seconds(60)), Plan::After(Duration::ZERO));
        // A small file is rewritten as often as anybody asks.
        let small = pace.made(begun, begun + Duration::from_millis(20));
        assert!(matches!(small.plan(begun + Duration::from_millis(20)), Plan::After(_)));
    }

    /// Who opens a store finishes what is due there, and what they erase then is gone when they are told so.
    #[test]
    fn an_erasure_behind_the_purge_of_an_opening_does_not_wait() {
        let (begun, seconds) = (Instant::now(), Duration::from_secs);
        assert_eq!(Pace::default().plan(begun), Plan::After(Duration::ZERO));
        let opened = Pace::default().made(begun, begun + seconds(5));
        assert_eq!(opened.plan(begun + seconds(5)), Plan::After(Duration::ZERO));
        let erased = opened.made(begun + seconds(5), begun + seconds(10));
        assert_eq!(erased.plan(begun + seconds(10)), Plan::Later(seconds(45)));
    }

    /// The pace in the middle of a long pause.
    fn paused() -> Pace {
        let hour = Duration::from_secs(3_600);
        Pace { has_begun: true, paused_until: Instant::now().checked_add(hour), ..Pace::default() }
    }

    /// Has purges asked for in a pace, with the store closed behind that. Returns the answers, and how many were made.
    fn closed_behind(pace: Pace, asked: usize) -> (Vec<Purged>, u32) {
        let (sender, inbox) = mpsc::channel();
        let answers: Vec<_> = (0..asked)
            .map(|_| {
                let (answer, answered) = oneshot::channel();
                sender.send(answer).unwrap();
                answered
            })
            .collect();
        drop(sender);
        let made = Cell::new(0);
        let purge = || {
            made.set(made.get() + 1);
            Ok(Purged::Complete)
        };
        serve(&inbox, pace, purge);
        let answers = answers.into_iter().map(|answered| answered.blocking_recv().unwrap().unwrap());
        (answers.collect(), made.get())
    }

    /// A process that ends in a pause does not leave the purge that it owes to the next one.
    #[test]
    fn what_is_owed_is_done_when_the_store_is_closed() {
        let (answers, made) = closed_behind(paused(), 3);
        assert!(answers.iter().all(|answer| matches!(answer, Purged::Unfinished { .. })), "{answers:?}");
        assert_eq!(made, 1);
        assert_eq!(closed_behind(Pace::default(), 3), (vec![Purged::Complete; 3], 1));
        assert_eq!(closed_behind(paused(), 0), (Vec::new(), 0), "nobody has asked");
    }

    /// The same with a store: for the next process nothing is due.
    #[tokio::test]
    async fn a_store_that_is_closed_in_a_pause_leaves_nothing_that_is_due() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let mut store = Sqlite::open(&path).unwrap();
        store.purger.pace = paused();
        let store = Arc::new(store);
        let mut world = World::new(Arc::clone(&store) as Arc<dyn Store>);
        let seq = world.say("what is to be erased").await.about.unwrap();
        world.run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
        let purged = store.purge().await.unwrap();
        assert!(matches!(&purged, Purged::Unfinished { why } if why.contains("just now")), "{purged:?}");
        let due = || -> i64 {
            let db = crate::sqlite::open::for_reading(&path, &crate::encryption::Vault::off()).unwrap();
            db.query_row("SELECT count(*) FROM purges", [], |row| row.get(0)).unwrap()
        };
        assert_eq!(due(), 1);
        drop((world, store));
        assert_eq!(due(), 0);
    }

    /// Many who erase at the same time share what is rewritten.
    #[tokio::test]
    async fn purges_that_are_asked_for_together_are_one_or_two() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        // How long a rewriting takes, and a pause behind it, is not what this is about.
        let store = Arc::new(Sqlite::open(&path).unwrap().without_pauses());
        let mut worlds: Vec<World> = Vec::new();
        for n in 0..20 {
            let store = Arc::clone(&store) as Arc<dyn Store>;
            let mut world = World::at(store, &format!("agent:main:cli:direct:p{n}"));
            let seq = world.say("what is to be erased").await.about.unwrap();
            world.run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
            worlds.push(world);
        }
        let before = rewritings(&path);
        let asked = worlds.iter().map(|_| {
            let store = Arc::clone(&store);
            tokio::spawn(async move { store.purge().await.unwrap() })
        });
        for purged in asked.collect::<Vec<_>>() {
            assert_eq!(purged.await.unwrap(), Purged::Complete);
        }
        let made = rewritings(&path) - before;
        assert!((1..=2).contains(&made), "{made}");
        let bytes = std::fs::read(&path).unwrap();
        assert!(!bytes.windows(9).any(|part| part == b"is to be "), "nothing is left");
    }
}
