//! `segue sessions show`: a session with all that was said in it.

use super::list::title;
use super::pins;
use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::setup;
use crate::transcript::{PrintedMessage, Transcript};
use crate::{Exit, Missing, json, layout, out, paint};
use segue_core::session::Key;
use segue_core::state::State;
use segue_engine::history::StoredMessage;
use serde_json::{Value, json};

pub async fn run(common: &Common, key: Option<&SessionArg>) -> anyhow::Result<Exit> {
    let engine = setup::reader(common)?;
    let key = &setup::session_or_latest(&engine, key).await?;
    let state = engine.state(&key.scope).await?;
    let Some(session) = state.live(key.number) else { return Err(missing(key).into()) };
    let listed = engine.describe(&state, key.number).await?;
    let messages = engine.all_messages(&state, key.number).await?;
    let messages: Vec<_> = messages.into_iter().map(StoredMessage::as_data).collect();
    if common.json {
        let mut shown = json::listed(&listed);
        if let Value::Object(fields) = &mut shown {
            fields.extend(pins::shown(&engine, &state, key).await?);
            let children = state.sessions.iter().filter(|(_, s)| s.parent == Some(key.number) && s.is_live());
            let children = children.map(|(number, _)| Value::from(state.key(*number).to_string()));
            fields.insert("children".into(), children.collect());
            fields.insert("origin".into(), serde_json::to_value(session.origin)?);
            fields.insert("segments".into(), segments(&state, key));
            fields.insert("conversation_state".into(), messages.iter().map(json::stored_message).collect());
        }
        json::print(&shown)?;
        return Ok(Exit::Done);
    }
    let zone = engine.config().time_zone_for(&key.scope, None);
    out::line(paint::strong(format!("#{}  {}", key.number, title(&listed))))?;
    out::line(&key.scope)?;
    let written = layout::time(listed.updated_at, &zone);
    let count = listed.messages;
    let noun = if count == 1 { "message" } else { "messages" };
    let active = if listed.active { ", active" } else { "" };
    out::line(paint::dim(format!("{count} {noun}, last written {written}{active}")))?;
    out::line(paint::dim(format!("id {}", listed.session_id)))?;
    pins::tell(&engine, &state, key).await?;
    let mut transcript = Transcript::new();
    for told in &messages {
        let at = told.at.to_zoned(zone.clone());
        let said = PrintedMessage {
            seq: Some(told.seq),
            at,
            role: told.role,
            message: told.message.as_ref(),
            remark: None,
        };
        transcript.say(&said)?;
    }
    Ok(Exit::Done)
}

/// Says that there is no such session.
pub fn missing(key: &Key) -> Missing {
    Missing(format!("there is no session {key}; `segue sessions list {}` lists them", key.scope))
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
