//! A task begins (C-10): where the conversation is, or in a session of its own if there was a task before it.

use super::super::{Decided, Desk, Verdict};
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
    mut desk: Desk<'_>,
    description: Option<&Description>,
    message: Option<Seq>,
    cut: Option<&Cut>,
) -> Result<Decided, Refusal> {
    if description.is_none() && message.is_none() {
        return Err(Refusal::Task(NotADescription::Empty.into()));
    }
    let previous = match desk.state().latest() {
        Some(latest) => latest,
        None => desk.open(None)?,
    };
    let before = desk.state().standing.tasks.get(&previous);
    let stays = before.is_none_or(|task| task.is_open() && !task.has_meaningful_work());
    let ending = if stays { Ending::ForGood } else { Ending::AtBoundary };
    let kept = end_before(&mut desk, previous, ending)?;
    if stays {
        let about = begin(&mut desk, previous, description, message)?;
        let done = Done::told(about, TaskNotice::Begun { session: previous });
        return Ok(desk.close_for_task(previous, done));
    }
    let session = own_session(&mut desk, previous, cut)?;
    let about = begin(&mut desk, session, description, message)?;
    let (pruned, way_back) = desk.keep_backlog()?;
    let notice = TaskNotice::Started { session, previous, kept, pruned, way_back };
    let verdict = Verdict::new(Action::New, Cause::Task, session);
    let verdict = verdict.because(Reason::Commanded { command: "task start".to_owned() });
    desk.close(verdict.notice(Notice::Task(notice)).about(Some(message.unwrap_or(about))))
}

/// Ends the task that is open: with a canonical commit if something was done, without one if not (C-10).
pub(super) fn end_before(
    desk: &mut Desk<'_>,
    session: Number,
    ending: Ending,
) -> Result<Option<CommitKind>, Refusal> {
    let Some(task) = desk.state().standing.open_task(session) else { return Ok(None) };
    if task.has_meaningful_work() {
        let kind = CommitKind::InterruptedByNewTask;
        compact::end(desk, session, kind, "", ending)?;
        return Ok(Some(kind));
    }
    let (was, to) = (ending.was(&task.stage), Stage::Aborted { reason: None });
    desk.may_go(session, to.name())?;
    desk.draft.push(Body::Task(TaskStep { was, ..TaskStep::new(session, Change::Went { to }) }))?;
    Ok(None)
}

/// Opens the session of the task. The message that asked for it goes along.
fn own_session(desk: &mut Desk<'_>, parent: Number, cut: Option<&Cut>) -> Result<Number, Refusal> {
    desk.draft.seal()?;
    if let Some(cut) = cut {
        let (kept, taken) = desk.state().view(parent).cut(cut, Side::InFront);
        if kept.messages() > 0 && taken.messages() > 0 {
            let (session, id) = (desk.state().next_session, desk.at.fresh);
            let (at, kept) = (Some(cut.message), Some(kept));
            desk.draft.push(Body::Split(Branched { session, id, parent, from: parent, at, kept, taken }))?;
            return Ok(session);
        }
    }
    desk.open(Some(parent))
}

/// Writes that the task begins.
pub(super) fn begin(
    desk: &mut Desk<'_>,
    session: Number,
    description: Option<&Description>,
    message: Option<Seq>,
) -> Result<Seq, Refusal> {
    let described = match (description, message) {
        (Some(words), _) => Described::Words(desk.worded(Wording::Description, words.as_str())?),
        (None, Some(message)) => Described::Message(message),
        (None, None) => return Err(Refusal::Task(NotADescription::Empty.into())),
    };
    // What was read back is of the task before it.
    desk.past = None;
    desk.draft.push(Body::Task(TaskStep::new(session, Change::Started { described })))
}
