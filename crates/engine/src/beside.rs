//! Work that goes on beside something else.

use std::future::Future;
use tokio::runtime::{Handle, RuntimeFlavor};

/// Does some work on another thread, where there is one to do it, while the caller waits for something else. On a
/// runtime of one thread it is done when it is waited for.
pub(crate) fn beside<T: Send + 'static>(
    work: impl FnOnce() -> Option<T> + Send + 'static,
) -> impl Future<Output = Option<T>> {
    let handle = Handle::try_current().ok();
    let handle = handle.filter(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    let begun = match handle {
        Some(handle) => Ok(handle.spawn(async { work() })),
        None => Err(work),
    };
    async {
        match begun {
            // Work that was broken off is not done, and what is missing is read again.
            Ok(task) => task.await.ok().flatten(),
            Err(work) => work(),
        }
    }
}
