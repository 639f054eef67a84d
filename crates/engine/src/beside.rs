//! Work that goes on beside something else.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::task::{Context, Poll};
use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::oneshot;

/// How much work may wait for the thread. What comes when there is more is done by who waits for it.
const WAITING_MAX: usize = 64;

type Job = Box<dyn FnOnce() + Send>;

/// A thread of an engine that does some work while the store writes. It begins with the first work and ends with the
/// engine.
///
/// A thread of its own, since a task would wait until the runtime's thread that writes is free again.
#[derive(Debug, Default)]
pub(crate) struct Beside(OnceLock<Option<SyncSender<Job>>>);

impl Beside {
    /// Does some work on the thread while the caller waits for something else. If it was not begun by the time that its
    /// outcome is waited for, it is done then and there; so it is on a runtime of one thread.
    pub(crate) fn begin<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> Begun<T> {
        let (done, outcome) = oneshot::channel();
        let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
        let work = Arc::new(Mutex::new(Some(work)));
        let jobs = self.jobs();
        let helper = if jobs.is_some() { Helper::Thread } else { Helper::Nobody };
        if let Some(jobs) = jobs {
            let work = Arc::clone(&work);
            // Where there is no room, who waits does it.
            let _ = jobs.try_send(Box::new(move || {
                if let Some(work) = taken(&work) {
                    let _ = done.send(work());
                }
            }));
        }
        Begun { work, outcome, helper }
    }

    fn jobs(&self) -> Option<&SyncSender<Job>> {
        let flavor = Handle::try_current().ok()?.runtime_flavor();
        if flavor != RuntimeFlavor::MultiThread {
            return None;
        }
        self.0.get_or_init(start).as_ref()
    }
}

fn start() -> Option<SyncSender<Job>> {
    let (jobs, inbox) = sync_channel::<Job>(WAITING_MAX);
    let run = move || {
        for job in inbox {
            // Work that panics is not done, and what is missing is read again; the next one has nothing to do with it.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    };
    let thread = std::thread::Builder::new().name("segue-beside".to_owned()).spawn(run);
    thread.is_ok().then_some(jobs)
}

type Shared<T> = Arc<Mutex<Option<Box<dyn FnOnce() -> T + Send>>>>;

fn taken<T>(work: &Shared<T>) -> Option<Box<dyn FnOnce() -> T + Send>> {
    work.lock().unwrap_or_else(PoisonError::into_inner).take()
}

/// Work that somebody else may have begun. Its outcome is nothing if it was broken off.
pub(crate) struct Begun<T> {
    work: Shared<T>,
    outcome: oneshot::Receiver<T>,
    helper: Helper,
}

/// Who does some work if nobody waits for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Helper {
    Thread,
    Nobody,
}

impl<T> Begun<T> {
    /// Sees to it that the work is done without being waited for, so that what it needs is not kept for long.
    pub(crate) fn settled(mut self) -> Self {
        if self.helper == Helper::Nobody
            && let Some(work) = taken(&self.work)
        {
            let (done, outcome) = oneshot::channel();
            let _ = done.send(work());
            self.outcome = outcome;
        }
        self
    }
}

impl<T> fmt::Debug for Begun<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Begun").finish_non_exhaustive()
    }
}

impl<T> Future for Begun<T> {
    type Output = Option<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<T>> {
        match taken(&self.work) {
            Some(work) => Poll::Ready(Some(work())),
            None => Pin::new(&mut self.outcome).poll(context).map(Result::ok),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn on(runtime: &mut tokio::runtime::Builder, work: impl FnOnce() -> u32 + Send + 'static) -> Option<u32> {
        let runtime = runtime.build().unwrap();
        runtime.block_on(async {
            let beside = Beside::default();
            beside.begin(work).await
        })
    }

    #[test]
    fn work_is_done_once_wherever_it_is_done() {
        assert_eq!(on(&mut tokio::runtime::Builder::new_current_thread(), || 7), Some(7));
        assert_eq!(on(&mut tokio::runtime::Builder::new_multi_thread(), || 7), Some(7));
    }

    #[test]
    fn work_that_was_begun_is_waited_for() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let (begun, begins) = std::sync::mpsc::channel();
        let outcome = runtime.block_on(async {
            let beside = Beside::default();
            let work = beside.begin(move || begun.send(()).map(|()| std::thread::current().id()));
            begins.recv().unwrap();
            work.await
        });
        assert_ne!(outcome.unwrap().unwrap(), std::thread::current().id());
    }

    #[test]
    fn work_is_not_put_off_where_nobody_else_does_it() {
        let (done, was_done) = std::sync::mpsc::channel();
        let work = Beside::default().begin(move || done.send(()).is_ok());
        assert!(was_done.try_recv().is_err());
        let work = work.settled();
        assert!(was_done.try_recv().is_ok());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        assert_eq!(runtime.block_on(work), Some(true));
    }

    #[test]
    fn work_that_is_not_wanted_any_more_does_no_harm() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        runtime.block_on(async {
            let beside = Beside::default();
            for nth in 0..10 * WAITING_MAX {
                drop(beside.begin(move || nth));
            }
            assert_eq!(beside.begin(|| 8).await, Some(8));
        });
    }
}
