//! Models: a small client for OpenAI-compatible endpoints.
//!
//! It asks for one answer ([`Client::complete`]) or for an answer piece by piece ([`Client::stream`]). It
//! reads no environment: keys are handed in, and no proxy is looked for. What went wrong is a [`Failure`],
//! which never holds a word of a person, of a model, or of a key.

#[cfg(not(feature = "models"))]
mod absent;
#[cfg(feature = "models")]
mod client;
#[cfg(feature = "models")]
mod deltas;
mod endpoint;
mod failure;
mod secret;
#[cfg(feature = "models")]
mod sse;
#[cfg(feature = "models")]
mod tls;
mod types;
#[cfg(feature = "models")]
mod wire;

#[cfg(not(feature = "models"))]
pub use absent::Client;
#[cfg(feature = "models")]
pub use client::Client;
#[cfg(feature = "models")]
pub use deltas::Deltas;
pub use endpoint::{CallLimits, Endpoint};
pub use failure::{Failure, Flaw, Trouble, Unusable};
pub use secret::Secret;
pub use types::{Completion, Format, Message, Options, Role, Usage};
