//! The contract, rule by rule. A test that proves a rule carries its id.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod agent_questions;
mod answers;
mod deciding;
mod importing;
mod lifecycle;
mod memory;
mod navigation;
mod nothing_lost;
mod offers;
mod outcomes;
mod promises;
mod recall;
mod retention;
mod script;
mod users;
