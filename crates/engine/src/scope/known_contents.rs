//! Contents that a task holds already: the same file read twice, or the same output, is stored once by its hash.

use super::change::{Change, Loses};
use segue_core::digest::Digest;
use segue_core::task::blob::{Blob, StoredContent};
use segue_core::task::identity::TaskId;
use segue_core::task::observation::Observation;
use std::collections::{HashMap, HashSet};

/// Contents up to so many bytes are kept where they are: a reference would not be shorter.
const SMALL_BYTES_MAX: u64 = 256;

/// Of how many tasks of a scope the contents are known at a time.
const TASKS_MAX: usize = 8;

/// About how many bytes a hash takes in memory.
const HASH_BYTES: usize = 64;

/// The contents that are known to be in the log, by task.
#[derive(Debug, Default)]
pub(crate) struct KnownContents(HashMap<TaskId, HashSet<Digest>>);

impl KnownContents {
    /// Returns the contents of a task, if they were read.
    pub(crate) fn of(&self, task: TaskId) -> Option<&HashSet<Digest>> {
        self.0.get(&task)
    }

    /// Keeps what was read of a task.
    pub(crate) fn learn(&mut self, task: TaskId, hashes: HashSet<Digest>) {
        if self.0.len() >= TASKS_MAX {
            // Whose task goes on is read again.
            self.0.clear();
        }
        self.0.insert(task, hashes);
    }

    /// Takes in what was written. Where something is dropped or erased, it may have been the only copy.
    pub(super) fn apply(&mut self, change: &Change) {
        if change.loses == Loses::Something {
            self.0.clear();
        } else if let Some((task, hashes)) = &change.contents
            && let Some(known) = self.0.get_mut(task)
        {
            known.extend(hashes);
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.0.values().map(|hashes| hashes.len() * HASH_BYTES).sum()
    }
}

pub(crate) fn content(observation: &Observation) -> Option<&Blob> {
    match observation {
        Observation::FileRead { content, .. }
        | Observation::FileWrite { content, .. }
        | Observation::Command { output: content, .. } => Some(content),
        Observation::Note(_) | Observation::Plan { .. } | Observation::Relations { .. } => None,
    }
}

pub(crate) fn content_mut(observation: &mut Observation) -> Option<&mut Blob> {
    match observation {
        Observation::FileRead { content, .. }
        | Observation::FileWrite { content, .. }
        | Observation::Command { output: content, .. } => Some(content),
        Observation::Note(_) | Observation::Plan { .. } | Observation::Relations { .. } => None,
    }
}

/// Returns the hash of a content that is stored with an observation and is worth a reference.
pub(crate) fn stored(observation: &Observation) -> Option<Digest> {
    let blob = content(observation)?;
    (blob.kept != StoredContent::Elsewhere && blob.bytes > SMALL_BYTES_MAX).then_some(blob.hash)
}
