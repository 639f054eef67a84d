//! `segue erase`: what a message, a session or a person says goes, and the proof still holds.

mod going;

use super::chat::TypedLines;
use super::sessions;
use crate::args::{Common, Erase};
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
use segue_core::entry::{Bytes, Seq};
use segue_core::scope;
use segue_engine::{Engine, Erasure, Request};
use segue_store::QuarantinedFile;
use serde_json::{Value, json};

/// How many entries are erased at once.
const ENTRIES_MAX: usize = 50_000;

pub async fn run(common: &Common, what: Erase) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let mut found = match (&what.scope, &what.person) {
        (_, Some(person)) => engine.to_erase_of(person).await?,
        (Some(scope), None) => of_scope(&engine, scope, &what).await?,
        (None, None) => anyhow::bail!("name a scope, or a person with --person"),
    };
    if what.set_aside {
        found.theirs.append(&mut found.perhaps);
    }
    let mut exit = Exit::Done;
    if let (Some(given), Some(name)) = (&what.person, &found.person) {
        if given != name && !common.json {
            out::line(layout::printable(&format!("{given} is {name}")))?;
        }
        if found.entries.is_empty() && found.theirs.is_empty() {
            let is_all = found.unknown.is_empty()
                && found.perhaps.is_empty()
                && found.nobodys.is_empty()
                && found.unseen.is_empty();
            let nothing = if is_all { "nothing that is kept" } else { "nothing that can be read" };
            out::refused(format!("{given} has said {nothing}: a person is channel:peer, or a linked name"));
            exit = Exit::No;
        }
    }
    if let (Some(scope), Some(number), false) = (&what.scope, what.session, common.json) {
        sessions::delete::tell(&engine, &*engine.state(scope).await?, &[number]).await?;
    }
    if what.session.is_none() && !common.json {
        for (scope, entries) in &found.entries {
            if what.person.is_some() {
                out::line(scope)?;
            }
            going::tell(&engine, scope, entries).await?;
        }
    }
    let done = if what.dry_run { tell(common, &found)? } else { erase(common, &engine, &found).await? };
    for sentence in &found.unseen {
        out::refused(format!("{sentence}; nobody can tell what it holds, and nothing was erased there"));
    }
    Ok(if found.unseen.is_empty() && matches!(done, Exit::Done) { exit } else { Exit::No })
}

async fn erase(common: &Common, engine: &Engine, found: &Erasure) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for (scope, entries) in &found.entries {
        if found.person.is_some() && !common.json {
            out::line(scope)?;
        }
        match erase_in(common, engine, scope, entries).await {
            Ok(Exit::Done) => {}
            Ok(_) => exit = Exit::No,
            // One scope must not keep a person from being erased in the others.
            Err(error) if found.person.is_some() => {
                out::refused(format!("{scope}: {error}"));
                exit = Exit::No;
            }
            Err(error) => return Err(error),
        }
    }
    // Also where nothing is left to erase: an earlier erasure may not be finished.
    if !engine.purge().await {
        out::refused(sessions::UNFINISHED);
        exit = Exit::No;
    }
    exit = exit.worse(forget_typed());
    for (scope, count) in &found.unknown {
        let (who, noun) =
            (found.person.as_deref().unwrap_or_default(), if *count == 1 { "message" } else { "messages" });
        out::refused(format!(
            "{scope}: {count} {noun} there have no sender on record, and may be what {who} said: \
             `segue erase {scope} N` erases one"
        ));
        exit = Exit::No;
    }
    let mut gone = Vec::new();
    for copy in &found.theirs {
        let Some(quarantine) = engine.store().quarantine() else { continue };
        match quarantine.discard(copy).await {
            Ok(()) => gone.push(copy),
            Err(error) => {
                out::refused(format!("{} was not deleted: {error}", place(copy)));
                exit = Exit::No;
            }
        }
    }
    if common.json && !gone.is_empty() {
        let places: Vec<String> = gone.iter().map(|copy| copy.place.display().to_string()).collect();
        json::print(&json!({ "set_aside": places }))?;
    }
    for copy in gone.iter().filter(|_| !common.json) {
        out::line(format!("{}: it cannot be read, and so not be edited: all of it is deleted", place(copy)))?;
    }
    for (copy, why) in staying(found) {
        out::refused(format!("{} stays: {why}", place(copy)));
        exit = Exit::No;
    }
    Ok(exit)
}

/// Erases entries of a scope, and says what came of it. The store's files are purged once, for all scopes.
async fn erase_in(
    common: &Common,
    engine: &Engine,
    scope: &scope::Key,
    entries: &[Seq],
) -> anyhow::Result<Exit> {
    let mut exit = Exit::Done;
    for part in entries.chunks(ENTRIES_MAX) {
        let outcome = engine.erase_unpurged(scope, part).await?;
        if !matches!(sessions::tell(common, scope, &outcome)?, Exit::Done) {
            exit = Exit::No;
        }
    }
    Ok(exit)
}

/// Deletes the history of lines that were typed into chats: it has no other order than theirs, so nobody can tell which of
/// them was erased. What cannot be deleted is told, and the same command tries again.
pub fn forget_typed() -> Exit {
    let Some(path) = setup::history_file() else { return Exit::Done };
    match TypedLines::delete(&path) {
        Ok(()) => Exit::Done,
        Err(error) => {
            let path = path.display();
            out::refused(format!(
                "the history of the chat, {path}, may hold what was erased and cannot be deleted: {error}"
            ));
            Exit::No
        }
    }
}

async fn of_scope(engine: &Engine, scope: &scope::Key, what: &Erase) -> anyhow::Result<Erasure> {
    let state = engine.state(scope).await?;
    let Some(number) = what.session else {
        let mut there = Vec::new();
        for seq in &what.messages {
            let record = engine.store().get(scope, *seq).await?;
            match record.map(|record| matches!(record.bytes, Bytes::Kept(_))) {
                Some(true) => there.push(*seq),
                // What is not there is told by the erasure itself, with its reason.
                _ if !what.dry_run => there.push(*seq),
                Some(false) => out::warning(format!("message {seq} of {scope} is erased already")),
                None => out::warning(format!("there is no message {seq} in {scope}")),
            }
        }
        if what.dry_run
            && !there.is_empty()
            && let Some(refused) =
                engine.would_refuse(scope, engine.now(), &Request::Erase(there.clone())).await?
        {
            out::refused(sessions::for_shell(scope, &refused));
            there.clear();
        }
        return Ok(engine.to_erase_entries(scope, there).await?);
    };
    if !state.sessions.contains_key(&number) {
        anyhow::bail!("there is no session {number}: `segue sessions list {scope}` shows those there are");
    }
    Ok(engine.to_erase_in(&state, number).await?)
}

fn place(copy: &QuarantinedFile) -> String {
    layout::printable(&copy.place.display().to_string()).into_owned()
}

/// Tells what is not deleted, and why.
fn staying(found: &Erasure) -> impl Iterator<Item = (&QuarantinedFile, String)> {
    let perhaps = found.perhaps.iter().map(|copy| {
        let why = match &found.person {
            Some(person) => format!("it cannot be read, and may hold what {person} said"),
            None if copy.sessions.len() > 1 => "it cannot be read, and other sessions see it too".to_owned(),
            None => "it cannot be read, and may hold what is erased".to_owned(),
        };
        (copy, format!("{why}; --set-aside deletes all of it, with what others said there"))
    });
    let why = "nobody can tell whose it is: look into it, and delete it yourself";
    perhaps.chain(found.nobodys.iter().map(move |copy| (copy, why.to_owned())))
}

/// Tells what would be erased.
fn tell(common: &Common, found: &Erasure) -> anyhow::Result<Exit> {
    if common.json {
        let shape = |(scope, entries): &(scope::Key, Vec<Seq>)| json!({ "scope": scope.as_str(), "entries": entries });
        let aside = |copy: &QuarantinedFile, stays: Option<String>| {
            let scope = copy.scope.as_ref().map(scope::Key::as_str);
            let mut told =
                json!({ "scope": scope, "entries": [], "set_aside": copy.place.display().to_string() });
            if let Some(why) = stays {
                told["stays"] = why.into();
            }
            told
        };
        let copies = found.theirs.iter().map(|copy| aside(copy, None));
        let staying = staying(found).map(|(copy, why)| aside(copy, Some(why)));
        json::print(&found.entries.iter().map(shape).chain(copies).chain(staying).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    for (scope, entries) in &found.entries {
        let noun = if entries.len() == 1 { "entry" } else { "entries" };
        out::line(format!(
            "{scope}: {} {noun} would be erased (messages, and what was made of them)",
            entries.len()
        ))?;
    }
    if found.entries.is_empty() && found.theirs.is_empty() {
        out::line("Nothing would be erased.")?;
    }
    for copy in &found.theirs {
        let place = place(copy);
        out::line(format!("{place}: it cannot be read, and so not be edited: all of it would be deleted"))?;
    }
    for (scope, count) in &found.unknown {
        out::line(format!("{scope}: {count} would stay, of which nobody can tell who said them"))?;
    }
    for (copy, why) in staying(found) {
        out::line(format!("{} would stay: {why}", place(copy)))?;
    }
    Ok(Exit::Done)
}
