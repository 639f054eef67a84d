//! Work that is done away from the threads that answer.

use tokio::runtime::Handle;

/// Does some work, at once, away from the threads that answer, where there are others. Nothing if it fails.
pub(crate) fn away<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Option<T>> {
    let begun = match Handle::try_current() {
        Ok(runtime) => Ok(runtime.spawn_blocking(work)),
        Err(_) => Err(work()),
    };
    async {
        match begun {
            Ok(begun) => begun.await.ok(),
            Err(done) => Some(done),
        }
    }
}
