//! What a session is pinned to: agent, skills, persona, model, and what is different by now.

use super::show::missing;
use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::setup::{self, Absent};
use crate::{Exit, Missing, json, layout, out, paint};
use segue_core::pins::Model;
use segue_core::session::Key;
use segue_core::state::State;
use segue_engine::Engine;
use segue_engine::history::Typed;
use segue_engine::pins::{Drifted, Pinned};
use segue_engine::words::{self, Language};
use serde_json::{Map, Value, json};
use std::sync::Arc;

/// The fields of `sessions show` that tell what a session is pinned to.
pub async fn shown(engine: &Engine, state: &State, key: &Key) -> anyhow::Result<Map<String, Value>> {
    let pinned = engine.pinned(state, key.number).await?;
    let drift = engine.drift(state, key.number).await?;
    let commands = engine.commands(state, key.number).await?;
    let drifted = |drifted: &Drifted| {
        let mut value = serde_json::to_value(drifted)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("told".into(), words::pins::drifted(Language::En, drifted).into());
        }
        Ok(value)
    };
    let typed = |typed: &Typed| json!({ "seq": typed.seq, "at": typed.at.to_string(), "text": typed.text });
    let Pinned { agent, instructions, skills, persona, model, reloads } = &pinned;
    let fields = json!({
        "active_agent": agent,
        "instructions": instructions.as_deref(),
        "skill_snapshot": {
            "version": skills.version,
            "skills": skills.skills,
            "diagnostics": skills.diagnostics,
        },
        "persona": {
            "version": persona.version,
            "parts": persona.parts,
            "diagnostics": persona.diagnostics,
        },
        "model_config": model_config(model),
        "reload_count": reloads,
        "command_history": commands.iter().map(typed).collect::<Vec<Value>>(),
        "drift": drift.iter().map(drifted).collect::<Result<Vec<Value>, serde_json::Error>>()?,
    });
    Ok(match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    })
}

fn model_config(model: &Model) -> Value {
    json!({
        "model": model.name,
        "model_id": model.id,
        "temperature": model.temperature,
        "thinking_level": model.thinking,
        "verbosity": model.verbosity,
    })
}

/// Tells a person what a session is pinned to.
pub async fn tell(engine: &Engine, state: &State, key: &Key) -> anyhow::Result<()> {
    let pinned = engine.pinned(state, key.number).await?;
    for line in words::pins::pinned(Language::En, &pinned).lines() {
        out::line(paint::dim(layout::printable(line)))?;
    }
    for drifted in engine.drift(state, key.number).await? {
        let line = words::pins::drifted(Language::En, &drifted);
        out::line(paint::bad(format!("! {}", layout::printable(&line))))?;
    }
    Ok(())
}

/// `segue sessions agent KEY`: the agents that there are.
pub async fn agents(common: &Common, key: &SessionArg) -> anyhow::Result<Exit> {
    let (engine, state, key) = open(common, key).await?;
    let active = engine.pinned(&state, key.number).await?.agent;
    let known = engine.agents(&key.scope);
    if common.json {
        let about = |name: &String| {
            let agent = engine.config().agents.named.get(name);
            json!({
                "name": name,
                "active": *name == active,
                "description": agent.and_then(|agent| agent.description.as_deref()),
                "model": agent.and_then(|agent| agent.model.as_deref()),
            })
        };
        json::print(&known.iter().map(about).collect::<Vec<Value>>())?;
    } else {
        out::line(layout::printable(&words::pins::agents(engine.config(), known, &active)))?;
    }
    Ok(Exit::Done)
}

/// `segue sessions model KEY`: the model that answers.
pub async fn model(common: &Common, key: &SessionArg) -> anyhow::Result<Exit> {
    let (engine, state, key) = open(common, key).await?;
    let model = engine.pinned(&state, key.number).await?.model;
    if common.json {
        json::print(&model_config(&model))?;
    } else {
        out::line(layout::printable(&words::pins::described(Language::En, &model)))?;
    }
    Ok(Exit::Done)
}

/// `segue sessions skills KEY [NAME]`: the skills of a session, or one of them.
pub async fn skills(common: &Common, key: &SessionArg, name: Option<&str>) -> anyhow::Result<Exit> {
    let (engine, state, key) = open(common, key).await?;
    let snapshot = engine.pinned(&state, key.number).await?.skills;
    let Some(name) = name else {
        if common.json {
            json::print(snapshot.as_ref())?;
        } else {
            out::line(layout::printable(&words::pins::skills(Language::En, &snapshot)))?;
        }
        return Ok(Exit::Done);
    };
    let Some((skill, body)) = engine.skill(&state, key.number, name).await? else {
        return Err(Missing(words::pins::no_skill(Language::En, name, &snapshot)).into());
    };
    if common.json {
        let mut value = serde_json::to_value(&skill)?;
        if let Value::Object(fields) = &mut value {
            fields.insert("text".into(), body.into());
        }
        json::print(&value)?;
    } else {
        out::line(layout::printable(&words::pins::skill(&skill, &body)))?;
    }
    Ok(Exit::Done)
}

async fn open(common: &Common, key: &SessionArg) -> anyhow::Result<(Engine, Arc<State>, Key)> {
    let engine = setup::engine(common, Absent::Empty).await?;
    let key = setup::session_or_latest(&engine, Some(key)).await?;
    let state = engine.state(&key.scope).await?;
    if state.live(key.number).is_none() {
        return Err(missing(&key).into());
    }
    Ok((engine, state, key))
}
