//! `segue import`: conversations from elsewhere, each in a session of its own.

mod files;

use crate::args::Common;
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use anyhow::{Context as _, bail};
use files::Found;
use indicatif::{ProgressBar, ProgressStyle};
use segue_core::entry::Seq;
use segue_core::message::{MessageId, Role};
use segue_core::scope;
use segue_core::session::{Id, Key, Title};
use segue_engine::Engine;
use segue_engine::port::{Bad, Conversation, Format, Home, Transcript};
use segue_engine::route::route;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;

/// From how many bytes on it is shown how far an import is.
const BAR_BYTES_MIN: u64 = 1 << 20;

/// What marks the end of a result that was too long.
const CUT_MARK: &str = "\n[segue: cut off here; the whole is in the file that was imported]";

/// Who brings a hundred conversations along wants to keep them: no backlog is pruned while they come in.
const NO_BACKLOG: [(&str, &str); 1] = [("session.backlog_limit", "1000000")];

/// What became of a transcript.
struct Done {
    read: Transcript,
    session: Option<Key>,
    taken: usize,
    known: usize,
}

pub async fn run(
    common: &Common,
    path: &Path,
    format: Option<Format>,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    match path.is_dir() {
        true => run_folder(common, path, format, scope).await,
        false => run_file(common, path, format, scope).await,
    }
}

async fn run_file(
    common: &Common,
    path: &Path,
    format: Option<Format>,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    let (lines, beside) = (files::read(path, u64::MAX)?, files::beside(path));
    let told = format.is_some();
    let Some(format) = format.or_else(|| segue_engine::port::detect(&lines, &beside)) else {
        let all = Format::ALL.map(Format::name).join(", ");
        bail!("nobody can tell what {} is: name its form with --format ({all})", path.display());
    };
    let engine = setup::engine_with(common, Absent::Make, &NO_BACKLOG).await?;
    let read = segue_engine::port::read(format, &lines, &beside, engine.now())?;
    let done = take_over(&engine, read, scope).await?;
    for Bad { line, why } in &done.read.bad {
        out::warning(format!("line {line}: {why}; it is left out"));
    }
    if common.json {
        json::print(&shape(&done, None))?;
        return Ok(Exit::Done);
    }
    let form = if told { String::new() } else { format!(" It was read as {format}.") };
    out::line(format!("{}{form}", sentence(&done)))?;
    Ok(Exit::Done)
}

/// Takes over all transcripts below a folder. One that cannot be read is reported, and the others go on.
async fn run_folder(
    common: &Common,
    folder: &Path,
    format: Option<Format>,
    scope: Option<scope::Key>,
) -> anyhow::Result<Exit> {
    let (found, others) = files::below(folder, format)?;
    if found.is_empty() {
        bail!("there is no transcript below {}: see `segue import --help`", folder.display());
    }
    let engine = setup::engine_with(common, Absent::Make, &NO_BACKLOG).await?;
    let bar = bar(found.iter().map(|file| file.bytes).sum());
    let (mut sum, mut shapes) = (Sum::default(), Vec::new());
    for file in &found {
        let shown = file.path.strip_prefix(folder).unwrap_or(&file.path).display().to_string();
        match one_of_many(&engine, file, scope.clone()).await {
            Ok(done) => {
                for Bad { line, why } in &done.read.bad {
                    bar.suspend(|| out::warning(format!("{shown}, line {line}: {why}; it is left out")));
                }
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
        bar.inc(file.bytes);
    }
    bar.finish_and_clear();
    match common.json {
        true => json::print(&shapes)?,
        false => out::line(sum.sentence(found.len(), others))?,
    }
    Ok(Exit::Done)
}

async fn one_of_many(engine: &Engine, file: &Found, scope: Option<scope::Key>) -> anyhow::Result<Done> {
    let (lines, beside) = (files::read(&file.path, u64::MAX)?, files::beside(&file.path));
    let read = segue_engine::port::read(file.format, &lines, &beside, engine.now())?;
    take_over(engine, read, scope).await
}

/// Takes a transcript over, as far as it was not before.
async fn take_over(engine: &Engine, mut read: Transcript, scope: Option<scope::Key>) -> anyhow::Result<Done> {
    let home = match &read.home {
        Home::Scope(scope) => Some(scope.clone()),
        Home::Address(address) => Some(route(&engine.config().routing, address)),
        Home::Unknown => None,
    };
    let scope = scope.or(home.clone());
    let scope = scope.context("the file names no scope: say where it goes with --scope KEY")?;
    leave_out_unfit(engine, &mut read);
    let at_home = leave_out_known(engine, &scope, &mut read).await?;
    if read.format == Format::Segue && home.is_some_and(|home| home != scope) {
        rename_ids(engine, &mut read);
    }
    let messages = std::mem::take(&mut read.messages);
    let messages = messages.into_iter().map(|taken| (taken.at, taken.role, taken.message)).collect();
    let (title, pins) = (read.title.clone(), read.pins.take());
    let imported = engine.import(&scope, Conversation { title, pins, messages }).await?;
    let (taken, known) = (imported.taken, imported.known + at_home);
    Ok(Done { read, session: imported.session, taken, known })
}

/// Says what became of a transcript.
fn sentence(done: &Done) -> String {
    let (taken, known) = (done.taken, done.known);
    let given_up = match done.read.given_up {
        0 => String::new(),
        1 => " One entry of a branch that was given up is left out.".to_owned(),
        n => format!(" {n} entries of branches that were given up are left out."),
    };
    let told = match &done.session {
        Some(session) => {
            let known = if known > 0 { format!("; {} had been there", many(known)) } else { String::new() };
            format!("Took {} over into {session}{known}.", many(taken))
        }
        None if known > 0 => {
            let were = if known == 1 { "was" } else { "were" };
            format!("{} {were} there already; nothing was changed.", many(known))
        }
        None => "There is no message in it; nothing was changed.".to_owned(),
    };
    told + &given_up
}

fn many(n: usize) -> String {
    format!("{n} message{}", if n == 1 { "" } else { "s" })
}

fn shape(done: &Done, file: Option<&str>) -> Value {
    let Done { read, session, taken, known } = done;
    let bad: Vec<Value> =
        read.bad.iter().map(|Bad { line, why }| json!({ "line": line, "error": why })).collect();
    let mut value = json!({
        "format": read.format.name(),
        "session": session.as_ref().map(ToString::to_string),
        "id": read.id,
        "parent": read.parent,
        "title": read.title.as_ref().map(Title::as_str),
        "taken": taken,
        "known": known,
        "bad": bad,
        "passed_over": read.passed_over,
        "given_up": read.given_up,
    });
    if let (Some(file), Value::Object(fields)) = (file, &mut value) {
        fields.insert("file".to_owned(), file.into());
    }
    value
}

/// What became of all of them.
#[derive(Default)]
struct Sum {
    taken: usize,
    known: usize,
    bad: usize,
    unreadable: usize,
}

impl Sum {
    fn add(&mut self, done: &Done) {
        self.taken += done.taken;
        self.known += done.known;
        self.bad += done.read.bad.len();
    }

    fn sentence(&self, transcripts: usize, others: usize) -> String {
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut told = format!(
            "{}: took {} over, {} had been there",
            plural(transcripts, "transcript"),
            many(self.taken),
            self.known
        );
        for (n, what) in [(self.bad, "bad line"), (self.unreadable, "unreadable file")] {
            if n > 0 {
                told.push_str(&format!(", left {} out", plural(n, what)));
            }
        }
        let others = if others > 0 { format!(" {}.", plural(others, "other file")) } else { String::new() };
        format!("{told}.{others}")
    }
}

/// Leaves out what a message could not be either. A result that is too long is cut: its call must not stand alone.
fn leave_out_unfit(engine: &Engine, read: &mut Transcript) {
    let max = engine.config().limits.message_bytes_max;
    let ids_max = engine.config().limits.message_id_bytes_max;
    for mut taken in std::mem::take(&mut read.messages) {
        let bytes = taken.message.text.len();
        if taken.role == Role::Tool && bytes > max {
            let room = max.saturating_sub(CUT_MARK.len());
            let text = &taken.message.text;
            let end = (0..=room).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
            taken.message.text = format!("{}{CUT_MARK}", text.get(..end).unwrap_or_default());
        }
        if taken.message.bytes() > max {
            // What was thought is worth less than what was said.
            taken.message.reasoning.clear();
        }
        let message = &taken.message;
        let bytes = message.text.len();
        let id_bytes = message.message_id.as_ref().map_or(0, |id| id.0.len());
        let may_be_empty = taken.role == Role::Tool || !message.tool_calls.is_empty();
        let why = if bytes > max {
            format!("the message has {bytes} bytes, at most {max} are taken")
        } else if id_bytes > ids_max {
            format!("the message id has {id_bytes} bytes, at most {ids_max} are taken")
        } else if message.text.trim().is_empty() && !may_be_empty {
            "the message is empty".to_owned()
        } else {
            read.messages.push(taken);
            continue;
        };
        read.bad.push(Bad { line: taken.line, why });
    }
    read.bad.sort();
}

/// Leaves out what the session that was exported still holds, and counts it.
async fn leave_out_known(
    engine: &Engine,
    scope: &scope::Key,
    read: &mut Transcript,
) -> anyhow::Result<usize> {
    let Some(state) = engine.store().load(scope).await? else { return Ok(0) };
    let is_it = |id: Id| read.session_id == Some(id);
    let Some(number) = state.sessions.iter().find(|(_, s)| is_it(s.id)).map(|(number, _)| *number) else {
        return Ok(0);
    };
    let held = engine.messages(&state, number, usize::MAX).await?;
    let held: BTreeMap<Seq, String> = held.into_iter().map(|told| (told.seq, told.text)).collect();
    let before = read.messages.len();
    read.messages.retain(|taken| {
        let same = |seq| held.get(&seq) == Some(&taken.message.text);
        !taken.seq.is_some_and(same)
    });
    Ok(before - read.messages.len())
}

/// Gives messages that go to another scope other ids: a channel numbers the messages of each chat from 1,
/// and a message must not pass for one of the other chat.
fn rename_ids(engine: &Engine, read: &mut Transcript) {
    let max = engine.config().limits.message_id_bytes_max;
    let Home::Scope(home) = &read.home else { return };
    for taken in &mut read.messages {
        let id = taken.message.message_id.take();
        let id = id.map(|id| MessageId(format!("import:{home}:{}", id.0)));
        // Without an id the engine gives it one.
        taken.message.message_id = id.filter(|id| id.0.len() <= max);
    }
}

/// Shows how far it is, where somebody looks and it takes a while.
fn bar(bytes: u64) -> ProgressBar {
    if bytes < BAR_BYTES_MIN || !std::io::stderr().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{bar:40} {bytes}/{total_bytes}, {eta} left");
    ProgressBar::new(bytes).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}
