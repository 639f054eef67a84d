//! Pins: what a session is held to (L-1 to L-11).
//!
//! When a session opens, agent, skills, persona and model are taken in, in the same append as the opening, and
//! nothing that changes on disk or in the configuration reaches it after that. [`Engine::pinned`](crate::Engine::pinned)
//! reads them back, [`Engine::drift`](crate::Engine::drift) says what is different by now, and a
//! [`Request::Pin`](crate::Request::Pin) takes one of them in anew.

pub(crate) mod capture;
mod drift;
mod host;
pub mod persona;
mod port;
mod read;
mod repin;

pub use drift::{Drifted, How};
pub use host::{Around, Folders, Host};
pub use port::Carried;
pub use read::Pinned;
pub use repin::Repin;
