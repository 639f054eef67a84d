//! A turn: what comes in, what is observed about it, what is decided, and its commit.

mod answer;
pub(crate) mod commit;
pub(crate) mod effects;
pub(crate) mod identity;
pub mod inbound;
mod naming;
pub(crate) mod observe;
pub(crate) mod opinion;
pub mod request;
mod returns;
