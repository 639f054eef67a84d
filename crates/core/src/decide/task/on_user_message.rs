//! A message of the person in a session that has a task (precedence 6): what it is to the task decides, and time where
//! the policy follows tasks.

use super::super::{Decided, DecisionBuilder, MessageSignals, Verdict, on_user_message::go_on};
use super::{Done, Ending, compact, finish, interrupt, respond, start};
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::entry::{Asked, Body, Change, Seq, TaskStep};
use crate::evidence::Window;
use crate::freshness::Silence;
use crate::message::{Message, Role};
use crate::notice::{Notice, Stake};
use crate::observed::{IntentSource, TaskReading};
use crate::policy::{AutoRoute, Mode, Rule};
use crate::refusal::Refusal;
use crate::rules::{Errand, Scales, Weighed, weigh};
use crate::session::Number;
use crate::task::assignment::Assignment;
use crate::task::canonical::CommitKind;
use crate::task::intent::{MessageIntent, TaskMove, decide};
use crate::task::notice::TaskNotice;
use crate::task::state::StateName;

/// What came of a message.
pub(in crate::decide) enum TaskReaction<'a> {
    /// It was the task's.
    Done(Box<Decided>),
    /// It is none of the task's business.
    Pass(Box<DecisionBuilder<'a>>),
}

/// Where a message is, and what it is to the task there.
struct Moment {
    session: Number,
    state: StateName,
    reading: TaskReading,
    then: TaskMove,
}

/// Hears a message in a session that has, or had, a task.
pub(in crate::decide) fn on_user_message<'a>(
    builder: DecisionBuilder<'a>,
    message: &Message,
    signals: MessageSignals<'_>,
    session: Number,
) -> Result<TaskReaction<'a>, Refusal> {
    let task = builder.task(session)?.clone();
    let free = builder.policy.mode == Mode::Segmented && builder.policy.auto_route == AutoRoute::Auto;
    // A message that nobody could read never ends a task: it belongs to it.
    let unread = TaskReading {
        intent: MessageIntent::Modification,
        source: IntentSource::Unread,
        ..TaskReading::SURE
    };
    let mut reading = signals.observed.task.unwrap_or(unread);
    // Where only commands move a session, a message cannot begin another task.
    if !free && matches!(reading.intent, MessageIntent::NewTask | MessageIntent::Unclear) {
        reading.intent = MessageIntent::Modification;
    }
    let then = decide(task.state(), reading.intent, task.work());
    let moment = Moment { session, state: task.state(), reading, then };
    if task.is_open() && free {
        if signals.observed.window.band == Window::Emergency {
            return overflow(builder, message, signals, session).map(Box::new).map(TaskReaction::Done);
        }
        if let Some(weighed) = by_time(&builder, signals, &moment)? {
            let decided = match weighed.action {
                Action::New => expire(builder, message, signals, weighed, session),
                _ => ask(builder, message, signals, weighed, &moment, &task),
            };
            return decided.map(Box::new).map(TaskReaction::Done);
        }
    }
    let decided = match then {
        TaskMove::Pass => return Ok(TaskReaction::Pass(Box::new(builder))),
        TaskMove::Start if !task.is_open() && !free => return Ok(TaskReaction::Pass(Box::new(builder))),
        TaskMove::Start | TaskMove::CompactAndStart(_) => begin(builder, message, signals, &moment),
        TaskMove::Ask => {
            let weighed = unclear(&moment);
            ask(builder, message, signals, weighed, &moment, &task)
        }
        TaskMove::Acknowledge => go_on(builder, message, signals, moment.verdict(Action::Continue)),
        TaskMove::Respond
        | TaskMove::Queue
        | TaskMove::Continue
        | TaskMove::CompleteAndCompact
        | TaskMove::AbandonAndCompact => stay(builder, message, signals, &moment),
    };
    decided.map(Box::new).map(TaskReaction::Done)
}

impl Moment {
    fn reason(&self) -> Reason {
        let TaskReading { intent, source, .. } = self.reading;
        Reason::ForTheTask { state: self.state, intent, source, does: self.then.name().to_owned() }
    }

    fn verdict(&self, action: Action) -> Verdict {
        let confidence = Confidence::new(self.reading.confidence.value());
        let rule = format!("task/{}", self.then.name());
        let verdict = Verdict::new(action, Cause::Task, self.session).because(self.reason());
        Verdict { confidence, rule, ..verdict }
    }

    /// Tells whether the message is what the agent waits for: then a long silence does not matter.
    fn is_awaited(&self) -> bool {
        match self.then {
            TaskMove::Respond => self.reading.intent == MessageIntent::Response,
            TaskMove::Continue | TaskMove::CompleteAndCompact => true,
            _ => false,
        }
    }
}

/// Weighs the silence, where the policy follows tasks; nothing if it does not matter (C-11).
fn by_time(
    builder: &DecisionBuilder<'_>,
    signals: MessageSignals<'_>,
    moment: &Moment,
) -> Result<Option<Weighed>, Refusal> {
    match builder.policy.rule {
        Rule::Task | Rule::Layered => {}
        Rule::Segmented | Rule::Adaptive => return Ok(None),
    }
    let state = builder.state();
    let Some(open) = &state.open else { return Err(Refusal::NothingSaid) };
    let (policy, extras, now) = (builder.policy, state.extras.as_ref(), builder.draft.effective_now());
    let weighed = weigh(&Scales { policy, open, extras, errand: Errand::Open, now }, signals.observed);
    Ok(match weighed.action {
        Action::New => Some(weighed),
        Action::Ask if !moment.is_awaited() => Some(weighed),
        _ => None,
    })
}

/// The session goes on, and the task with it.
fn stay(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    moment: &Moment,
) -> Result<Decided, Refusal> {
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let done = apply(&mut builder, moment.session, moment.then, about)?;
    let mut verdict = moment.verdict(Action::Continue);
    verdict.notice = done.and_then(|done| done.notice);
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

/// Does to the task what a message that was written does to it.
fn apply(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    then: TaskMove,
    message: Seq,
) -> Result<Option<Done>, Refusal> {
    let done = match then {
        TaskMove::Respond => respond::respond(builder, session, Some(message), "")?,
        TaskMove::Queue => interrupt::interrupt(builder, session, message)?,
        TaskMove::Continue => finish::request(builder, session, Some(message), "")?,
        TaskMove::CompleteAndCompact => finish::confirm(builder, session, Some(message))?,
        TaskMove::AbandonAndCompact => {
            compact::end(builder, session, CommitKind::Abandoned, "", Ending::ForGood)?
        }
        TaskMove::CompactAndStart(_)
        | TaskMove::Start
        | TaskMove::Ask
        | TaskMove::Acknowledge
        | TaskMove::Pass => return Ok(None),
    };
    Ok(Some(done))
}

/// The message begins another task, in a session of its own (C-10).
fn begin(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    moment: &Moment,
) -> Result<Decided, Refusal> {
    let previous = moment.session;
    let kept = start::end_before(&mut builder, previous, Ending::AtBoundary)?;
    builder.draft.seal()?;
    let session = builder.open(Some(previous))?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    start::begin(&mut builder, session, None, Some(about))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = TaskNotice::Started { session, previous, kept, pruned, way_back };
    let verdict = Verdict { session, ..moment.verdict(Action::New) }.notice(Notice::Task(notice));
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

/// The task was left alone for too long: what there is of it is kept, and the message begins a session (C-11).
fn expire(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: Weighed,
    previous: Number,
) -> Result<Decided, Refusal> {
    let gap_ms = gap_ms(&builder);
    compact::end(&mut builder, previous, CommitKind::Stale, "", Ending::AtBoundary)?;
    builder.draft.seal()?;
    let session = builder.open_because(Some(previous), Some(weighed.cause))?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = TaskNotice::Expired { session, previous, gap_ms, pruned, way_back };
    let verdict = Verdict::of(weighed, session).notice(Notice::Task(notice));
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

fn gap_ms(builder: &DecisionBuilder<'_>) -> i64 {
    let now = builder.draft.effective_now();
    builder.state().open.as_ref().map_or(0, |open| Silence::of(open, now).gap_ms)
}

/// There is no room left in the window: the task goes on in a new session, with the summary.
fn overflow(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    previous: Number,
) -> Result<Decided, Refusal> {
    builder.draft.seal()?;
    let session = builder.open_because(Some(previous), Some(Cause::Context))?;
    let change = Change::CameFrom { from: previous };
    builder.draft.push(Body::Task(TaskStep::new(session, change)))?;
    let summary = builder.carry_over(previous, signals.summary)?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let task = builder.task(session)?;
    let intent = signals.observed.task.map_or(MessageIntent::Modification, |reading| reading.intent);
    let intent = if intent == MessageIntent::NewTask { MessageIntent::Modification } else { intent };
    let then = decide(task.state(), intent, task.work());
    apply(&mut builder, session, then, about)?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let percent = signals.observed.window.percent;
    let notice = Notice::Overflowed { session, previous, percent, summary, pruned, way_back };
    let verdict = Verdict::new(Action::NewCarryOver, Cause::Context, session);
    let verdict = verdict.because(Reason::WindowAt { percent }).notice(notice);
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

fn unclear(moment: &Moment) -> Weighed {
    Weighed {
        action: Action::Ask,
        cause: Cause::Task,
        confidence: Confidence::new(0.5),
        rule: "task/ask".to_owned(),
        reasons: vec![moment.reason()],
        thresholds: None,
        alternatives: Vec::new(),
        expired: None,
        older: None,
    }
}

/// Holds the message and asks: continue, or start fresh? The state of the task stays as it is.
fn ask(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: Weighed,
    moment: &Moment,
    task: &Assignment,
) -> Result<Decided, Refusal> {
    let session = moment.session;
    let stake = match weighed.cause {
        Cause::Temporal => Stake::Unfinished { task: task.id, started_at: task.started_at },
        _ => Stake::Unclear,
    };
    let held = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let intent = Some(moment.reading.intent);
    builder.draft.push(Body::Asked(Asked { held, cause: weighed.cause, older: None, intent }))?;
    let verdict = Verdict::of(weighed, session).notice(Notice::Question { session, stake, older: None });
    builder.close(verdict.observing(signals.observed).about(Some(held)))
}

/// The person wants to go on: the message that was held is the task's now.
pub(in crate::decide) fn settle(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    held: Seq,
) -> Result<(), Refusal> {
    let intent = builder.state().extras.question.as_ref().and_then(|question| question.intent);
    let Some(task) = builder.state().extras.open_task(session) else { return Ok(()) };
    if held == Seq::ZERO {
        return Ok(());
    }
    // "Continue" says that it is no other task and not the end of this one.
    let intent = match intent {
        Some(MessageIntent::NewTask | MessageIntent::Unclear | MessageIntent::Abandon) | None => {
            MessageIntent::Modification
        }
        Some(intent) => intent,
    };
    let then = decide(task.state(), intent, task.work());
    apply(builder, session, then, held).map(drop)
}

/// The person wants to start fresh: what there is of the task is kept.
pub(in crate::decide) fn leave(builder: &mut DecisionBuilder<'_>, session: Number) -> Result<(), Refusal> {
    match builder.state().extras.open_task(session) {
        Some(_) => {
            compact::end(builder, session, CommitKind::UserChoseFresh, "", Ending::AtBoundary).map(drop)
        }
        None => Ok(()),
    }
}
