//! Where the lines of an import come from: a file that is read twice, or standard input, which is kept.

use crate::input::{self, Lines};
use anyhow::Context as _;
use segue_engine::port::{InMemory, Line, Source};
use std::io;
use std::path::{Path, PathBuf};

/// The longest line that is read: a whole conversation may be on one.
const LINE_BYTES_MAX: u64 = 1 << 30;

/// A file, line by line.
pub struct FileSource {
    path: PathBuf,
    lines: Option<Lines>,
}

impl Source for FileSource {
    fn next(&mut self) -> io::Result<Option<Line>> {
        if self.lines.is_none() {
            self.rewind()?;
        }
        let Some(lines) = &mut self.lines else { return Ok(None) };
        let line = lines.next_line()?;
        Ok(line.map(|line| Line { number: line.number, text: line.text }))
    }

    fn rewind(&mut self) -> io::Result<()> {
        let lines = input::lines(&self.path, LINE_BYTES_MAX);
        self.lines = Some(lines.map_err(|error| io::Error::other(crate::sentence(&error)))?);
        Ok(())
    }
}

/// Opens a file, or standard input for `-`.
pub fn open(path: &Path) -> anyhow::Result<Box<dyn Source + Send>> {
    if path == Path::new("-") {
        return Ok(Box::new(InMemory::from(read(path, u64::MAX)?)));
    }
    // A file that is not there is told before anything else is done.
    input::lines(path, LINE_BYTES_MAX)?;
    Ok(Box::new(FileSource { path: path.to_owned(), lines: None }))
}

/// Reads the lines of a file, or as many as fit.
pub fn read(path: &Path, bytes_max: u64) -> anyhow::Result<Vec<Line>> {
    let mut lines = input::lines(path, LINE_BYTES_MAX)?;
    let (mut all, mut bytes) = (Vec::new(), 0);
    while bytes < bytes_max
        && let Some(line) = lines.next_line().with_context(|| format!("{} cannot be read", path.display()))?
    {
        bytes += line.bytes;
        if !line.text.as_ref().is_ok_and(|text| text.trim().is_empty()) {
            all.push(Line { number: line.number, text: line.text });
        }
    }
    Ok(all)
}
