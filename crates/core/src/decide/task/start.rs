//! A task begins (C-10): where the conversation is, or in a session of its own if there was a task before it.

use super::super::{Decided, DecisionBuilder, Verdict};
use super::{Done, Ending, compact};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Branched, Change, Seq, TaskStep, Wording};
use crate::notice::Notice;
use crate::refusal::Refusal;
use crate::session::Number;
use crate::span::{Cut, Side};
use crate::task::assignment::{Described, Stage};
use crate::task::canonical::CommitKind;
use crate::task::identity::{Description, NotADescription};
use crate::task::notice::TaskNotice;

pub(super) fn start(
    mut builder: DecisionBuilder<'_>,
    description: Option<&Description>,
    message: Option<Seq>,
    cut: Option<&Cut>,
) -> Result<Decided, Refusal> {
    if description.is_none() && message.is_none() {
        return Err(Refusal::Task(NotADescription::Empty.into()));
    }
    let previous = match builder.state().latest() {
        Some(latest) => latest,
        None => builder.open(None)?,
    };
    let command = builder.note_command()?;
    let before = builder.state().extras.tasks.get(&previous);
    let stays = before.is_none_or(|task| task.is_open() && !task.has_meaningful_work());
    let ending = if stays { Ending::ForGood } else { Ending::AtBoundary };
    let kept = end_before(&mut builder, previous, ending)?;
    if stays {
        let about = begin(&mut builder, previous, description, message)?;
        let done = Done::told(about, TaskNotice::Begun { session: previous });
        builder.decide_for_task(previous, &done)?;
        return Ok(builder.close_for_task(previous, done));
    }
    let session = own_session(&mut builder, previous, cut)?;
    let about = begin(&mut builder, session, description, message)?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = TaskNotice::Started { session, previous, kept, pruned, way_back };
    let verdict = Verdict::new(Action::New, Cause::Task, session);
    let verdict = verdict.because(Reason::Commanded { command: "task start".to_owned() });
    builder.close(verdict.notice(Notice::Task(notice)).about(command.or(message).or(Some(about))))
}

/// Ends the task that is open: with a canonical commit if something was done, without one if not (C-10).
pub(super) fn end_before(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    ending: Ending,
) -> Result<Option<CommitKind>, Refusal> {
    let Some(task) = builder.state().extras.open_task(session) else { return Ok(None) };
    if task.has_meaningful_work() {
        let kind = CommitKind::InterruptedByNewTask;
        compact::end(builder, session, kind, "", ending)?;
        return Ok(Some(kind));
    }
    let (was, to) = (ending.was(&task.stage), Stage::Aborted { reason: None });
    builder.may_go(session, to.name())?;
    builder.draft.push(Body::Task(TaskStep { was, ..TaskStep::new(session, Change::Went { to }) }))?;
    Ok(None)
}

/// Opens the session of the task. The message that asked for it goes along.
fn own_session(
    builder: &mut DecisionBuilder<'_>,
    parent: Number,
    cut: Option<&Cut>,
) -> Result<Number, Refusal> {
    builder.draft.seal()?;
    if let Some(cut) = cut {
        let (kept, taken) = builder.state().view(parent).cut(cut, Side::InFront);
        if kept.messages() > 0 && taken.messages() > 0 {
            let (session, id) = (builder.state().next_session, builder.at.fresh);
            let branch = Branched::new(session, id, parent, parent, Some(cut.clone()));
            builder.draft.push(Body::Split(branch))?;
            return Ok(session);
        }
    }
    builder.open(Some(parent))
}

/// Writes that the task begins.
pub(super) fn begin(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    description: Option<&Description>,
    message: Option<Seq>,
) -> Result<Seq, Refusal> {
    let described = match (description, message) {
        (Some(words), _) => Described::Words(builder.worded(Wording::Description, words.as_str())?),
        (None, Some(message)) => Described::Message(message),
        (None, None) => return Err(Refusal::Task(NotADescription::Empty.into())),
    };
    // What was read back is of the task before it.
    builder.history = None;
    builder.draft.push(Body::Task(TaskStep::new(session, Change::Started { described })))
}
