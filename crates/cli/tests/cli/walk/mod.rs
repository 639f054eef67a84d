//! A walk through everything that a new user met at first contact, finding by finding: `fcNN_...` shows what they expected of
//! finding NN. Findings 6 and 7 are examples of judgement; how good that is in general is measured by `segue-lab quality`.

mod backlog;
mod bot;
mod command_line;
mod copies;
mod imports;
mod model;
mod numbers;
mod terminal;
mod topics;
mod words;

use crate::world::{Ran, World};
use serde_json::{Value, json};

/// Where the walk talks, unless it is said otherwise.
pub const ANN: &str = "agent:main:telegram:direct:ann";

/// A world with a store.
fn world() -> World {
    World::new().variable("SEGUE_STORE_URL", "sqlite:log.db")
}

/// Says things at given times (`1T10:00:00 user: hello` is the first day, at ten), and returns what came of each.
fn play(world: &World, script: &str) -> Vec<Value> {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let (at, rest) = line.split_once(' ').unwrap();
        let (day, time) = at.split_once('T').unwrap();
        let (role, text) = rest.split_once(": ").unwrap();
        let at = format!("2026-03-{day:0>2}T{time}Z");
        format!("{}\n", json!({ "at": at, "scope": ANN, "role": role, "text": text }))
    });
    let lines: String = lines.collect();
    let ran = world.run_with(&["replay", "-", "--json", "--store", "sqlite:log.db"], lines.as_bytes());
    ran.expect_code(0).json_lines()
}

/// Pipes lines into a chat of ours, at the machine's own time.
fn chat(world: &World, more: &[&str], said: &str) -> Ran {
    let chat = ["chat", "--scope", ANN];
    world.run_with(&[&chat, more].concat(), said.as_bytes()).expect_code(0)
}

/// The sessions, archived ones too, newest first.
fn list(world: &World) -> Vec<Value> {
    let listed = world.run(&["sessions", "list", ANN, "--all", "--json"]).expect_code(0).json();
    listed.as_array().unwrap().clone()
}

/// What a session holds, each message as `role: text`.
fn said_in(world: &World, session: u64) -> Vec<String> {
    let key = if session == 1 { ANN.to_owned() } else { format!("{ANN}#{session}") };
    let shown = world.run(&["sessions", "show", &key, "--json"]).expect_code(0).json();
    let text = |m: &Value| format!("{}: {}", m["role"].as_str().unwrap(), m["content"].as_str().unwrap());
    shown["conversation_state"].as_array().unwrap().iter().map(text).collect()
}

/// The number of the session that an outcome is about.
fn session(outcome: &Value) -> u64 {
    let key = outcome["session"].as_str().unwrap();
    key.rsplit_once('#').map_or(1, |(_, number)| number.parse().unwrap())
}

/// What an outcome has to say to the person.
fn told(outcome: &Value) -> String {
    let part = |name: &str| outcome[name].as_str().map(str::to_owned);
    part("reply").or_else(|| part("notice")).unwrap_or_default()
}
