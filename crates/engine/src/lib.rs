//! The road of a message through Segue.
//!
//! A part of Segue. Programs add the crate `segue`; what is public here is for the other parts, and changes without notice.
//!
//! [`Engine::receive`] takes a message along the one road there is: route, command, decide, commit. The
//! rules are in `segue-core`, the log is in `segue-store`; this crate joins them.

mod background;
pub mod clock;
pub mod commands;
pub mod config;
pub mod context;
pub mod control;
mod dry_run;
mod engine;
pub mod error;
pub mod history;
pub mod models;
mod open;
pub mod outcome;
pub mod pins;
pub mod port;
pub mod recall;
pub mod route;
mod scope;
pub mod shapes;
pub mod skills;
pub mod tasks;
mod turn;
mod upkeep;
pub mod words;

pub use engine::Engine;
pub use error::Error;
pub use history::titles;
pub use outcome::{Choice, Delivery, Outcome, Question};
pub use pins::persona;
pub use scope::CacheCounters;
pub use turn::inbound::{self, Inbound, Target};
pub use turn::request::{self, HostCommand, Pick, Request};
pub use upkeep::erasure::Erasure;
pub use upkeep::{memory, retention};
