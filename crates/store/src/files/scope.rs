//! A scope that is in use: its state, and where its entries stand.

use super::aside;
use super::disk::{Disk, unreadable};
use super::erase::{self, Change};
use super::fold;
use super::line::Line;
use super::mend;
use super::name::Sheet;
use super::remains;
use super::scan::{Scans, sheet_of};
use crate::error::Error;
use crate::types::{Append, Reading, Take};
use segue_core::entry::{Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Where an entry stands.
#[derive(Debug, Clone, Copy)]
pub(super) struct Slot {
    pub seq: Seq,
    pub segment: segment::Number,
    pub kind: Kind,
    pub nth: u32,
    pub offset: u64,
    pub len: usize,
}

impl Slot {
    fn sheet(&self) -> Sheet {
        sheet_of(self.kind, self.segment)
    }
}

/// Whether the files are known to be what this says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// They are.
    Sound,
    /// They may not be: they are read, and mended, before the next use.
    Spoiled,
}

/// A scope in use.
#[derive(Debug)]
pub(super) struct Scope {
    pub folder: PathBuf,
    pub trust: Trust,
    pub state: Option<Arc<State>>,
    /// The entries, in the order of the log.
    pub slots: Vec<Slot>,
    pub seen: HashMap<MessageId, Seq>,
    /// The dropped segments whose files are still there.
    pub garbage: BTreeSet<segment::Number>,
    /// The segments of which `dropped.jsonl` tells.
    pub noted: BTreeSet<segment::Number>,
    /// How long the files are.
    pub lens: BTreeMap<Sheet, u64>,
    /// What is wrong and cannot be mended, one sentence each.
    pub problems: Vec<String>,
}

impl Scope {
    /// Reads a scope, and mends what can be mended.
    pub(super) fn load(disk: &dyn Disk, folder: &Path, key: &Key) -> Result<Self, Error> {
        match fs::metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut scope = Self::empty(folder);
                scope.go_on_after(key)?;
                return Ok(scope);
            }
            Err(error) => return Err(unreadable(folder, &error)),
            Ok(_) => {}
        }
        let mut scans = Scans::read(folder)?;
        if scans.key != *key {
            let why = format!("it belongs to scope {} and not to {key}", scans.key);
            return Err(Error::damaged(folder.display().to_string(), why));
        }
        if mend::cut_half_made(disk, &scans)? == Change::Mended {
            scans = Scans::read(folder)?;
        }
        mend::move_broken(disk, folder, &scans)?;
        let orders = fold::orders(&scans);
        if erase::finish(disk, &scans, &orders.erased)? == Change::Mended {
            scans = Scans::read(folder)?;
        }
        let remains = remains::read(folder)?;
        let mut state = fold::fold(key, &scans, &remains)?;
        mend::clear_away(disk, folder, &mut scans, state.next_segment);
        let mut scope = Self::empty(folder);
        scope.hide_missing(&mut state, &scans);
        scope.garbage = orders.dropped.into_iter().filter(|n| scans.segments.contains_key(n)).collect();
        scope.noted = remains.segments.into_iter().collect();
        scope.seen = remains.ids.into_iter().collect();
        scope.take_in(&scans);
        scope.state = (state.head > Seq::ZERO).then(|| Arc::new(state));
        scope.go_on_after(key)?;
        Ok(scope)
    }

    fn empty(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            trust: Trust::Sound,
            state: None,
            slots: Vec::new(),
            seen: HashMap::new(),
            garbage: BTreeSet::new(),
            noted: BTreeSet::new(),
            lens: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Goes on behind what was set aside: no number is used again, and no message is accepted again.
    fn go_on_after(&mut self, key: &Key) -> Result<(), Error> {
        let asides = aside::list(&self.folder);
        if asides.is_empty() {
            return Ok(());
        }
        let left = aside::read(&asides)?;
        let mut state = self.state.as_deref().cloned().unwrap_or_else(|| State::empty(key.clone()));
        state.next_session = state.next_session.max(left.next_session());
        state.head = state.head.max(left.next_head());
        self.state = Some(Arc::new(state));
        self.seen.extend(left.ids);
        let told = |aside: &PathBuf| {
            format!("{} holds what could not be read of scope {key}, with every byte", aside.display())
        };
        self.problems.extend(asides.iter().filter(|aside| !aside::content(aside).is_empty()).map(told));
        Ok(())
    }

    fn hide_missing(&mut self, state: &mut State, scans: &Scans) {
        let open = state.open.as_ref().map(|open| open.number);
        let expected = state.segments.keys().copied().chain(open);
        let missing: BTreeSet<segment::Number> =
            expected.filter(|number| !scans.segments.contains_key(number)).collect();
        for number in &missing {
            let path = self.folder.join(Sheet::Segment(*number).file_name());
            self.problems.push(match scans.broken.get(number) {
                Some(damaged) => format!("{damaged}; it is set aside with every byte"),
                None => format!("{} is missing", path.display()),
            });
        }
        if !missing.is_empty() {
            // What was in the missing files had numbers too, and a number is never used again.
            state.head = state.head.max(scans.last_known());
        }
        for session in fold::hide_missing(state, &missing) {
            let key = state.key(session);
            self.problems.push(format!("session {key} is not listed until its files are there again"));
        }
        for problem in &self.problems {
            tracing::warn!(scope = %state.scope, "{problem}");
        }
    }

    fn take_in(&mut self, scans: &Scans) {
        for scan in scans.all() {
            self.lens.insert(scan.sheet, scan.bytes.len() as u64);
            for placed in &scan.lines {
                let (record, offset, len) = (&placed.line.record, placed.offset, placed.len);
                self.slots.push(Slot::at(record, offset, len));
                self.seen.extend(placed.line.message.clone());
            }
        }
        self.slots.sort_unstable_by_key(|slot| slot.seq);
    }

    /// Tells whether an append may be made, in the order in which every store tells it.
    pub(super) fn admit(&self, append: &Append) -> Result<(), Error> {
        if let Some((id, _)) = &append.message_id
            && let Some(seq) = self.seen.get(id)
        {
            return Err(Error::Duplicate { seq: *seq });
        }
        let stored = self.state.as_deref();
        let (expected, found) = (append.prior.head, stored.map_or(Seq::ZERO, |state| state.head));
        if expected != found {
            return Err(Error::Conflict { expected, found });
        }
        let Some(stored) = stored else { return Ok(()) };
        // Dropped and missing segments were sealed too, although the state does not list them.
        let writing = || stored.open.iter().chain(&stored.side);
        let is_open = |number| writing().any(|open| open.number == number);
        let sealed = |number: &segment::Number| *number < stored.next_segment && !is_open(*number);
        match append.records.iter().map(|record| record.segment).find(sealed) {
            Some(segment) => Err(Error::Sealed { segment }),
            None => Ok(()),
        }
    }

    /// Reads entries of a view, in order.
    pub(super) fn read(&self, reading: &Reading) -> Result<Vec<Record>, Error> {
        let first = reading.view.iter().map(|span| span.first).min().unwrap_or(Seq::ZERO);
        let last = reading.view.iter().map(|span| span.last).max().unwrap_or(Seq::ZERO);
        let begin = self.slots.partition_point(|slot| slot.seq < first);
        let end = self.slots.partition_point(|slot| slot.seq <= last).max(begin);
        let seen =
            |slot: &&Slot| reading.filter.takes(slot.kind) && reading.view.hold(slot.segment, slot.seq);
        let slots = self.slots[begin..end].iter();
        let mut taken: Vec<Slot> = match reading.take {
            Take::Oldest(n) => slots.filter(seen).take(n).copied().collect(),
            Take::Newest(n) => slots.rev().filter(seen).take(n).copied().collect(),
        };
        taken.sort_unstable_by_key(|slot| slot.seq);
        self.fetch(&taken)
    }

    /// Reads one entry.
    pub(super) fn get(&self, seq: Seq) -> Result<Option<Record>, Error> {
        match self.slots.binary_search_by_key(&seq, |slot| slot.seq) {
            Ok(at) => Ok(self.fetch(&self.slots[at..=at])?.pop()),
            Err(_) => Ok(None),
        }
    }

    /// Reads the log from behind an entry.
    pub(super) fn log(&self, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        let begin = self.slots.partition_point(|slot| slot.seq <= after);
        let end = begin.saturating_add(limit).min(self.slots.len());
        self.fetch(&self.slots[begin..end])
    }

    /// Counts the messages that a segment holds before an entry.
    pub(super) fn before(&self, seq: Seq, segment: segment::Number) -> u32 {
        let end = self.slots.partition_point(|slot| slot.seq < seq);
        let last = self.slots[..end].iter().rev().find(|slot| slot.segment == segment);
        last.map_or(0, |slot| slot.nth)
    }

    fn fetch(&self, slots: &[Slot]) -> Result<Vec<Record>, Error> {
        let mut files: BTreeMap<Sheet, File> = BTreeMap::new();
        let mut records = Vec::with_capacity(slots.len());
        let mut bytes = Vec::new();
        for slot in slots {
            let path = self.folder.join(slot.sheet().file_name());
            let file = match files.entry(slot.sheet()) {
                std::collections::btree_map::Entry::Occupied(open) => open.into_mut(),
                std::collections::btree_map::Entry::Vacant(space) => {
                    space.insert(File::open(&path).map_err(|error| unreadable(&path, &error))?)
                }
            };
            bytes.resize(slot.len, 0);
            file.seek(SeekFrom::Start(slot.offset)).map_err(|error| unreadable(&path, &error))?;
            file.read_exact(&mut bytes).map_err(|error| unreadable(&path, &error))?;
            let line = String::from_utf8_lossy(&bytes);
            let record = Line::decode(&line).map(|line| line.record);
            match record {
                Ok(record) if record.seq == slot.seq => records.push(record),
                _ => {
                    let why = format!("entry {} is not where it was written", slot.seq);
                    return Err(Error::damaged(path.display().to_string(), why));
                }
            }
        }
        Ok(records)
    }
}

impl Slot {
    /// Makes the slot of an entry.
    pub(super) fn at(record: &Record, offset: u64, len: usize) -> Self {
        let Record { seq, segment, kind, nth, .. } = *record;
        Self { seq, segment, kind, nth, offset, len }
    }
}
