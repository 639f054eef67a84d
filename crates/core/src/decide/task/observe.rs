//! What an observation must be to be taken. Entries that it names are looked up by the engine, which can read.

use super::super::DecisionBuilder;
use crate::refusal::Refusal;
use crate::task::node::NodeId;
use crate::task::observation::Observation;
use crate::task::refusal::TaskRefusal;

pub(super) fn check(builder: &DecisionBuilder<'_>, observation: &Observation) -> Result<(), Refusal> {
    observation.check().map_err(TaskRefusal::from).map_err(Refusal::Task)?;
    let Observation::Relations { edges } = observation else { return Ok(()) };
    for node in edges.iter().flat_map(|edge| [&edge.from, &edge.to]) {
        let is_there = match node {
            NodeId::Session(number) => builder.state().sessions.contains_key(number),
            NodeId::File(_) => true,
            _ => node.entry().is_some_and(|seq| seq <= builder.state().head),
        };
        if !is_there {
            return Err(Refusal::Task(TaskRefusal::NoNode(node.clone())));
        }
    }
    Ok(())
}
