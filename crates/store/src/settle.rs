//! Appending until the outcome is known.

use crate::error::Error;
use crate::store::Store;
use crate::types::Append;
use std::time::Duration;

/// How often an append is sent again whose acknowledgement was lost, and how long to wait before, at first.
const TRIES_MAX: u32 = 6;
const WAIT_FIRST: Duration = Duration::from_millis(5);

/// Appends, and settles an unknown outcome: it asks for the append, and sends it again if it is not there. The append has
/// an id, so it is never written twice, with or without a message id.
///
/// [`Error::Unknown`] only if the store does not answer for several tries.
pub async fn append(store: &dyn Store, append: Append) -> Result<(), Error> {
    let (scope, after, id) = (append.scope().clone(), append.prior.head, append.id);
    let mut wait = WAIT_FIRST;
    let mut lost = match store.append(append.clone()).await {
        Err(lost @ Error::Unknown { .. }) => lost,
        known => return known,
    };
    for _ in 0..TRIES_MAX {
        pause(wait).await;
        wait *= 2;
        match store.appended(&scope, after, id).await {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            Err(_) => continue,
        }
        lost = match store.append(append.clone()).await {
            Err(lost @ Error::Unknown { .. }) => lost,
            known => return known,
        };
    }
    Err(lost)
}

/// Appends one after the other as [`append_many`](crate::Log::append_many) does, and settles unknown outcomes.
pub async fn append_many(store: &dyn Store, appends: Vec<Append>) -> (usize, Result<(), Error>) {
    let (mut written, done) = store.append_many(appends.clone()).await;
    if !matches!(done, Err(Error::Unknown { .. })) {
        return (written, done);
    }
    for rest in appends.into_iter().skip(written) {
        if let Err(error) = append(store, rest).await {
            return (written, Err(error));
        }
        written += 1;
    }
    (written, Ok(()))
}

/// Waits on a thread that may: not every runtime has a timer.
async fn pause(time: Duration) {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    let waited = tokio::task::spawn_blocking(move || never.recv_timeout(time).is_ok());
    drop(waited.await);
}
