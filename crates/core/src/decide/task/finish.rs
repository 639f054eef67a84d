//! The agent thinks that it is done; the person says so, or wants more (C-5).

use super::super::Desk;
use super::{Done, Ending, compact};
use crate::entry::{Seq, Wording};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::canonical::CommitKind;
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::past::Wanted;
use crate::task::refusal::TaskRefusal;
use crate::task::state::StateName;
use crate::task::transition::Forbidden;

pub(super) fn finish(desk: &mut Desk<'_>, session: Number, summary: &str) -> Result<Done, Refusal> {
    desk.may_go(session, StateName::PendingComplete)?;
    let flushed = desk.work_commit(session)?;
    let summary = desk.worded(Wording::Summary, summary)?;
    desk.go(session, Stage::PendingComplete { summary }, flushed).map(Done::quiet)
}

pub(super) fn confirm(desk: &mut Desk<'_>, session: Number, message: Option<Seq>) -> Result<Done, Refusal> {
    desk.may_go(session, StateName::Complete)?;
    let summary = desk.past(session, Wanted::Whole)?.words.clone();
    let note = match message {
        Some(message) => Note::of_message(NoteKind::Confirmation, message),
        None => Note::text(NoteKind::Confirmation, "User confirmed task complete"),
    };
    desk.observe(session, Observation::Note(note))?;
    compact::end(desk, session, CommitKind::Normal, &summary, Ending::ForGood)
}

/// "Not quite, also ...": the same task goes on.
pub(super) fn request(
    desk: &mut Desk<'_>,
    session: Number,
    message: Option<Seq>,
    text: &str,
) -> Result<Done, Refusal> {
    let state = desk.task(session)?.state();
    if state != StateName::PendingComplete {
        return Err(Refusal::Task(Forbidden::new(state, StateName::Running).into()));
    }
    let note = Note { kind: NoteKind::Request, text: text.trim().to_owned(), message, answers: None };
    let note = Observation::Note(note);
    note.check().map_err(TaskRefusal::from).map_err(Refusal::Task)?;
    desk.observe(session, note)?;
    desk.go(session, Stage::Running, None).map(Done::quiet)
}
