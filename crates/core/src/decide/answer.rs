//! An answer to our own question: the message that was held stays, begins a session, or goes to the older
//! one.

use super::{Decided, Desk, Hearing, Verdict, task};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Branched, Moved, Resumed, Seq, Spoken};
use crate::message::Message;
use crate::notice::{Notice, Summary};
use crate::observed::{Answer, Observed};
use crate::refusal::Refusal;
use crate::span::Side;
use crate::standing::Question;

/// An answer in words. It is kept as a command: it is said to us, not to the model.
pub(super) fn spoken(
    mut desk: Desk<'_>,
    message: &Message,
    answer: Answer,
    hearing: Hearing<'_>,
) -> Result<Decided, Refusal> {
    let spoken = Spoken { text: message.text.clone(), message_id: message.message_id.clone() };
    let about = desk.draft.push(Body::Command(spoken))?;
    settle(desk, answer, Cause::Intent, hearing, Some(about))
}

/// An answer by a button or a command.
pub(super) fn command(mut desk: Desk<'_>, answer: Answer, summary: Option<&str>) -> Result<Decided, Refusal> {
    let about = desk.note_command()?;
    let hearing = Hearing { observed: &Observed::default(), summary };
    settle(desk, answer, Cause::Command, hearing, about)
}

fn settle(
    mut desk: Desk<'_>,
    answer: Answer,
    cause: Cause,
    hearing: Hearing<'_>,
    about: Option<Seq>,
) -> Result<Decided, Refusal> {
    let previous = desk.latest()?;
    let Some(question) = desk.state().standing.question.clone() else { return Err(Refusal::NothingAsked) };
    let (action, session, notice) = match answer {
        Answer::Continue => {
            task::hear::settle(&mut desk, previous, question.held)?;
            desk.draft.push(Body::Answered)?;
            (Action::Continue, previous, Notice::Stays { session: previous })
        }
        Answer::Fresh => fresh(&mut desk, &question, hearing.summary)?,
        Answer::Older => older(&mut desk, &question)?,
    };
    let verdict = Verdict::new(action, cause, session).because(Reason::Answered { answer });
    desk.close(verdict.notice(notice).hearing(hearing.observed).about(about))
}

type Settled = (Action, crate::session::Number, Notice);

/// The held message begins a session, and what was said before it stays.
fn fresh(desk: &mut Desk<'_>, question: &Question, summary: Option<&str>) -> Result<Settled, Refusal> {
    let parent = desk.latest()?;
    task::hear::leave(desk, parent)?;
    desk.draft.seal()?;
    // Who was asked before saying anything begins with nothing.
    if question.held == Seq::ZERO {
        let session = desk.open(Some(parent))?;
        let (pruned, way_back) = desk.keep_backlog()?;
        let summary = Summary::Left;
        return Ok((
            Action::New,
            session,
            Notice::Fresh { session, previous: parent, summary, pruned, way_back },
        ));
    }
    let session = desk.state().next_session;
    let (kept, taken) = desk.state().view(parent).cut(&question.cut(), Side::InFront);
    if kept.messages() == 0 {
        return Err(Refusal::NothingBefore(question.held));
    }
    let at = Some(question.held);
    let branch = Branched { session, id: desk.at.fresh, parent, from: parent, at, kept: Some(kept), taken };
    desk.draft.push(Body::Split(branch))?;
    // A conversation that was stuck goes on with what it came to.
    let summary = match question.cause {
        Cause::Health => desk.carry_over(parent, summary)?,
        _ => Summary::Left,
    };
    let action = match summary {
        Summary::Carried => Action::NewCarryOver,
        Summary::Left => Action::New,
    };
    let (pruned, way_back) = desk.keep_backlog()?;
    Ok((action, session, Notice::Fresh { session, previous: parent, summary, pruned, way_back }))
}

/// The held message goes to the older session, which is latest again.
fn older(desk: &mut Desk<'_>, question: &Question) -> Result<Settled, Refusal> {
    let from = desk.latest()?;
    let session = question.older.ok_or(Refusal::NothingOffered)?;
    desk.live(session)?;
    desk.draft.seal()?;
    let (kept, taken) = desk.state().view(from).cut(&question.cut(), Side::InFront);
    desk.draft.push(Body::Resumed(Resumed { session, from, moved: Some(Moved { kept, taken }) }))?;
    Ok((Action::Resume, session, Notice::BackTo { session, previous: from }))
}
