//! Work that nobody waits for.

use std::sync::OnceLock;
use std::sync::mpsc::{SyncSender, sync_channel};
use tokio::runtime::{Handle, RuntimeFlavor};

/// How much work may wait for the thread. What comes when there is more is left to who needs its outcome.
const WAITING_MAX: usize = 64;

type Job = Box<dyn FnOnce() + Send>;

/// A thread of an engine that gets some work done while the store writes. It begins with the first work and ends with the
/// engine.
///
/// A thread of its own, since a task would wait until the runtime's thread that writes is free again. To wake it takes
/// some 10 µs: it is for what comes once in some turns.
#[derive(Debug, Default)]
pub(crate) struct Beside(OnceLock<Option<SyncSender<Job>>>);

impl Beside {
    /// Has some work done on the thread, if there is one and it has time. On a runtime of one thread nobody is disturbed:
    /// there who needs the outcome does the work.
    pub(crate) fn begin(&self, work: impl FnOnce() + Send + 'static) {
        let flavor = Handle::try_current().map(|handle| handle.runtime_flavor());
        if let Ok(RuntimeFlavor::MultiThread) = flavor
            && let Some(jobs) = self.0.get_or_init(start)
        {
            let _ = jobs.try_send(Box::new(work));
        }
    }
}

fn start() -> Option<SyncSender<Job>> {
    let (jobs, inbox) = sync_channel::<Job>(WAITING_MAX);
    let run = move || {
        for job in inbox {
            // Work that panics is not done, and is left to who needs it; the next one has nothing to do with it.
            let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job));
        }
    };
    let thread = std::thread::Builder::new().name("segue-beside".to_owned()).spawn(run);
    thread.is_ok().then_some(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn work_is_done_by_another_thread() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let (done, outcome) = channel();
        let beside = Beside::default();
        runtime.block_on(async { beside.begin(move || done.send(std::thread::current().id()).unwrap()) });
        assert_ne!(outcome.recv().unwrap(), std::thread::current().id());
    }

    #[test]
    fn where_there_is_one_thread_work_is_left_to_who_needs_it() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (done, outcome) = channel();
        runtime.block_on(async { Beside::default().begin(move || done.send(()).unwrap()) });
        assert!(outcome.recv().is_err());
    }

    #[test]
    fn a_panic_and_too_much_work_do_no_harm() {
        let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
        let beside = Beside::default();
        let (done, outcome) = channel();
        let (go, gate) = channel::<()>();
        runtime.block_on(async {
            beside.begin(|| panic!("this is a test"));
            beside.begin(move || gate.recv().unwrap());
            for _ in 0..2 * WAITING_MAX {
                let done = done.clone();
                beside.begin(move || done.send(()).unwrap());
            }
            go.send(()).unwrap();
        });
        drop(done);
        assert!((WAITING_MAX - 2..=WAITING_MAX + 2).contains(&outcome.iter().count()));
    }
}
