//! Pinned sessions (L-1 to L-11): what a session is held to, what changes it, and what does not.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

mod aside;
mod bad_input;
mod held;
mod home;
mod isolation;
mod life;
