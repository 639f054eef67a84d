//! A boundary that ended a task is taken back: the task is open again, where it stood.

use super::super::DecisionBuilder;
use super::{Ending, compact};
use crate::entry::{Body, Change, Seq, TaskStep};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::canonical::CommitKind;

/// Makes room for what was, before the boundary at an entry is taken back.
///
/// A task that the boundary ended is opened again, and the one that began since ends in its place: what was done in it
/// is kept. Two tasks that are both open for other reasons cannot become one.
pub(in crate::decide) fn reopen(
    builder: &mut DecisionBuilder<'_>,
    from: Number,
    to: Number,
    boundary: Seq,
) -> Result<(), Refusal> {
    let ended = builder.state().extras.tasks.get(&from).and_then(|task| task.ended_by(boundary));
    let Some(stage) = ended.cloned() else { return builder.state().two_tasks(from, to) };
    if let Some(task) = builder.state().extras.open_task(to) {
        match task.has_meaningful_work() {
            true => drop(compact::end(builder, to, CommitKind::Abandoned, "", Ending::ForGood)?),
            false => drop(builder.go(to, Stage::Aborted { reason: None }, None)?),
        }
    }
    let change = Change::Reopened { to: stage };
    builder.draft.push(Body::Task(TaskStep::new(from, change))).map(drop)
}
