//! The agent asks: the work so far, the question and its time are stored with the transition (C-2).

use super::super::DecisionBuilder;
use super::Done;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::refusal::TaskRefusal;
use crate::task::state::StateName;

pub(super) fn ask(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    question: &str,
) -> Result<Done, Refusal> {
    builder.may_go(session, StateName::AwaitingUser)?;
    let note = Observation::Note(Note::text(NoteKind::Question, question.trim()));
    note.check().map_err(TaskRefusal::from).map_err(Refusal::Task)?;
    let flushed = builder.work_commit(session)?;
    let question = builder.observe_after(session, note, flushed)?;
    let asked_at = builder.draft.effective_now();
    builder.go(session, Stage::AwaitingUser { question, asked_at }, None).map(Done::quiet)
}
