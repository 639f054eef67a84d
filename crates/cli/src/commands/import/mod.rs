//! `segue import`: conversations from elsewhere, each in a session of its own.

mod database;
mod files;
mod source;
mod take;
mod worktree;

use crate::args::Common;
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use anyhow::bail;
use files::{Found, Others};
use indicatif::{ProgressBar, ProgressStyle};
use segue_core::scope;
use segue_engine::port::{Bad, Format};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use take::{Done, take_over};

/// From how many bytes on it is shown how far an import is.
const BAR_BYTES_MIN: u64 = 1 << 20;

/// How many bad lines of a file are named; the others are counted.
const BAD_MAX: usize = 20;

/// Who brings a hundred conversations along wants to keep them: no backlog is pruned while they come in.
const NO_BACKLOG: [(&str, &str); 1] = [("session.backlog_limit", "1000000")];

pub async fn run(
    common: &Common,
    path: &Path,
    format: Option<Format>,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    let bytes_max = setup::config(common, &[])?.limits.import_bytes_max as u64;
    if path.is_dir() {
        let (found, others) = files::below(path, format, bytes_max)?;
        if found.is_empty() && others.unreadable.is_empty() {
            bail!("there is no transcript below {}: see `segue import --help`", path.display());
        }
        return run_many(common, path, &found, others, scope.as_ref()).await;
    }
    if database::is_one(path) {
        let mut others = Others::default();
        let Some(found) = files::of_database(path, format, bytes_max, &mut others)? else {
            let shown = path.display();
            bail!("{shown} is a database, but none of OpenClaw, Hermes or goose: see `segue import --help`");
        };
        return run_many(common, path, &found, others, scope.as_ref()).await;
    }
    let Some(found) = files::named(path, format, bytes_max)? else {
        let all = Format::ALL.map(Format::name).join(", ");
        bail!("nobody can tell what {} is: name its form with --format ({all})", path.display());
    };
    run_file(common, &found, format, scope.as_ref()).await
}

async fn run_file(
    common: &Common,
    found: &Found,
    format: Option<Format>,
    scope: Option<&scope::Key>,
) -> anyhow::Result<Exit> {
    let engine = setup::engine_with(common, Absent::Make, &NO_BACKLOG).await?;
    let bar = bar(found.bytes, common);
    let done = take_over(&engine, found, scope, &bar).await;
    bar.finish_and_clear();
    let done = done?;
    bad(&done, |line, why| out::warning(format!("line {line}: {why}; it is left out")));
    if common.json {
        json::print(&shape(&done, None))?;
        return Ok(Exit::Done);
    }
    let form = if format.is_some() { String::new() } else { format!(" It was read as {}.", found.format) };
    out::line(format!("{}{form}", sentence(&done)))?;
    let mut sum = Sum::default();
    sum.add(&done);
    out::line(sum.of_records())?;
    Ok(Exit::Done)
}

/// Takes over all transcripts that were found. One that cannot be read is reported, and the others go on.
async fn run_many(
    common: &Common,
    folder: &Path,
    found: &[Found],
    others: Others,
    scope: Option<&scope::Key>,
) -> anyhow::Result<Exit> {
    let engine = setup::engine_with(common, Absent::Make, &NO_BACKLOG).await?;
    let bar = bar(found.iter().map(|file| file.bytes).sum(), common);
    let (mut sum, mut shapes) = (Sum::default(), Vec::new());
    for (path, why) in &others.unreadable {
        let shown = files::shown(path, folder);
        sum.unreadable += 1;
        out::warning(format!("{shown}: {why}; it is left out"));
        shapes.push(json!({ "file": shown, "error": why }));
    }
    for file in found {
        let shown = file.shown(folder);
        let begun = bar.position();
        match take_over(&engine, file, scope, &bar).await {
            Ok(done) => {
                bad(&done, |line, why| {
                    bar.suspend(|| out::warning(format!("{shown}, line {line}: {why}; it is left out")));
                });
                if !common.json {
                    bar.suspend(|| out::line(format!("{shown} ({}): {}", file.format, sentence(&done))))?;
                }
                sum.add(&done);
                shapes.push(shape(&done, Some(&shown)));
            }
            Err(error) => {
                let why = crate::sentence(&error);
                sum.unreadable += 1;
                bar.suspend(|| out::warning(format!("{shown}: {why}; it is left out")));
                shapes.push(json!({ "file": shown, "format": file.format.name(), "error": why }));
            }
        }
        bar.set_position(begun + file.bytes);
    }
    bar.finish_and_clear();
    match common.json {
        true => {
            shapes.extend(not_taken(&others));
            json::print(&shapes)?;
        }
        false => out::line(sum.sentence(found.len(), &others))?,
    }
    Ok(if sum.unreadable == 0 { Exit::Done } else { Exit::No })
}

/// What databases hold that is no conversation.
fn not_taken(others: &Others) -> Option<Value> {
    let Others { empty_sessions, orphans, .. } = others;
    let is_some = *empty_sessions > 0 || *orphans > 0;
    is_some.then(|| json!({ "empty_sessions": empty_sessions, "messages_without_session": orphans }))
}

/// Names what is wrong with a transcript, up to a limit.
fn bad(done: &Done, mut tell: impl FnMut(usize, &str)) {
    let mut all: Vec<&Bad> = done.account.bad.iter().chain(&done.unfit).collect();
    all.sort();
    for Bad { line, why } in all.iter().take(BAD_MAX) {
        tell(*line, why);
    }
    if let Some(next) = all.get(BAD_MAX) {
        let more = all.len() - BAD_MAX;
        tell(next.line, &format!("this one and all further bad ones, {more} in all, are counted only"));
    }
}

/// Says what became of a transcript.
fn sentence(done: &Done) -> String {
    let (taken, known) = (done.sum(|talk| talk.taken), done.sum(|talk| talk.known));
    let given_up = match done.account.given_up() {
        0 => String::new(),
        1 => " One entry of a branch that was given up is left out.".to_owned(),
        n => format!(" {n} entries of branches that were given up are left out."),
    };
    let back = match done.sum(|talk| talk.back) {
        0 => String::new(),
        1 => " One of them had been deleted here, and is back.".to_owned(),
        n => format!(" {n} of them had been deleted here, and are back."),
    };
    let sessions: Vec<String> =
        done.talks.iter().filter_map(|t| Some(t.session.as_ref()?.to_string())).collect();
    let told = match sessions.as_slice() {
        [] if known > 0 => {
            let were = if known == 1 { "was" } else { "were" };
            format!("{} {were} there already; nothing was changed.", many(known))
        }
        [] => "There is no message in it; nothing was changed.".to_owned(),
        [first, rest @ ..] => {
            let known = if known > 0 { format!("; {} had been there", many(known)) } else { String::new() };
            let others = if rest.is_empty() { String::new() } else { format!(" and {}", rest.join(", ")) };
            format!("Took {} over into {first}{others}{known}.", many(taken))
        }
    };
    told + &back + &given_up
}

fn many(n: usize) -> String {
    plural(n, "message")
}

fn plural(n: usize, what: &str) -> String {
    format!("{n} {what}{}", if n == 1 { "" } else { "s" })
}

fn shape(done: &Done, file: Option<&str>) -> Value {
    let bad: Vec<Value> = (done.account.bad.iter().chain(&done.unfit))
        .map(|Bad { line, why }| json!({ "line": line, "error": why }))
        .collect();
    let first = done.talks.first();
    let talks: Vec<Value> = done.talks.iter().map(talk).collect();
    let account = &done.account;
    let mut value = json!({
        "format": done.format.name(),
        "session": done.talks.iter().find_map(|talk| talk.session.as_ref()).map(ToString::to_string),
        "id": first.and_then(|talk| talk.id.as_deref()),
        "parent": first.and_then(|talk| talk.parent.as_deref()),
        "title": first.and_then(|talk| talk.title.as_deref()),
        "taken": done.sum(|talk| talk.taken),
        "known": done.sum(|talk| talk.known),
        "back": done.sum(|talk| talk.back),
        "bad": bad,
        "passed_over": account.passed_over(),
        "given_up": account.given_up(),
        "records": { "all": account.records, "taken": account.taken, "left_out": account.left_out, "bad": account.bad.len() },
        "sessions": talks,
    });
    if let (Some(file), Value::Object(fields)) = (file, &mut value) {
        fields.insert("file".to_owned(), file.into());
    }
    value
}

fn talk(talk: &take::ImportedConversation) -> Value {
    json!({
        "session": talk.session.as_ref().map(ToString::to_string),
        "id": talk.id,
        "parent": talk.parent,
        "title": talk.title,
        "taken": talk.taken,
        "known": talk.known,
        "back": talk.back,
    })
}

/// What became of all of them.
#[derive(Default)]
struct Sum {
    sessions: usize,
    taken: usize,
    known: usize,
    back: usize,
    bad: usize,
    unreadable: usize,
    records: usize,
    records_taken: usize,
    left_out: BTreeMap<String, usize>,
}

impl Sum {
    fn add(&mut self, done: &Done) {
        self.sessions += done.talks.len();
        self.taken += done.sum(|talk| talk.taken);
        self.known += done.sum(|talk| talk.known);
        self.back += done.sum(|talk| talk.back);
        self.bad += done.account.bad.len() + done.unfit.len();
        self.records += done.account.records;
        self.records_taken += done.account.taken;
        for (reason, n) in &done.account.left_out {
            *self.left_out.entry(reason.clone()).or_default() += n;
        }
    }

    fn sentence(&self, transcripts: usize, others: &Others) -> String {
        let mut told = format!(
            "{}: took {} over, {} had been there",
            plural(transcripts, "transcript"),
            many(self.taken),
            self.known
        );
        if self.back > 0 {
            told.push_str(&format!(", {} of them deleted here and back now", self.back));
        }
        for (n, what) in [(self.bad, "bad line"), (self.unreadable, "unreadable file")] {
            if n > 0 {
                told.push_str(&format!(", left {} out", plural(n, what)));
            }
        }
        told.push('.');
        for (n, what, rest) in [
            (others.files, "other file", ""),
            (others.empty, "empty file", ""),
            (others.empty_sessions, "session", " without messages"),
            (others.orphans, "message", " without a session"),
        ] {
            if n > 0 {
                told.push_str(&format!(" {}{rest}.", plural(n, what)));
            }
        }
        format!("{told}\n{}", self.of_records())
    }

    /// Says what became of every record.
    fn of_records(&self) -> String {
        let reasons: Vec<String> = self.left_out.iter().map(|(reason, n)| format!("{n} {reason}")).collect();
        let all = plural(self.records, "record");
        let mut told = format!("{all}: {} in {}", self.records_taken, plural(self.sessions, "session"));
        if !reasons.is_empty() {
            told.push_str(&format!("; no messages: {}", reasons.join(", ")));
        }
        told + "."
    }
}

/// Shows how far it is, where somebody looks and it takes a while.
fn bar(bytes: u64, common: &Common) -> ProgressBar {
    if bytes < BAR_BYTES_MIN || common.json || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
