//! `segue why`: why the last messages went where they went.

use crate::args::Common;
use crate::setup;
use crate::{Exit, json, layout, out, paint};
use segue_core::scope;
use segue_engine::words;
use serde_json::Value;

pub async fn run(common: &Common, scope: Option<&scope::Key>, last: usize) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let scope = &setup::scope_or_last(&engine, scope).await?;
    let state = engine.state(scope).await?;
    let explained = engine.why(&state, last).await?;
    if common.json {
        json::print(&explained.iter().map(json::explained).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    if explained.is_empty() {
        out::line("Nothing has been decided here yet.")?;
    }
    let language = engine.config().language_for(scope, None).for_text("");
    let zone = engine.config().time_zone_for(scope, None);
    for explained in &explained {
        let decision = &explained.decision;
        let at = layout::time(explained.at, &zone);
        let session = words::session_named(language, explained.session.number, explained.title.as_deref());
        let session = layout::printable(&session);
        let (action, cause) = (decision.action.name().replace('_', " "), decision.cause);
        out::line(format!("{}  {}", paint::dim(at), paint::strong(format!("{action}: {session}"))))?;
        indented(&words::subject(language, explained))?;
        for reason in &decision.reasons {
            indented(&words::reason(language, reason))?;
        }
        // How sure that makes it is in the JSON: the reasons have figures of their own.
        let policy = &decision.policy;
        indented(&format!("Cause: {cause}, policy {policy}."))?;
    }
    Ok(Exit::Done)
}

fn indented(text: &str) -> std::io::Result<()> {
    let mut lines = layout::wrap(text, layout::width() - 2).into_iter();
    lines.try_for_each(|line| out::line(format!("  {line}")))
}
