//! Finds out what a request about a task means in a scope as it is: the message that it speaks of, and whether what it
//! names is there.

use crate::request::{Refused, cut};
use segue_core::decide::{Command, TaskCommand, TaskVerb};
use segue_core::entry::{Body, Kind, Record, Seq};
use segue_core::message::Role;
use segue_core::refusal::Refusal;
use segue_core::state::State;
use segue_core::task::node::NodeId;
use segue_core::task::observation::Observation;
use segue_core::task::refusal::TaskRefusal;
use segue_store::{Filter, Reading, Store, Take};

/// How many of the newest messages are looked at for the person's last one.
const NEWEST_MAX: usize = 64;

type Resolved = Result<Result<Command, Refused>, segue_store::Error>;

pub(crate) async fn resolve(store: &dyn Store, state: &State, command: &TaskCommand) -> Resolved {
    let mut command = command.clone();
    match &mut command.verb {
        TaskVerb::Start { description, message, cut: at } => {
            let last = last_user(store, state).await?;
            if message.is_none()
                && let Some((seq, text)) = &last
                && description.as_ref().is_none_or(|words| words.as_str() == text.trim())
            {
                (*message, *description) = (Some(*seq), None);
            }
            // A message that came after the task before it belongs to the new one.
            let latest = state.latest();
            let ended = latest.and_then(|latest| state.extras.tasks.get(&latest)).filter(|t| !t.is_open());
            if let (Some(latest), Some(ended), Some((seq, _))) = (latest, ended, &last)
                && *seq > ended.since
            {
                *at = match cut(store, state, latest, *seq).await? {
                    Ok(cut) => Some(cut),
                    Err(refused) => return Ok(Err(refused)),
                };
            }
        }
        TaskVerb::Interrupt { message } if *message == Seq::ZERO => match last_user(store, state).await? {
            Some((seq, _)) => *message = seq,
            None => return Ok(Err(Refusal::NothingSaid.into())),
        },
        TaskVerb::Observe { observations } => {
            for edge in observations.iter().flat_map(edges) {
                for node in [&edge.from, &edge.to] {
                    if !is_there(store, state, node).await? {
                        let refusal = TaskRefusal::NoNode(node.clone());
                        return Ok(Err(Refusal::Task(refusal).into()));
                    }
                }
            }
        }
        _ => {}
    }
    Ok(Ok(Command::Task(command)))
}

fn edges(observation: &Observation) -> &[segue_core::task::node::Edge] {
    match observation {
        Observation::Relations { edges } => edges,
        _ => &[],
    }
}

/// Finds the person's last message in the latest session.
pub(crate) async fn last_user(
    store: &dyn Store,
    state: &State,
) -> Result<Option<(Seq, String)>, segue_store::Error> {
    let Some(latest) = state.latest() else { return Ok(None) };
    let take = Take::Newest(NEWEST_MAX);
    let reading = Reading { view: state.view(latest), filter: Filter::Messages, take };
    let records = store.read(&state.scope, &reading).await?;
    Ok(records.iter().rev().find(|record| record.kind == Kind::of(Role::User)).and_then(
        |record| match record.body().ok()? {
            Body::Message(_, message) => Some((record.seq, message.text)),
            _ => None,
        },
    ))
}

/// Tells whether a node is what it says it is.
async fn is_there(store: &dyn Store, state: &State, node: &NodeId) -> Result<bool, segue_store::Error> {
    let seq = match node {
        NodeId::Session(number) => return Ok(state.sessions.contains_key(number)),
        NodeId::File(_) => return Ok(true),
        _ => node.entry().unwrap_or(Seq::ZERO),
    };
    if seq == Seq::ZERO || seq > state.head {
        return Ok(false);
    }
    let record = store.get(&state.scope, seq).await?;
    Ok(record.is_some_and(|record| names(node, &record)))
}

fn names(node: &NodeId, record: &Record) -> bool {
    match (node, record.body()) {
        (NodeId::Message(_), _) => record.kind.role().is_some(),
        (NodeId::Task(_), Ok(Body::Task(step))) => {
            matches!(step.change, segue_core::entry::Change::Started { .. })
        }
        (_, Ok(Body::Observation(observing))) => {
            observing.observation.node(record.seq).as_ref() == Some(node)
        }
        _ => false,
    }
}
