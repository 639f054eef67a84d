//! A process is killed between a commit and its acknowledgement, again and again. What is sent again is there once: a
//! message by the id that its channel gave it, a request by the id that its host gave it.

#![allow(unsafe_code, reason = "kills the process that it runs in")]

use crate::{locations, number};
use jiff::tz::TimeZone;
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_engine::config::Config;
use segue_engine::{Delivery, Engine, HostCommand, Inbound, Outcome, Request};
use segue_store::conformance::{Call, Hook, Hooked};
use segue_store::{Error, Location, Store};
use std::process::{Command, Stdio};
use std::sync::Arc;

const STORE: &str = "COMMITTED_STORE";
const ROUND: &str = "COMMITTED_ROUND";
const WHAT: &str = "COMMITTED_WHAT";

/// What is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    /// A message with an id of its channel.
    Message,
    /// A request with an id of its host.
    Request,
}

/// Kills its process behind the first append.
struct Kill;

impl Hook for Kill {
    fn after(&self, call: Call, _: usize) -> Result<(), Error> {
        match call {
            Call::Append | Call::AppendMany => {
                // Nothing is run any more, and nothing is flushed.
                // SAFETY: both calls take plain numbers.
                unsafe { libc::kill(libc::getpid(), libc::SIGKILL) };
                loop {
                    std::thread::park();
                }
            }
            _ => Ok(()),
        }
    }
}

fn scope() -> Key {
    "agent:main:cli:direct:me".parse().unwrap()
}

async fn send(store: Arc<dyn Store>, what: What, round: u64) -> Outcome {
    let engine = Engine::open(store, Config::load(vec![], &TimeZone::UTC).unwrap()).await.unwrap();
    let at: jiff::Timestamp = "2026-03-01T10:00:00Z".parse().unwrap();
    let at = at + jiff::SignedDuration::from_secs(i64::try_from(round).unwrap());
    match what {
        What::Message => {
            let mut inbound = Inbound::user(scope(), at, format!("message {round}"));
            inbound.message.message_id = Some(MessageId(round.to_string()));
            engine.receive(inbound).await.unwrap()
        }
        What::Request => {
            let by = HostCommand { text: "a new session".to_owned(), id: MessageId(round.to_string()) };
            engine.request_once(&scope(), at, &Request::New(None), by).await.unwrap()
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()
}

/// The child's side: does nothing in an ordinary test run.
#[test]
fn is_killed_behind_its_commit() {
    let Ok(store) = std::env::var(STORE) else { return };
    let store: Location = store.parse().unwrap();
    let round = std::env::var(ROUND).unwrap().parse().unwrap();
    let what = if std::env::var(WHAT).unwrap() == "message" { What::Message } else { What::Request };
    runtime().block_on(send(Arc::new(Hooked::new(store.open().unwrap(), Kill)), what, round));
    unreachable!("it was killed before");
}

fn kill_and_send_again(what: What) {
    let rounds = number("SEGUE_CRASHES", 150).div_ceil(5);
    let folder = tempfile::tempdir().unwrap();
    for location in locations(&folder) {
        // A session to begin with: a request is written down where there is one.
        runtime().block_on(send(location.open().unwrap(), What::Message, 0));
        for round in 1..=rounds {
            let _starting = crate::round::STARTING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let status = Command::new(std::env::current_exe().unwrap())
                .args(["--exact", "committed::is_killed_behind_its_commit", "--test-threads=1"])
                .env(STORE, location.to_string())
                .env(ROUND, round.to_string())
                .env(WHAT, if what == What::Message { "message" } else { "request" })
                .stdout(Stdio::null())
                .status()
                .unwrap();
            assert_eq!(status.code(), None, "it was killed: {status}");
            let outcome = runtime().block_on(send(location.open().unwrap(), what, round));
            assert_eq!(outcome.delivery, Delivery::Again, "{location}: round {round} was committed");
        }
        let store = location.open().unwrap();
        runtime().block_on(async {
            let state = store.load(&scope()).await.unwrap().unwrap();
            let (messages, sessions) = (state.messages, u64::from(state.next_session.0 - 1));
            let expected = match what {
                What::Message => (rounds + 1, 1),
                What::Request => (1, rounds + 1),
            };
            assert_eq!((messages, sessions), expected, "{location}: each is there once");
            let report = segue_store::verify::verify(store.as_ref(), &scope()).await.unwrap();
            assert_eq!(report.problems, Vec::<String>::new(), "{location}");
        });
    }
}

#[test]
fn n2_a_message_that_was_committed_and_not_acknowledged_is_there_once() {
    kill_and_send_again(What::Message);
}

#[test]
fn n2_a_request_of_a_host_that_was_committed_and_not_acknowledged_is_done_once() {
    kill_and_send_again(What::Request);
}
