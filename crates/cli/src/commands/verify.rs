//! `segue verify`: is the log what was written?

use crate::args::Common;
use crate::setup;
use crate::{Exit, json, layout, out, paint};
use anyhow::bail;
use indicatif::ProgressBar;
use segue_core::scope;
use segue_engine::Engine;
use segue_store::verify::verify;
use segue_store::{Error, Page};
use serde_json::json;
use std::io::IsTerminal;

/// How many scopes are listed at a time.
const SCOPES_MAX: usize = 500;

pub async fn run(common: &Common, scope: Option<scope::Key>) -> anyhow::Result<Exit> {
    // To call a store sound that is not there would be a lie.
    let location = setup::locate(&setup::config(common, &[])?.store_url)?;
    if !setup::is_there(&location) {
        bail!("there is no store at {location}: name the one to verify with --store URL");
    }
    let mut found = Found::default();
    match check(common, scope, &mut found).await {
        Ok(()) => {}
        // What is too damaged to be opened or listed is damaged: that is an answer, not a failure.
        Err(error) => match damage(&error) {
            Some(problem) => found.problems.push(problem),
            None => return Err(error),
        },
    }
    found.print(common)
}

async fn check(common: &Common, scope: Option<scope::Key>, found: &mut Found) -> anyhow::Result<()> {
    let engine = setup::reader(common)?;
    if let Some(scope) = scope {
        engine.state(&scope).await?;
        return found.check(&engine, &scope).await;
    }
    found.problems.extend(engine.store().audit(None).await?);
    let bar = if std::io::stderr().is_terminal() && !common.json {
        ProgressBar::no_length().with_message("scopes")
    } else {
        ProgressBar::hidden()
    };
    let mut page = Page::by_key(SCOPES_MAX);
    loop {
        let scopes = engine.store().scopes(&page).await?;
        for row in &scopes.rows {
            found.check(&engine, &row.scope).await?;
            bar.inc(1);
        }
        page.after = scopes.next;
        if page.after.is_none() {
            break;
        }
    }
    bar.finish_and_clear();
    Ok(())
}

/// Tells what is damaged, if that is what is wrong.
fn damage(error: &anyhow::Error) -> Option<String> {
    let of_store = error.chain().find_map(|cause| cause.downcast_ref::<Error>());
    let of_engine = error.chain().find_map(|cause| match cause.downcast_ref() {
        Some(segue_engine::Error::Store(error)) => Some(error),
        _ => None,
    });
    match of_store.or(of_engine) {
        Some(found @ (Error::Damaged { .. } | Error::NewerEntry { .. })) => Some(found.to_string()),
        _ => None,
    }
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
        self.scopes += 1;
        match verify(engine.store().as_ref(), scope).await {
            Ok(report) => {
                self.segments += report.segments;
                self.entries += report.entries;
                let problems = report.problems.into_iter();
                self.problems.extend(problems.map(|problem| format!("{scope}: {problem}")));
            }
            // One scope that cannot be read does not hide the others.
            Err(found @ (Error::Damaged { .. } | Error::NewerEntry { .. })) => {
                self.problems.push(format!("{scope}: {found}"));
            }
            Err(error) => return Err(error.into()),
        }
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
                out::line(layout::printable(problem))?;
            }
            let verdict = if ok { paint::user("sound") } else { paint::bad("damaged") };
            let many = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
            let entries = if entries == 1 { "1 entry".to_owned() } else { format!("{entries} entries") };
            let (scopes, segments) = (many(scopes, "scope"), many(segments, "segment"));
            out::line(format!("{verdict}: {scopes}, {segments}, {entries} checked"))?;
            if !ok {
                out::line(
                    "Nothing was changed. Restore a backup, or keep the store as it is and report it.",
                )?;
            }
        }
        Ok(if ok { Exit::Done } else { Exit::No })
    }
}
