//! The clients: each sends one message after the other, and remembers what it was told.

use super::history::{History, Operation, Told};
use super::seed::Seed;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a message whose outcome is unknown is sent again, at most.
const TRIES_MAX: u32 = 8;

/// Somebody who takes messages.
pub trait Target: Send + Sync + 'static {
    /// Sends a message to one of the nodes.
    fn send(&self, node: usize, operation: &Operation) -> impl Future<Output = Told> + Send;

    /// Returns how many nodes there are.
    fn nodes(&self) -> usize;

    /// Returns the microseconds since some moment.
    fn now_us(&self) -> u64;
}

/// Names a scope.
pub fn scope(n: usize) -> String {
    format!("agent:main:torture:direct:s{n}")
}

/// Talks until it is told to stop, or until so many messages are sent.
pub async fn talk<T: Target>(
    target: Arc<T>,
    history: Arc<History>,
    client: usize,
    scopes: usize,
    count: usize,
    stopped: Arc<AtomicBool>,
) {
    let mut seed = Seed::new(client as u64 + 1);
    for n in 0..count {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        // Every other message goes to one scope, so that nodes get in each other's way there.
        let scope = scope(if seed.below(2) == 0 { 0 } else { seed.below(scopes) });
        let text = match seed.below(40) {
            0 => "/new".to_owned(),
            1 => "/undo".to_owned(),
            _ => format!("{scope} client {client} message {n} {}", "x".repeat(seed.below(400))),
        };
        let mut operation = Operation {
            client,
            id: format!("{scope}/{client}/{n}"),
            scope,
            text,
            invoked_us: target.now_us(),
            ended_us: 0,
            tries: 0,
            told: Told::Unknown,
        };
        // Some give up early: then it may be there, or not.
        let tries_max = 1 + seed.below(TRIES_MAX as usize) as u32;
        while operation.told == Told::Unknown && operation.tries < tries_max {
            operation.tries += 1;
            let told = target.send(seed.below(target.nodes()), &operation).await;
            // Refused once, it may still be there by an earlier try.
            operation.told = if told == Told::Failed && operation.tries > 1 { Told::Unknown } else { told };
        }
        operation.ended_us = target.now_us();
        history.add(operation);
    }
}
