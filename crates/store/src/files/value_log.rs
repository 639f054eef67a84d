//! The values of a files store: `values.jsonl`, one line for each change, the last one of a key counts.
//!
//! Each line has its length and a digest; older ones have neither. A line that was changed is damage, and is told: it may be
//! one that deleted a value.

use super::disk::{Disk, append_durably, replace, sync_parent, truncate_durably, unavailable, with_suffix};
use super::framed;
use crate::encryption::{Bound, Vault};
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
struct ValueRecord {
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
    /// Where a line begins that a crash tore. It was never acknowledged, and is cut off before the next one is written.
    torn_at: Option<u64>,
    /// Whether the file has so many lines that it is written anew with the next one.
    is_long: bool,
    /// Lines that cannot be read, one sentence each.
    pub(super) problems: Vec<String>,
}

impl ValueLog {
    /// Reads the values. Nothing is written.
    pub(super) fn open(disk: &dyn Disk, dir: &Path) -> Result<Self, Error> {
        let path = dir.join(FILE);
        let (bytes, is_new) = match fs::read(&path) {
            Ok(bytes) => (bytes, false),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => (Vec::new(), true),
            Err(error) => return Err(unavailable(&path, &error)),
        };
        let (table, problems) = (Table::default(), Vec::new());
        let mut log = Self { table, path, is_new, is_stale: false, torn_at: None, is_long: false, problems };
        let (mut lines, mut begin) = (0, 0);
        for (number, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let is_last = begin + line.len() == bytes.len();
            if !line.is_empty() {
                lines += 1;
                match read(line) {
                    Ok(line) => log.take(&disk.vault(), line)?,
                    Err(_) if is_last => log.torn_at = Some(begin as u64),
                    Err(why) => log.problems.push(format!(
                        "{}, line {}, cannot be read, and a value that it changed or deleted is as it was before: {why}",
                        log.path.display(),
                        number + 1
                    )),
                }
            }
            begin += line.len() + 1;
        }
        for problem in &log.problems {
            tracing::warn!("{problem}");
        }
        // So does what a crash left of writing the file anew.
        log.is_stale = lines > log.table.iter().count() || with_suffix(&log.path, ".tmp").exists();
        log.is_long = lines > 2 * log.table.iter().count() + LINES_SPARE;
        Ok(log)
    }

    fn take(&mut self, vault: &Vault, line: ValueRecord) -> Result<(), Error> {
        let bytes = match (line.text, line.hex) {
            (Some(text), _) => text.into_bytes(),
            (None, Some(hex)) => unhex(&hex).ok_or_else(|| Error::damaged(FILE, "a value is no bytes"))?,
            (None, None) => {
                self.table.delete(&line.namespace, &line.key);
                return Ok(());
            }
        };
        let bound = Bound::Value(&line.namespace, &line.key);
        let bytes = vault.unseal_bytes(bound, bytes).map_err(|why| why.of(bound))?;
        self.table.put(&line.namespace, Value { key: line.key, bytes, expires_at: line.expires_at });
        Ok(())
    }

    fn rewrite(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        let (mut all, vault) = (String::new(), disk.vault());
        for (namespace, value) in self.table.iter() {
            all.push_str(&line(&vault, namespace, &value.key, Some(value))?);
        }
        replace(disk, &self.path, all.as_bytes())?;
        (self.is_stale, self.torn_at) = (false, None);
        self.problems.clear();
        Ok(())
    }

    /// Writes the file anew if it holds what is not there any more.
    pub(super) fn purge(&mut self, disk: &dyn Disk) -> Result<(), Error> {
        if self.is_stale { self.rewrite(disk) } else { Ok(()) }
    }

    /// Writes a value, durably.
    pub(super) fn put(&mut self, disk: &dyn Disk, namespace: &str, value: Value) -> Result<(), Error> {
        self.is_stale |= self.table.has(namespace, &value.key);
        self.append(disk, &line(&disk.vault(), namespace, &value.key, Some(&value))?)?;
        self.table.put(namespace, value);
        Ok(())
    }

    /// Deletes a value, durably.
    pub(super) fn delete(&mut self, disk: &dyn Disk, namespace: &str, key: &str) -> Result<bool, Error> {
        if !self.table.has(namespace, key) {
            return Ok(false);
        }
        self.is_stale = true;
        self.append(disk, &line(&disk.vault(), namespace, key, None)?)?;
        Ok(self.table.delete(namespace, key))
    }

    fn append(&mut self, disk: &dyn Disk, line: &str) -> Result<(), Error> {
        if let Some(at) = self.torn_at.take() {
            truncate_durably(disk, &self.path, at).inspect_err(|_| self.torn_at = Some(at))?;
        }
        // A damaged line stays where it is: what it said may still be found out.
        if std::mem::take(&mut self.is_long) && self.problems.is_empty() {
            self.rewrite(disk)?;
        }
        append_durably(disk, &self.path, line.as_bytes())?;
        if std::mem::take(&mut self.is_new) {
            sync_parent(disk, &self.path)?;
        }
        Ok(())
    }
}

fn line(vault: &Vault, namespace: &str, key: &str, value: Option<&Value>) -> Result<String, Error> {
    let (mut text, mut hex) = (None, None);
    if let Some(value) = value {
        let bytes = vault.seal_bytes(Bound::Value(namespace, key), &value.bytes)?;
        match std::str::from_utf8(&bytes) {
            Ok(utf8) => text = Some(utf8.to_owned()),
            Err(_) => hex = Some(bytes.iter().map(|byte| format!("{byte:02x}")).collect()),
        }
    }
    let expires_at = value.and_then(|value| value.expires_at);
    let line = ValueRecord { namespace: namespace.to_owned(), key: key.to_owned(), text, hex, expires_at };
    let json = serde_json::to_string(&line).map_err(|error| Error::unavailable("writing a value", error))?;
    // A line begins on its own, whatever a failed write has left of the one before.
    Ok(format!("\n{}\n", framed::close(&json)))
}

fn read(line: &[u8]) -> Result<ValueRecord, String> {
    let line = std::str::from_utf8(line).map_err(|error| error.to_string())?;
    serde_json::from_str(&framed::open(line)?).map_err(|error| error.to_string())
}

fn unhex(hex: &str) -> Option<Vec<u8>> {
    let digits = hex.as_bytes();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.len().is_multiple_of(2).then(|| digits.chunks(2).map(byte).collect())?
}
