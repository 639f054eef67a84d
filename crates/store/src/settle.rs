//! Appending until the outcome is known.

use crate::error::Error;
use crate::store::Store;
use crate::types::Append;
use std::time::Duration;

/// How often an append is sent again whose acknowledgement was lost, and how long to wait before, at first.
const TRIES_MAX: u32 = 6;
const WAIT_FIRST: Duration = Duration::from_millis(5);

/// How long is tried: a store that lets every call wait is not asked for ever.
const SETTLING_MAX: Duration = Duration::from_secs(30);

/// Appends, and settles an unknown outcome: it asks for the append, and sends it again if it is not there. The append has
/// an id, so it is never written twice, with or without a message id.
///
/// [`Error::Unknown`] only if the store does not answer for several tries.
pub async fn append(store: &dyn Store, append: Append) -> Result<(), Error> {
    match store.append(append.clone()).await {
        Err(lost @ Error::Unknown { .. }) => settle(store, append, lost).await,
        known => known,
    }
}

/// Appends one after the other as [`append_many`](crate::Log::append_many) does, and settles unknown outcomes.
pub async fn append_many(store: &dyn Store, appends: Vec<Append>) -> (usize, Result<(), Error>) {
    let (mut written, done) = store.append_many(appends.clone()).await;
    let Err(Error::Unknown { what, why }) = done else { return (written, done) };
    // Any of the rest may be there.
    for rest in appends.into_iter().skip(written) {
        let lost = Error::Unknown { what: what.clone(), why: why.clone() };
        if let Err(error) = settle(store, rest, lost).await {
            return (written, Err(error));
        }
        written += 1;
    }
    (written, Ok(()))
}

/// Finds out what became of an append, and sends it again if it is not there.
///
/// It may have been committed, or may still be under way to be. So an answer counts that holds for the append whenever it was
/// sent: it is there, or its head, its message or its segment keeps it out for ever. A store that is not available now says
/// nothing about what it did before.
async fn settle(store: &dyn Store, append: Append, mut lost: Error) -> Result<(), Error> {
    let (scope, after, id) = (append.scope().clone(), append.prior.head, append.id);
    let began = std::time::Instant::now();
    let mut wait = WAIT_FIRST;
    for _ in 0..TRIES_MAX {
        if began.elapsed() > SETTLING_MAX {
            break;
        }
        pause(wait).await;
        wait *= 2;
        match store.appended(&scope, after, id).await {
            Ok(Some(_)) => return Ok(()),
            Ok(None) => {}
            Err(_) => continue,
        }
        match store.append(append.clone()).await {
            Err(again @ Error::Unknown { .. }) => lost = again,
            known @ (Ok(())
            | Err(Error::Conflict { .. } | Error::Duplicate { .. } | Error::Sealed { .. })) => {
                return known;
            }
            Err(_) => {}
        }
    }
    Err(lost)
}

/// Waits on a thread that may: not every runtime has a timer.
async fn pause(time: Duration) {
    let (_keep, never) = std::sync::mpsc::channel::<()>();
    let waited = tokio::task::spawn_blocking(move || never.recv_timeout(time).is_ok());
    drop(waited.await);
}
