//! Auditing: what only this store can check of its files.

use super::disk::Disk;
use super::line::Batch;
use super::name::{self, LogFile};
use super::quarantine;
use super::repair;
use super::scan::{Ending, Scans, read_key};
use super::scope::Scope;
use super::tombstones::{self, Tombstones};
use super::{Inner, lock};
use crate::error::Error;
use crate::verify::{self, Report, Snapshot};
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::state::State;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// Checks a scope: its files, and what the index says of it.
pub(super) fn scope(inner: &Inner, key: &Key) -> Result<Vec<String>, Error> {
    sentences(inner.with(key, |scope| files_of(inner, scope)))
}

fn files_of(inner: &Inner, scope: &Scope) -> Result<Vec<String>, Error> {
    let mut problems = scope.problems.clone();
    if scope.lens.contains_key(&LogFile::Journal) {
        problems.extend(files(inner.disk.as_ref(), &scope.folder)?);
    }
    problems
        .extend(scope.state.as_ref().filter(|_| problems.is_empty()).and_then(|state| cut_off(inner, state)));
    Ok(problems)
}

/// Finds entries that were acknowledged and are not there: lines that were cut off the end of a file leave no other trace.
fn cut_off(inner: &Inner, state: &State) -> Option<String> {
    let written = lock(&inner.commits).head(&state.scope)?;
    let (first, scope) = (state.head.next(), &state.scope);
    (written > state.head)
        .then(|| format!("scope {scope}: entries {first} to {written} were written and are missing"))
}

/// Checks all of a scope while nobody writes to it.
pub(super) fn inspect(inner: &Inner, key: &Key) -> Result<Report, Error> {
    inner.with(key, |scope| verify::inspect(&mut Held { inner, scope }, key))
}

/// A scope that is locked.
struct Held<'a> {
    inner: &'a Inner,
    scope: &'a mut Scope,
}

impl Snapshot for Held<'_> {
    fn tail(&mut self, after: Seq, limit: usize) -> Result<Vec<Record>, Error> {
        self.scope.log(after, limit)
    }

    fn seen(&mut self, id: &MessageId) -> Result<Option<Seq>, Error> {
        Ok(self.scope.seen.get(id).copied())
    }

    fn state(&mut self) -> Result<Option<Arc<State>>, Error> {
        Ok(self.scope.state.clone())
    }

    fn audit(&mut self) -> Result<Vec<String>, Error> {
        sentences(files_of(self.inner, self.scope))
    }
}

/// Checks the index and the folders as a whole.
pub(super) fn store(inner: &Inner) -> Result<Vec<String>, Error> {
    let mut problems = lock(&inner.repairs).clone();
    problems.extend(lock(&inner.values).problems.clone());
    problems.extend(lock(&inner.index).audit()?);
    problems.extend(quarantine::forsaken(&inner.sessions)?);
    for folder in inner.folders()? {
        let path = inner.sessions.join(&folder);
        let key = match read_key(&path) {
            Ok(key) => key,
            Err(error) => {
                problems.push(error.to_string());
                continue;
            }
        };
        if name::folder(&key) != folder {
            problems.push(format!("{} is not the folder of scope {key}", path.display()));
            continue;
        }
        let has_entries = inner.with(&key, |scope| match scope.is_behind_damage() {
            true => Err(Error::damaged(scope.folder.display().to_string(), scope.problems.join("; "))),
            false => Ok(scope.state.is_some()),
        });
        match has_entries {
            Err(error) => problems.push(error.to_string()),
            // A crash can come between the making of a folder and the first entry.
            Ok(has_entries) if has_entries && !lock(&inner.index).has(&key) => {
                problems.push(format!("scope {key} is not in the index"));
            }
            Ok(_) => {}
        }
    }
    Ok(problems)
}

fn sentences(found: Result<Vec<String>, Error>) -> Result<Vec<String>, Error> {
    match found {
        Err(error @ (Error::Damaged { .. } | Error::NewerEntry { .. })) => Ok(vec![error.to_string()]),
        other => other,
    }
}

/// Checks the files of a scope. What a crash left of an append is none of its entries.
fn files(disk: &dyn Disk, folder: &Path) -> Result<Vec<String>, Error> {
    let mut scans = Scans::read(disk, folder)?;
    let tombstones = tombstones::read(disk, folder)?;
    scans.recover(&tombstones)?;
    let mut problems = Vec::new();
    for scan in scans.all() {
        let file = scan.path.display();
        let header = usize::from(scan.file == LogFile::Journal);
        for (at, placed) in scan.lines.iter().enumerate() {
            let begin = placed.offset as usize;
            let text = &scan.bytes[begin..begin + placed.len];
            let as_written = placed.line.encode().map_err(|error| scan.damaged(at + 1 + header, error))?;
            if as_written.trim_end_matches('\n').as_bytes() != text {
                problems.push(format!("{file}, line {}, was changed", at + 1 + header));
            }
        }
        let changed = scan
            .changed
            .iter()
            .map(|number| format!("{file}, line {number}, was changed: its digest differs"));
        problems.extend(changed);
        // The last line of an open segment is ended before the next one is written.
        let is_sealed = scan.segment().is_some_and(|number| scans.is_sealed(number));
        if is_sealed && scan.ending != Ending::Clean {
            problems.push(format!("{file} does not end with a whole line"));
        }
    }
    let moved = |path: &std::path::PathBuf| format!("{} was set aside: it is damaged", path.display());
    problems.extend(repair::moved(folder).iter().map(moved));
    problems.extend(batches(&scans));
    problems.extend(gaps(folder, &scans, tombstones));
    Ok(problems)
}

/// Finds appends that overlap: each entry came with exactly one.
fn batches(scans: &Scans) -> Vec<String> {
    let lines = scans.all().flat_map(|scan| &scan.lines).map(|placed| &placed.line);
    let by_seq: BTreeMap<Seq, Batch> = lines.map(|line| (line.record.seq, line.batch)).collect();
    let pairs = by_seq.iter().zip(by_seq.iter().skip(1));
    let overlap = pairs.filter(|((_, before), (_, batch))| before != batch && batch.first <= before.last);
    overlap
        .map(|(_, (seq, _))| format!("entry {seq}: it cannot have come with the entries it names"))
        .collect()
}

/// Finds entries that are neither there nor known to be deleted.
fn gaps(folder: &Path, scans: &Scans, tombstones: Tombstones) -> Vec<String> {
    let mut there: BTreeMap<Seq, Seq> = tombstones.entries.into_iter().collect();
    let lines = scans.all().flat_map(|scan| &scan.lines);
    there.extend(lines.map(|placed| (placed.line.record.seq, placed.line.record.seq)));
    let (mut head, mut problems) = (Seq::ZERO, Vec::new());
    for (first, last) in there {
        if first > head.next() {
            problems.push(format!(
                "{}: entries {} to {} are missing",
                folder.display(),
                head.next(),
                first.previous()
            ));
        }
        head = head.max(last);
    }
    problems
}
