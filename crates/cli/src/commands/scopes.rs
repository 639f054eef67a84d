//! `segue scopes`: what is in the store.

use crate::Exit;
use crate::args::Common;
use crate::layout::{padded, time};
use crate::setup;
use crate::{json, out, paint};
use segue_core::session::Key;
use segue_store::{Page, ScopePage, ScopeRow, redacted};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

pub async fn run(common: &Common, limit: usize) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let ScopePage { rows, next } = engine.store().scopes(&Page::first(limit)).await?;
    if common.json {
        json::print(&rows.iter().map(row).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        let url = Some(&engine.config().store_url).filter(|url| !url.starts_with("memory:"));
        let fills = url.map(|url| format!(" `segue chat --store {}` begins a conversation.", redacted(url)));
        out::line(format!("The store is empty.{}", fills.unwrap_or_default()))?;
        return Ok(Exit::Done);
    }
    let width = rows.iter().map(|row| row.scope.as_str().width()).max().unwrap_or(0).max("scope".len());
    let head = format!("{}  sessions  messages  last written", padded("scope", width));
    out::line(paint::dim(head))?;
    for row in &rows {
        let zone = engine.config().time_zone_for(&row.scope, None);
        let (scope, at) = (padded(row.scope.as_str(), width), time(row.updated_at, &zone));
        out::line(format!("{scope}  {:>8}  {:>8}  {at}", row.sessions, row.messages))?;
    }
    // A list that was cut must not look like a whole one.
    if next.is_some() {
        out::line(paint::dim(format!("The newest {limit}; --limit N shows more.")))?;
    }
    Ok(Exit::Done)
}

fn row(row: &ScopeRow) -> Value {
    json!({
        "scope": row.scope.as_str(),
        "active": row.active.map(|number| Key::new(row.scope.clone(), number).to_string()),
        "sessions": row.sessions,
        "messages": row.messages,
        "updated_at": row.updated_at.to_string(),
    })
}
