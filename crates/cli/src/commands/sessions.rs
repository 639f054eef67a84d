//! `segue sessions`: looking at sessions, and moving them.

use crate::Exit;
use crate::args::{Common, Sessions};
use crate::{json, paint, setup};
use anyhow::bail;
use segue_core::decision::Action;
use segue_core::policy::Backlog;
use segue_core::scope;
use segue_core::session::{Key, Title};
use segue_core::state::State;
use segue_engine::{Engine, Pick, Request, words};
use serde_json::{Value, json};

pub async fn run(common: &Common, verb: Sessions) -> anyhow::Result<Exit> {
    let engine = setup::engine(common).await?;
    let numbered = |key: &Key| Pick::Numbered(key.number);
    let (scope, request) = match verb {
        Sessions::List { scope } => return list(common, &engine, &scope).await,
        Sessions::Show { key } => return show(common, &engine, &key).await,
        Sessions::New { scope } => (scope, Request::New(None)),
        Sessions::Resume { scope, n } => (scope, Request::Resume(Pick::Listed(n as usize))),
        Sessions::Fork { key, at } => (key.scope.clone(), Request::Fork(numbered(&key), at)),
        Sessions::Split { scope, at } => (scope, Request::Split(at)),
        Sessions::Undo { scope } => (scope, Request::Undo),
        Sessions::Delete { key } => (key.scope.clone(), Request::Delete(numbered(&key))),
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
        Sessions::Prune { scope, limit } => match Backlog::new(limit) {
            Some(keep) => (scope, Request::Prune(keep)),
            None => bail!("the active session is always kept: the limit is at least 1"),
        },
    };
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
    } else if let Some(text) = outcome.notice.as_ref().or(outcome.reply.as_ref()) {
        if refused {
            eprintln!("{} {text}", paint::error("refused:"));
        } else {
            println!("{text}");
        }
    }
    Ok(if refused { Exit::No } else { Exit::Done })
}

async fn list(common: &Common, engine: &Engine, scope: &scope::Key) -> anyhow::Result<Exit> {
    let state = engine.state(scope).await?;
    let list = engine.list(&state).await?;
    if common.json {
        json::print(&list.iter().map(json::listed).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    let language = engine.config().language_for(scope, None).for_text("");
    for session in &list {
        let line = words::listed(language, session, state.effective(engine.now()));
        println!("{}", if session.active { paint::strong(line) } else { line });
    }
    Ok(Exit::Done)
}

async fn show(common: &Common, engine: &Engine, key: &Key) -> anyhow::Result<Exit> {
    let state = engine.state(&key.scope).await?;
    let Some(session) = state.live(key.number) else {
        bail!("there is no session {key}; `segue sessions list {}` lists them", key.scope);
    };
    let listed = engine.describe(&state, key.number).await?;
    let messages = engine.messages(&state, key.number, usize::MAX).await?;
    if common.json {
        let mut shown = json::listed(&listed);
        if let Value::Object(fields) = &mut shown {
            fields.insert("active_agent".into(), agent(&key.scope).into());
            fields.insert("skill_snapshot".into(), Value::Null);
            fields.insert("persona".into(), Value::Null);
            fields.insert("model_config".into(), Value::Null);
            let children = state.sessions.iter().filter(|(_, s)| s.parent == Some(key.number) && s.is_live());
            let children = children.map(|(number, _)| Value::from(state.key(*number).to_string()));
            fields.insert("children".into(), children.collect());
            fields.insert("origin".into(), serde_json::to_value(session.origin)?);
            fields.insert("segments".into(), segments(&state, key));
            fields.insert("conversation_state".into(), messages.iter().map(json::told).collect());
        }
        json::print(&shown)?;
        return Ok(Exit::Done);
    }
    let language = engine.config().language_for(&key.scope, None).for_text("");
    println!("{}", paint::strong(key));
    println!("{}", words::listed(language, &listed, state.effective(engine.now())));
    println!("{}", paint::dim(listed.session_id));
    for told in &messages {
        let text = if told.message.is_some() { told.text.as_str() } else { "(erased)" };
        println!("{:>5}  {:9}  {text}", paint::dim(told.seq), paint::dim(told.role));
    }
    Ok(Exit::Done)
}

/// The agent that a scope's key names.
fn agent(scope: &scope::Key) -> &str {
    scope.as_str().strip_prefix("agent:").and_then(|rest| rest.split(':').next()).unwrap_or("main")
}

fn segments(state: &State, key: &Key) -> Value {
    let view = state.view(key.number);
    let segment = |number| {
        let sealed = state.segments.get(&number).map(|sealed| sealed.digest);
        let open = || state.open.as_ref().filter(|open| open.number == number).map(|open| open.digest);
        json!({
            "id": json::segment(&state.scope, number),
            "sealed": sealed.is_some(),
            "digest": sealed.or_else(open).map(|digest| digest.to_string()),
        })
    };
    view.iter().map(|span| segment(span.segment)).collect()
}
