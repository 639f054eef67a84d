//! Responses of endpoints that speak only chat.

use super::build::Building;
use super::keeper::Keeper;
use crate::openai::chat::is_stream;
use crate::openai::relay::{Ended, Events, Sink};
use crate::openai::reply::{Delta, Reply};
use crate::openai::upstream::whole;
use crate::problem::Problem;
use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::Value;

/// Makes a response of a chat completion, whole or piece by piece.
pub(crate) async fn from_chat(
    answer: reqwest::Response,
    mut building: Building,
    streams: bool,
    keeper: Keeper,
) -> Result<Response, Problem> {
    if is_stream(&answer) {
        let (sink, response) = keeper.sink();
        tokio::spawn(relay(answer, building, keeper, sink));
        return Ok(response);
    }
    let bytes = whole(answer).await?;
    let no_completion = || Problem::upstream("the model's endpoint answered with no chat completion");
    let value: Value = serde_json::from_slice(&bytes).map_err(|_| no_completion())?;
    let reply = Reply::of_chat(&value).ok_or_else(no_completion)?;
    let mut events = building.begin();
    if !reply.text.is_empty() {
        events += &building.text(&reply.text);
    }
    for (at, call) in reply.calls().enumerate() {
        events += &building.take(&Delta::of_call(at, call));
    }
    events += &building.end_items();
    events += &building.complete(reply.finish.as_deref().unwrap_or("stop"), reply.usage);
    keeper.keep(&reply, building.response()).await?;
    Ok(match streams {
        true => ([(axum::http::header::CONTENT_TYPE, "text/event-stream")], events).into_response(),
        false => Json(building.response().clone()).into_response(),
    })
}

async fn relay(answer: reqwest::Response, mut building: Building, keeper: Keeper, sink: Sink) {
    let mut reply = Reply::default();
    if !sink.send(building.begin()).await {
        return;
    }
    let mut events = Events::new(answer);
    let ended = loop {
        let event = match events.next_of(&reply, &sink).await {
            Ok(Some(event)) => event,
            Ok(None) => break Ended::Done,
            Err(ended) => break ended,
        };
        let data = event.data.trim();
        if data == "[DONE]" {
            break Ended::Done;
        }
        let value: Value = serde_json::from_str(data).unwrap_or_default();
        if let Some(error) = value.get("error").filter(|error| !error.is_null()) {
            let why = error.get("message").and_then(Value::as_str).unwrap_or("the model's endpoint failed");
            reply.finish = None;
            break Ended::Broke(why.to_owned());
        }
        match reply.take(&value) {
            Some(delta) => {
                if let Some(why) = keeper.too_long(reply.bytes()) {
                    reply.finish = None;
                    break Ended::Broke(why);
                }
                let out = building.take(&delta);
                if !out.is_empty() && !sink.send(out).await {
                    break Ended::HungUp;
                }
            }
            None => break Ended::Broke("the model's endpoint sent what is no chat completion".to_owned()),
        }
    };
    let why = match ended {
        _ if reply.is_whole() => None,
        Ended::Broke(why) => Some(why),
        Ended::HungUp => return,
        Ended::Done => Some("the model's endpoint stopped before its answer was whole".to_owned()),
    };
    let last = match why {
        Some(why) => {
            let failed = building.fail(&why);
            keeper.failed(building.response()).await;
            failed
        }
        None => {
            let items = building.end_items();
            let complete = building.complete(reply.finish.as_deref().unwrap_or("stop"), reply.usage);
            match keeper.keep(&reply, building.response()).await {
                Ok(()) => items + &complete,
                Err(problem) => items + &building.fail(problem.detail()),
            }
        }
    };
    sink.send(last).await;
}
