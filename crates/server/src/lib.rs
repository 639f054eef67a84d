//! The daemon of Segue: its own HTTP interface and an OpenAI-compatible one, in front of one [`Engine`].
//!
//! Handlers translate; the engine does. [`Server::run`] takes a listener and runs until it is told to stop.
//!
//! [`Engine`]: segue_engine::Engine

mod app;
pub mod auth;
mod body;
mod clocks;
mod connection;
mod description;
mod docs;
mod events;
mod health;
mod idempotency;
mod ids;
mod metrics;
mod observe;
mod openai;
mod own;
mod problem;
mod server;
mod traces;
mod turns;
pub mod values;
mod words;
mod workers;

pub use app::{Keys, Options};
pub use server::{Handle, Server, StartError};
