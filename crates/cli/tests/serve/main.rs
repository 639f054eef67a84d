//! `segue serve` as a process: how it starts, is told something by signals, is killed, and ends.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod kills;
mod process;
mod signals;
