//! `segue erase`: what a message, a session or a person says goes, and the proof still holds.

use super::sessions;
use crate::args::{Common, Erase};
use crate::setup::{self, Absent};
use crate::{Exit, json, out};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::{Engine, Request};
use serde_json::{Value, json};

pub async fn run(common: &Common, what: Erase) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let found = match (&what.scope, &what.person) {
        (_, Some(person)) => {
            let found = engine.said_by(person).await?;
            if found.is_empty() {
                out::refused(format!(
                    "{person} has said nothing that is kept: a person is channel:peer, or a linked name"
                ));
                return Ok(Exit::No);
            }
            found
        }
        (Some(scope), None) => vec![(scope.clone(), entries(&engine, scope, &what).await?)],
        (None, None) => anyhow::bail!("name a scope, or a person with --person"),
    };
    if what.dry_run {
        return tell(common, &found);
    }
    let mut exit = Exit::Done;
    for (scope, entries) in found {
        if what.person.is_some() && !common.json {
            out::line(&scope)?;
        }
        if let Exit::No = sessions::ask(common, &engine, &scope, &Request::Erase(entries)).await? {
            exit = Exit::No;
        }
    }
    Ok(exit)
}

async fn entries(engine: &Engine, scope: &scope::Key, what: &Erase) -> anyhow::Result<Vec<Seq>> {
    let Some(number) = what.session else { return Ok(what.messages.clone()) };
    let state = engine.state(scope).await?;
    if !state.sessions.contains_key(&Number(number)) {
        anyhow::bail!("there is no session {number}: `segue sessions list {scope}` shows those there are");
    }
    Ok(engine.said_in(&state, Number(number)).await?)
}

fn tell(common: &Common, found: &[(scope::Key, Vec<Seq>)]) -> anyhow::Result<Exit> {
    if common.json {
        let shape = |(scope, entries): &(scope::Key, Vec<Seq>)| json!({ "scope": scope.as_str(), "entries": entries });
        json::print(&found.iter().map(shape).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    for (scope, entries) in found {
        out::line(format!("{scope}: {} would be erased", entries.len()))?;
    }
    Ok(Exit::Done)
}
