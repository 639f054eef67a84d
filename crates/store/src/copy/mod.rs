//! Copying: the logs of one store to another, entry by entry as they were written, while both may be in use.
//!
//! A copy is always a prefix of its source, so one that was broken off goes on where it stopped, and one that is done takes what
//! is new. Appends of a copy are named by scope and entry: the same entry is never written twice.
//!
//! What comes along: every entry (so sessions, archive and keep flags, memory, titles, tasks), the ids of accepted messages
//! also where their entries are gone, embeddings, values. What does not: leases and the positions of `watch`, which belong to a
//! store; the index of words, which is made anew; files in quarantine.

mod values;

pub use values::{Extra, Values, values};

use crate::commits::Position;
use crate::error::Error;
use crate::settle;
use crate::store::{Embeddings, Store};
use crate::types::{Append, AppendId, Page, Subject};
use crate::verify::{message_id, verify};
use segue_core::digest::Digest;
use segue_core::entry::{Body, Bytes, Record, Seq};
use segue_core::evolve::{FoldError, evolve};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many entries, scopes, ids or values are read, and entries written in one commit, at a time.
const PAGE: usize = 256;

/// How often a scope that does not compare is copied again because it was written to meanwhile.
const TRIES_MAX: usize = 10;

/// Why a copy was not made.
#[derive(Debug, thiserror::Error)]
pub enum Fault {
    /// One of the stores did not do what it was asked.
    #[error(transparent)]
    Store(#[from] Error),
    /// An entry of the source does not fit to those before it. Verify the source.
    #[error("{scope}, entry {seq}: the source cannot be folded: {why}")]
    Unsound {
        /// The scope.
        scope: Key,
        /// The entry.
        seq: Seq,
        /// What does not fit.
        why: FoldError,
    },
    /// The target has written something of its own. Copy to an empty store.
    #[error("{scope}: the target is no copy of the source: {why}")]
    Diverged {
        /// The scope.
        scope: Key,
        /// How it differs.
        why: String,
    },
}

/// What was copied of a scope.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Copied {
    /// Entries.
    pub entries: u64,
    /// Ids of messages whose entries are gone.
    pub ids: u64,
    /// Embeddings.
    pub embeddings: u64,
    /// Bodies that were erased and segments that were dropped in the source after they had been copied.
    pub erased: u64,
}

impl Copied {
    /// Adds what was copied of another scope.
    pub fn add(&mut self, other: Self) {
        self.entries += other.entries;
        self.ids += other.ids;
        self.embeddings += other.embeddings;
        self.erased += other.erased;
    }
}

/// Lists every scope of a store. Those that begin meanwhile may be missed; [`changed`] has them.
pub async fn scopes(store: &dyn Store) -> Result<BTreeSet<Key>, Error> {
    let (mut all, mut page) = (BTreeSet::new(), Page::by_key(PAGE));
    loop {
        let listed = store.scopes(&page).await?;
        all.extend(listed.rows.into_iter().map(|row| row.scope));
        page.after = listed.next;
        if page.after.is_none() {
            return Ok(all);
        }
    }
}

/// Lists the scopes that were written behind a position, and the last position.
pub async fn changed(store: &dyn Store, after: Position) -> Result<(BTreeSet<Key>, Position), Error> {
    let (mut all, mut after) = (BTreeSet::new(), after);
    loop {
        let commits = store.commits(after, PAGE).await?;
        let Some(last) = commits.last() else { return Ok((all, after)) };
        after = last.position;
        all.extend(commits.into_iter().map(|commit| commit.scope));
    }
}

/// Copies a scope as it is now. What comes in meanwhile is left for the next time.
pub async fn scope(source: &dyn Store, target: &dyn Store, scope: &Key) -> Result<Copied, Fault> {
    let end = source.head(scope).await?.unwrap_or(Seq::ZERO);
    let mut state = target.load(scope).await?.unwrap_or_else(|| Arc::new(State::empty(scope.clone())));
    goes_on(source, target, &state, end).await?;
    let mut copied = Copied::default();
    loop {
        let records = source.tail(scope, state.head, PAGE).await?;
        let records: Vec<Record> = records.into_iter().take_while(|record| record.seq <= end).collect();
        if records.is_empty() {
            break;
        }
        let mut appends = Vec::with_capacity(records.len());
        for record in records {
            let append = append_of(state, record)?;
            state = Arc::clone(&append.next);
            copied.erased += (append.erase.len() + append.garbage.len()) as u64;
            appends.push(append);
        }
        let (written, done) = settle::append_many(target, appends).await;
        copied.entries += written as u64;
        done?;
    }
    if copied.entries > 0 {
        target.sweep().await?;
    }
    copied.ids = ids(source, target, &state).await?;
    if let (Some(from), Some(to)) = (source.embeddings(), target.embeddings()) {
        copied.embeddings = embeddings(from, to, &state).await?;
    }
    Ok(copied)
}

/// Refuses a target that is no prefix of the source.
async fn goes_on(source: &dyn Store, target: &dyn Store, state: &State, end: Seq) -> Result<(), Fault> {
    let scope = &state.scope;
    let diverged = |why: String| Err(Fault::Diverged { scope: scope.clone(), why });
    if state.head > end {
        return diverged(format!("it has {} entries, the source has {end}", state.head));
    }
    // The last ones are enough here: two logs that differ before them are found out when they are compared.
    let after = Seq(state.head.0.saturating_sub(PAGE as u64));
    let (ours, theirs) = (target.tail(scope, after, PAGE).await?, source.tail(scope, after, PAGE).await?);
    let theirs: BTreeMap<Seq, Record> = theirs.into_iter().map(|record| (record.seq, record)).collect();
    match ours.iter().find(|our| theirs.get(&our.seq).is_some_and(|their| !is_same(our, their))) {
        Some(Record { seq, .. }) => diverged(format!("its entry {seq} is another one")),
        None => Ok(()),
    }
}

/// Tells whether two records are the same entry, whether or not its body was erased in one of them.
fn is_same(one: &Record, other: &Record) -> bool {
    let what = |record: &Record| (record.seq, record.segment, record.at, record.kind, record.nth);
    what(one) == what(other) && one.body_hash() == other.body_hash()
}

fn append_of(prior: Arc<State>, record: Record) -> Result<Append, Fault> {
    let mut next = State::clone(&prior);
    evolve(&mut next, &record).map_err(|why| {
        let (scope, seq) = (prior.scope.clone(), record.seq);
        Fault::Unsound { scope, seq, why }
    })?;
    // A segment that leaves the state was dropped.
    let garbage =
        prior.segments.keys().filter(|number| !next.segments.contains_key(number)).copied().collect();
    let name = Digest::of_body(format!("{} {}", prior.scope, record.seq).as_bytes()).0;
    let mut id = [0; 16];
    id.copy_from_slice(&name[..16]);
    Ok(Append {
        id: AppendId(id),
        message_id: message_id(&record).map(|id| (id, record.seq)),
        erase: erased_by(&record),
        next: Arc::new(next),
        prior,
        records: vec![record],
        garbage,
    })
}

/// The entries whose bodies an entry erases.
fn erased_by(record: &Record) -> Vec<Seq> {
    match record.body() {
        Ok(Body::Erased(erased)) => erased.entries,
        Ok(Body::Deleted(dropped) | Body::Pruned(dropped)) => dropped.erased,
        _ => Vec::new(),
    }
}

/// Copies the ids of messages whose entries are gone: they must be known when they come again.
async fn ids(source: &dyn Store, target: &dyn Store, state: &State) -> Result<u64, Fault> {
    let (mut kept, mut after): (u64, Option<MessageId>) = (0, None);
    loop {
        let page = source.ids(&state.scope, after.as_ref(), PAGE).await?;
        let Some((last, _)) = page.last() else { return Ok(kept) };
        let there = target.ids(&state.scope, after.as_ref(), PAGE).await?;
        let there: BTreeSet<MessageId> = there.into_iter().map(|(id, _)| id).collect();
        after = Some(last.clone());
        let mut missing = Vec::new();
        // What was accepted behind the copy comes with its entry.
        for (id, seq) in page.into_iter().filter(|(_, seq)| *seq <= state.head) {
            // Not all are listed, so those that are not are asked for.
            if !there.contains(&id) && target.seen(&state.scope, &id).await?.is_none() {
                missing.push((id, seq));
            }
        }
        if !missing.is_empty() {
            kept += missing.len() as u64;
            target.keep_ids(&state.scope, missing).await?;
        }
    }
}

async fn embeddings(from: &dyn Embeddings, to: &dyn Embeddings, state: &State) -> Result<u64, Fault> {
    let scope = &state.scope;
    let mut copied = 0;
    let mut after = Seq::ZERO;
    let sessions: Vec<Subject> = state.sessions.keys().map(|number| Subject::Session(*number)).collect();
    let mut page = Vec::new();
    for subjects in sessions.chunks(PAGE) {
        page.extend(from.get(scope, subjects).await?);
    }
    loop {
        let subjects: Vec<Subject> = page.iter().map(|embedding| embedding.subject).collect();
        let there: Vec<_> = to.get(scope, &subjects).await?;
        let missing: Vec<_> = page
            .into_iter()
            .filter(|embedding| embedding.last <= state.head && !there.contains(embedding))
            .collect();
        if !missing.is_empty() {
            copied += missing.len() as u64;
            to.put(scope, state.head, missing).await?;
        }
        page = from.tail(scope, after, PAGE).await?;
        match page.last().map(|embedding| embedding.subject) {
            Some(Subject::Entry(seq)) => after = seq,
            _ => return Ok(copied),
        }
    }
}

/// How far a copy that was compared is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Compared {
    /// It is what the source is.
    Equal,
    /// It is what the source was; the source has moved on.
    Behind,
}

/// Verifies the copy of a scope, and compares it with the source: heads, every entry with its digest, and the states. What the
/// source has written meanwhile is copied first, a few times; returns that, too.
pub async fn compare(source: &dyn Store, target: &dyn Store, of: &Key) -> Result<(Compared, Copied), Fault> {
    let (mut tries, mut copied) = (0, Copied::default());
    loop {
        tries += 1;
        let found = difference(source, target, of).await?;
        let is_behind = source.head(of).await? != target.head(of).await?;
        match found {
            None if !is_behind => return Ok((Compared::Equal, copied)),
            None if tries >= TRIES_MAX => return Ok((Compared::Behind, copied)),
            Some(why) if !is_behind || tries >= TRIES_MAX => {
                return Err(Fault::Diverged { scope: of.clone(), why });
            }
            _ => copied.add(scope(source, target, of).await?),
        }
    }
}

async fn difference(source: &dyn Store, target: &dyn Store, scope: &Key) -> Result<Option<String>, Error> {
    let report = verify(target, scope).await?;
    if let Some(problem) = report.problems.into_iter().next() {
        return Ok(Some(format!("it is not sound: {problem}")));
    }
    let (ours, theirs) = (source.load(scope).await?, target.load(scope).await?);
    let Some(theirs) = theirs else { return Ok(ours.map(|_| "it has none of its entries".to_owned())) };
    let is_equal = ours.as_ref().is_some_and(|ours| ours.head == theirs.head);
    if is_equal && ours.as_ref() != Some(&theirs) {
        return Ok(Some("its state is another one".to_owned()));
    }
    // Entries of dropped segments may be swept in one of the two, and not yet in the other.
    let open = theirs.open.iter().chain(&theirs.side).map(|open| open.number);
    let live: BTreeSet<_> = theirs.segments.keys().copied().chain(open).collect();
    let counts = |record: &Record| record.seq <= theirs.head && live.contains(&record.segment);
    let mut after = Seq::ZERO;
    while after < theirs.head {
        let one: Vec<Record> = source.tail(scope, after, PAGE).await?;
        let end = one.last().map_or(theirs.head, |record| record.seq.min(theirs.head));
        let mut other = Vec::new();
        while other.last().map_or(after, |record: &Record| record.seq) < end {
            let from = other.last().map_or(after, |record: &Record| record.seq);
            let page = target.tail(scope, from, PAGE).await?;
            if page.is_empty() {
                break;
            }
            other.extend(page);
        }
        let mut one = one.iter().filter(|record| counts(record) && record.seq <= end);
        let mut other = other.iter().filter(|record| counts(record) && record.seq <= end);
        loop {
            match (one.next(), other.next()) {
                (None, None) => break,
                (Some(one), Some(other)) if is_same(one, other) && is_as_erased(one, other) => {}
                (Some(Record { seq, .. }), _) | (None, Some(Record { seq, .. })) => {
                    return Ok(Some(format!("entry {seq} is not the same")));
                }
            }
        }
        after = end;
    }
    Ok(None)
}

/// What was erased in the source is erased in the copy.
fn is_as_erased(source: &Record, copy: &Record) -> bool {
    matches!(copy.bytes, Bytes::Erased(_)) || !matches!(source.bytes, Bytes::Erased(_))
}
