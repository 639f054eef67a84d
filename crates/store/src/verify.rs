//! Verify: recomputes every digest, folds the log, and compares with what the store has folded.

use crate::error::Error;
use crate::store::Store;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::{Body, Bytes, Kind, Record, Seq};
use segue_core::evolve::evolve;
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// How many entries are read at a time.
const ENTRIES_MAX: usize = 1_000;

/// How often a scope without snapshots is read again because it was written to.
const TRIES_MAX: usize = 10;

/// What was checked of a scope, and what was found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// How many segments were checked, open ones included.
    pub segments: u64,
    /// How many entries were checked.
    pub entries: u64,
    /// What is wrong, one sentence each.
    pub problems: Vec<String>,
}

/// A scope as it is at one moment, whoever writes to it meanwhile.
pub trait Snapshot {
    /// Reads the entries behind an entry, in order.
    fn tail(&mut self, after: Seq, limit: usize) -> Result<Vec<Record>, Error>;

    /// Finds the entry by which a message was accepted.
    fn seen(&mut self, id: &MessageId) -> Result<Option<Seq>, Error>;

    /// Returns the state that the store has folded.
    fn state(&mut self) -> Result<Option<Arc<State>>, Error>;

    /// Checks what only the store can check.
    fn audit(&mut self) -> Result<Vec<String>, Error>;
}

/// Checks a scope, as it is at one moment.
///
/// A store without snapshots is read page by page, and again if it was written to meanwhile.
pub async fn verify(store: &dyn Store, scope: &Key) -> Result<Report, Error> {
    if let Some(report) = store.inspect(scope).await? {
        return Ok(report);
    }
    for _ in 0..TRIES_MAX {
        let before = store.head(scope).await?;
        let report = verify_by_pages(store, scope).await?;
        if report.problems.is_empty() || store.head(scope).await? == before {
            return Ok(report);
        }
    }
    Err(Error::unavailable(format!("scope {scope} is written to all the time"), "try again when it is quiet"))
}

async fn verify_by_pages(store: &dyn Store, scope: &Key) -> Result<Report, Error> {
    let mut check = Check::new(scope.clone());
    let mut after = Seq::ZERO;
    loop {
        let Some(records) = check.unless_damaged(store.tail(scope, after, ENTRIES_MAX).await)? else { break };
        let Some(last) = records.last() else { break };
        after = last.seq;
        for record in &records {
            check.entry(record);
            if let Some(id) = message_id(record) {
                check.message(record, store.seen(scope, &id).await?);
            }
        }
    }
    let stored = check.unless_damaged(store.load(scope).await)?.flatten();
    let mut report = check.finish(stored.as_deref());
    report.problems.extend(store.audit(Some(scope)).await?);
    Ok(report)
}

/// Checks a snapshot of a scope.
pub(crate) fn inspect(snapshot: &mut dyn Snapshot, scope: &Key) -> Result<Report, Error> {
    let mut check = Check::new(scope.clone());
    let mut after = Seq::ZERO;
    while let Some(records) = check.unless_damaged(snapshot.tail(after, ENTRIES_MAX))? {
        let Some(last) = records.last() else { break };
        after = last.seq;
        for record in &records {
            check.entry(record);
            if let Some(id) = message_id(record) {
                check.message(record, snapshot.seen(&id)?);
            }
        }
    }
    let stored = check.unless_damaged(snapshot.state())?.flatten();
    let mut report = check.finish(stored.as_deref());
    report.problems.extend(snapshot.audit()?);
    Ok(report)
}

/// Returns the channel's id of a message or a command.
pub(crate) fn message_id(record: &Record) -> Option<MessageId> {
    match record.body().ok()? {
        Body::Message(_, message) => message.message_id,
        Body::Command(spoken) => spoken.message_id,
        _ => None,
    }
}

/// What the entries of a segment come to so far.
struct Running {
    digest: Digest,
    messages: u32,
    updated_at: Timestamp,
}

/// What some views see. Pages that views share are looked at once, so forks of forks cost no more than their own part.
#[derive(Debug, Clone, Default)]
struct Seen {
    spans: BTreeMap<segment::Number, BTreeSet<(Seq, Seq)>>,
    pages: BTreeSet<Digest>,
}

impl Seen {
    fn add(&mut self, view: &Spans) {
        let spans = &mut self.spans;
        view.each_new(&mut self.pages, |span| {
            spans.entry(span.segment).or_default().insert((span.first, span.last));
        });
    }

    fn holds(&self, segment: segment::Number, seq: Seq) -> bool {
        // Those that begin last come first: the message is mostly in one of them.
        let before = |spans: &BTreeSet<(Seq, Seq)>| {
            spans.range(..=(seq, Seq(u64::MAX))).rev().any(|(_, last)| seq <= *last)
        };
        self.spans.get(&segment).is_some_and(before)
    }
}

struct Check {
    folded: State,
    segments: BTreeMap<segment::Number, Running>,
    chain: Digest,
    dropped: BTreeSet<segment::Number>,
    erased: BTreeSet<Seq>,
    gone: BTreeSet<Seq>,
    messages: Vec<(segment::Number, Seq)>,
    /// What sessions saw that were emptied or dropped: those entries account for it.
    tombstones: Seen,
    /// Problems of a segment, which are none if the segment was dropped later.
    doubts: Vec<(segment::Number, String)>,
    problems: Vec<String>,
    entries: u64,
    broken: bool,
}

impl Check {
    fn new(scope: Key) -> Self {
        Self {
            folded: State::empty(scope),
            segments: BTreeMap::new(),
            chain: Digest::NONE,
            dropped: BTreeSet::new(),
            erased: BTreeSet::new(),
            gone: BTreeSet::new(),
            messages: Vec::new(),
            tombstones: Seen::default(),
            doubts: Vec::new(),
            problems: Vec::new(),
            entries: 0,
            broken: false,
        }
    }

    /// Takes damage down as a problem; any other error stays one.
    fn unless_damaged<T>(&mut self, found: Result<T, Error>) -> Result<Option<T>, Error> {
        match found {
            Ok(found) => Ok(Some(found)),
            Err(error @ (Error::Damaged { .. } | Error::NewerEntry { .. })) => {
                self.problems.push(error.to_string());
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn message(&mut self, record: &Record, seen: Option<Seq>) {
        if seen != Some(record.seq) {
            self.problems.push(format!("entry {}: its message id is not on record", record.seq));
        }
    }

    fn entry(&mut self, record: &Record) {
        self.entries += 1;
        if record.at < self.folded.clock {
            self.problems.push(format!("entry {}: its time runs backwards", record.seq));
        }
        if matches!(record.bytes, Bytes::Erased(_)) {
            self.gone.insert(record.seq);
        }
        if record.kind == Kind::Sealed {
            self.seal(record);
        } else {
            self.digest(record);
        }
        if record.kind.role().is_some() {
            self.messages.push((record.segment, record.seq));
        }
        match record.body() {
            Ok(Body::Cleared(of)) => self.bury(of.session),
            Ok(Body::Pruned(dropped) | Body::Deleted(dropped)) => {
                dropped.sessions.iter().for_each(|session| self.bury(*session));
                self.dropped.extend(dropped.segments);
                self.erased.extend(dropped.erased);
            }
            Ok(Body::Erased(erased)) => self.erased.extend(erased.entries),
            Ok(_) => {}
            Err(error) => self.doubts.push((record.segment, error.to_string())),
        }
        // After the first misfit the fold means nothing; one sentence about it is enough.
        if !self.broken
            && let Err(misfit) = evolve(&mut self.folded, record)
        {
            self.broken = true;
            self.problems.push(misfit.to_string());
        }
    }

    fn bury(&mut self, session: Number) {
        self.tombstones.add(&self.folded.view(session));
    }

    /// Finds the messages that no session sees, and that no session saw which was emptied or dropped.
    fn unseen(&self) -> Vec<Seq> {
        let mut seen = self.tombstones.clone();
        self.folded.all().for_each(|(number, _)| seen.add(&self.folded.view(number)));
        let is_seen = |(segment, seq): &&(segment::Number, Seq)| {
            self.dropped.contains(segment) || seen.holds(*segment, *seq)
        };
        self.messages.iter().filter(|message| !is_seen(message)).map(|(_, seq)| *seq).collect()
    }

    fn digest(&mut self, record: &Record) {
        let scope = &self.folded.scope;
        let running = self.segments.entry(record.segment).or_insert_with(|| Running {
            digest: Digest::of_segment(scope, record.segment),
            messages: 0,
            updated_at: record.at,
        });
        running.digest = running.digest.with(record);
        running.messages += u32::from(record.kind.role().is_some());
        running.updated_at = record.at;
        if record.nth != running.messages {
            let doubt = format!(
                "entry {}: it counts as message {}, not {}",
                record.seq, record.nth, running.messages
            );
            self.doubts.push((record.segment, doubt));
        }
    }

    fn seal(&mut self, record: &Record) {
        let Ok(Body::Sealed(sealed)) = record.body() else { return };
        self.chain = self.chain.chain(record.segment, sealed.digest, record.seq, record.at);
        if sealed.chain != self.chain {
            self.problems.push(format!("entry {}: the chain of seals is broken here", record.seq));
            self.chain = sealed.chain;
        }
        let why = match self.segments.get(&record.segment) {
            Some(found) if found.digest != sealed.digest => "its digest differs",
            Some(found) if found.messages != record.nth => "it holds another number of messages",
            Some(found) if found.updated_at != sealed.updated_at => "it was last written at another time",
            Some(_) => return,
            None => "it is empty",
        };
        let doubt = format!("segment {} is not what was sealed: {why}", record.segment);
        self.doubts.push((record.segment, doubt));
    }

    fn finish(mut self, stored: Option<&State>) -> Report {
        let unseen = if self.broken { Vec::new() } else { self.unseen() };
        let dropped = &self.dropped;
        let doubts = self.doubts.into_iter().filter(|(segment, _)| !dropped.contains(segment));
        self.problems.extend(doubts.map(|(_, doubt)| doubt));
        for seq in self.gone.difference(&self.erased) {
            self.problems.push(format!("entry {seq}: its body is gone, and nobody asked for that"));
        }
        if !self.broken {
            let unseen = unseen
                .into_iter()
                .map(|seq| format!("message {seq}: it is in no session, and nobody deleted it"));
            self.problems.extend(unseen);
            self.problems.extend(differences(&self.folded, stored));
        }
        let segments = self.segments.keys().filter(|number| !dropped.contains(number)).count();
        Report { segments: segments as u64, entries: self.entries, problems: self.problems }
    }
}

/// Says in which rows a stored state differs from the fold of its log.
fn differences(folded: &State, stored: Option<&State>) -> Vec<String> {
    let Some(stored) = stored else {
        return match folded.head {
            Seq::ZERO => Vec::new(),
            _ => vec!["the scope has a log but no state".to_owned()],
        };
    };
    if folded == stored {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut compare = |what: &str, same: bool| {
        if !same {
            found.push(format!("{what} is not what the log says"));
        }
    };
    compare("the head", folded.head == stored.head);
    compare("the clock", folded.clock == stored.clock);
    compare("the number of the next session", folded.next_session == stored.next_session);
    compare("the number of the next segment", folded.next_segment == stored.next_segment);
    compare("the chain of seals", folded.chain == stored.chain);
    compare("the count of messages", folded.messages == stored.messages);
    compare("the open segment", folded.open == stored.open);
    compare("the list of boundaries", folded.boundaries == stored.boundaries);
    compare("what the scope keeps in mind", folded.extras == stored.extras);
    for number in folded.sessions.keys().chain(stored.sessions.keys()).collect::<BTreeSet<_>>() {
        let same = folded.sessions.get(number) == stored.sessions.get(number);
        compare(&format!("session {number}"), same);
    }
    for number in folded.segments.keys().chain(stored.segments.keys()).collect::<BTreeSet<_>>() {
        let same = folded.segments.get(number) == stored.segments.get(number);
        compare(&format!("segment {number}"), same);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::span::Span;

    /// Issue 16, row 18: views that share pages cost no more than their own parts.
    #[test]
    fn what_forks_share_is_looked_at_once() {
        const FORKS: u32 = 2_000;
        let (mut seen, mut view) = (Seen::default(), Spans::default());
        for n in 1..=FORKS {
            let (segment, first) = (segment::Number(n), Seq(u64::from(n) * 10));
            let last = Seq(first.0 + 5);
            view = view.with(Span { segment, first, last, before: 0, through: 2 });
            seen.add(&view);
        }
        let spans: usize = seen.spans.values().map(BTreeSet::len).sum();
        assert_eq!(spans, FORKS as usize);
        assert!(seen.holds(segment::Number(7), Seq(75)) && !seen.holds(segment::Number(7), Seq(76)));
        assert!(!seen.holds(segment::Number(FORKS + 1), Seq(75)));
        // Spans that overlap: the one that begins last is not the one that holds it.
        for (first, last) in [(1, 100), (50, 60)] {
            let span = Span {
                segment: segment::Number(0),
                first: Seq(first),
                last: Seq(last),
                before: 0,
                through: 9,
            };
            seen.add(&Spans::default().with(span));
        }
        assert!(seen.holds(segment::Number(0), Seq(80)));
    }
}
