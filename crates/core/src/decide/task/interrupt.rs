//! The person speaks while the agent works: nothing is dropped, and several messages queue in order (C-4).

use super::super::DecisionBuilder;
use super::Done;
use crate::entry::{Body, Change, Seq, TaskStep};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::{Assignment, Stage};
use crate::task::history::Reach;
use crate::task::notice::TaskNotice;
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::state::StateName;

/// Tells how much of the task's history has to be read: the first interruption flushes what is staged.
pub(super) fn reach(task: &Assignment) -> Option<Reach> {
    let flushes = !matches!(task.stage, Stage::Interrupted { .. }) && task.staged() > 0;
    flushes.then_some(Reach::Staged)
}

pub(super) fn interrupt(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    message: Seq,
) -> Result<Done, Refusal> {
    let note = Observation::Note(Note::of_message(NoteKind::Intervention, message));
    let queued = TaskNotice::Queued { message };
    if let Stage::Interrupted { messages } = &builder.task(session)?.stage {
        let mut messages = messages.clone();
        if messages.contains(&message) {
            return Ok(Done::told(builder.state().head, queued));
        }
        messages.push(message);
        builder.observe(session, note)?;
        let change = Change::Went { to: Stage::Interrupted { messages } };
        let step = builder.draft.push(Body::Task(TaskStep::new(session, change)))?;
        return Ok(Done::told(step, queued));
    }
    builder.may_go(session, StateName::Interrupted)?;
    let flushed = builder.work_commit(session)?;
    builder.observe_after(session, note, flushed)?;
    let step = builder.go(session, Stage::Interrupted { messages: vec![message] }, None)?;
    Ok(Done::told(step, queued))
}
