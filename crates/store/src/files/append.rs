//! Appending: all entries or none, although they go to several files.
//!
//! The content comes first, then the journal: with its last line the append is made. What follows
//! (erased bodies, the index) is done again after a crash, because the journal tells of it.

use super::disk::{
    Disk, append_durably, replace, stage, sync_parent, truncate_durably, unavailable, unstage, with_suffix,
    write_durably,
};
use super::erase::Rewrite;
use super::line::{self, Batch, Bodies, Line};
use super::name::LogFile;
use super::repair;
use super::scan::{self, Scan, file_of};
use super::scope::{Scope, Slot, Trust};
use super::tombstones::note_skipped;
use crate::error::Error;
use crate::types::Append;
use segue_core::digest::Digest;
use segue_core::entry::{Record, Seq};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

/// What goes to the end of one file.
#[derive(Debug, Default)]
struct Share {
    bytes: Vec<u8>,
    slots: Vec<Slot>,
    /// The digest of all lines of the file, with these.
    tip: Option<Digest>,
}

/// The shares of an append; the journal's comes first in order and is written last.
type Shares = BTreeMap<LogFile, Share>;

impl Scope {
    /// Writes an append that was admitted.
    ///
    /// On an error nothing was changed, or will not have been once the files are read again.
    pub(super) fn write(&mut self, disk: &dyn Disk, append: Append) -> Result<(), Error> {
        self.settle(disk)?;
        if !self.lens.contains_key(&LogFile::Journal) && !append.records.is_empty() {
            let header = scan::header(&self.key, scan::FORMAT)?;
            make_folder(disk, &self.folder, &header)?;
            self.lens.insert(LogFile::Journal, header.len() as u64);
        }
        self.note_gaps(disk, &append)?;
        if !append.erase.is_empty() || !append.garbage.is_empty() {
            // Before the append, so that a crash leaves nothing of it to be done.
            repair::remove_unacknowledged(disk, &self.folder)?;
        }
        let mut shares = self.shares(&append)?;
        let erase: BTreeSet<Seq> = append.erase.iter().copied().collect();
        let staged = self.commit(disk, &mut shares, &erase).inspect_err(|_| self.trust = Trust::Spoiled)?;
        for (staged, rewrite) in staged {
            match unstage(disk, &staged, &rewrite.path) {
                Ok(()) => self.move_slots(&rewrite),
                Err(error) => {
                    // The append is made; the journal orders the erasure, and the next use does it.
                    tracing::warn!(%error, "bodies are erased at the next use of the scope");
                    self.trust = Trust::Spoiled;
                }
            }
        }
        self.seen.extend(append.message_id);
        self.garbage.extend(append.garbage);
        if !append.records.is_empty() {
            self.state = Some(append.next);
        }
        Ok(())
    }

    fn shares(&self, append: &Append) -> Result<Shares, Error> {
        let mut shares = Shares::new();
        let (Some(first), Some(last)) = (append.records.first(), append.records.last()) else {
            return Ok(shares);
        };
        let in_journal = append.records.iter().filter(|record| record.kind.is_structural()).count();
        let batch = Batch { first: first.seq, last: last.seq, in_journal };
        let spoken = append.message_id.as_ref();
        let home = spoken.map(|(_, seq)| append.records.iter().find(|r| r.seq == *seq).unwrap_or(last).seq);
        for record in &append.records {
            let message = spoken.filter(|_| home == Some(record.seq)).cloned();
            let file = file_of(record.kind, record.segment);
            // Every segment has a file, so that a file which is not there is known to be missing.
            shares.entry(LogFile::Segment(record.segment)).or_default();
            let base = self.lens.get(&file).copied().unwrap_or(0);
            let share = shares.entry(file).or_default();
            let tip = share.tip.or_else(|| self.tips.get(&file).copied());
            let tip = tip.unwrap_or_else(|| line::root(&self.key, file));
            let line = Line { record: record.clone(), batch, message, digest: None, sealed: None };
            let line = line.linked(tip).sealed(Bodies::of(&self.vault, &self.key))?;
            share.tip = line.digest;
            let text = line.encode().map_err(|error| Error::damaged("an entry", error))?;
            let offset = base + share.bytes.len() as u64;
            share.slots.push(Slot::at(record, offset, text.len() - 1));
            share.bytes.extend_from_slice(text.as_bytes());
        }
        Ok(shares)
    }

    /// Writes the shares and stages what is erased. Once this returns, the append is made.
    fn commit(
        &mut self,
        disk: &dyn Disk,
        shares: &mut Shares,
        erase: &BTreeSet<Seq>,
    ) -> Result<Vec<(PathBuf, Rewrite)>, Error> {
        let written = self.write_content(disk, shares).and_then(|()| {
            let staged = self.stage_erased(disk, erase)?;
            self.write_journal(disk, shares, erase)?;
            Ok(staged)
        });
        match written {
            Ok(staged) => {
                let mut slots = Vec::new();
                for (file, share) in std::mem::take(shares) {
                    *self.lens.entry(file).or_insert(0) += share.bytes.len() as u64;
                    self.tips.extend(share.tip.map(|tip| (file, tip)));
                    slots.extend(share.slots);
                }
                slots.sort_unstable_by_key(|slot: &Slot| slot.seq);
                self.slots.extend(slots);
                Ok(staged)
            }
            Err(error) => {
                self.take_back(disk, shares);
                Err(error)
            }
        }
    }

    fn write_content(&self, disk: &dyn Disk, shares: &Shares) -> Result<(), Error> {
        let mut made = false;
        for (file, share) in shares.iter().filter(|(file, _)| **file != LogFile::Journal) {
            let path = self.folder.join(file.file_name());
            let is_new = !self.lens.contains_key(file);
            made |= is_new;
            if is_new || !share.bytes.is_empty() {
                append_durably(disk, &path, &share.bytes)?;
            }
        }
        if made {
            disk.sync_dir(&self.folder).map_err(|error| unavailable(&self.folder, &error))?;
        }
        Ok(())
    }

    fn stage_erased(&self, disk: &dyn Disk, erase: &BTreeSet<Seq>) -> Result<Vec<(PathBuf, Rewrite)>, Error> {
        let mut staged = Vec::new();
        for segment in self.segments_of(erase) {
            let scan = Scan::of_segment(disk, &self.folder, &self.key, segment)?;
            if let Some(rewrite) = Rewrite::of(&scan, erase)? {
                staged.push((stage(disk, &rewrite.path, &rewrite.bytes)?, rewrite));
            }
        }
        Ok(staged)
    }

    fn segments_of(&self, erase: &BTreeSet<Seq>) -> BTreeSet<segue_core::segment::Number> {
        let slots = erase.iter().filter_map(|seq| self.slot(*seq));
        slots.filter(|slot| !slot.kind.is_structural()).map(|slot| slot.segment).collect()
    }

    fn slot(&self, seq: Seq) -> Option<&Slot> {
        self.slots.binary_search_by_key(&seq, |slot| slot.seq).ok().map(|at| &self.slots[at])
    }

    fn write_journal(
        &mut self,
        disk: &dyn Disk,
        shares: &mut Shares,
        erase: &BTreeSet<Seq>,
    ) -> Result<(), Error> {
        let in_journal =
            erase.iter().any(|seq| self.slot(*seq).is_some_and(|slot| slot.kind.is_structural()));
        if in_journal {
            return self.rewrite_journal(disk, shares, erase);
        }
        let Some(share) = shares.get(&LogFile::Journal) else { return Ok(()) };
        let path = self.folder.join(LogFile::Journal.file_name());
        append_durably(disk, &path, &share.bytes)
    }

    /// Writes the journal anew, without the bodies that are erased and with the new lines.
    fn rewrite_journal(
        &mut self,
        disk: &dyn Disk,
        shares: &mut Shares,
        erase: &BTreeSet<Seq>,
    ) -> Result<(), Error> {
        let (_, _, scan) = scan::read_journal(disk, &self.folder)?;
        let mut share = shares.remove(&LogFile::Journal).unwrap_or_default();
        if let Some(mut rewrite) = Rewrite::of(&scan, erase)? {
            let len = rewrite.bytes.len() as u64;
            rewrite.bytes.extend_from_slice(&share.bytes);
            if let Err(error) = replace(disk, &rewrite.path, &rewrite.bytes) {
                // Either the old journal stands, or the append is made and its content must stay.
                let stands = std::fs::read(&scan.path).is_ok_and(|found| found == scan.bytes);
                if !stands && replace(disk, &scan.path, &scan.bytes).is_err() {
                    shares.clear();
                }
                return Err(error);
            }
            rewrite.bytes.truncate(len as usize);
            for slot in &mut share.slots {
                slot.offset = slot.offset - scan.bytes.len() as u64 + len;
            }
            self.move_slots(&rewrite);
        } else if let Err(error) = append_durably(disk, &scan.path, &share.bytes) {
            shares.insert(LogFile::Journal, share);
            return Err(error);
        }
        shares.insert(LogFile::Journal, share);
        Ok(())
    }

    fn move_slots(&mut self, rewrite: &Rewrite) {
        self.lens.insert(rewrite.file, rewrite.bytes.len() as u64);
        for (seq, offset, len) in &rewrite.places {
            if let Ok(at) = self.slots.binary_search_by_key(seq, |slot| slot.seq) {
                (self.slots[at].offset, self.slots[at].len) = (*offset, *len);
            }
        }
    }

    /// Takes back what was written of an append that failed. What this cannot do is done when the files
    /// are read again: the append is half-made there.
    fn take_back(&self, disk: &dyn Disk, shares: &Shares) {
        // The journal comes first, because its lines are what makes an append whole.
        for file in shares.keys() {
            let path = self.folder.join(file.file_name());
            let undone = match self.lens.get(file) {
                Some(len) if path.exists() => truncate_durably(disk, &path, *len),
                None if path.exists() => disk.remove(&path).map_err(|error| unavailable(&path, &error)),
                _ => Ok(()),
            };
            if let Err(error) = undone {
                let file = path.display();
                tracing::warn!(%file, %error, "a failed append is taken back at the next use of the scope");
                return;
            }
        }
    }

    /// Notes which numbers the entries skip, as those of an import can, so that nobody misses them.
    fn note_gaps(&self, disk: &dyn Disk, append: &Append) -> Result<(), Error> {
        let mut head = append.prior.head;
        for Record { seq, .. } in &append.records {
            if *seq > head.next() {
                note_skipped(disk, &self.folder, head.next(), seq.previous())?;
            }
            head = *seq;
        }
        Ok(())
    }
}

/// Makes the folder of a scope; once it is there, its journal names the scope.
fn make_folder(disk: &dyn Disk, folder: &Path, header: &str) -> Result<(), Error> {
    if folder.exists() {
        return sync_parent(disk, folder);
    }
    let fresh = with_suffix(folder, ".new");
    let failed = |error: io::Error| unavailable(&fresh, &error);
    match disk.create_dir(&fresh) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
        _ => {}
    }
    write_durably(disk, &fresh.join(LogFile::Journal.file_name()), header.as_bytes())?;
    disk.sync_dir(&fresh).map_err(failed)?;
    disk.rename(&fresh, folder).map_err(failed)?;
    sync_parent(disk, folder)
}
