//! Remains: what is kept of segments whose files were deleted, in `dropped.jsonl`.
//!
//! The bodies are gone. What stays is what the scope still has to know: which message ids were
//! accepted, and when the segment was last written.

use super::disk::{Disk, unavailable, unreadable};
use super::line::Line;
use super::scan::Scan;
use crate::error::Error;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::message::MessageId;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

/// The name of the file.
pub(super) const FILE_NAME: &str = "dropped.jsonl";

/// A line of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Note {
    /// A segment whose file is deleted once this line is there.
    Dropped {
        segment: segment::Number,
        /// The entries that stood in the file, from and to.
        entries: Vec<(Seq, Seq)>,
        /// The message ids that came with them.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        ids: BTreeMap<MessageId, Seq>,
        /// The last entry, without its body: a fold cannot know from the journal when it was written.
        /// How many messages there were stands in the entries of the journal.
        last: Option<Box<RawValue>>,
    },
    /// Numbers that no entry ever had, as an import can leave them.
    Skipped(Seq, Seq),
}

/// What is kept of deleted files.
#[derive(Debug, Default)]
pub(super) struct Remains {
    /// The segments.
    pub segments: Vec<segment::Number>,
    /// The entries that are not missed, from and to.
    pub entries: Vec<(Seq, Seq)>,
    /// The message ids.
    pub ids: Vec<(MessageId, Seq)>,
    /// The last entries of the segments, without their bodies.
    pub husks: Vec<Record>,
}

/// Reads what is kept of deleted files.
pub(super) fn read(folder: &Path) -> Result<Remains, Error> {
    let path = folder.join(FILE_NAME);
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Remains::default()),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let mut remains = Remains::default();
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let damaged = |why: String| Error::damaged(format!("{}, line {},", path.display(), at + 1), why);
        // A torn line is about a file that was not deleted yet; the next sweep writes it again.
        let Some(line) = line.strip_suffix('\n') else { break };
        if line.is_empty() {
            continue;
        }
        match serde_json::from_str(line).map_err(|error| damaged(error.to_string()))? {
            Note::Skipped(first, last) => remains.entries.push((first, last)),
            Note::Dropped { segment, entries, ids, last } => {
                remains.segments.push(segment);
                remains.entries.extend(entries);
                remains.ids.extend(ids);
                if let Some(husk) = last {
                    remains.husks.push(Line::decode(husk.get()).map_err(|why| why.of(&path, at + 1))?.record);
                }
            }
        }
    }
    Ok(remains)
}

/// Notes what must be known of a segment after its file is deleted.
pub(super) fn note_dropped(disk: &dyn Disk, folder: &Path, segment: segment::Number) -> Result<(), Error> {
    let scan = Scan::of_segment(folder, segment)?;
    let lines = || scan.lines.iter().map(|placed| &placed.line);
    let mut entries: Vec<(Seq, Seq)> = Vec::new();
    for line in lines() {
        let seq = line.record.seq;
        match entries.last_mut() {
            Some((_, last)) if last.next() == seq => *last = seq,
            _ => entries.push((seq, seq)),
        }
    }
    let ids = lines().filter_map(|line| line.message.clone()).collect();
    let last = lines().next_back().map(husk).transpose();
    let last = last.map_err(|error| Error::damaged(scan.path.display().to_string(), error))?;
    write(disk, folder, &Note::Dropped { segment, entries, ids, last })
}

/// Notes numbers that no entry will have.
pub(super) fn note_skipped(disk: &dyn Disk, folder: &Path, first: Seq, last: Seq) -> Result<(), Error> {
    write(disk, folder, &Note::Skipped(first, last))
}

fn husk(line: &Line) -> Result<Box<RawValue>, serde_json::Error> {
    let bytes = Bytes::Erased(line.record.body_hash());
    let bare = Line { record: Record { bytes, ..line.record.clone() }, batch: line.batch, message: None };
    let text = bare.encode()?;
    RawValue::from_string(text.trim_end().to_owned())
}

fn write(disk: &dyn Disk, folder: &Path, note: &Note) -> Result<(), Error> {
    let path = folder.join(FILE_NAME);
    let text = serde_json::to_string(note).map_err(|error| Error::damaged(FILE_NAME, error))?;
    // A torn line of a sweep that a crash cut off is ended here, so that this one stands by itself.
    let bytes = fs::read(&path).unwrap_or_default();
    let whole = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let failed = |error: io::Error| unavailable(&path, &error);
    if whole < bytes.len() {
        disk.truncate(&path, whole as u64).map_err(failed)?;
    }
    disk.append(&path, format!("{text}\n").as_bytes()).map_err(failed)?;
    if bytes.is_empty() { super::disk::sync_parent(disk, &path) } else { Ok(()) }
}
