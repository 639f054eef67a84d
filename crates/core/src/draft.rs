//! Drafts: entries that are not yet written, and the state that they lead to.

use crate::Timestamp;
use crate::digest::Digest;
use crate::entry::{Body, Bytes, Record, Sealed, Seq};
use crate::evolve::fold_in;
use crate::refusal::Refusal;
use crate::segment;
use crate::state::State;

/// Entries in the making.
///
/// Each entry is folded in as it is added, so that a draft can never lead to a state that the fold of
/// the log would not.
#[derive(Debug)]
pub struct Draft {
    state: State,
    records: Vec<Record>,
    now: Timestamp,
}

impl Draft {
    /// Begins a draft on a state.
    pub fn new(state: &State, now: Timestamp) -> Self {
        Self { state: state.clone(), records: Vec::new(), now }
    }

    /// Returns the state so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Returns the time that counts for every rule.
    pub(crate) fn effective_now(&self) -> Timestamp {
        self.state.effective(self.now)
    }

    /// Returns the first entry so far that makes or takes back a boundary.
    pub fn boundary(&self) -> Option<Seq> {
        self.records.iter().find(|record| record.kind.is_boundary()).map(|record| record.seq)
    }

    /// Returns the state and the entries.
    pub fn finish(self) -> (State, Vec<Record>) {
        (self.state, self.records)
    }

    /// Returns the entries so far.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }

    /// Adds an entry to the segment that is being written, or opens the next one with it.
    pub fn push(&mut self, mut body: Body) -> Result<Seq, Refusal> {
        let at = self.effective_now();
        if let Body::Message(_, message) = &mut body {
            message.given_at = message.given_at.or((self.now < at).then_some(self.now));
        }
        let opens = matches!(
            body,
            Body::Opened(_)
                | Body::Resumed(_)
                | Body::Forked(_)
                | Body::Split(_)
                | Body::Attached(_)
                | Body::Stepped(_)
        );
        let writing = self.state.side.as_ref().or(self.state.open.as_ref());
        let (segment, messages) = match writing {
            _ if opens => (self.state.next_segment, 0),
            Some(open) => (open.number, open.messages),
            None => return Err(Refusal::Damaged("no segment is open".to_owned())),
        };
        let kind = body.kind();
        let text = body.encode().map_err(|error| Refusal::Damaged(error.to_string()))?;
        let record = Record {
            seq: self.state.head.next(),
            segment,
            at,
            nth: messages + u32::from(kind.role().is_some()),
            kind,
            bytes: Bytes::Kept(text),
        };
        let seq = record.seq;
        fold_in(&mut self.state, &record, &body).map_err(|misfit| Refusal::Damaged(misfit.to_string()))?;
        self.records.push(record);
        Ok(seq)
    }

    /// Seals the segment that is being written, if there is one.
    pub fn seal(&mut self) -> Result<(), Refusal> {
        let Some(open) = self.state.side.as_ref().or(self.state.open.as_ref()) else { return Ok(()) };
        let (number, digest, updated_at) = (open.number, open.digest, open.updated_at);
        let chain = self.chain(number, digest);
        self.push(Body::Sealed(Sealed { digest, chain, updated_at })).map(drop)
    }

    fn chain(&self, number: segment::Number, digest: Digest) -> Digest {
        self.state.chain.chain(number, digest, self.state.head.next(), self.effective_now())
    }
}
