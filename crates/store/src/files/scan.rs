//! Scanning: reads the files of a scope as they are, and tells a half-made append from damage.

use super::disk::unreadable;
use super::line::{Batch, Line, Unread};
use super::name::Sheet;
use crate::error::Error;
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The newest format of these files that this program knows.
pub(super) const FORMAT: i64 = 1;

/// The first line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    segue: i64,
    scope: String,
}

/// Writes the first line of a scope's journal.
pub(super) fn header(key: &Key) -> Result<String, serde_json::Error> {
    let header = Header { segue: FORMAT, scope: key.as_str().to_owned() };
    serde_json::to_string(&header).map(|text| text + "\n")
}

/// A line and where it stands.
#[derive(Debug)]
pub(super) struct Placed {
    pub line: Line,
    pub offset: u64,
    pub len: usize,
}

/// How a file ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a whole line.
    Clean,
    /// With a whole line that lacks its end.
    Unfinished,
    /// With a part of a line.
    Torn,
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Scan {
    pub sheet: Sheet,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub lines: Vec<Placed>,
    /// Where the whole lines end.
    pub end: u64,
    pub ending: Ending,
}

/// The files of a scope as they were read.
#[derive(Debug)]
pub(super) struct Scans {
    pub key: Key,
    pub journal: Scan,
    pub segments: BTreeMap<segment::Number, Scan>,
    /// The segments whose files are there and cannot be read, and why.
    pub broken: BTreeMap<segment::Number, Error>,
}

impl Scan {
    fn read(folder: &Path, sheet: Sheet) -> Result<Self, Error> {
        let path = folder.join(sheet.file_name());
        let bytes = fs::read(&path).map_err(|error| unreadable(&path, &error))?;
        let (lines, end, ending) = (Vec::new(), 0, Ending::Clean);
        Ok(Self { sheet, path, bytes, lines, end, ending })
    }

    /// Reads the lines from an offset on.
    fn parse(&mut self, from: usize) -> Result<(), Error> {
        let mut offset = from;
        let mut number = self.bytes[..from].iter().filter(|byte| **byte == b'\n').count();
        self.end = offset as u64;
        while offset < self.bytes.len() {
            number += 1;
            let rest = &self.bytes[offset..];
            let newline = rest.iter().position(|byte| *byte == b'\n');
            let text = &rest[..newline.unwrap_or(rest.len())];
            let line = match (self.line(text), newline) {
                (Ok(line), _) => line,
                (Err(Unread::Damaged(_)), None) => {
                    self.ending = Ending::Torn;
                    return Ok(());
                }
                (Err(why), _) => return Err(why.of(&self.path, number)),
            };
            if self.lines.last().is_some_and(|last| last.line.record.seq >= line.record.seq) {
                return Err(self.damaged(number, format!("entry {} is out of order", line.record.seq)));
            }
            let len = text.len();
            self.lines.push(Placed { line, offset: offset as u64, len });
            offset += len + usize::from(newline.is_some());
            self.end = offset as u64;
            if newline.is_none() {
                self.ending = Ending::Unfinished;
            }
        }
        Ok(())
    }

    fn line(&self, text: &[u8]) -> Result<Line, Unread> {
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let line = Line::decode(text)?;
        let home = sheet_of(line.record.kind, line.record.segment);
        if home != self.sheet {
            let home = home.file_name();
            return Err(format!("entry {} does not belong here but in {home}", line.record.seq).into());
        }
        Ok(line)
    }

    /// Says that a line cannot be read.
    pub(super) fn damaged(&self, number: usize, why: impl ToString) -> Error {
        Error::damaged(format!("{}, line {number},", self.path.display()), why)
    }

    /// Finds where the lines of an append begin, which are the last ones.
    pub(super) fn begin_of(&self, batch: Batch) -> Option<usize> {
        let begin = self.lines.iter().rposition(|placed| placed.line.batch != batch).map_or(0, |at| at + 1);
        (begin < self.lines.len()).then_some(begin)
    }
}

/// Tells which file an entry stands in.
pub(super) fn sheet_of(kind: Kind, segment: segment::Number) -> Sheet {
    if kind.is_bone() { Sheet::Journal } else { Sheet::Segment(segment) }
}

impl Scans {
    /// Reads all files of a scope's folder.
    pub(super) fn read(folder: &Path) -> Result<Self, Error> {
        let (key, journal) = read_journal(folder)?;
        let (segments, broken) = (BTreeMap::new(), BTreeMap::new());
        let mut scans = Self { key, journal, segments, broken };
        for number in list_segments(folder)? {
            match Scan::of_segment(folder, number) {
                // No crash tears what was sealed.
                Ok(scan) if scan.ending == Ending::Torn && scans.is_sealed(number) => {
                    let torn =
                        scan.damaged(scan.lines.len() + 1, "the segment is sealed, and its end is torn");
                    scans.broken.insert(number, torn);
                }
                Ok(scan) => _ = scans.segments.insert(number, scan),
                // One segment that cannot be read must not keep the others from being used (L-10).
                Err(damaged @ Error::Damaged { .. }) => _ = scans.broken.insert(number, damaged),
                Err(error) => return Err(error),
            }
        }
        Ok(scans)
    }

    /// Returns all files.
    pub(super) fn all(&self) -> impl Iterator<Item = &Scan> {
        std::iter::once(&self.journal).chain(self.segments.values())
    }

    /// Finds the last append, if only a part of it got to the disk.
    ///
    /// The journal is written last: once its share is there, the rest was there before it.
    pub(super) fn half_made(&self) -> Option<Batch> {
        let batches = self.all().filter_map(|scan| scan.lines.last()).map(|placed| placed.line.batch);
        let last = batches.max_by_key(|batch| batch.last)?;
        let in_journal = || self.journal.begin_of(last).map_or(0, |at| self.journal.lines.len() - at);
        let whole = match last.bones {
            0 => self.all().any(|scan| scan.lines.last().is_some_and(|p| p.line.record.seq == last.last)),
            bones => in_journal() == bones,
        };
        (!whole).then_some(last)
    }

    /// Returns the last entry that is known to have been there.
    pub(super) fn last_known(&self) -> Seq {
        let lines = self.all().filter_map(|scan| scan.lines.last());
        lines.map(|placed| placed.line.batch.last).max().unwrap_or(Seq::ZERO)
    }

    /// Tells whether the journal says that a segment is sealed.
    pub(super) fn is_sealed(&self, segment: segment::Number) -> bool {
        let seals = |placed: &Placed| {
            placed.line.record.kind == Kind::Sealed && placed.line.record.segment == segment
        };
        self.journal.lines.iter().any(seals)
    }
}

/// Reads the journal of a scope, and which scope it is.
pub(super) fn read_journal(folder: &Path) -> Result<(Key, Scan), Error> {
    let mut journal = Scan::read(folder, Sheet::Journal)?;
    let Some(end) = journal.bytes.iter().position(|byte| *byte == b'\n') else {
        return Err(journal.damaged(1, "it does not name its scope"));
    };
    let header: Header =
        serde_json::from_slice(&journal.bytes[..end]).map_err(|error| journal.damaged(1, error))?;
    if header.segue > FORMAT {
        return Err(Error::NewerFormat { found: header.segue, known: FORMAT });
    }
    let key: Key = header.scope.parse().map_err(|error| journal.damaged(1, error))?;
    journal.parse(end + 1)?;
    Ok((key, journal))
}

/// Lists the segments whose files are there.
pub(super) fn list_segments(folder: &Path) -> Result<Vec<segment::Number>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        found.extend(entry.file_name().to_str().and_then(Sheet::segment_named));
    }
    found.sort_unstable();
    Ok(found)
}

/// Reads which scope a folder belongs to, and nothing else of it.
pub(super) fn read_key(folder: &Path) -> Result<Key, Error> {
    use std::io::{BufRead, BufReader};
    let path = folder.join(Sheet::Journal.file_name());
    let file = fs::File::open(&path).map_err(|error| unreadable(&path, &error))?;
    let mut first = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut first).map_err(|error| unreadable(&path, &error))?;
    let damaged = |why: String| Error::damaged(format!("{}, line 1,", path.display()), why);
    let header: Header = serde_json::from_slice(&first).map_err(|error| damaged(error.to_string()))?;
    header.scope.parse().map_err(|error: segue_core::scope::KeyError| damaged(error.to_string()))
}

impl Scan {
    /// Reads the file of one segment.
    pub(super) fn of_segment(folder: &Path, segment: segment::Number) -> Result<Self, Error> {
        let mut scan = Self::read(folder, Sheet::Segment(segment))?;
        scan.parse(0)?;
        Ok(scan)
    }
}
