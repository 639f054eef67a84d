//! `segue why`: why the last messages went where they went.

use crate::Exit;
use crate::args::Common;
use crate::{json, setup};
use segue_core::scope;
use segue_engine::words;
use serde_json::Value;

pub async fn run(common: &Common, scope: &scope::Key, last: usize) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let state = engine.state(scope).await?;
    let explained = engine.why(&state, last).await?;
    if common.json {
        json::print(&explained.iter().map(json::explained).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    let language = engine.config().language_for(scope, None).for_text("");
    for explained in &explained {
        println!("{}", words::explained(language, explained, engine.now()));
    }
    Ok(Exit::Done)
}
