//! A turn: what comes in, what is observed about it, what is decided, and its commit.

pub(crate) mod commit;
pub(crate) mod effects;
pub(crate) mod identity;
pub mod inbound;
mod naming;
pub(crate) mod observe;
pub(crate) mod opinion;
pub(crate) mod others;
pub mod request;
mod returns;
