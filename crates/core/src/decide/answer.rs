//! An answer to our own question: the message that was held stays, begins a session, or goes to the older
//! one.

use super::{Decided, DecisionBuilder, MessageSignals, Verdict, task};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Body, Branched, CommandBy, Moved, Resumed, Seq, Spoken};
use crate::extras::PendingQuestion;
use crate::message::Message;
use crate::notice::{Notice, Summary};
use crate::observed::{Answer, Observed};
use crate::policy::QuestionMode;
use crate::refusal::Refusal;
use crate::span::Side;

/// An answer in words. It is kept as a command: it is said to us, not to the model.
pub(super) fn spoken(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    answer: Answer,
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let spoken = Spoken {
        text: message.text.clone(),
        message_id: message.message_id.clone(),
        sender: message.sender.clone(),
        author: message.author.clone(),
        by: CommandBy::Person,
    };
    let about = builder.draft.push(Body::Command(spoken))?;
    settle(builder, answer, Cause::Intent, signals, Some(about))
}

/// An answer by a button or a command.
pub(super) fn command(
    mut builder: DecisionBuilder<'_>,
    answer: Answer,
    summary: Option<&str>,
) -> Result<Decided, Refusal> {
    let about = builder.note_command()?;
    let signals = MessageSignals { observed: &Observed::default(), summary };
    settle(builder, answer, Cause::Command, signals, about)
}

fn settle(
    mut builder: DecisionBuilder<'_>,
    answer: Answer,
    cause: Cause,
    signals: MessageSignals<'_>,
    about: Option<Seq>,
) -> Result<Decided, Refusal> {
    let previous = builder.latest()?;
    let Some(question) = builder.state().extras.question.clone() else { return Err(Refusal::NothingAsked) };
    let (action, session, notice) = match answer {
        Answer::Continue => {
            task::on_user_message::settle(&mut builder, previous, &question)?;
            builder.draft.push(Body::Answered)?;
            (Action::Continue, previous, Notice::Stays { session: previous })
        }
        Answer::Fresh => fresh(&mut builder, &question, signals.summary)?,
        Answer::Older => older(&mut builder, &question)?,
    };
    let verdict = Verdict::new(action, cause, session).because(Reason::Answered { answer });
    builder.close(verdict.notice(notice).observing(signals.observed).about(about))
}

type Settled = (Action, crate::session::Number, Notice);

/// The held message begins a session, and what was said before it stays.
fn fresh(
    builder: &mut DecisionBuilder<'_>,
    question: &PendingQuestion,
    summary: Option<&str>,
) -> Result<Settled, Refusal> {
    let parent = builder.latest()?;
    // The message began a session when it came.
    if question.manner == QuestionMode::Propose
        && builder.state().view(parent).cut(&question.cut(), Side::InFront).0.messages() == 0
    {
        builder.draft.push(Body::Answered)?;
        return Ok((Action::Continue, parent, Notice::Stays { session: parent }));
    }
    task::on_user_message::leave(builder, parent)?;
    builder.draft.seal()?;
    // Who was asked before saying anything begins with nothing.
    if question.held == Seq::ZERO {
        let session = builder.open(Some(parent))?;
        let (pruned, way_back) = builder.keep_backlog()?;
        let summary = Summary::Left;
        return Ok((
            Action::New,
            session,
            Notice::Fresh { session, previous: parent, summary, pruned, way_back },
        ));
    }
    let session = builder.state().next_session;
    let cut = question.cut();
    let (kept, _) = builder.state().view(parent).cut(&cut, Side::InFront);
    if kept.messages() == 0 {
        return Err(Refusal::NothingBefore(question.held));
    }
    let branch = Branched::new(session, builder.at.fresh, parent, parent, Some(cut));
    builder.draft.push(Body::Split(branch))?;
    // A conversation that was stuck goes on with what it came to.
    let summary = match question.cause {
        Cause::Health => builder.carry_over(parent, summary)?,
        _ => Summary::Left,
    };
    let action = match summary {
        Summary::Carried => Action::NewCarryOver,
        Summary::Left => Action::New,
    };
    let (pruned, way_back) = builder.keep_backlog()?;
    Ok((action, session, Notice::Fresh { session, previous: parent, summary, pruned, way_back }))
}

/// The held message goes to the older session, which is latest again.
fn older(builder: &mut DecisionBuilder<'_>, question: &PendingQuestion) -> Result<Settled, Refusal> {
    let from = builder.latest()?;
    let session = question.older.ok_or(Refusal::NothingOffered)?;
    builder.live(session)?;
    builder.draft.seal()?;
    let (kept, taken) = builder.state().view(from).cut(&question.cut(), Side::InFront);
    builder.draft.push(Body::Resumed(Resumed::chosen(session, from, Some(Moved { kept, taken }))))?;
    Ok((Action::Resume, session, Notice::BackTo { session, previous: from }))
}
