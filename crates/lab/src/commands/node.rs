//! `segue-lab node`: a server whose clock can be wrong.

use crate::args::{Common, Node};
use jiff::SignedDuration;
use segue_core::Timestamp;
use segue_engine::Engine;
use segue_engine::clock::{Clock, RandomIds, SystemClock};
use segue_server::{Options, Server};
use segue_store::Location;
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A clock that is ahead, or behind.
struct Shifted(SignedDuration);

impl Clock for Shifted {
    fn now(&self) -> Timestamp {
        SystemClock.now().saturating_add(self.0).unwrap_or(Timestamp::MAX)
    }

    fn ticks_us(&self) -> u64 {
        SystemClock.ticks_us()
    }
}

pub async fn run(common: &Common, options: &Node) -> anyhow::Result<()> {
    // Unless it is asked for nothing is judged: messages and commands are enough for the store.
    let never = [("lifecycle.auto_route", "never")];
    let config = super::config(common, if options.judge { &[] } else { &never })?;
    let store = options.store.parse::<Location>()?.open()?;
    let clock = Arc::new(Shifted(SignedDuration::from_secs(options.ahead)));
    // A database that is not there yet is waited for, as a supervisor would start the node again.
    let engine = Engine::open(store, config).await?.with(clock, Arc::new(RandomIds));
    let listener = TcpListener::bind(options.addr).await?;
    let server =
        Server::new(Options { engine: Arc::new(engine), keys: Arc::new(|_| None) }, options.addr).await?;
    let (handle, mut terminate) = (server.handle(), signal(SignalKind::terminate())?);
    tokio::spawn(async move {
        terminate.recv().await;
        handle.stop();
    });
    Ok(server.run(listener).await?)
}
