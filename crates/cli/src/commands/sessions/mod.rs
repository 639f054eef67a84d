//! `segue sessions`: looking at sessions, and moving them.

pub mod list;
mod pins;
mod prune;
pub mod show;
mod title;

use crate::args::Common;
use crate::sessions_args::Sessions;
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
use anyhow::bail;
use segue_core::decision::Action;
use segue_core::retention::Wish;
use segue_core::scope;
use segue_core::session::{Key, Number, Title};
use segue_engine::pins::Repin;
use segue_engine::{Engine, Pick, Request};

pub async fn run(common: &Common, verb: Sessions) -> anyhow::Result<Exit> {
    let numbered = |key: &Key| Pick::Numbered(key.number);
    let (scope, request) = match verb {
        Sessions::List { scope, all } => return list::run(common, scope.as_ref(), all).await,
        Sessions::Show { key } => return show::run(common, key.as_ref()).await,
        Sessions::Agent { key, name: None } => return pins::agents(common, &key).await,
        Sessions::Model { key, name: None } => return pins::model(common, &key).await,
        Sessions::Skills { key, name } => return pins::skills(common, &key, name.as_deref()).await,
        Sessions::Agent { key, name: Some(name) } => {
            (key.scope.clone(), Request::Pin(numbered(&key), Repin::Agent(name)))
        }
        Sessions::Model { key, name: Some(name) } => {
            (key.scope.clone(), Request::Pin(numbered(&key), Repin::Model(name)))
        }
        Sessions::ReloadSkills { key } => (key.scope.clone(), Request::Pin(numbered(&key), Repin::Skills)),
        Sessions::ReloadPersona { key } => (key.scope.clone(), Request::Pin(numbered(&key), Repin::Persona)),
        Sessions::New { scope } => (scope, Request::New(None)),
        Sessions::Resume { scope, n } => (scope, Request::Resume(Pick::Numbered(Number(n)))),
        Sessions::Restore { scope, n } => (scope, Request::Restore(Pick::Numbered(Number(n)))),
        Sessions::Move { scope, n } => (scope, Request::Move(Pick::Numbered(Number(n)))),
        Sessions::Redo { scope } => (scope, Request::Redo),
        Sessions::Fork { key, at } => (key.scope.clone(), Request::Fork(numbered(&key), at)),
        Sessions::Split { scope, at } => (scope, Request::Split(at)),
        Sessions::Undo { scope } => (scope, Request::Undo),
        Sessions::Delete { key } => (key.scope.clone(), Request::Delete(numbered(&key))),
        Sessions::Keep { key, off } => {
            let wish = if off { Wish::Release } else { Wish::Keep };
            (key.scope.clone(), Request::Wish(numbered(&key), wish))
        }
        Sessions::Merge { from, into } => {
            if from.scope != into.scope {
                bail!("sessions of two scopes cannot be merged: a scope never sees another one");
            }
            (from.scope.clone(), Request::Merge(numbered(&from), numbered(&into)))
        }
        Sessions::Rename { key, title } => match Title::new(&title) {
            Some(title) => (key.scope.clone(), Request::Rename(numbered(&key), title)),
            None => bail!("a title needs at least one letter"),
        },
        Sessions::Title { scope } => return title::run(common, scope).await,
        Sessions::Prune(bounds) => return prune::run(common, bounds).await,
    };
    let absent = if request == Request::New(None) { Absent::Make } else { Absent::Empty };
    let engine = setup::engine(common, absent).await?;
    ask(common, &engine, &scope, &request).await
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
    let refused = outcome.action == Action::Refused;
    if common.json {
        json::print(&json::moved(&outcome))?;
    }
    if let Some(text) = outcome.notice.as_ref().or(outcome.reply.as_ref()) {
        let text = for_shell(scope, text);
        if refused {
            out::refused(text);
        } else if !common.json {
            out::line(layout::printable(&text))?;
        }
    }
    Ok(if refused { Exit::No } else { Exit::Done })
}

/// Names the commands of the shell where the engine, which speaks to people in a chat, names those of a chat.
fn for_shell(scope: &scope::Key, text: &str) -> String {
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
