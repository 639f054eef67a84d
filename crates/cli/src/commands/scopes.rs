//! `segue scopes`: what is in the store.

use crate::Exit;
use crate::args::Common;
use crate::{json, paint, setup};
use segue_core::session::Key;
use segue_engine::words;
use segue_store::{Page, ScopeRow};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;

pub async fn run(common: &Common, limit: usize) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let rows = engine.store().scopes(&Page::first(limit)).await?;
    let active = |row: &ScopeRow| row.active.map(|number| Key::new(row.scope.clone(), number).to_string());
    if common.json {
        let value = |row: &ScopeRow| {
            json!({
                "scope": row.scope.as_str(),
                "active": active(row),
                "sessions": row.sessions,
                "messages": row.messages,
                "updated_at": row.updated_at.to_string(),
            })
        };
        json::print(&rows.iter().map(value).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    if rows.is_empty() {
        println!("The store is empty. `segue replay FILE --store {}` fills it.", engine.config().store_url);
        return Ok(Exit::Done);
    }
    let now = engine.now();
    let width = rows.iter().map(|row| row.scope.as_str().width()).max().unwrap_or(0);
    let fill = |text: &str| " ".repeat(width.saturating_sub(text.width()));
    println!("{}", paint::dim(format!("scope{}  sessions  messages  last written", fill("scope"))));
    for row in &rows {
        let age = i64::try_from(now.duration_since(row.updated_at).as_millis()).unwrap_or(i64::MAX);
        let language = engine.config().language_for(&row.scope, None).for_text("");
        let (scope, age) = (row.scope.as_str(), words::age(language, age));
        println!("{scope}{}  {:>8}  {:>8}  {age}", fill(scope), row.sessions, row.messages);
    }
    Ok(Exit::Done)
}
