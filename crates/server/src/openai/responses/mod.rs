//! Responses: OpenAI's interface that keeps the conversation on the server's side, which is where Segue keeps it.

pub(crate) mod background;
mod build;
mod create;
mod from_chat;
mod keeper;
mod native;
mod pass;
mod record;
mod replay;
mod translate;

pub(crate) use create::create;
pub(crate) use record::{cancel, delete, input_items, show};
