//! `segue erase`: what a message, a session or a person says goes, and the proof still holds.

use super::sessions;
use crate::args::{Common, Erase};
use crate::setup::{self, Absent};
use crate::{Exit, json, layout, out};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::{Engine, Request};
use segue_store::SetAside;
use serde_json::{Value, json};

/// What is to be erased.
#[derive(Default)]
struct Found {
    /// What the log says.
    entries: Vec<(scope::Key, Vec<Seq>)>,
    /// What was set aside: nobody can edit that, so it goes as a whole.
    set_aside: Vec<SetAside>,
    /// What was set aside and may be anybody's.
    nobodys: Vec<SetAside>,
}

pub async fn run(common: &Common, what: Erase) -> anyhow::Result<Exit> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let found = match (&what.scope, &what.person) {
        (_, Some(person)) => {
            let entries = engine.said_by(person).await?;
            let copies = engine.set_aside_of(person).await?.into_iter();
            let (set_aside, nobodys): (Vec<_>, Vec<_>) = copies.partition(|copy| copy.scope.is_some());
            if entries.is_empty() && set_aside.is_empty() && nobodys.is_empty() {
                out::refused(format!(
                    "{person} has said nothing that is kept: a person is channel:peer, or a linked name"
                ));
                return Ok(Exit::No);
            }
            Found { entries, set_aside, nobodys }
        }
        (Some(scope), None) => of_scope(&engine, scope, &what).await?,
        (None, None) => anyhow::bail!("name a scope, or a person with --person"),
    };
    if what.dry_run {
        return found.tell(common);
    }
    let mut exit = Exit::Done;
    for (scope, entries) in &found.entries {
        if what.person.is_some() && !common.json {
            out::line(scope)?;
        }
        if let Exit::No = sessions::ask(common, &engine, scope, &Request::Erase(entries.clone())).await? {
            exit = Exit::No;
        }
    }
    engine.store().discard(&found.set_aside).await?;
    if common.json && !found.set_aside.is_empty() {
        json::print(&json!({ "set_aside": places(&found.set_aside) }))?;
    }
    for copy in found.set_aside.iter().filter(|_| !common.json) {
        out::line(format!("{}: it cannot be read, and so not be edited: all of it is deleted", place(copy)))?;
    }
    for copy in &found.nobodys {
        out::refused(format!(
            "{} cannot be read, and nobody can tell whose it is: look into it, and delete it yourself",
            place(copy)
        ));
        exit = Exit::No;
    }
    Ok(exit)
}

async fn of_scope(engine: &Engine, scope: &scope::Key, what: &Erase) -> anyhow::Result<Found> {
    let entries = vec![(scope.clone(), entries(engine, scope, what).await?)];
    let Some(number) = what.session else { return Ok(Found { entries, ..Found::default() }) };
    let set_aside = engine.set_aside_in(&*engine.state(scope).await?, Number(number)).await?;
    Ok(Found { entries, set_aside, ..Found::default() })
}

async fn entries(engine: &Engine, scope: &scope::Key, what: &Erase) -> anyhow::Result<Vec<Seq>> {
    let Some(number) = what.session else { return Ok(what.messages.clone()) };
    let state = engine.state(scope).await?;
    if !state.sessions.contains_key(&Number(number)) {
        anyhow::bail!("there is no session {number}: `segue sessions list {scope}` shows those there are");
    }
    Ok(engine.said_in(&state, Number(number)).await?)
}

fn place(copy: &SetAside) -> String {
    layout::printable(&copy.place.display().to_string()).into_owned()
}

fn places(copies: &[SetAside]) -> Vec<String> {
    copies.iter().map(|copy| copy.place.display().to_string()).collect()
}

impl Found {
    /// Tells what would be erased.
    fn tell(&self, common: &Common) -> anyhow::Result<Exit> {
        if common.json {
            let shape = |(scope, entries): &(scope::Key, Vec<Seq>)| json!({ "scope": scope.as_str(), "entries": entries });
            let aside = |copy: &SetAside| {
                let scope = copy.scope.as_ref().map(scope::Key::as_str);
                json!({ "scope": scope, "entries": [], "set_aside": copy.place.display().to_string() })
            };
            let copies = self.set_aside.iter().chain(&self.nobodys).map(aside);
            json::print(&self.entries.iter().map(shape).chain(copies).collect::<Vec<Value>>())?;
            return Ok(Exit::Done);
        }
        for (scope, entries) in &self.entries {
            out::line(format!("{scope}: {} would be erased", entries.len()))?;
        }
        for copy in &self.set_aside {
            let place = place(copy);
            out::line(format!(
                "{place}: it cannot be read, and so not be edited: all of it would be deleted"
            ))?;
        }
        for copy in &self.nobodys {
            let place = place(copy);
            out::line(format!("{place}: it cannot be read, and nobody can tell whose it is: it would stay"))?;
        }
        Ok(Exit::Done)
    }
}
