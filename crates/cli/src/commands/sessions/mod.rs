//! `segue sessions`: looking at sessions, and moving them.

pub mod delete;
pub mod list;
mod pins;
mod prune;
pub mod show;
mod title;

use super::erase;
use crate::args::Common;
use crate::sessions_args::{SessionArg, Sessions};
use crate::setup::{self, Absent, Consent};
use crate::{Exit, json, layout, out};
use anyhow::bail;
use delete::DeleteMode;
use segue_core::decision::Action;
use segue_core::notice::Notice;
use segue_core::retention::KeepChoice;
use segue_core::scope;
use segue_core::session::Title;
use segue_engine::pins::Repin;
use segue_engine::{Engine, Outcome, Pick, Request};

pub async fn run(common: &Common, verb: Sessions) -> anyhow::Result<Exit> {
    match verb {
        Sessions::List { scope, all } => list::run(common, scope.as_ref(), all).await,
        Sessions::Show { key } => show::run(common, key.as_ref()).await,
        Sessions::Agent { key, name: None } => pins::agents(common, &key).await,
        Sessions::Model { key, name: None } => pins::model(common, &key).await,
        Sessions::Skills { key, name } => pins::skills(common, &key, name.as_deref()).await,
        Sessions::Title { scope } => title::run(common, scope).await,
        Sessions::Prune(bounds) => prune::run(common, bounds).await,
        Sessions::Delete { key, dry_run, yes } => {
            let mode = if dry_run { DeleteMode::DryRun } else { DeleteMode::Real };
            delete::run(common, &key, mode, Consent::of(yes)).await
        }
        Sessions::Agent { key, name: Some(name) } => {
            of_session(common, &key, |n| Request::Pin(n, Repin::Agent(name))).await
        }
        Sessions::Model { key, name: Some(name) } => {
            of_session(common, &key, |n| Request::Pin(n, Repin::Model(name))).await
        }
        Sessions::ReloadSkills { key } => of_session(common, &key, |n| Request::Pin(n, Repin::Skills)).await,
        Sessions::ReloadPersona { key } => {
            of_session(common, &key, |n| Request::Pin(n, Repin::Persona)).await
        }
        Sessions::New { scope } => of_scope(common, scope.as_ref(), Request::New(None)).await,
        Sessions::Resume { scope, n: number } => {
            of_scope(common, scope.as_ref(), Request::Resume(Pick::Numbered(number))).await
        }
        Sessions::Restore { scope, n: number } => {
            of_scope(common, scope.as_ref(), Request::Restore(Pick::Numbered(number))).await
        }
        Sessions::Move { scope, n: number } => {
            of_scope(common, scope.as_ref(), Request::Move(Pick::Numbered(number))).await
        }
        Sessions::Redo { scope } => of_scope(common, scope.as_ref(), Request::Redo).await,
        Sessions::Undo { scope } => of_scope(common, scope.as_ref(), Request::Undo).await,
        Sessions::Split { scope, at } => of_scope(common, scope.as_ref(), Request::Split(at)).await,
        Sessions::Fork { key, at } => of_session(common, &key, |n| Request::Fork(n, at)).await,
        Sessions::Keep { key, off } => {
            let wish = if off { KeepChoice::Release } else { KeepChoice::Keep };
            of_session(common, &key, |n| Request::KeepChoice(n, wish)).await
        }
        Sessions::Merge { from, into } => {
            let engine = setup::engine(common, Absent::Empty).await?;
            let from = setup::session_or_latest(&engine, Some(&from)).await?;
            let into = setup::session_or_latest(&engine, Some(&into)).await?;
            if from.scope != into.scope {
                bail!("sessions of two scopes cannot be merged: a scope never sees another one");
            }
            let request = Request::Merge(Pick::Numbered(from.number), Pick::Numbered(into.number));
            ask(common, &engine, &from.scope, &request).await
        }
        Sessions::Rename { key, title } => match Title::new(&title) {
            Some(title) => of_session(common, &key, |n| Request::Rename(n, title)).await,
            None => bail!("a title needs at least one letter"),
        },
    }
}

/// Asks something of the scope that was named, else of the one that was written last.
async fn of_scope(common: &Common, scope: Option<&scope::Key>, request: Request) -> anyhow::Result<Exit> {
    let absent = if request == Request::New(None) { Absent::Make } else { Absent::Empty };
    let engine = setup::engine(common, absent).await?;
    let scope = setup::scope_or_last(&engine, scope).await?;
    ask(common, &engine, &scope, &request).await
}

/// Asks something of a session.
async fn of_session(
    common: &Common,
    key: &SessionArg,
    request: impl FnOnce(Pick) -> Request,
) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let key = setup::session_or_latest(&engine, Some(key)).await?;
    ask(common, &engine, &key.scope, &request(Pick::Numbered(key.number))).await
}

/// Asks something of a scope that exists, and says what came of it.
pub async fn ask(
    common: &Common,
    engine: &Engine,
    scope: &scope::Key,
    request: &Request,
) -> anyhow::Result<Exit> {
    // An operator who mistypes a scope must not make one.
    if *request != Request::New(None) {
        engine.state(scope).await?;
    }
    let outcome = engine.request(scope, engine.now(), request).await?;
    let exit = tell(common, scope, &outcome)?;
    Ok(if outcome.dropped.is_empty() { exit } else { exit.worse(erase::forget_typed()) })
}

/// Says what came of a request.
pub fn tell(common: &Common, scope: &scope::Key, outcome: &Outcome) -> anyhow::Result<Exit> {
    let refused = outcome.action == Action::Refused;
    if common.json {
        json::print(&json::moved(outcome))?;
    }
    if let Some(text) = outcome.say() {
        let text = for_shell(scope, &text);
        if refused {
            out::refused(text);
        } else if !common.json {
            out::line(layout::printable(&text))?;
        }
    }
    Ok(if refused { Exit::No } else { finished(outcome) })
}

/// Tells whether all that goes is gone; else that is said.
pub fn finished(outcome: &Outcome) -> Exit {
    if outcome.also != Some(Notice::Unfinished) {
        return Exit::Done;
    }
    out::refused(UNFINISHED);
    Exit::No
}

/// What is said where something is in the way.
pub const UNFINISHED: &str = "what goes is not gone from all files yet: the next `segue` command that writes to this store finishes it";

/// Names the commands of the shell where the engine, which speaks to people in a chat, names those of a chat.
pub fn for_shell(scope: &scope::Key, text: &str) -> String {
    const COMMANDS: [(&str, &str); 9] = [
        ("/session keep N off", "`segue sessions keep KEY --off`"),
        ("/session keep N", "`segue sessions keep KEY`"),
        ("/session resume N", "segue sessions resume SCOPE N"),
        ("/session list all", "`segue sessions list SCOPE --all`"),
        ("/session list", "`segue sessions list SCOPE`"),
        ("/session show", "`segue sessions show KEY`"),
        ("/redo", "`segue sessions redo SCOPE`"),
        ("/undo", "`segue sessions undo SCOPE`"),
        ("/new", "`segue sessions new SCOPE`"),
    ];
    let shell = |shell: &str| shell.replace("SCOPE", scope.as_str());
    COMMANDS.iter().fold(text.to_owned(), |text, (chat, ours)| text.replace(chat, &shell(ours)))
}
