//! Syncs are counted, not assumed: a message is one, and so is the reply to it, on the road that a host takes.

#![allow(unsafe_code, reason = "stands in for two functions of the C library, to count their calls")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

use jiff::tz::TimeZone;
use segue_core::message::{Message, Role};
use segue_engine::config::Config;
use segue_engine::{Engine, Inbound, Request};
use segue_store::Location;
use std::ffi::c_int;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

static SYNCS: AtomicU64 = AtomicU64::new(0);

fn sync(call: libc::c_long, file: c_int) -> c_int {
    SYNCS.fetch_add(1, SeqCst);
    // SAFETY: both system calls take one file descriptor, whatever it is worth, and no memory.
    unsafe { libc::syscall(call, file) as c_int }
}

// SAFETY: the names and types are those of the C library, and so is what they do.
#[unsafe(no_mangle)]
extern "C" fn fsync(file: c_int) -> c_int {
    sync(libc::SYS_fsync, file)
}

// SAFETY: as above.
#[unsafe(no_mangle)]
extern "C" fn fdatasync(file: c_int) -> c_int {
    sync(libc::SYS_fdatasync, file)
}

async fn syncs_of<T>(work: impl Future<Output = T>) -> (u64, T) {
    let before = SYNCS.load(SeqCst);
    let done = work.await;
    (SYNCS.load(SeqCst) - before, done)
}

#[test]
fn a_message_is_one_sync_and_so_is_its_reply() {
    let folder = tempfile::tempdir().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let location = Location::Sqlite(folder.path().join("segue.db"));
        let config = Config::load(vec![], &TimeZone::UTC).unwrap();
        let engine = Engine::open(location.open().unwrap(), config).await.unwrap();
        let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
        let texts = ["Which hotel in Lisbon has a garden?", "And a pool?", "Is it quiet?", "How far is it?"];
        for (minute, text) in texts.into_iter().enumerate() {
            let at: jiff::Timestamp = format!("2026-03-01T10:{minute:02}:00Z").parse().unwrap();
            let (message, outcome) =
                syncs_of(Box::pin(engine.receive(Inbound::user(scope.clone(), at, text)))).await;
            let outcome = outcome.unwrap();
            let (context, _) = syncs_of(engine.context(&scope)).await;
            let reply = Request::Reply(Role::Assistant, Message::text("The Olissippo."), outcome.session);
            let (replied, _) = syncs_of(Box::pin(engine.request(&scope, at, &reply))).await;
            assert_eq!(context, 0, "to look at it is none");
            // The first message also makes what is there once for all.
            if minute > 0 {
                assert_eq!((message, replied), (1, 1), "{text}");
            }
        }
    });
}
