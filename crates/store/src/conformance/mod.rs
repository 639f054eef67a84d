//! For tests of stores and of what is built on them.

mod hooked;

pub use hooked::{Call, Hook, Hooked};
