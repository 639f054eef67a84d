//! Models: a small client for OpenAI-compatible endpoints.
//!
//! It asks for one answer ([`Client::complete`]) or for an answer piece by piece ([`Client::stream`]). It
//! reads no environment: keys are handed in, and no proxy is looked for. What went wrong is a [`Failure`],
//! which never holds a word of a person, of a model, or of a key.

mod client;
mod deltas;
mod failure;
mod secret;
mod sse;
mod tls;
mod wire;

pub use client::{ANSWER_BYTES_MAX, Client, Format, Options};
pub use deltas::Deltas;
pub use failure::{Failure, Flaw, Unusable};
pub use secret::Secret;
pub use wire::{Completion, Message, Role, Usage};
