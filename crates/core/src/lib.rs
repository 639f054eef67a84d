//! The words and rules of Segue.
//!
//! A part of Segue. Programs add the crate `segue`; what is public here is for the other parts, and changes without notice.
//!
//! The heart is two pure functions: [`decide`](decide::decide) turns a command into entries or a
//! refusal, [`evolve`](evolve::evolve) folds an entry into the state of a scope. Time and fresh ids
//! come in as arguments; nothing here reads a clock, a file or a socket.

pub mod decide;
pub mod decision;
pub mod digest;
mod draft;
pub mod effect;
pub mod entry;
pub mod erasure;
pub mod evidence;
pub mod evolve;
pub mod extras;
pub mod facts;
pub mod freshness;
pub mod matrix;
pub mod memory;
pub mod message;
pub mod notice;
pub mod observed;
pub mod pins;
pub mod policy;
pub mod refusal;
pub mod retention;
mod rules;
pub mod scope;
pub mod segment;
pub mod session;
pub mod shared_map;
pub mod span;
pub mod state;
pub mod task;
pub mod title;
pub mod undo;

pub use jiff::Timestamp;
