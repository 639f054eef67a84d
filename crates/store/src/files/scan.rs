//! Scanning: reads the files of a scope as they are, up to the first line of each that cannot be read.
//! `recovery` judges what comes behind it.

use super::disk::{Disk, unreadable};
use super::line::{self, Batch, Bodies, Line, Unread};
use super::name::LogFile;
use crate::encryption::Vault;
use crate::error::Error;
use segue_core::digest::Digest;
use segue_core::entry::{Kind, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The newest format of these files that this program knows.
///
/// 2: lines have a length and a digest. 3: bodies may be encrypted. 4: the same, and a fork names its parent and lists no
/// spans.
pub(super) const FORMAT: i64 = 4;

/// The first line of a journal.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    segue: i64,
    scope: String,
}

/// Writes the first line of a scope's journal.
pub(super) fn header(key: &Key, format: i64) -> Result<String, Error> {
    let header = Header { segue: format, scope: key.as_str().to_owned() };
    let text = serde_json::to_string(&header).map_err(|error| Error::damaged("a scope key", error))?;
    Ok(text + "\n")
}

/// A line and where it stands.
#[derive(Debug)]
pub(super) struct Placed {
    pub line: Line,
    /// The digest of the line and all lines before it, whether or not the line says it.
    pub link: Digest,
    pub offset: u64,
    pub len: usize,
}

/// How the last line that can be read ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ending {
    /// With a line break.
    Clean,
    /// Without one.
    Unfinished,
}

/// What a line that cannot be read looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Its end is missing, or it has holes: a power cut leaves lines like this of an append that was under way.
    Torn,
    /// It has all its bytes, and they are not what was written.
    Whole,
}

/// The part of a file from the first line that cannot be read.
#[derive(Debug)]
pub(super) struct Tail {
    pub offset: u64,
    /// The number of the line.
    pub number: usize,
    pub why: String,
    pub shape: Shape,
    /// The lines behind it that can be read.
    pub after: Vec<(Seq, Batch)>,
}

/// A file as it was read.
#[derive(Debug)]
pub(super) struct Scan {
    pub file: LogFile,
    pub path: PathBuf,
    pub bytes: Vec<u8>,
    pub lines: Vec<Placed>,
    pub ending: Ending,
    pub tail: Option<Tail>,
    /// The numbers of the lines whose digest is not that of what they say.
    pub changed: Vec<usize>,
    /// What the digests begin with.
    root: Digest,
    /// Where the first entry stands, behind the line that names the scope.
    start: usize,
}

/// The files of a scope as they were read.
#[derive(Debug)]
pub(super) struct Scans {
    pub key: Key,
    /// The format that the journal names.
    pub format: i64,
    pub journal: Scan,
    pub segments: BTreeMap<segment::Number, Scan>,
    /// The segments whose files are there and hold damage, and what it is.
    pub broken: BTreeMap<segment::Number, Error>,
}

impl Scan {
    fn read(disk: &dyn Disk, folder: &Path, file: LogFile) -> Result<Self, Error> {
        let path = folder.join(file.file_name());
        let bytes = match disk.read(&path) {
            Ok(bytes) => bytes,
            // The folder is there: a journal that is not is gone for good.
            Err(error) if error.kind() == io::ErrorKind::NotFound && file == LogFile::Journal => {
                return Err(Error::damaged(path.display().to_string(), "it is missing"));
            }
            Err(error) => return Err(unreadable(&path, &error)),
        };
        Ok(Self {
            file,
            path,
            bytes,
            lines: Vec::new(),
            ending: Ending::Clean,
            tail: None,
            changed: Vec::new(),
            root: Digest::NONE,
            start: 0,
        })
    }

    /// Reads the file of one segment.
    pub(super) fn of_segment(
        disk: &dyn Disk,
        folder: &Path,
        key: &Key,
        segment: segment::Number,
    ) -> Result<Self, Error> {
        let mut scan = Self::read(disk, folder, LogFile::Segment(segment))?;
        scan.parse(&disk.vault(), key, 0)?;
        Ok(scan)
    }

    /// Reads the lines from an offset on. Only what a newer program wrote, and what is encrypted by a key that is not
    /// there, is an error here.
    fn parse(&mut self, vault: &Vault, key: &Key, start: usize) -> Result<(), Error> {
        (self.root, self.start) = (line::root(key, self.file), start);
        let mut offset = start;
        let mut number = self.bytes[..start].iter().filter(|byte| **byte == b'\n').count();
        while offset < self.bytes.len() {
            number += 1;
            let rest = &self.bytes[offset..];
            let newline = rest.iter().position(|byte| *byte == b'\n');
            let text = &rest[..newline.unwrap_or(rest.len())];
            let (len, step) = (text.len(), text.len() + usize::from(newline.is_some()));
            match self.line(text, Bodies::of(vault, key)) {
                Ok(line) if self.tail.is_none() => {
                    self.take(line, offset, len, number);
                    if newline.is_none() {
                        self.ending = Ending::Unfinished;
                    }
                }
                Ok(line) => {
                    let seq_and_batch = (line.record.seq, line.batch);
                    self.tail.iter_mut().for_each(|tail| tail.after.push(seq_and_batch));
                }
                Err(why @ (Unread::Newer { .. } | Unread::Locked { .. })) => {
                    return Err(why.of(&self.path, number));
                }
                Err(Unread::Damaged(why)) if self.tail.is_none() => {
                    let has_holes = newline.is_none() || text.contains(&0);
                    let shape = if has_holes { Shape::Torn } else { Shape::Whole };
                    let (offset, after) = (offset as u64, Vec::new());
                    self.tail = Some(Tail { offset, number, why, shape, after });
                }
                Err(Unread::Damaged(_)) => {}
            }
            offset += step;
        }
        Ok(())
    }

    fn take(&mut self, line: Line, offset: usize, len: usize, number: usize) {
        let link = line.link(self.tip());
        let has_digests = self.lines.last().is_some_and(|before| before.line.digest.is_some());
        if line.digest.map_or(has_digests, |digest| digest != link) {
            self.changed.push(number);
        }
        // What was changed is told once, and not again of every line behind it.
        let link = line.digest.unwrap_or(link);
        self.lines.push(Placed { line, link, offset: offset as u64, len });
    }

    fn line(&self, text: &[u8], bodies: Bodies<'_>) -> Result<Line, Unread> {
        let text = std::str::from_utf8(text).map_err(|error| error.to_string())?;
        let line = Line::decode(text, bodies)?;
        let seq = line.record.seq;
        let home = file_of(line.record.kind, line.record.segment);
        if home != self.file {
            let home = home.file_name();
            return Err(format!("entry {seq} does not belong here but in {home}").into());
        }
        if self.lines.last().is_some_and(|last| last.line.record.seq >= seq) {
            return Err(format!("entry {seq} is out of order").into());
        }
        Ok(line)
    }

    /// Returns the segment that the file is of.
    pub(super) fn segment(&self) -> Option<segment::Number> {
        match self.file {
            LogFile::Journal => None,
            LogFile::Segment(number) => Some(number),
        }
    }

    /// Returns the digest of all lines.
    pub(super) fn tip(&self) -> Digest {
        self.lines.last().map_or(self.root, |placed| placed.link)
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

    /// Leaves out the lines from one on, and what comes behind them. Returns where they began and their bytes.
    pub(super) fn cut(&mut self, begin: usize) -> (u64, Vec<u8>) {
        let end = self.lines.last().map_or(self.start as u64, |last| last.offset + last.len as u64 + 1);
        let tail = self.tail.take().map_or(end, |tail| tail.offset);
        let at = self.lines.get(begin).map_or(tail, |placed| placed.offset);
        self.lines.truncate(begin);
        self.ending = Ending::Clean;
        (at, self.bytes.split_off(at as usize))
    }
}

/// Tells which file an entry stands in.
pub(super) fn file_of(kind: Kind, segment: segment::Number) -> LogFile {
    if kind.is_structural() { LogFile::Journal } else { LogFile::Segment(segment) }
}

impl Scans {
    /// Reads all files of a scope's folder, and judges nothing.
    pub(super) fn read(disk: &dyn Disk, folder: &Path) -> Result<Self, Error> {
        let (key, format, journal) = read_journal(disk, folder)?;
        let mut segments = BTreeMap::new();
        for number in list_segments(folder)? {
            segments.insert(number, Scan::of_segment(disk, folder, &key, number)?);
        }
        Ok(Self { key, format, journal, segments, broken: BTreeMap::new() })
    }

    /// Returns all files.
    pub(super) fn all(&self) -> impl Iterator<Item = &Scan> {
        std::iter::once(&self.journal).chain(self.segments.values())
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

/// Reads the journal of a scope, which scope it is, and the format of its files.
pub(super) fn read_journal(disk: &dyn Disk, folder: &Path) -> Result<(Key, i64, Scan), Error> {
    let mut journal = Scan::read(disk, folder, LogFile::Journal)?;
    let Some(end) = journal.bytes.iter().position(|byte| *byte == b'\n') else {
        return Err(journal.damaged(1, "it does not name its scope"));
    };
    let header: Header =
        serde_json::from_slice(&journal.bytes[..end]).map_err(|error| journal.damaged(1, error))?;
    if header.segue > FORMAT {
        return Err(Error::NewerFormat { found: header.segue, known: FORMAT });
    }
    let key: Key = header.scope.parse().map_err(|error| journal.damaged(1, error))?;
    journal.parse(&disk.vault(), &key, end + 1)?;
    Ok((key, header.segue, journal))
}

/// Lists the segments whose files are there.
pub(super) fn list_segments(folder: &Path) -> Result<Vec<segment::Number>, Error> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| unreadable(folder, &error))? {
        let entry = entry.map_err(|error| unreadable(folder, &error))?;
        found.extend(entry.file_name().to_str().and_then(LogFile::segment_named));
    }
    found.sort_unstable();
    Ok(found)
}

/// Reads which scope a folder belongs to, and nothing else of it.
pub(super) fn read_key(folder: &Path) -> Result<Key, Error> {
    use std::io::{BufRead, BufReader};
    let path = folder.join(LogFile::Journal.file_name());
    let file = fs::File::open(&path).map_err(|error| unreadable(&path, &error))?;
    let mut first = Vec::new();
    BufReader::new(file).read_until(b'\n', &mut first).map_err(|error| unreadable(&path, &error))?;
    let damaged = |why: String| Error::damaged(format!("{}, line 1,", path.display()), why);
    let header: Header = serde_json::from_slice(&first).map_err(|error| damaged(error.to_string()))?;
    header.scope.parse().map_err(|error: segue_core::scope::KeyError| damaged(error.to_string()))
}
