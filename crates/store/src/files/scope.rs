//! A scope that is in use: its state, and where its entries stand.

use super::disk::{Disk, sync_parent, unavailable, unreadable};
use super::erase;
use super::fold;
use super::line::{Bodies, Line, Unread};
use super::name::LogFile;
use super::quarantine;
use super::repair::{self, Repair};
use super::scan::{self, Ending, Scans, file_of, read_key};
use super::tombstones;
use crate::encryption::Vault;
use crate::error::Error;
use crate::types::{Append, Reading, Take};
use segue_core::digest::Digest;
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
    fn file(&self) -> LogFile {
        file_of(self.kind, self.segment)
    }
}

/// Whether the files are known to be what this says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Trust {
    /// They are.
    Sound,
    /// They may not be: they are read again before the next use.
    Spoiled,
}

/// Whether what was read is known to be durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Durability {
    Known,
    Unknown,
}

/// A scope in use.
#[derive(Debug)]
pub(super) struct Scope {
    pub key: Key,
    pub vault: Arc<Vault>,
    pub folder: PathBuf,
    pub trust: Trust,
    durability: Durability,
    /// What is changed in the files before they are written to.
    repairs: Vec<Repair>,
    pub state: Option<Arc<State>>,
    /// The entries, in the order of the log.
    pub slots: Vec<Slot>,
    pub seen: HashMap<MessageId, Seq>,
    /// The dropped segments whose files are still there.
    pub garbage: BTreeSet<segment::Number>,
    /// The segments of which `dropped.jsonl` tells.
    pub noted: BTreeSet<segment::Number>,
    /// How long the files are.
    pub lens: BTreeMap<LogFile, u64>,
    /// The digests of all lines of the files.
    pub tips: BTreeMap<LogFile, Digest>,
    /// What is wrong and cannot be mended, one sentence each.
    pub problems: Vec<String>,
}

impl Scope {
    /// Reads a scope. What a crash left is recovered, and what is damaged is left out, without a change to the files:
    /// that waits until the scope is written to ([`Scope::repair`]). Only a body whose erasure was acknowledged is erased
    /// now, if a crash came between the two.
    pub(super) fn load(disk: &dyn Disk, folder: &Path, key: &Key) -> Result<Self, Error> {
        match fs::metadata(folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let mut scope = Self::empty(disk, folder, key);
                scope.go_on_after(disk, quarantine::list(folder))?;
                return Ok(scope);
            }
            Err(error) => return Err(unreadable(folder, &error)),
            Ok(_) => {}
        }
        match Self::read_files(disk, folder, key) {
            // One that belongs to another key is not damaged but misplaced.
            Err(why @ Error::Damaged { .. }) if read_key(folder).is_ok_and(|found| found != *key) => Err(why),
            Err(why @ Error::Damaged { .. }) => Self::behind_damage(disk, folder, key, &why),
            read => read,
        }
    }

    fn read_files(disk: &dyn Disk, folder: &Path, key: &Key) -> Result<Self, Error> {
        let mut scans = Scans::read(disk, folder)?;
        if scans.key != *key {
            let why = format!("it belongs to scope {} and not to {key}", scans.key);
            return Err(Error::damaged(folder.display().to_string(), why));
        }
        let tombstones = tombstones::read(disk, folder)?;
        let mut repairs = scans.recover(&tombstones)?;
        let orders = fold::orders(&scans);
        if erase::is_due(&scans, &orders.erased) {
            for repair in std::mem::take(&mut repairs) {
                repair.apply(disk)?;
            }
            erase::finish(disk, &scans, &orders.erased)?;
            scans = Scans::read(disk, folder)?;
            repairs = scans.recover(&tombstones)?;
        }
        let mut state = fold::fold(key, &scans, &tombstones)?;
        repairs.extend(repair::leftovers(folder, &mut scans, state.next_segment));
        if scans.format < scan::FORMAT {
            repairs.push(Repair::Upgrade {
                folder: folder.to_owned(),
                key: key.clone(),
                format: scan::FORMAT,
            });
        }
        let mut scope = Self::empty(disk, folder, key);
        scope.repairs = repairs;
        scope.durability = Durability::Unknown;
        scope.hide_missing(&mut state, &scans);
        let damaged = scans.broken.keys().map(|number| folder.join(LogFile::Segment(*number).file_name()));
        let damaged: Vec<PathBuf> = damaged.chain(repair::moved(folder)).collect();
        let lost = quarantine::read_segments(disk, key, &damaged)?;
        state.head = state.head.max(lost.head);
        scope.garbage = orders.dropped.into_iter().filter(|n| scans.segments.contains_key(n)).collect();
        scope.noted = tombstones.segments.into_iter().collect();
        scope.seen = tombstones.ids.into_iter().chain(lost.ids).collect();
        scope.take_in(&scans);
        scope.state = (state.head > Seq::ZERO).then(|| Arc::new(state));
        scope.go_on_after(disk, quarantine::list(folder))?;
        Ok(scope)
    }

    /// Goes on behind a scope whose journal is damaged: it is used as if its folder had been moved out of the way.
    fn behind_damage(disk: &dyn Disk, folder: &Path, key: &Key, why: &Error) -> Result<Self, Error> {
        let mut scope = Self::empty(disk, folder, key);
        let damaged = quarantine::list(folder).into_iter().chain([folder.to_owned()]).collect();
        scope.go_on_after(disk, damaged)?;
        scope.problems.iter_mut().rev().take(1).for_each(|problem| *problem = format!("{why}; {problem}"));
        scope.repairs.push(Repair::Quarantine { path: folder.to_owned() });
        tracing::warn!(scope = %key, %why, "a scope goes on behind what is damaged");
        Ok(scope)
    }

    /// Makes the changes that the files need before they are written to.
    pub(super) fn repair(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.repairs.is_empty() {
            return Ok(());
        }
        // Whatever comes of it, the files are read again before the next use.
        self.trust = Trust::Spoiled;
        for repair in std::mem::take(&mut self.repairs) {
            repair.apply(disk)?;
        }
        Ok(())
    }

    /// Tells whether the folder is damaged as a whole, and is moved out of the way before the scope is written to.
    pub(super) fn is_behind_damage(&self) -> bool {
        let is_folder =
            |repair: &Repair| matches!(repair, Repair::Quarantine { path } if *path == self.folder);
        self.repairs.iter().any(is_folder)
    }

    /// Makes durable what was read. A process that died may have written it without a sync: what is only in the cache of
    /// the machine must not be built upon, nor acknowledged.
    pub(super) fn settle(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.durability == Durability::Known || !self.lens.contains_key(&LogFile::Journal) {
            return Ok(());
        }
        let state = self.state.as_deref();
        let open = state.into_iter().flat_map(|state| state.open.iter().chain(&state.side));
        let open = open.map(|open| LogFile::Segment(open.number)).filter(|file| self.lens.contains_key(file));
        for file in open.chain([LogFile::Journal]) {
            let path = self.folder.join(file.file_name());
            disk.sync(&path).map_err(|error| unavailable(&path, &error))?;
        }
        disk.sync_dir(&self.folder).map_err(|error| unavailable(&self.folder, &error))?;
        sync_parent(disk, &self.folder)?;
        self.durability = Durability::Known;
        Ok(())
    }

    fn empty(disk: &dyn Disk, folder: &Path, key: &Key) -> Self {
        Self {
            key: key.clone(),
            vault: disk.vault(),
            folder: folder.to_owned(),
            trust: Trust::Sound,
            durability: Durability::Known,
            repairs: Vec::new(),
            state: None,
            slots: Vec::new(),
            seen: HashMap::new(),
            garbage: BTreeSet::new(),
            noted: BTreeSet::new(),
            lens: BTreeMap::new(),
            tips: BTreeMap::new(),
            problems: Vec::new(),
        }
    }

    /// Goes on behind what was set aside: no number is used again, and no message is accepted again.
    fn go_on_after(&mut self, disk: &dyn Disk, damaged: Vec<PathBuf>) -> Result<(), Error> {
        if damaged.is_empty() {
            return Ok(());
        }
        let left = quarantine::read(disk, Some(&self.key), &damaged)?;
        let key = &self.key;
        let mut state = self.state.as_deref().cloned().unwrap_or_else(|| State::empty(key.clone()));
        state.next_session = state.next_session.max(left.next_session());
        state.head = state.head.max(left.next_head());
        self.state = Some(Arc::new(state));
        self.seen.extend(left.ids);
        let told = |path: &PathBuf| {
            format!("{} holds what could not be read of scope {key}, with every byte", path.display())
        };
        let told = damaged.iter().filter(|path| !quarantine::content(path).is_empty()).map(told);
        self.problems.extend(told);
        Ok(())
    }

    fn hide_missing(&mut self, state: &mut State, scans: &Scans) {
        let open = state.open.as_ref().map(|open| open.number);
        let expected = state.segments.keys().copied().chain(open);
        let missing: BTreeSet<segment::Number> =
            expected.filter(|number| !scans.segments.contains_key(number)).collect();
        for number in &missing {
            let path = self.folder.join(LogFile::Segment(*number).file_name());
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
            let end = scan.bytes.len() + usize::from(scan.ending == Ending::Unfinished);
            self.lens.insert(scan.file, end as u64);
            self.tips.insert(scan.file, scan.tip());
            for placed in &scan.lines {
                let (record, offset, len) = (&placed.line.record, placed.offset, placed.len);
                self.slots.push(Slot::at(record, offset, len));
                self.seen.extend(placed.line.message.clone());
            }
        }
        self.slots.sort_unstable_by_key(|slot| slot.seq);
    }

    /// Finds the entry by which a message was accepted. To be told so is to be told that it is durable.
    pub(super) fn seen(&mut self, disk: &dyn Disk, id: &MessageId) -> Result<Option<Seq>, Error> {
        let Some(seq) = self.seen.get(id).copied() else { return Ok(None) };
        self.settle(disk)?;
        Ok(Some(seq))
    }

    /// Lists the ids of accepted messages, behind an id.
    pub(super) fn ids(&self, after: Option<&MessageId>, limit: usize) -> Vec<(MessageId, Seq)> {
        let behind = self.seen.iter().filter(|(id, _)| after.is_none_or(|after| *id > after));
        let mut found: Vec<(MessageId, Seq)> = behind.map(|(id, seq)| (id.clone(), *seq)).collect();
        found.sort_unstable();
        found.truncate(limit);
        found
    }

    /// Notes the ids of messages whose entries are gone, beside those of deleted files.
    pub(super) fn keep_ids(&mut self, disk: &dyn Disk, mut ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        ids.retain(|(id, _)| !self.seen.contains_key(id));
        if ids.is_empty() || self.state.is_none() {
            return Ok(());
        }
        self.settle(disk)?;
        tombstones::note_ids(disk, &self.folder, ids.iter().cloned().collect())?;
        self.seen.extend(ids);
        Ok(())
    }

    /// Tells whether an append may be made, in the order in which every store tells it.
    pub(super) fn admit(&mut self, disk: &dyn Disk, append: &Append) -> Result<(), Error> {
        if let Some((id, _)) = &append.message_id
            && let Some(seq) = self.seen(disk, id)?
        {
            return Err(Error::Duplicate { seq });
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
        let mut files: BTreeMap<LogFile, File> = BTreeMap::new();
        let mut records = Vec::with_capacity(slots.len());
        let mut bytes = Vec::new();
        for slot in slots {
            let path = self.folder.join(slot.file().file_name());
            let file = match files.entry(slot.file()) {
                std::collections::btree_map::Entry::Occupied(open) => open.into_mut(),
                std::collections::btree_map::Entry::Vacant(space) => {
                    space.insert(File::open(&path).map_err(|error| unreadable(&path, &error))?)
                }
            };
            bytes.resize(slot.len, 0);
            file.seek(SeekFrom::Start(slot.offset)).map_err(|error| unreadable(&path, &error))?;
            file.read_exact(&mut bytes).map_err(|error| unreadable(&path, &error))?;
            let line = String::from_utf8_lossy(&bytes);
            let record = Line::decode(&line, Bodies::of(&self.vault, &self.key)).map(|line| line.record);
            match record {
                Ok(record) if record.seq == slot.seq => records.push(record),
                Err(Unread::Locked { seq, why }) => {
                    return Err(Error::Locked { what: format!("entry {seq} of {}", self.key), why });
                }
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
