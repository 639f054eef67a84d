//! Contents that a task holds already: the same file read twice, or the same output, is stored once by its hash.

use crate::engine::Engine;
use crate::error::Error;
use crate::scope::{content, content_mut, stored};
use segue_core::digest::Digest;
use segue_core::entry::Body;
use segue_core::scope::Key;
use segue_core::task::assignment::Assignment;
use segue_core::task::blob::{Blob, StoredContent};
use segue_core::task::identity::TaskId;
use segue_core::task::observation::Observation;
use std::collections::HashSet;

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
        let mut entered = self.scopes.enter(scope).await;
        entered.checked(self.store.as_ref()).await?;
        if entered.contents.of(task.id).is_none() {
            let mut hashes = HashSet::new();
            self.each_after(scope, task.id.0, |record| {
                if let Ok(Body::Observation(observing)) = record.body()
                    && observing.task == task.id
                {
                    hashes.extend(stored(&observing.observation));
                }
            })
            .await?;
            entered.contents.learn(task.id, hashes);
        }
        let Some(hashes) = entered.contents.of(task.id) else { return Ok(()) };
        for blob in observations.iter_mut().filter_map(content_mut) {
            if hashes.contains(&blob.hash) {
                *blob = blob.without_text();
            }
        }
        Ok(())
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
                && blob.kept != StoredContent::Elsewhere
            {
                found = Some(blob.clone());
            }
        })
        .await?;
        Ok(found)
    }
}
