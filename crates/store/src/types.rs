//! What goes into a store and what comes out.

use crate::error::Error;
use segue_core::Timestamp;
use segue_core::decide::Decided;
use segue_core::digest::Digest;
use segue_core::entry::{Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::{Id, Number};
use segue_core::span::{Span, Spans};
use segue_core::state::State;
use std::cmp::{Ordering, Reverse};
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
            message_id: message_id.zip(decided.command.or(decided.about)),
            garbage: decided.swept().collect(),
            erase: decided.erased().collect(),
        }
    }

    /// Returns the scope.
    pub fn scope(&self) -> &scope::Key {
        &self.prior.scope
    }

    /// Finds an entry that goes to a segment which the store has sealed.
    pub(crate) fn writes_to_sealed(&self, stored: &State) -> Option<segment::Number> {
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
    /// Reads messages of a view: who reads says how many at most.
    pub fn messages(view: Spans, take: Take) -> Self {
        Self { view, filter: Filter::Messages, take }
    }

    /// Reads the first message of a view.
    pub fn first_message(view: Spans) -> Self {
        Self { view, filter: Filter::Messages, take: Take::Oldest(1) }
    }

    /// Returns how many entries are wanted.
    pub(crate) fn limit(&self) -> usize {
        match self.take {
            Take::Newest(limit) | Take::Oldest(limit) => limit,
        }
    }

    /// Returns the spans that may hold what is wanted. Those nearer to the wanted end come first.
    pub(crate) fn nearest_spans(&self) -> Vec<&Span> {
        let mut spans: Vec<&Span> = match self.filter {
            Filter::Messages => self.view.with_messages().collect(),
            Filter::Decisions | Filter::Commands | Filter::All => self.view.iter().collect(),
        };
        spans.sort_by(|a, b| self.nearer(self.near_end(a), self.near_end(b)));
        spans
    }

    /// Tells whether what was taken is all that is wanted, before a span is read. Spans may overlap in the log, so it must all be
    /// nearer than the span.
    pub(crate) fn is_served(&self, taken: &[Record], span: &Span) -> bool {
        let is_nearer = |last: &Record| self.nearer(last.seq, self.near_end(span)).is_lt();
        taken.len() >= self.limit() && taken.last().is_some_and(is_nearer)
    }

    /// Adds what was read of a span, and keeps the nearest.
    pub(crate) fn add(&self, taken: &mut Vec<Record>, read: Vec<Record>) {
        taken.extend(read);
        taken.sort_by(|a, b| self.nearer(a.seq, b.seq));
        taken.truncate(self.limit());
    }

    fn nearer(&self, a: Seq, b: Seq) -> Ordering {
        match self.take {
            Take::Newest(_) => b.cmp(&a),
            Take::Oldest(_) => a.cmp(&b),
        }
    }

    fn near_end(&self, span: &Span) -> Seq {
        match self.take {
            Take::Newest(_) => span.last,
            Take::Oldest(_) => span.first,
        }
    }
}

/// Where a page of a listing ends. Only the store that made it reads it; it can be written down as text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor(pub String);

impl Cursor {
    /// Makes the cursor behind a row of a list.
    pub fn behind(row: &ScopeRow, order: ScopeOrder) -> Self {
        match order {
            ScopeOrder::Newest => Self(format!("{} {}", row.updated_at.as_microsecond(), row.scope)),
            ScopeOrder::Key => Self(row.scope.as_str().to_owned()),
        }
    }

    /// Reads a cursor of a list that is sorted by time: microseconds and key.
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
    /// How the list is sorted. A page goes on in the order of the one before.
    pub order: ScopeOrder,
}

/// How a list of scopes is sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScopeOrder {
    /// By time, newest first, then by key. A scope that is written to between two pages comes to the front, and is missed.
    Newest,
    /// By the bytes of the key: none is missed, and none comes twice.
    Key,
}

impl Page {
    /// The first page of the newest ones.
    pub fn first(limit: usize) -> Self {
        Self { limit, after: None, order: ScopeOrder::Newest }
    }

    /// The first page of all of them, by key.
    pub fn by_key(limit: usize) -> Self {
        Self { limit, after: None, order: ScopeOrder::Key }
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
    pub fn of(mut rows: Vec<ScopeRow>, page: &Page) -> Self {
        let has_more = rows.len() > page.limit;
        rows.truncate(page.limit);
        let next = rows.last().filter(|_| has_more).map(|row| Cursor::behind(row, page.order));
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

/// Why a file is in quarantine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuarantineCause {
    /// It cannot be read. It may hold what was acknowledged.
    Damaged,
    /// It is what a crash left of an append that was never acknowledged. It goes with anything that is erased in its scope: the
    /// same words may have been sent again.
    Unacknowledged,
}

/// A file or folder in quarantine, because it cannot be read or was never acknowledged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuarantinedFile {
    /// Why it is there.
    pub cause: QuarantineCause,
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
    /// The entries in it that can be read.
    pub entries: BTreeSet<Seq>,
    /// How many entries that people may have written cannot be read.
    pub unreadable: u64,
    /// What was in it when it was looked at, if it is a file.
    pub(crate) digest: Option<Digest>,
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
        Self {
            cause: QuarantineCause::Damaged,
            scope,
            segment: None,
            sessions: BTreeSet::new(),
            place: place.to_owned(),
            senders: BTreeSet::new(),
            entries: BTreeSet::new(),
            unreadable: 0,
            digest: None,
        }
    }
}

/// Cuts a page out of rows.
pub(crate) fn page(mut rows: Vec<ScopeRow>, page: &Page) -> Result<ScopePage, Error> {
    match page.order {
        ScopeOrder::Newest => rows.sort_by_key(|row| (Reverse(row.updated_at), row.scope.clone())),
        ScopeOrder::Key => rows.sort_by(|a, b| a.scope.as_str().cmp(b.scope.as_str())),
    }
    match (&page.after, page.order) {
        (None, _) => {}
        (Some(cursor), ScopeOrder::Newest) => {
            let (at, key) = cursor.parse()?;
            rows.retain(|row| {
                (Reverse(row.updated_at.as_microsecond()), row.scope.as_str()) > (Reverse(at), key)
            });
        }
        (Some(cursor), ScopeOrder::Key) => rows.retain(|row| *row.scope.as_str() > *cursor.0),
    }
    Ok(ScopePage::of(rows, page))
}
