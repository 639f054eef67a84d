//! The clients: each sends one request after the other, and remembers what it was told.

use super::history::{Action, Answer, ClientOutcome, History, Operation};
use super::seed::Seed;
use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How often a request whose outcome is unknown is sent again, at most.
const TRIES_MAX: u32 = 8;

/// How many of its messages a client remembers, to erase one of them.
const REMEMBERED_MAX: usize = 50;

/// Somebody who takes requests.
pub trait Target: Send + Sync + 'static {
    /// Sends a request to one of the nodes.
    fn send(&self, node: usize, operation: &Operation) -> impl Future<Output = Answer> + Send;

    /// Returns how many nodes there are.
    fn nodes(&self) -> usize;

    /// Returns the microseconds since some moment.
    fn now_us(&self) -> u64;
}

/// Names a scope.
pub fn scope(n: usize) -> String {
    format!("agent:main:torture:direct:s{n}")
}

/// What a client remembers of what it was told.
#[derive(Debug, Default)]
struct Memory {
    /// Messages that were acknowledged: scope, id, place.
    said: Vec<(String, String, u64)>,
    /// The session of the last message in each scope.
    sessions: HashMap<String, String>,
}

impl Memory {
    fn take_in(&mut self, operation: &Operation, answer: &Answer) {
        if answer.told != ClientOutcome::Acknowledged || operation.action != Action::Message {
            return;
        }
        if let Some(session) = &answer.session {
            self.sessions.insert(operation.scope.clone(), session.clone());
        }
        // A command is no message that could be erased.
        if let Some(seq) = answer.seq.filter(|_| !operation.text.starts_with('/')) {
            if self.said.len() >= REMEMBERED_MAX {
                self.said.remove(0);
            }
            self.said.push((operation.scope.clone(), operation.id.clone(), seq));
        }
    }
}

/// Talks until it is told to stop, or until so many requests are sent.
pub async fn talk<T: Target>(
    target: Arc<T>,
    history: Arc<History>,
    client: usize,
    scopes: usize,
    count: usize,
    stopped: Arc<AtomicBool>,
) {
    let mut seed = Seed::new(client as u64 + 1);
    let mut memory = Memory::default();
    for n in 0..count {
        if stopped.load(Ordering::Relaxed) {
            return;
        }
        // Every other request goes to one scope, so that nodes get in each other's way there.
        let name = scope(if seed.below(2) == 0 { 0 } else { seed.below(scopes) });
        let (action, scope, text) = choose(&mut seed, &mut memory, name, client, n);
        let mut operation = Operation {
            client,
            action,
            // Without a colon: an id that has one is kept with a mark in front of it.
            id: format!("{}/{client}/{n}", scope.replace(':', ".")),
            scope,
            text,
            invoked_us: target.now_us(),
            ended_us: 0,
            tries: 0,
            told: ClientOutcome::Unknown,
            seq: None,
        };
        // Some give up early: then it may be there, or not.
        let tries_max =
            if operation.action.is_repeatable() { 1 + seed.below(TRIES_MAX as usize) as u32 } else { 1 };
        while operation.told == ClientOutcome::Unknown && operation.tries < tries_max {
            operation.tries += 1;
            let answer = target.send(seed.below(target.nodes()), &operation).await;
            memory.take_in(&operation, &answer);
            operation.seq = answer.seq;
            // Refused once, it may still be there by an earlier try.
            operation.told = if answer.told == ClientOutcome::Failed && operation.tries > 1 {
                ClientOutcome::Unknown
            } else {
                answer.told
            };
        }
        operation.ended_us = target.now_us();
        history.add(operation);
    }
}

/// Chooses what to ask for: mostly messages and answers, some commands, work on a task, and now and then an erasure.
fn choose(
    seed: &mut Seed,
    memory: &mut Memory,
    scope: String,
    client: usize,
    n: usize,
) -> (Action, String, String) {
    let words = format!("{scope} client {client} message {n} {}", "x".repeat(seed.below(400)));
    if seed.below(300) == 0 && !memory.said.is_empty() {
        let (scope, id, seq) = memory.said.swap_remove(seed.below(memory.said.len()));
        return (Action::Erase { id, seq }, scope, String::new());
    }
    let (action, text) = match seed.below(80) {
        0 | 1 => (Action::Message, "/new".to_owned()),
        2 | 3 => (Action::Message, "/undo".to_owned()),
        4 => (Action::Message, "/redo".to_owned()),
        5 => (Action::Message, format!("/session resume {}", 1 + seed.below(4))),
        6 => (Action::Message, "/session fork".to_owned()),
        7 => (Action::Task { op: "start" }, words),
        8 => (Action::Task { op: "finish" }, words),
        9 => (Action::Task { op: "flush" }, String::new()),
        10..=14 => (Action::Task { op: "note" }, words),
        15..=29 => match memory.sessions.get(&scope) {
            Some(session) => (Action::Reply { session: session.clone() }, words),
            None => (Action::Message, words),
        },
        _ => (Action::Message, words),
    };
    (action, scope, text)
}
