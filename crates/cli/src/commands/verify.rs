//! `segue verify`: is the log what was written?

use crate::Exit;
use crate::args::Common;
use crate::{json, paint, setup};
use indicatif::ProgressBar;
use segue_core::scope;
use segue_engine::Engine;
use segue_store::Page;
use segue_store::verify::verify;
use serde_json::json;
use std::io::IsTerminal;

/// How many scopes are listed at a time.
const SCOPES_MAX: usize = 500;

pub async fn run(common: &Common, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let mut found = Found::default();
    let bar = if std::io::stderr().is_terminal() && !common.json {
        ProgressBar::no_length().with_message("scopes")
    } else {
        ProgressBar::hidden()
    };
    match scope {
        Some(scope) => {
            engine.state(&scope).await?;
            found.check(&engine, &scope).await?;
        }
        None => {
            found.problems.extend(engine.store().audit(None).await?);
            let mut page = Page::first(SCOPES_MAX);
            loop {
                let rows = engine.store().scopes(&page).await?;
                let Some(last) = rows.last() else { break };
                page.after = Some((last.updated_at, last.scope.clone()));
                for row in &rows {
                    found.check(&engine, &row.scope).await?;
                    bar.inc(1);
                }
            }
        }
    }
    bar.finish_and_clear();
    found.print(common)
}

#[derive(Default)]
struct Found {
    scopes: u64,
    segments: u64,
    entries: u64,
    problems: Vec<String>,
}

impl Found {
    async fn check(&mut self, engine: &Engine, scope: &scope::Key) -> anyhow::Result<()> {
        let report = verify(engine.store().as_ref(), scope).await?;
        self.scopes += 1;
        self.segments += report.segments;
        self.entries += report.entries;
        self.problems.extend(report.problems.into_iter().map(|problem| format!("{scope}: {problem}")));
        Ok(())
    }

    fn print(self, common: &Common) -> anyhow::Result<Exit> {
        let ok = self.problems.is_empty();
        let Self { scopes, segments, entries, problems } = self;
        if common.json {
            json::print(&json!({
                "ok": ok, "scopes": scopes, "segments": segments, "entries": entries, "problems": problems,
            }))?;
        } else {
            for problem in &problems {
                println!("{problem}");
            }
            let verdict = if ok { paint::user("sound") } else { paint::error("damaged") };
            println!("{verdict}: {scopes} scopes, {segments} segments, {entries} entries checked");
        }
        Ok(if ok { Exit::Done } else { Exit::No })
    }
}
