//! What comes in: a message, and where it comes from.

use crate::route::Address;
use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_core::scope;
use segue_core::session::Number;

/// Where a message falls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// The host has routed it.
    Scope(scope::Key),
    /// It is to be routed.
    Address(Address),
}

/// A message that comes in.
#[derive(Debug, Clone, PartialEq)]
pub struct Inbound {
    /// When it was sent.
    pub at: Timestamp,
    /// Where it falls.
    pub to: Target,
    /// Who speaks.
    pub role: Role,
    /// What is said.
    pub message: Message,
    /// The session that a reply was made for; the latest one if nothing is said.
    pub session: Option<Number>,
}

impl Inbound {
    /// Makes a message of the person to a scope.
    pub fn user(scope: scope::Key, at: Timestamp, text: impl Into<String>) -> Self {
        let message = Message::text(text);
        Self { at, to: Target::Scope(scope), role: Role::User, message, session: None }
    }
}
