//! What stands for a client in a build without the feature `models`: it cannot be made.

use super::failure::{Failure, Unusable};
use super::secret::Secret;
use super::types::{Completion, Message, Options};
use crate::config;

/// A client of a model; this build has none.
#[derive(Debug, Clone, Copy)]
pub enum Client {}

impl Client {
    /// Says that this build has no clients.
    pub fn new(_: &config::Model, _: Option<&Secret>) -> Result<Self, Failure> {
        Err(Failure::Unusable(Unusable::NotBuiltIn))
    }

    /// Says that this build has no clients.
    pub fn with_keys(model: &config::Model, _: &dyn Fn(&str) -> Option<String>) -> Result<Self, Failure> {
        Self::new(model, None)
    }

    /// Cannot be called: there is no client.
    pub async fn complete(&self, _: &[Message], _: &Options) -> Result<Completion, Failure> {
        match *self {}
    }
}
