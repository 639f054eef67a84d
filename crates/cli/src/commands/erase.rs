//! `segue erase`: what a message says goes, and the proof still holds.

use super::sessions;
use crate::Exit;
use crate::args::Common;
use crate::setup::{self, Absent};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_engine::Request;

pub async fn run(common: &Common, scope: &scope::Key, messages: Vec<Seq>) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    sessions::ask(common, &engine, scope, &Request::Erase(messages)).await
}
