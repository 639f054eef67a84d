//! Contents that a task holds already: the same file read twice, or the same output, is stored once by its hash.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::digest::Digest;
use segue_core::entry::Body;
use segue_core::scope::Key;
use segue_core::task::assignment::Assignment;
use segue_core::task::blob::{Blob, Kept};
use segue_core::task::identity::TaskId;
use segue_core::task::observation::Observation;
use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, PoisonError};

/// Contents up to so many bytes are kept where they are: a reference would not be shorter.
const SMALL_BYTES_MAX: u64 = 256;

/// Of how many tasks the contents are known at a time.
const TASKS_MAX: usize = 64;

type Known = HashMap<(Key, TaskId), HashSet<Digest>>;

/// The contents that are known to be in the log.
#[derive(Debug, Default)]
pub(crate) struct Contents(Mutex<Known>);

impl Contents {
    fn known(&self) -> std::sync::MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn knows(&self, task: &(Key, TaskId)) -> bool {
        self.known().contains_key(task)
    }

    fn learn(&self, task: (Key, TaskId), hashes: impl IntoIterator<Item = Digest>) {
        let mut known = self.known();
        if known.len() >= TASKS_MAX && !known.contains_key(&task) {
            // Any will do: whose task goes on is read again.
            known.clear();
        }
        known.entry(task).or_default().extend(hashes);
    }
}

fn content(observation: &Observation) -> Option<&Blob> {
    match observation {
        Observation::FileRead { content, .. }
        | Observation::FileWrite { content, .. }
        | Observation::Command { output: content, .. } => Some(content),
        Observation::Note(_) | Observation::Plan { .. } | Observation::Relations { .. } => None,
    }
}

fn content_mut(observation: &mut Observation) -> Option<&mut Blob> {
    match observation {
        Observation::FileRead { content, .. }
        | Observation::FileWrite { content, .. }
        | Observation::Command { output: content, .. } => Some(content),
        Observation::Note(_) | Observation::Plan { .. } | Observation::Relations { .. } => None,
    }
}

fn stored(observation: &Observation) -> Option<Digest> {
    let blob = content(observation)?;
    (blob.kept != Kept::Elsewhere && blob.bytes > SMALL_BYTES_MAX).then_some(blob.hash)
}

impl Engine {
    /// Leaves out the contents that the task holds already.
    pub(crate) async fn leave_out_known(
        &self,
        scope: &Key,
        task: &Assignment,
        observations: &mut [Observation],
    ) -> Result<(), Error> {
        if !observations.iter().any(|observation| stored(observation).is_some()) {
            return Ok(());
        }
        let of = (scope.clone(), task.id);
        if !self.contents.knows(&of) {
            let mut hashes = HashSet::new();
            self.each_after(scope, task.id.0, |record| {
                if let Ok(Body::Observation(observing)) = record.body()
                    && observing.task == task.id
                {
                    hashes.extend(stored(&observing.observation));
                }
            })
            .await?;
            self.contents.learn(of.clone(), hashes);
        }
        let known = self.contents.known();
        let Some(hashes) = known.get(&of) else { return Ok(()) };
        for blob in observations.iter_mut().filter_map(content_mut) {
            if hashes.contains(&blob.hash) {
                *blob = blob.without_text();
            }
        }
        Ok(())
    }

    /// Remembers the contents that were written.
    pub(crate) fn remember_contents(&self, scope: &Key, task: TaskId, observations: &[Observation]) {
        self.contents.learn((scope.clone(), task), observations.iter().filter_map(stored));
    }

    /// Finds a content of a task that is stored elsewhere under its hash.
    pub async fn content(&self, scope: &Key, task: TaskId, hash: Digest) -> Result<Option<Blob>, Error> {
        let mut found = None;
        self.each_after(scope, task.0, |record| {
            if found.is_none()
                && let Ok(Body::Observation(observing)) = record.body()
                && observing.task == task
                && let Some(blob) = content(&observing.observation)
                && blob.hash == hash
                && blob.kept != Kept::Elsewhere
            {
                found = Some(blob.clone());
            }
        })
        .await?;
        Ok(found)
    }
}
