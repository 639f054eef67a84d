//! The agent thinks that it is done; the person says so, or wants more (C-5).

use super::super::DecisionBuilder;
use super::{Done, Ending, compact};
use crate::entry::{Seq, Wording};
use crate::refusal::Refusal;
use crate::session::Number;
use crate::task::assignment::Stage;
use crate::task::canonical::CommitKind;
use crate::task::history::Reach;
use crate::task::observation::{Note, NoteKind, Observation};
use crate::task::refusal::TaskRefusal;
use crate::task::state::StateName;
use crate::task::transition::Forbidden;

pub(super) fn finish(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    summary: &str,
) -> Result<Done, Refusal> {
    builder.may_go(session, StateName::PendingComplete)?;
    let flushed = builder.work_commit(session)?;
    let summary = builder.worded(Wording::Summary, summary)?;
    builder.go(session, Stage::PendingComplete { summary }, flushed).map(Done::quiet)
}

pub(super) fn confirm(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    message: Option<Seq>,
) -> Result<Done, Refusal> {
    builder.may_go(session, StateName::Complete)?;
    let summary = builder.history(session, Reach::Whole)?.words.clone();
    let note = match message {
        Some(message) => Note::of_message(NoteKind::Confirmation, message),
        None => Note::text(NoteKind::Confirmation, "User confirmed task complete"),
    };
    builder.observe(session, Observation::Note(note))?;
    compact::end(builder, session, CommitKind::Normal, &summary, Ending::ForGood)
}

/// "Not quite, also ...": the same task goes on.
pub(super) fn request(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    message: Option<Seq>,
    text: &str,
) -> Result<Done, Refusal> {
    let state = builder.task(session)?.state();
    if state != StateName::PendingComplete {
        return Err(Refusal::Task(Forbidden::new(state, StateName::Running).into()));
    }
    let note = Note { kind: NoteKind::Request, text: text.trim().to_owned(), message, answers: None };
    let note = Observation::Note(note);
    note.check().map_err(TaskRefusal::from).map_err(Refusal::Task)?;
    builder.observe(session, note)?;
    builder.go(session, Stage::Running, None).map(Done::quiet)
}
