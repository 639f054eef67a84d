//! One round: a child is started, listened to, and killed.

use crate::book::Book;
use crate::child;
use crate::line::Line;
use segue_store::Location;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

/// When the child is killed.
pub enum Plan<'a> {
    /// As soon as it was started.
    AtOnce,
    /// When it begins to open the store.
    WhileOpening,
    /// After so many acknowledgements.
    After(u64),
    /// When it says something.
    Until(&'a mut dyn FnMut(&Line) -> bool),
}

pub struct Round(Child);

/// Held while a child is started and while a store is open here: a child that is just being started holds the files
/// that are open, the store's lock included.
pub static STARTING: Mutex<()> = Mutex::new(());

impl Round {
    pub fn start(folder: &Path, store: &Location, round: u64, seed: u64, again: &[Line]) -> Self {
        let redeliveries = folder.join("redeliveries");
        std::fs::write(&redeliveries, again.iter().map(Line::write).collect::<String>()).unwrap();
        let _starting = STARTING.lock().unwrap_or_else(PoisonError::into_inner);
        let child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "works_until_it_is_killed", "--nocapture", "--test-threads=1"])
            .env(child::STORE, store.to_string())
            .env(child::ROUND, round.to_string())
            .env(child::SEED, seed.to_string())
            .env(child::REDELIVERIES, redeliveries)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Self(child)
    }

    /// Listens, kills with `SIGKILL`, and hears what was said before the signal came.
    pub fn kill(mut self, mut plan: Plan<'_>, book: &mut Book) {
        let mut out = BufReader::new(self.0.stdout.take().unwrap());
        let mut acknowledged = 0;
        let mut killed = false;
        if matches!(plan, Plan::AtOnce) {
            self.0.kill().unwrap();
            killed = true;
        }
        let mut text = Vec::new();
        while out.read_until(b'\n', &mut text).unwrap() > 0 {
            let line = Line::read(&String::from_utf8_lossy(&text));
            text.clear();
            let Some(line) = line else { continue };
            acknowledged += u64::from(matches!(line, Line::Acknowledged { .. }));
            let enough = !killed
                && match &mut plan {
                    Plan::AtOnce | Plan::WhileOpening => true,
                    Plan::After(enough) => acknowledged >= *enough,
                    Plan::Until(is_enough) => is_enough(&line),
                };
            book.note(line);
            if enough {
                self.0.kill().unwrap();
                killed = true;
            }
        }
        let status = self.0.wait().unwrap();
        assert!(killed, "the child ended by itself: {status}");
        book.cut_off();
    }
}
