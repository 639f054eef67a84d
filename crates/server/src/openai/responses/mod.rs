//! Responses: OpenAI's interface that keeps the conversation on the server's side, which is where Segue keeps it.

pub(crate) mod background;
mod build;
mod create;
mod native;
mod record;
mod translate;

pub(crate) use create::create;
pub(crate) use record::{ItemsQuery, cancel, delete, input_items, listed, show};
