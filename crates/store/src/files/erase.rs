//! Erasing: writes a file anew without some bodies. Their hashes stay, so that the proof still holds.

use super::disk::{Disk, stage, unstage};
use super::line::Line;
use super::name::LogFile;
use super::scan::{Scan, Scans};
use crate::error::Error;
use segue_core::entry::{Bytes, Record, Seq};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// A file without some bodies, to take the place of the one that has them.
#[derive(Debug)]
pub(super) struct Rewrite {
    pub file: LogFile,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    /// Where the entries stand now: offset and length.
    pub places: Vec<(Seq, u64, usize)>,
}

impl Rewrite {
    /// Rewrites a file; nothing if it holds none of the bodies.
    pub(super) fn of(scan: &Scan, erase: &BTreeSet<Seq>) -> Result<Option<Self>, Error> {
        let holds = |record: &Record| erase.contains(&record.seq) && matches!(record.bytes, Bytes::Kept(_));
        if !scan.lines.iter().any(|placed| holds(&placed.line.record)) {
            return Ok(None);
        }
        let start = scan.lines.first().map_or(0, |placed| placed.offset);
        let mut bytes = scan.bytes[..start as usize].to_vec();
        let mut places = Vec::with_capacity(scan.lines.len());
        for placed in &scan.lines {
            let (record, offset) = (&placed.line.record, bytes.len() as u64);
            if holds(record) {
                let body = Bytes::Erased(record.body_hash());
                let line = Line { record: Record { bytes: body, ..record.clone() }, ..placed.line.clone() };
                let text = line.encode().map_err(|error| scan.damaged(places.len(), error))?;
                bytes.extend_from_slice(text.as_bytes());
            } else {
                let at = placed.offset as usize;
                bytes.extend_from_slice(&scan.bytes[at..at + placed.len]);
                bytes.push(b'\n');
            }
            places.push((record.seq, offset, bytes.len() - offset as usize - 1));
        }
        Ok(Some(Self { file: scan.file, path: scan.path.clone(), bytes, places }))
    }
}

/// Tells whether the journal says that bodies are erased which are still there, because a crash came between the two.
pub(super) fn is_due(scans: &Scans, erase: &BTreeSet<Seq>) -> bool {
    let mut records = scans.all().flat_map(|scan| &scan.lines).map(|placed| &placed.line.record);
    records.any(|record| erase.contains(&record.seq) && matches!(record.bytes, Bytes::Kept(_)))
}

/// Erases what the journal says is erased.
pub(super) fn finish(disk: &dyn Disk, scans: &Scans, erase: &BTreeSet<Seq>) -> Result<(), Error> {
    for scan in scans.all() {
        if let Some(rewrite) = Rewrite::of(scan, erase)? {
            let staged = stage(disk, &rewrite.path, &rewrite.bytes)?;
            unstage(disk, &staged, &rewrite.path)?;
        }
    }
    Ok(())
}
