//! The values of a files store: `values.jsonl`, one line for each change, the last one of a key counts.

use super::disk::{Disk, append_durably, replace, sync_parent, unavailable};
use crate::error::Error;
use crate::values::{Table, Value};
use segue_core::Timestamp;
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

const FILE: &str = "values.jsonl";

/// A file with so many lines more than twice its values is written anew when it is opened.
const LINES_SPARE: usize = 1_000;

#[derive(Serialize, Deserialize)]
struct Line {
    namespace: String,
    key: String,
    /// Nothing once it is deleted.
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hex: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<Timestamp>,
}

/// The values, in memory and in their file.
#[derive(Debug)]
pub(super) struct ValueLog {
    pub(super) table: Table,
    path: PathBuf,
    is_new: bool,
    /// Whether the file holds values that were deleted or replaced.
    is_stale: bool,
}

impl ValueLog {
    /// Reads the values. A last line that a crash tore was never acknowledged.
    pub(super) fn open(disk: &dyn Disk, dir: &Path) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let (bytes, is_new) = match fs::read(&path) {
            Ok(bytes) => (bytes, false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Vec::new(), true),
            Err(error) => return Err(unavailable(&path, &error)),
        };
        let mut log = Self { table: Table::default(), path, is_new, is_stale: false };
        let (mut lines, mut torn) = (0, false);
        for line in bytes.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            lines += 1;
            match serde_json::from_slice::<Line>(line) {
                Ok(line) => log.take(line)?,
                Err(_) => torn = true,
            }
        }
        log.is_stale = lines > log.table.iter().count();
        if torn || lines > 2 * log.table.iter().count() + LINES_SPARE {
            log.rewrite(disk)?;
        }
        Ok(log)
    }

    fn take(&mut self, line: Line) -> Result<(), Error> {
        let bytes = match (line.text, line.hex) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(hex)) => unhex(&hex).ok_or_else(|| Error::damaged(FILE, "a value is no bytes"))?,
            (None, None) => {
                self.table.delete(&line.namespace, &line.key);
                return Ok(());
            }
        };
        self.table.put(&line.namespace, Value { key: line.key, bytes, expires_at: line.expires_at });
        Ok(())
    }

    fn rewrite(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        let mut all = String::new();
        for (namespace, value) in self.table.iter() {
            all.push_str(&line(namespace, &value.key, Some(value))?);
        }
        replace(disk, &self.path, all.as_bytes())?;
        self.is_stale = false;
        Ok(())
    }

    /// Writes the file anew if it holds what is not there any more.
    pub(super) fn purge(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.is_stale { self.rewrite(disk) } else { Ok(()) }
    }

    /// Writes a value, durably.
    pub(super) fn put(&mut self, disk: &dyn Disk, namespace: &str, value: Value) -> Result<(), Error> {
        self.is_stale |= self.table.has(namespace, &value.key);
        self.append(disk, &line(namespace, &value.key, Some(&value))?)?;
        self.table.put(namespace, value);
        Ok(())
    }

    /// Deletes a value, durably.
    pub(super) fn delete(&mut self, disk: &dyn Disk, namespace: &str, key: &str) -> Result<bool, Error> {
        if !self.table.has(namespace, key) {
            return Ok(false);
        }
        self.is_stale = true;
        self.append(disk, &line(namespace, key, None)?)?;
        Ok(self.table.delete(namespace, key))
    }

    fn append(&mut self, disk: &dyn Disk, line: &str) -> Result<(), Error> {
        append_durably(disk, &self.path, line.as_bytes())?;
        if std::mem::take(&mut self.is_new) {
            sync_parent(disk, &self.path)?;
        }
        Ok(())
    }
}

fn line(namespace: &str, key: &str, value: Option<&Value>) -> Result<String, Error> {
    let (mut text, mut hex) = (None, None);
    if let Some(value) = value {
        match std::str::from_utf8(&value.bytes) {
            Ok(utf8) => text = Some(utf8.to_owned()),
            Err(_) => hex = Some(value.bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
    let expires_at = value.and_then(|value| value.expires_at);
    let line = Line { namespace: namespace.to_owned(), key: key.to_owned(), text, hex, expires_at };
    let json = serde_json::to_string(&line).map_err(|error| Error::unavailable("writing a value", error))?;
    // A line begins on its own, whatever a failed write has left of the one before.
    Ok(format!("\n{json}\n"))
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}
