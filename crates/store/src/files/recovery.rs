//! Recovery: what of the files counts after a crash or a power cut.
//!
//! An append is durable before the next one begins, so only the last one can be there in part: its pages land in any order,
//! and each file may end with lines that have holes. The content is durable before the journal is written, so an append with
//! lines in the journal is made once those are there. What is left of one that is not made is cut off; it was never
//! acknowledged. A line that cannot be read is damage where it cannot have belonged to that append.
//!
//! Nothing is written here: the scope is used as if the cuts were made, and they are made before it is written to.

use super::line::Batch;
use super::name::LogFile;
use super::repair::Repair;
use super::scan::{Ending, Placed, Scan, Scans, Shape, Tail};
use super::tombstones::Tombstones;
use crate::error::Error;
use segue_core::entry::{Record, Seq};
use segue_core::segment;
use std::collections::BTreeSet;

impl Scans {
    /// Leaves out what was never acknowledged and what is damaged, and tells how to mend the files.
    ///
    /// [`Error::Damaged`] if the journal is.
    pub(super) fn recover(&mut self, tombstones: &Tombstones) -> Result<Vec<Repair>, Error> {
        let unmade = self.last_batch().filter(|batch| !self.is_made(*batch, tombstones));
        let verdicts = Verdicts { scans: self, unmade, tombstones };
        let journal_is_torn = self.journal.tail.as_ref().map(|tail| verdicts.is_torn(&self.journal, tail));
        if let (Some(tail), Some(false)) = (&self.journal.tail, journal_is_torn) {
            return Err(self.journal.damaged(tail.number, &tail.why));
        }
        let damaged: Vec<segment::Number> = self
            .segments
            .iter()
            .filter(|(_, scan)| scan.tail.as_ref().is_some_and(|tail| !verdicts.is_torn(scan, tail)))
            .map(|(number, _)| *number)
            .collect();
        for number in damaged {
            if let Some((number, scan)) = self.segments.remove_entry(&number)
                && let Some(tail) = &scan.tail
            {
                self.broken.insert(number, scan.damaged(tail.number, &tail.why));
            }
        }
        let mut repairs = Vec::new();
        // The journal comes first: without its share an append stays unmade, whatever is left of it.
        for scan in std::iter::once(&mut self.journal).chain(self.segments.values_mut()) {
            repairs.extend(cut(scan, unmade));
        }
        let unsealed = self.all().filter(|scan| !self.is_sealed_file(scan));
        let unfinished = unsealed.filter(|scan| scan.ending == Ending::Unfinished);
        repairs.extend(unfinished.map(|scan| Repair::End { path: scan.path.clone() }));
        // No crash damages what was sealed, and nobody writes there: it stays where it is.
        let open = self.broken.keys().filter(|number| !self.is_sealed(**number));
        let path = |number: &segment::Number| {
            self.journal.path.with_file_name(LogFile::Segment(*number).file_name())
        };
        repairs.extend(open.map(|number| Repair::Quarantine { path: path(number) }));
        Ok(repairs)
    }

    fn is_sealed_file(&self, scan: &Scan) -> bool {
        scan.segment().is_some_and(|number| self.is_sealed(number))
    }

    /// Finds the last append of which anything is there.
    fn last_batch(&self) -> Option<Batch> {
        let behind = self.all().filter_map(|scan| scan.tail.as_ref()).flat_map(|tail| &tail.after);
        let lines = self.all().filter_map(|scan| scan.lines.last()).map(|placed| placed.line.batch);
        lines.chain(behind.map(|(_, batch)| *batch)).max_by_key(|batch| batch.last)
    }

    /// Tells whether all of the last append is there.
    fn is_made(&self, batch: Batch, tombstones: &Tombstones) -> bool {
        if batch.in_journal > 0 {
            return seqs_of(&self.journal, batch).count() == batch.in_journal;
        }
        let there: BTreeSet<Seq> = self.all().flat_map(|scan| seqs_of(scan, batch)).collect();
        let (Seq(first), Seq(last)) = (batch.first, batch.last);
        (first..=last).map(Seq).all(|seq| there.contains(&seq) || tombstones.hold(seq))
    }
}

/// Returns the entries of an append that can be read in a file, also behind lines that cannot.
fn seqs_of(scan: &Scan, batch: Batch) -> impl Iterator<Item = Seq> {
    let lines = scan.lines.iter().rev().take_while(move |placed| placed.line.batch == batch);
    let after = scan.tail.iter().flat_map(|tail| &tail.after).filter(move |(_, of)| *of == batch);
    lines.map(|placed| placed.line.record.seq).chain(after.map(|(seq, _)| *seq))
}

fn cut(scan: &mut Scan, unmade: Option<Batch>) -> Option<Repair> {
    let begin = unmade.and_then(|batch| scan.begin_of(batch));
    let begin = begin.or(scan.tail.as_ref().map(|_| scan.lines.len()))?;
    let (at, bytes) = scan.cut(begin);
    Some(Repair::Cut { path: scan.path.clone(), at, bytes })
}

/// Judges what cannot be read.
struct Verdicts<'a> {
    scans: &'a Scans,
    unmade: Option<Batch>,
    tombstones: &'a Tombstones,
}

impl Verdicts<'_> {
    /// Tells whether what cannot be read was left by an append that was not acknowledged.
    fn is_torn(&self, scan: &Scan, tail: &Tail) -> bool {
        // Everything behind it must be of the same append. If that append is made, this was there before it.
        let is_last = tail.after.iter().all(|(_, batch)| Some(*batch) == self.unmade);
        let is_sealed = || {
            let made = self.made_lines(&self.scans.journal);
            let mut records = made.map(|placed| &placed.line.record);
            let seals =
                |r: &Record| r.kind == segue_core::entry::Kind::Sealed && Some(r.segment) == scan.segment();
            records.any(seals)
        };
        tail.shape == Shape::Torn && is_last && !is_sealed() && !self.lacks_entries(scan)
    }

    /// The lines that are not of the append that was under way.
    fn made_lines<'s>(&self, scan: &'s Scan) -> impl Iterator<Item = &'s Placed> {
        let unmade = self.unmade;
        scan.lines.iter().filter(move |placed| Some(placed.line.batch) != unmade)
    }

    /// Tells whether entries are missing that later ones show to have been there, behind the last one of a file.
    fn lacks_entries(&self, scan: &Scan) -> bool {
        let seqs = |scan| self.made_lines(scan).map(|placed| placed.line.record.seq);
        let opened = self.made_lines(&self.scans.journal).map(|placed| &placed.line.record);
        let opened = opened.filter(|record| Some(record.segment) == scan.segment()).map(|record| record.seq);
        let last = seqs(scan).max().or(opened.min()).unwrap_or(Seq::ZERO);
        let later: BTreeSet<Seq> = self.scans.all().flat_map(seqs).filter(|seq| *seq > last).collect();
        let Some(top) = later.last() else { return false };
        let mut missing = (last.0 + 1..top.0).map(Seq);
        missing.any(|seq| !later.contains(&seq) && !self.tombstones.hold(seq))
    }
}
