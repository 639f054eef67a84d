//! Tombstones: what is kept of segments whose files were deleted, in `dropped.jsonl`.
//!
//! The bodies are gone. What stays is what the scope still has to know: which message ids were
//! accepted, and when the segment was last written. Each line has its length and a digest of the rest of it; those that an
//! older Segue wrote have neither.

use super::disk::{Disk, append_durably, sync_parent, truncate_durably, unavailable, unreadable};
use super::framed;
use super::line::{Bodies, Line};
use super::scan::Scan;
use crate::encryption::Vault;
use crate::error::Error;
use segue_core::entry::{Bytes, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::BTreeMap;
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
    /// Ids of messages that were accepted in another store, and whose entries are gone.
    Known(BTreeMap<MessageId, Seq>),
}

/// What is kept of deleted files.
#[derive(Debug, Default)]
pub(super) struct Tombstones {
    /// The segments.
    pub segments: Vec<segment::Number>,
    /// The entries that are not missed, from and to.
    pub entries: Vec<(Seq, Seq)>,
    /// The message ids.
    pub ids: Vec<(MessageId, Seq)>,
    /// The last entries of the segments, without their bodies.
    pub last: Vec<Record>,
}

impl Tombstones {
    /// Tells whether an entry is known not to be there.
    pub(super) fn hold(&self, seq: Seq) -> bool {
        self.entries.iter().any(|(first, last)| (*first..=*last).contains(&seq))
    }

    fn take(&mut self, note: Note, path: &Path, number: usize) -> Result<(), Error> {
        match note {
            Note::Skipped(first, last) => self.entries.push((first, last)),
            Note::Known(ids) => self.ids.extend(ids),
            Note::Dropped { segment, entries, ids, last } => {
                self.segments.push(segment);
                self.entries.extend(entries);
                self.ids.extend(ids);
                if let Some(bodiless) = last {
                    // It has no body, so it needs no key.
                    let none = Bodies { vault: &Vault::default(), scope: None };
                    let line = Line::decode(bodiless.get(), none).map_err(|why| why.of(path, number))?;
                    self.last.push(line.record);
                }
            }
        }
        Ok(())
    }
}

/// Reads what is kept of deleted files.
pub(super) fn read(disk: &dyn Disk, folder: &Path) -> Result<Tombstones, Error> {
    read_to_end(disk, folder).map(|(tombstones, _)| tombstones)
}

/// Reads the file, and where its last whole line ends.
///
/// What a power cut left of a line at the end is not there: it is about a file that was not deleted yet, and the next
/// sweep writes it again.
fn read_to_end(disk: &dyn Disk, folder: &Path) -> Result<(Tombstones, Option<Ends>), Error> {
    let path = folder.join(FILE_NAME);
    let bytes = match disk.read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((Tombstones::default(), None)),
        Err(error) => return Err(unreadable(&path, &error)),
    };
    let mut tombstones = Tombstones::default();
    let mut ends = Ends { whole: 0, all: bytes.len() as u64 };
    let lines: Vec<&[u8]> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    for (at, line) in lines.iter().enumerate() {
        let damaged = |why: String| Error::damaged(format!("{}, line {},", path.display(), at + 1), why);
        let text = line.strip_suffix(b"\n");
        let has_holes = text.is_none_or(|text| text.contains(&0));
        if at + 1 == lines.len() && has_holes {
            break;
        }
        let text = text.unwrap_or(line);
        if !text.is_empty() {
            let text = std::str::from_utf8(text).map_err(|error| damaged(error.to_string()))?;
            let note = framed::open(text)
                .and_then(|note| serde_json::from_str(&note).map_err(|error| error.to_string()));
            tombstones.take(note.map_err(damaged)?, &path, at + 1)?;
        }
        ends.whole += line.len() as u64;
    }
    Ok((tombstones, Some(ends)))
}

/// Reads the message ids in the text of a file that may be damaged.
pub(super) fn readable_ids(text: &str) -> Vec<(MessageId, Seq)> {
    let objects = text.lines().filter_map(|line| framed::open(line).ok());
    let notes = objects.filter_map(|object| serde_json::from_str(&object).ok());
    let ids = notes.filter_map(|note| match note {
        Note::Dropped { ids, .. } | Note::Known(ids) => Some(ids),
        Note::Skipped(..) => None,
    });
    ids.flatten().collect()
}

/// Where the file ends, and where its whole lines do.
struct Ends {
    whole: u64,
    all: u64,
}

/// Notes what must be known of a segment after its file is deleted.
pub(super) fn note_dropped(
    disk: &dyn Disk,
    folder: &Path,
    key: &Key,
    segment: segment::Number,
) -> Result<(), Error> {
    let scan = Scan::of_segment(disk, folder, key, segment)?;
    if let Some(tail) = &scan.tail {
        return Err(scan.damaged(tail.number, &tail.why));
    }
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
    let last = lines().next_back().map(bodiless).transpose();
    let last = last.map_err(|error| Error::damaged(scan.path.display().to_string(), error))?;
    write(disk, folder, &Note::Dropped { segment, entries, ids, last })
}

/// Makes durable what was read of the file.
pub(super) fn make_durable(disk: &dyn Disk, folder: &Path) -> Result<(), Error> {
    let path = folder.join(FILE_NAME);
    disk.sync(&path).map_err(|error| unavailable(&path, &error))?;
    sync_parent(disk, &path)
}

/// Notes numbers that no entry will have.
pub(super) fn note_skipped(disk: &dyn Disk, folder: &Path, first: Seq, last: Seq) -> Result<(), Error> {
    write(disk, folder, &Note::Skipped(first, last))
}

/// Notes the ids of messages that were accepted in another store, and whose entries are gone.
pub(super) fn note_ids(disk: &dyn Disk, folder: &Path, ids: BTreeMap<MessageId, Seq>) -> Result<(), Error> {
    write(disk, folder, &Note::Known(ids))
}

fn bodiless(line: &Line) -> Result<Box<RawValue>, serde_json::Error> {
    let bytes = Bytes::Erased(line.record.body_hash());
    let bare = Line {
        record: Record { bytes, ..line.record.clone() },
        batch: line.batch,
        message: None,
        digest: None,
        sealed: None,
    };
    let text = bare.encode()?;
    RawValue::from_string(text.trim_end().to_owned())
}

fn write(disk: &dyn Disk, folder: &Path, note: &Note) -> Result<(), Error> {
    let path = folder.join(FILE_NAME);
    let text = serde_json::to_string(note).map_err(|error| Error::damaged(FILE_NAME, error))?;
    let (_, ends) = read_to_end(disk, folder)?;
    // What a power cut left of a line goes first, so that this one stands by itself.
    if let Some(ends) = &ends
        && ends.whole < ends.all
    {
        truncate_durably(disk, &path, ends.whole)?;
    }
    append_durably(disk, &path, (framed::close(&text) + "\n").as_bytes())?;
    if ends.is_none() { sync_parent(disk, &path) } else { Ok(()) }
}
