//! `segue sessions list`: the sessions of a scope, newest first.

use crate::args::Common;
use crate::layout::{cut, padded, printable, time};
use crate::setup;
use crate::{Exit, json, layout, out, paint};
use segue_core::scope;
use segue_engine::history::Listed;
use serde_json::Value;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// How wide a title is at least.
const TITLE_WIDTH_MIN: usize = 16;

pub async fn run(common: &Common, scope: Option<&scope::Key>, all: bool) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let typed = scope.map(|scope| format!(" {scope}")).unwrap_or_default();
    let scope = &setup::scope_or_last(&engine, scope).await?;
    let state = engine.state(scope).await?;
    let list = if all { engine.list_all(&state).await? } else { engine.list(&state).await? };
    if common.json {
        json::print(&list.iter().map(json::listed).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(scope, None);
    let rows: Vec<[String; 4]> = list
        .iter()
        .map(|session| {
            [
                format!("#{}", session.number),
                title(session).into_owned(),
                session.messages.to_string(),
                time(session.updated_at, &zone),
            ]
        })
        .collect();
    let heads = ["N", "title", "messages", "last written"];
    out::line(paint::strong(scope))?;
    let wide = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.width());
        cells.chain(heads.get(column).map(|head| head.len())).max().unwrap_or(0)
    };
    let (n, messages, age) = (wide(0), wide(2), wide(3));
    let around = 2 + n + 2 + 2 + messages + 2 + age;
    let title_width = wide(1).min(layout::width().saturating_sub(around).max(TITLE_WIDTH_MIN));
    let line = |mark: char, [number, name, count, ago]: [&str; 4]| {
        let (name, ago) = (padded(&cut(name, title_width), title_width), padded(ago, age));
        format!("{mark} {number:>n$}  {name}  {count:>messages$}  {ago}")
    };
    out::line(paint::dim(line(' ', heads)))?;
    for (row, session) in rows.iter().zip(&list) {
        let cells = row.each_ref().map(String::as_str);
        let mark = if session.active { '*' } else { ' ' };
        let line = line(mark, cells);
        out::line(if session.active { paint::strong(line) } else { line })?;
    }
    let archived = state.all().count().saturating_sub(list.len());
    if archived > 0 {
        out::line(paint::dim(format!("{archived} archived: `segue sessions list{typed} --all`")))?;
    }
    if let Some(shown) = list.iter().find(|session| session.active) {
        // A number means a session of the scope that is meant where none is typed.
        let session = if typed.is_empty() { shown.number.to_string() } else { shown.key.to_string() };
        out::line(paint::dim(format!("`segue sessions show {session}` shows the active one")))?;
    }
    Ok(Exit::Done)
}

/// Names a session: its title or first words. There are none where it is empty or its first words were
/// erased.
pub fn title(session: &Listed) -> Cow<'_, str> {
    match &session.title {
        Some(title) => printable(title),
        None if session.messages == 0 => "(empty)".into(),
        None => "(untitled)".into(),
    }
}
