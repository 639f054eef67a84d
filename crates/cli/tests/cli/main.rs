//! The command line from end to end: the real binary, its whole output, standard error and exit code.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on has failed")]

mod bad_input;
mod bad_stores;
mod chat;
mod chat_endpoint;
mod chat_model;
mod config;
mod doctor;
mod encryption;
mod erasing;
mod examples;
mod golden;
mod help;
mod imports;
mod imports_and_exports;
mod imports_bounds;
mod imports_databases;
mod imports_real;
mod memory;
mod moving;
mod pins;
mod port;
mod reading;
mod readme;
mod recall;
mod replay;
mod retention;
mod sessions;
mod stores;
mod tasks;
mod tasks_bad_input;
mod titles;
mod walk;
mod world;
