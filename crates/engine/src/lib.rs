//! The road of a message through Segue.
//!
//! [`Engine::receive`] takes a message along the one road there is: route, command, decide, commit. The
//! rules are in `segue-core`, the log is in `segue-store`; this crate joins them.

mod beside;
mod clip;
pub mod clock;
pub mod commands;
mod commit;
pub mod config;
pub mod context;
pub mod control;
mod effects;
mod engine;
mod erasure;
pub mod error;
mod gists;
pub mod history;
pub mod inbound;
mod meaning;
pub mod memory;
mod mind;
pub mod models;
mod naming;
mod observe;
mod opinion;
pub mod outcome;
pub mod persona;
pub mod pins;
pub mod port;
pub mod recall;
pub mod request;
pub mod retention;
pub mod route;
mod senses;
pub mod shapes;
pub mod skills;
mod states;
mod task_recall;
pub mod tasks;
mod telling;
pub mod titles;
pub mod words;

pub use engine::Engine;
pub use erasure::Erasure;
pub use error::Error;
pub use inbound::{Inbound, Target};
pub use outcome::{Delivery, Outcome};
pub use request::{Pick, Request};
