//! Commits: what `watch` gives, one after the other.

use crate::error::Error;
use crate::store::Store;
use crate::types::AppendId;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use std::collections::VecDeque;
use std::fmt;
use std::num::ParseIntError;
use std::str::FromStr;
use std::sync::Arc;
use tokio::sync::watch;

/// How many commits a stream reads at once.
const PAGE: usize = 256;

/// How many commits are kept at least.
pub(crate) const KEPT_MIN: usize = 100_000;

/// A place in the order of a store's commits. It holds across restarts, and can be written down as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Position(pub u64);

impl Position {
    /// Before the first commit.
    pub const START: Self = Self(0);

    /// Returns the position behind this one.
    pub(crate) fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for Position {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        text.parse().map(Self)
    }
}

/// An append that was committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commit {
    /// Where it stands among the commits of the store.
    pub position: Position,
    /// The scope.
    pub scope: Key,
    /// The head of the scope before it.
    pub after: Seq,
    /// The head of the scope behind it.
    pub head: Seq,
}

/// A stream of commits, without gaps.
pub struct Commits {
    store: Arc<dyn Store>,
    news: watch::Receiver<Position>,
    read: VecDeque<Commit>,
    at: Position,
}

impl dyn Store {
    /// Streams the commits behind a position: first those that are there, then those that come.
    ///
    /// Commits of this process come at once, those of other processes within a second.
    pub fn watch(self: &Arc<Self>, from: Position) -> Commits {
        Commits { store: Arc::clone(self), news: self.subscribe(), read: VecDeque::new(), at: from }
    }
}

impl Commits {
    /// Waits for the next commit. A call that is dropped while it waits loses nothing.
    ///
    /// After an error it can be called again: it goes on where it was.
    pub async fn next(&mut self) -> Result<Commit, Error> {
        loop {
            if let Some(commit) = self.read.pop_front() {
                self.at = commit.position;
                return Ok(commit);
            }
            // Marked as seen before it is read, so that nothing comes between unnoticed.
            self.news.borrow_and_update();
            self.read = self.store.commits(self.at, PAGE).await?.into();
            if self.read.is_empty() && self.news.changed().await.is_err() {
                return Err(Error::unavailable("watching the store", "it was closed"));
            }
        }
    }
}

/// The commits of a store that one process has to itself, in memory.
#[derive(Debug)]
pub(crate) struct Feed {
    commits: VecDeque<(Commit, AppendId)>,
    last: Position,
    news: watch::Sender<Position>,
}

impl Default for Feed {
    fn default() -> Self {
        Self { commits: VecDeque::new(), last: Position::START, news: watch::Sender::new(Position::START) }
    }
}

impl Feed {
    pub(crate) fn last(&self) -> Position {
        self.last
    }

    pub(crate) fn subscribe(&self) -> watch::Receiver<Position> {
        self.news.subscribe()
    }

    /// Returns what the newest position is published by.
    pub(crate) fn news(&self) -> watch::Sender<Position> {
        self.news.clone()
    }

    /// Adds a commit behind the others.
    pub(crate) fn push(&mut self, scope: Key, after: Seq, head: Seq, id: AppendId) {
        let position = self.last.next();
        self.restore(Commit { position, scope, after, head }, id);
        self.news.send_replace(position);
    }

    /// Takes in a commit of an earlier run; they come in order.
    pub(crate) fn restore(&mut self, commit: Commit, id: AppendId) {
        if self.commits.len() >= 2 * KEPT_MIN {
            self.commits.drain(..KEPT_MIN);
        }
        self.last = commit.position;
        self.commits.push_back((commit, id));
    }

    pub(crate) fn read(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
        let oldest = self.commits.front().map_or(self.last.0 + 1, |(commit, _)| commit.position.0);
        if after.0 + 1 < oldest {
            return Err(Error::Expired { oldest: Position(oldest) });
        }
        let begin = self.commits.partition_point(|(commit, _)| commit.position <= after);
        Ok(self.commits.iter().skip(begin).take(limit).map(|(commit, _)| commit.clone()).collect())
    }

    /// Finds the commit of an append, newest first, as long as it can be one of this scope behind `after`.
    pub(crate) fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Option<Seq> {
        let of_scope = self.commits.iter().rev().filter(|(commit, _)| commit.scope == *scope);
        of_scope
            .take_while(|(commit, _)| commit.after >= after)
            .find(|(commit, _)| commit.after == after)
            .filter(|(_, of)| *of == id)
            .map(|(commit, _)| commit.head)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &(Commit, AppendId)> {
        self.commits.iter()
    }
}
