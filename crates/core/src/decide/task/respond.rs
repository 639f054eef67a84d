//! The person answers: the response, and a relation from it to the task (C-3).

use super::super::DecisionBuilder;
use super::Done;
use crate::entry::Seq;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::node::{Edge, EdgeLabel, NodeId};
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::refusal::TaskRefusal;
use crate::task::state::StateName;

pub(super) fn respond(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    message: Option<Seq>,
    text: &str,
) -> Result<Done, Refusal> {
    builder.may_go(session, StateName::Running)?;
    let task = builder.task(session)?;
    let (id, Stage::AwaitingUser { question, .. }) = (task.id, &task.stage) else {
        let forbidden = crate::task::transition::Forbidden::new(task.state(), StateName::Running);
        return Err(Refusal::Task(forbidden.into()));
    };
    let answers = Some(*question);
    let note = Note { kind: NoteKind::Response, text: text.trim().to_owned(), message, answers };
    let note = Observation::Note(note);
    note.check().map_err(TaskRefusal::from).map_err(Refusal::Task)?;
    let response = builder.observe(session, note)?;
    let edge = Edge::new(NodeId::Note(response), NodeId::Task(id), EdgeLabel::Mentions, "");
    builder.observe(session, Observation::Relations { edges: vec![edge] })?;
    builder.go(session, Stage::Running, None).map(Done::quiet)
}
