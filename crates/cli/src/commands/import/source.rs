//! Where the lines of an import come from: a file that is read twice, or standard input, which is kept.

use crate::input::{self, Lines};
use anyhow::{Context as _, bail};
use indicatif::ProgressBar;
use segue_engine::port::{Line, Source};
use std::io;
use std::path::{Path, PathBuf};

/// A file, line by line.
pub struct FileSource {
    path: PathBuf,
    lines: Option<Lines>,
    bytes_max: u64,
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
        let lines = input::lines(&self.path, self.bytes_max);
        self.lines = Some(lines.map_err(|error| io::Error::other(crate::sentence(&error)))?);
        Ok(())
    }

    fn value_bytes_max(&self) -> usize {
        usize::try_from(self.bytes_max).unwrap_or(usize::MAX)
    }
}

/// A source that moves a bar. It is read twice: to see what is in it, and to take that.
pub struct Metered {
    source: Box<dyn Source + Send>,
    bar: ProgressBar,
    /// Where the bar stands before it, and how much of the bar is its own.
    from: u64,
    bytes: u64,
    read: u64,
}

impl Metered {
    pub fn new(source: Box<dyn Source + Send>, bar: ProgressBar, bytes: u64) -> Self {
        let from = bar.position();
        Self { source, bar, from, bytes, read: 0 }
    }
}

impl Source for Metered {
    fn next(&mut self) -> io::Result<Option<Line>> {
        let line = self.source.next()?;
        if let Some(line) = &line {
            self.read += line.text.as_ref().map_or(0, String::len) as u64;
            self.bar.set_position(self.from + (self.read / 2).min(self.bytes));
        }
        Ok(line)
    }

    fn rewind(&mut self) -> io::Result<()> {
        self.source.rewind()
    }

    fn value_bytes_max(&self) -> usize {
        self.source.value_bytes_max()
    }
}

/// Opens a file. Not more than so many bytes of it are in memory at once.
pub fn open(path: &Path, bytes_max: u64) -> anyhow::Result<Box<dyn Source + Send>> {
    // A file that is not there is told before anything else is done.
    input::lines(path, bytes_max)?;
    Ok(Box::new(FileSource { path: path.to_owned(), lines: None, bytes_max }))
}

/// Reads all lines of standard input.
pub fn read_input(bytes_max: u64) -> anyhow::Result<Vec<Line>> {
    let path = Path::new("-");
    let mut lines = input::lines(path, bytes_max)?;
    let (mut all, mut bytes) = (Vec::new(), 0);
    while let Some(line) = lines.next_line().context("standard input cannot be read")? {
        bytes += line.bytes;
        if bytes > bytes_max {
            bail!(
                "standard input has more than {bytes_max} bytes: save it to a file, which is read in parts, or set \
                 limits.import_bytes_max"
            );
        }
        all.push(Line { number: line.number, text: line.text });
    }
    Ok(all)
}

/// Reads the first lines of a file, as many as fit.
pub fn read(path: &Path, bytes_max: u64, line_bytes_max: u64) -> anyhow::Result<Vec<Line>> {
    let mut lines = input::lines(path, line_bytes_max)?;
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
