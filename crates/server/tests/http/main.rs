//! The daemon from outside: a real engine on SQLite, real connections, a scripted model.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod background;
mod bad_input;
mod boundaries;
mod bounds;
mod chat;
mod description;
mod erasure;
mod events;
mod harness;
mod items;
mod native;
mod nodes;
mod own;
mod pass_through;
mod raw;
mod repeats;
mod replies;
mod responses;
mod speakers;
mod tenants;
mod traces;
mod upstream;
mod whole_history;
