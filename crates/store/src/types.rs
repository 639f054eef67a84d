//! What goes into a store and what comes out.

use crate::error::Error;
use segue_core::Timestamp;
use segue_core::decide::Decided;
use segue_core::entry::{Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::{Id, Number};
use segue_core::span::Spans;
use segue_core::state::State;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Names an append, so that it can be asked for, and sent again without being written twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AppendId(pub [u8; 16]);

impl From<Id> for AppendId {
    /// Each decision has a fresh id, also if no session is opened by it.
    fn from(fresh: Id) -> Self {
        Self(fresh.0.into_bytes())
    }
}

impl fmt::Display for AppendId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        uuid::Uuid::from_bytes(self.0).fmt(f)
    }
}

/// Entries to append, all or none of them.
#[derive(Debug, Clone)]
pub struct Append {
    /// Its name; that of another append is another one.
    pub id: AppendId,
    /// The state that they were decided on; its head must still be the store's.
    pub prior: Arc<State>,
    /// The state that they lead to.
    pub next: Arc<State>,
    /// The entries.
    pub records: Vec<Record>,
    /// The channel's id of the message, and the entry that stands for it.
    pub message_id: Option<(MessageId, Seq)>,
    /// The segments that nobody sees any more. They are deleted by [`Maintenance::sweep`](crate::Maintenance::sweep).
    pub garbage: Vec<segment::Number>,
    /// The entries whose bodies are erased together with the append.
    pub erase: Vec<Seq>,
}

impl Append {
    /// Makes an append of what was decided on a state.
    pub fn of(id: AppendId, prior: Arc<State>, decided: &mut Decided, message_id: Option<MessageId>) -> Self {
        Self {
            id,
            prior,
            next: Arc::new(decided.state.clone()),
            records: std::mem::take(&mut decided.records),
            message_id: message_id.zip(decided.about),
            garbage: decided.swept().collect(),
            erase: decided.erased().collect(),
        }
    }

    /// Returns the scope.
    pub fn scope(&self) -> &scope::Key {
        &self.prior.scope
    }

    /// Finds an entry that goes to a segment which the store has sealed.
    pub fn writes_to_sealed(&self, stored: &State) -> Option<segment::Number> {
        self.records.iter().map(|r| r.segment).find(|segment| stored.segments.contains_key(segment))
    }
}

/// What an embedding is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// A session.
    Session(Number),
    /// An entry.
    Entry(Seq),
}

/// An embedding. The store does not read it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Embedding {
    /// What it is of.
    pub subject: Subject,
    /// The first entry that it was made of.
    pub first: Seq,
    /// The last entry that it was made of.
    pub last: Seq,
    /// The embedding, with whatever tells which encoder made it.
    pub bytes: Vec<u8>,
}

/// Which entries of a view are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    /// Messages of all roles.
    Messages,
    /// Decisions.
    Decisions,
    /// Slash commands that changed something.
    Commands,
    /// Everything.
    All,
}

impl Filter {
    /// Tells whether an entry is read.
    pub fn takes(self, kind: Kind) -> bool {
        match self {
            Self::Messages => kind.role().is_some(),
            Self::Decisions => kind == Kind::Decision,
            Self::Commands => kind == Kind::Command,
            Self::All => true,
        }
    }
}

/// How many entries are read, and from which end. They come in the order of the log either way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Take {
    /// The last ones.
    Newest(usize),
    /// The first ones.
    Oldest(usize),
}

/// What to read of a scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reading {
    /// The view to read.
    pub view: Spans,
    /// Which entries.
    pub filter: Filter,
    /// How many, at most.
    pub take: Take,
}

impl Reading {
    /// Reads all messages of a view.
    pub fn messages(view: Spans) -> Self {
        Self { view, filter: Filter::Messages, take: Take::Newest(usize::MAX) }
    }

    /// Reads the first message of a view.
    pub fn first_message(view: Spans) -> Self {
        Self { view, filter: Filter::Messages, take: Take::Oldest(1) }
    }
}

/// Where a page of a listing ends. Only the store that made it reads it; it can be written down as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// Makes the cursor behind a row of a list that is sorted by time, newest first, then by key.
    pub fn behind(row: &ScopeRow) -> Self {
        Self(format!("{} {}", row.updated_at.as_microsecond(), row.scope))
    }

    /// Reads a cursor: microseconds and key.
    pub fn parse(&self) -> Result<(i64, &str), Error> {
        let parts = self.0.split_once(' ').and_then(|(at, key)| Some((at.parse().ok()?, key)));
        parts.ok_or_else(|| Error::Invalid { what: "the cursor".into(), why: "no list was cut there".into() })
    }
}

/// Which page of a listing is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// How many rows, at most.
    pub limit: usize,
    /// Where the page before ended; nothing for the first page.
    pub after: Option<Cursor>,
}

impl Page {
    /// The first page.
    pub fn first(limit: usize) -> Self {
        Self { limit, after: None }
    }
}

/// A page of scopes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ScopePage {
    /// The rows.
    pub rows: Vec<ScopeRow>,
    /// Where the next page begins; nothing if this one is the last.
    pub next: Option<Cursor>,
}

impl ScopePage {
    /// Makes a page of rows that were read up to one more than its limit.
    pub fn of(mut rows: Vec<ScopeRow>, limit: usize) -> Self {
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        let next = rows.last().filter(|_| has_more).map(Cursor::behind);
        Self { rows, next }
    }
}

/// A scope in a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScopeRow {
    /// The scope.
    pub scope: scope::Key,
    /// Its latest session.
    pub active: Option<Number>,
    /// How many sessions can still be talked to.
    pub sessions: u32,
    /// How many messages are kept.
    pub messages: u64,
    /// When anything was last written.
    pub updated_at: Timestamp,
}

impl ScopeRow {
    /// Makes the row of a scope.
    pub fn of(state: &State) -> Self {
        Self {
            scope: state.scope.clone(),
            active: state.latest(),
            sessions: u32::try_from(state.listed()).unwrap_or(u32::MAX),
            messages: state.messages,
            updated_at: state.clock,
        }
    }
}

/// A file or folder in quarantine, because it cannot be read or was never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// The scope that it belongs to, if that can still be told.
    pub scope: Option<scope::Key>,
    /// The segment, if it is one.
    pub segment: Option<segment::Number>,
    /// The sessions that see the segment, those included that are not listed because it cannot be read.
    pub sessions: BTreeSet<Number>,
    /// Where it is.
    pub place: PathBuf,
    /// Who speaks in it, as far as it can be read.
    pub senders: BTreeSet<String>,
    /// How many entries that people may have written cannot be read.
    pub unreadable: u64,
}

/// What was found in quarantine.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Quarantined {
    /// The files.
    pub found: Vec<QuarantinedFile>,
    /// What could not be looked into, one sentence each: there may be more.
    pub unseen: Vec<String>,
}

impl QuarantinedFile {
    pub(crate) fn at(place: &Path, scope: Option<scope::Key>) -> Self {
        let (sessions, senders) = (BTreeSet::new(), BTreeSet::new());
        Self { scope, segment: None, sessions, place: place.to_owned(), senders, unreadable: 0 }
    }
}

/// Cuts a page out of rows.
pub(crate) fn page(mut rows: Vec<ScopeRow>, page: &Page) -> Result<ScopePage, Error> {
    rows.sort_by_key(|row| (Reverse(row.updated_at), row.scope.clone()));
    if let Some(cursor) = &page.after {
        let (at, key) = cursor.parse()?;
        rows.retain(|row| {
            (Reverse(row.updated_at.as_microsecond()), row.scope.as_str()) > (Reverse(at), key)
        });
    }
    Ok(ScopePage::of(rows, page.limit))
}
