//! The heads of scopes, as far as this process wrote them: while nobody else writes, a head is known without a query.
//!
//! Commits are numbered without gaps. If the newest number in the file is that of our own last commit, and our own followed
//! each other without a gap, then nobody else has moved a scope since we wrote it. To ask for that number takes a few
//! microseconds on the caller's thread, since it reads a page that was just written and waits for no lock. A query takes
//! a thread that may wait.

use super::{commits, open};
use crate::commits::Position;
use crate::error::Error;
use rusqlite::Connection;
use segue_core::entry::Seq;
use segue_core::scope::Key;
use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// Of how many scopes the heads are kept.
const SCOPES_MAX: usize = 10_000;

/// The heads that this process wrote, and what tells whether they still hold.
#[derive(Debug)]
pub(super) struct Heads {
    written: Arc<WrittenHeads>,
    /// Reads the number of the newest commit. It is closed before the connection that writes.
    reader: Mutex<Option<Connection>>,
}

/// The heads that this process wrote.
#[derive(Debug, Default)]
pub(super) struct WrittenHeads(Mutex<Written>);

#[derive(Debug, Default)]
struct Written {
    /// Our own last commit.
    last: Option<Position>,
    /// What our own commits since the last gap led to.
    heads: HashMap<Key, Seq>,
}

impl WrittenHeads {
    /// Takes down commits that were made one after the other; the last one is at `last`.
    pub(super) fn add(&self, commits: Vec<(Key, Seq)>, last: Position) {
        let mut written = self.lock();
        let before = last.0.checked_sub(commits.len() as u64).map(Position);
        let is_next = written.last.is_some() && written.last == before;
        if !is_next || written.heads.len() + commits.len() > SCOPES_MAX {
            written.heads.clear();
        }
        written.last = Some(last);
        written.heads.extend(commits);
    }

    fn of(&self, scope: &Key) -> Option<(Position, Seq)> {
        let written = self.lock();
        Some((written.last?, *written.heads.get(scope)?))
    }

    fn lock(&self) -> MutexGuard<'_, Written> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Heads {
    pub(super) fn new(written: Arc<WrittenHeads>) -> Self {
        Self { written, reader: Mutex::default() }
    }

    /// Returns the head of a scope, if it is known that nobody else wrote since.
    pub(super) fn current(&self, scope: &Key) -> Option<Seq> {
        let (last, head) = self.written.of(scope)?;
        let reader = match self.reader.try_lock() {
            Ok(reader) => reader,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        // What cannot be read at once is for a thread that may wait.
        (commits::last(reader.as_ref()?).ok()? == last).then_some(head)
    }

    /// Opens the connection that [`Heads::current`] reads with, if it is not open. It must not be called on a thread of a
    /// runtime.
    pub(super) fn prepare(&self, path: &Path) -> Result<(), Error> {
        let mut reader = self.reader.lock().unwrap_or_else(PoisonError::into_inner);
        if reader.is_none() {
            *reader = Some(open::without_waiting(path)?);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::super::Sqlite;
    use crate::store::Log;
    use crate::types::{Append, AppendId};
    use segue_core::Timestamp;
    use segue_core::decide::{Circumstances, Command, decide};
    use segue_core::entry::Seq;
    use segue_core::facts::Facts;
    use segue_core::message::{Message, Role};
    use segue_core::policy::Policy;
    use segue_core::session::Id;
    use segue_core::state::State;
    use std::sync::Arc;

    /// Appends a message to what the store has, and returns the head.
    async fn say(store: &Sqlite, scope: &str, id: u128) -> Seq {
        let scope = scope.parse().unwrap();
        let state = store.load(&scope).await.unwrap().unwrap_or_else(|| Arc::new(State::empty(scope)));
        let command = Command::Say { role: Role::User, message: Message::text("hello") };
        let fresh = Id(uuid::Uuid::from_u128(id));
        let at = Circumstances { now: Timestamp::UNIX_EPOCH, fresh, spoken: None };
        let mut decided = decide(&state, &Policy::default(), &command, &Facts::default(), &at).unwrap();
        let append = Append::of(AppendId::from(fresh), state, &mut decided, None);
        let head = append.next.head;
        store.append(append).await.unwrap();
        head
    }

    #[tokio::test]
    async fn n1_a_head_is_known_until_another_process_writes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let (ours, theirs) = (Sqlite::open(&path).unwrap(), Sqlite::open(&path).unwrap());
        let (one, two) = ("agent:main:cli:direct:one", "agent:main:cli:direct:two");
        let (one_key, two_key) = (one.parse().unwrap(), two.parse().unwrap());
        let known = |key| ours.readers.heads.current(key);
        let head = say(&ours, one, 1).await;
        assert_eq!(known(&one_key), None, "nothing was opened to look with");
        assert_eq!(ours.head(&one_key).await.unwrap(), Some(head));
        assert_eq!(known(&one_key), Some(head));
        // What this process writes elsewhere changes nothing.
        let other = say(&ours, two, 2).await;
        assert_eq!((known(&one_key), known(&two_key)), (Some(head), Some(other)));
        // Another process writes: nothing is known until this one has written again, and then only what that was.
        let theirs_head = say(&theirs, one, 3).await;
        assert_eq!((known(&one_key), known(&two_key)), (None, None));
        assert_eq!(ours.head(&one_key).await.unwrap(), Some(theirs_head));
        let other = say(&ours, two, 4).await;
        assert_eq!((known(&one_key), known(&two_key)), (None, Some(other)));
        assert_eq!(ours.head(&one_key).await.unwrap(), Some(theirs_head));
        // Who reads is gone before who writes: the last one to leave takes in the write-ahead log.
        drop((ours, theirs));
        assert!(!folder.path().join("segue.db-wal").exists());
    }
}
