//! Reading files line by line, as bytes: a line that is not text must not spoil the others.

use anyhow::{Context as _, bail};
use std::fs::File;
use std::io::{self, BufRead, BufReader, ErrorKind, Read as _};
use std::path::Path;

/// The lines of a file or of standard input.
pub struct Lines {
    reader: Box<dyn BufRead + Send>,
    line_bytes_max: u64,
    number: usize,
    /// How long the file is, where that is known.
    pub bytes: Option<u64>,
}

/// A line.
pub struct InputLine {
    /// Its number, counted from 1.
    pub number: usize,
    /// How many bytes it takes.
    pub bytes: u64,
    /// What it says, or why that cannot be read.
    pub text: Result<String, String>,
}

/// Opens a file, or standard input for `-`. Lines longer than `line_bytes_max` are not kept in memory.
pub fn lines(path: &Path, line_bytes_max: u64) -> anyhow::Result<Lines> {
    let shown = path.display();
    let (reader, bytes): (Box<dyn BufRead + Send>, _) = if path == Path::new("-") {
        (Box::new(BufReader::new(io::stdin())), None)
    } else {
        let file = match File::open(path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => {
                bail!("there is no file {shown}: check the path, or use - for standard input")
            }
            Err(error) => {
                return Err(error).with_context(|| format!("{shown} cannot be read: check its rights"));
            }
        };
        let about = file.metadata().with_context(|| format!("{shown} cannot be read"))?;
        if about.is_dir() {
            bail!("{shown} is a folder: name a file in it, or use - for standard input");
        }
        (Box::new(BufReader::new(file)), Some(about.len()))
    };
    Ok(Lines { reader, line_bytes_max, number: 0, bytes })
}

/// Reads a small file as text: an ordinary one, and no longer than it may be. What has the name of a file in a folder may be
/// a device that never ends, or a pipe that nobody writes to.
pub fn bounded(path: &Path, bytes_max: u64) -> io::Result<String> {
    let about = path.metadata()?;
    if !about.is_file() {
        return Err(io::Error::other(if about.is_dir() {
            "it is a folder"
        } else {
            "it is no ordinary file"
        }));
    }
    bounded_of_any_kind(path, bytes_max)
}

/// The same for a file that the person names: a pipe will do.
pub fn bounded_of_any_kind(path: &Path, bytes_max: u64) -> io::Result<String> {
    let mut text = String::new();
    File::open(path)?.take(bytes_max.saturating_add(1)).read_to_string(&mut text)?;
    if text.len() as u64 > bytes_max {
        return Err(io::Error::other(format!("it has more than {bytes_max} bytes")));
    }
    Ok(text)
}

impl Lines {
    /// Reads the next line; nothing at the end.
    pub fn next_line(&mut self) -> io::Result<Option<InputLine>> {
        let mut bytes = Vec::new();
        let limit = self.line_bytes_max.saturating_add(1);
        let mut taken = (&mut self.reader).take(limit).read_until(b'\n', &mut bytes)? as u64;
        if taken == 0 {
            return Ok(None);
        }
        self.number += 1;
        let is_whole = bytes.last() == Some(&b'\n');
        let text = if taken == limit && !is_whole {
            taken += self.skip_line()?;
            Err(format!("it has {taken} bytes, at most {} are read; it is left out", self.line_bytes_max))
        } else {
            let begin = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf") } else { None };
            let text = std::str::from_utf8(begin.unwrap_or(&bytes));
            let wrong = |error: std::str::Utf8Error| {
                format!("it is not UTF-8 from byte {} on: save the file as UTF-8", error.valid_up_to() + 1)
            };
            text.map(str::to_owned).map_err(wrong)
        };
        Ok(Some(InputLine { number: self.number, bytes: taken, text }))
    }

    fn skip_line(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let held = self.reader.fill_buf()?;
            let (end, found) = match held.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (held.len(), false),
            };
            self.reader.consume(end);
            skipped += end as u64;
            if found || end == 0 {
                return Ok(skipped);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &'static [u8], line_bytes_max: u64) -> Vec<(usize, Result<String, String>)> {
        let mut lines = Lines { reader: Box::new(bytes), line_bytes_max, number: 0, bytes: None };
        std::iter::from_fn(|| lines.next_line().unwrap()).map(|line| (line.number, line.text)).collect()
    }

    #[test]
    fn a_line_that_is_no_text_spoils_no_other() {
        let lines = read(b"one\n\xff\xfe\n\nthree", 100);
        assert_eq!(lines[0], (1, Ok("one\n".to_owned())));
        assert_eq!(lines[1].1, Err("it is not UTF-8 from byte 1 on: save the file as UTF-8".to_owned()));
        assert_eq!(lines[2..], [(3, Ok("\n".to_owned())), (4, Ok("three".to_owned()))]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped() {
        let lines = read(b"\xef\xbb\xbfabc\n123456789\nabcdef\n12345678", 7);
        assert_eq!(lines[0], (1, Ok("abc\n".to_owned())));
        assert_eq!(lines[1].1, Err("it has 10 bytes, at most 7 are read; it is left out".to_owned()));
        assert_eq!(lines[2], (3, Ok("abcdef\n".to_owned())));
        assert_eq!(lines[3].1, Err("it has 8 bytes, at most 7 are read; it is left out".to_owned()));
        assert_eq!(lines.len(), 4);
    }
}
