//! A message of the person in a session that has a task (precedence 6): what it is to the task decides, and time where
//! the policy follows tasks.

use super::super::on_user_message::{Situation, go_on};
use super::super::{Decided, DecisionBuilder, MessageSignals, Verdict};
use super::{Done, Ending, compact, finish, interrupt, respond, start};
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::entry::{Asked, Body, Change, Seq, TaskStep};
use crate::evidence::Window;
use crate::extras::PendingQuestion;
use crate::freshness::Silence;
use crate::message::{Message, Role};
use crate::notice::{Notice, QuestionTopic};
use crate::observed::{IntentSource, TaskReading};
use crate::policy::{AutoRoute, Mode, QuestionMode, Rule};
use crate::refusal::Refusal;
use crate::rules::{OpenTask, RuleInputs, RuleResult, weigh};
use crate::segment;
use crate::session::Number;
use crate::state::State;
use crate::task::assignment::Assignment;
use crate::task::canonical::CommitKind;
use crate::task::history::Reach;
use crate::task::intent::{MessageIntent, TaskMove, decide};
use crate::task::notice::TaskNotice;
use crate::task::state::StateName;

/// What a message is to the task of its session, and what comes of it.
pub(in crate::decide) struct TaskRoute {
    session: Number,
    state: StateName,
    reading: TaskReading,
    then: TaskMove,
    because: Because,
}

/// What decides about a message to a task.
enum Because {
    /// There is no room left in the window.
    Overflow,
    /// The task was left alone for too long.
    Expired(RuleResult),
    /// It was left alone for long enough to ask.
    Idle(RuleResult),
    /// What the message is to the task.
    Intent,
}

impl TaskRoute {
    /// Finds what a message is to the task; nothing if there is none, or it is none of the task's business.
    pub(in crate::decide) fn of(
        situation: Situation<'_>,
        open: &segment::Open,
    ) -> Result<Option<Self>, Refusal> {
        let Situation { state, policy, observed, .. } = situation;
        let session = open.session;
        let Some(task) = state.extras.tasks.get(&session) else { return Ok(None) };
        let free = policy.mode == Mode::Segmented && policy.auto_route == AutoRoute::Auto;
        // A message that nobody could read never ends a task: it belongs to it.
        let unread = TaskReading {
            intent: MessageIntent::Modification,
            source: IntentSource::Unread,
            ..TaskReading::SURE
        };
        let mut reading = observed.task.unwrap_or(unread);
        // Where only commands move a session, a message cannot begin another task.
        if !free && matches!(reading.intent, MessageIntent::NewTask | MessageIntent::Unclear) {
            reading.intent = MessageIntent::Modification;
        }
        let then = decide(task.state(), reading.intent, task.work());
        let mut route = Self { session, state: task.state(), reading, then, because: Because::Intent };
        if task.is_open() && free {
            if observed.window.band == Window::Emergency {
                // The task goes on in the new session, so that the message cannot begin another one.
                if route.reading.intent == MessageIntent::NewTask {
                    route.reading.intent = MessageIntent::Modification;
                    route.then = decide(task.state(), route.reading.intent, task.work());
                }
                route.because = Because::Overflow;
                return Ok(Some(route));
            }
            if let Some(weighed) = by_time(situation, open, &route) {
                route.because = match weighed.action {
                    Action::New => Because::Expired(weighed),
                    _ => Because::Idle(weighed),
                };
                return Ok(Some(route));
            }
        }
        Ok(match then {
            TaskMove::Pass => None,
            TaskMove::Start if !task.is_open() && !free => None,
            _ => Some(route),
        })
    }

    /// Tells whether a session begins with the message.
    pub(in crate::decide) fn opens_session(&self) -> bool {
        match self.because {
            Because::Overflow | Because::Expired(_) => true,
            Because::Idle(_) => false,
            Because::Intent => matches!(self.then, TaskMove::Start | TaskMove::CompactAndStart(_)),
        }
    }

    /// Tells how much of the task's history has to be read.
    pub(in crate::decide) fn reach(&self, task: &Assignment) -> Option<Reach> {
        match self.because {
            Because::Expired(_) => Some(Reach::Whole),
            Because::Idle(_) => None,
            Because::Overflow | Because::Intent => reach(self.then, task),
        }
    }
}

/// Tells how much of a task's history has to be read before a message does something to it.
pub(in crate::decide) fn reach(then: TaskMove, task: &Assignment) -> Option<Reach> {
    match then {
        TaskMove::CompleteAndCompact | TaskMove::AbandonAndCompact => Some(Reach::Whole),
        TaskMove::CompactAndStart(_) | TaskMove::Start => task.has_meaningful_work().then_some(Reach::Whole),
        TaskMove::Queue => super::interrupt::reach(task),
        TaskMove::Respond | TaskMove::Continue => None,
        TaskMove::Ask | TaskMove::Acknowledge | TaskMove::Pass => None,
    }
}

/// Takes a message in a session that has, or had, a task.
pub(in crate::decide) fn on_user_message(
    builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    mut route: TaskRoute,
) -> Result<Decided, Refusal> {
    match std::mem::replace(&mut route.because, Because::Intent) {
        Because::Overflow => return overflow(builder, message, signals, &route),
        Because::Expired(weighed) => return expire(builder, message, signals, weighed, route.session),
        Because::Idle(weighed) => return ask(builder, message, signals, weighed, &route),
        Because::Intent => {}
    }
    match route.then {
        TaskMove::Start | TaskMove::CompactAndStart(_) => begin(builder, message, signals, &route),
        TaskMove::Ask => {
            let weighed = unclear(&route);
            ask(builder, message, signals, weighed, &route)
        }
        TaskMove::Acknowledge | TaskMove::Pass => {
            go_on(builder, message, signals, route.verdict(Action::Continue))
        }
        TaskMove::Respond
        | TaskMove::Queue
        | TaskMove::Continue
        | TaskMove::CompleteAndCompact
        | TaskMove::AbandonAndCompact => stay(builder, message, signals, &route),
    }
}

impl TaskRoute {
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
fn by_time(situation: Situation<'_>, open: &segment::Open, route: &TaskRoute) -> Option<RuleResult> {
    let Situation { state, policy, observed, now } = situation;
    match policy.rule {
        Rule::Task | Rule::Layered => {}
        Rule::Segmented | Rule::Adaptive => return None,
    }
    let extras = state.extras.as_ref();
    let weighed = weigh(&RuleInputs { policy, open, extras, errand: OpenTask::Open, now }, observed);
    match weighed.action {
        Action::New => Some(weighed),
        Action::Ask if !route.is_awaited() => Some(weighed),
        _ => None,
    }
}

/// The session goes on, and the task with it.
fn stay(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    route: &TaskRoute,
) -> Result<Decided, Refusal> {
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let done = apply(&mut builder, route.session, route.then, about)?;
    let mut verdict = route.verdict(Action::Continue);
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
    route: &TaskRoute,
) -> Result<Decided, Refusal> {
    let previous = route.session;
    let kept = start::end_before(&mut builder, previous, Ending::AtBoundary)?;
    builder.draft.seal()?;
    let session = builder.open(Some(previous))?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    start::begin(&mut builder, session, None, Some(about))?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let notice = TaskNotice::Started { session, previous, kept, pruned, way_back };
    let verdict = Verdict { session, ..route.verdict(Action::New) }.notice(Notice::Task(notice));
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

/// The task was left alone for too long: what there is of it is kept, and the message begins a session (C-11).
fn expire(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: RuleResult,
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
    route: &TaskRoute,
) -> Result<Decided, Refusal> {
    let previous = route.session;
    builder.draft.seal()?;
    let session = builder.open_because(Some(previous), Some(Cause::Context))?;
    let change = Change::CameFrom { from: previous };
    builder.draft.push(Body::Task(TaskStep::new(session, change)))?;
    let summary = builder.carry_over(previous, signals.summary)?;
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    apply(&mut builder, session, route.then, about)?;
    let (pruned, way_back) = builder.keep_backlog()?;
    let percent = signals.observed.window.percent;
    let notice = Notice::Overflowed { session, previous, percent, summary, pruned, way_back };
    let verdict = Verdict::new(Action::NewCarryOver, Cause::Context, session);
    let verdict = verdict.because(Reason::WindowAt { percent }).notice(notice);
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

fn unclear(route: &TaskRoute) -> RuleResult {
    RuleResult {
        action: Action::Ask,
        cause: Cause::Task,
        confidence: Confidence::new(0.5),
        rule: "task/ask".to_owned(),
        reasons: vec![route.reason()],
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
    weighed: RuleResult,
    route: &TaskRoute,
) -> Result<Decided, Refusal> {
    let session = route.session;
    let task = builder.task(session)?;
    let stake = match weighed.cause {
        Cause::Temporal => QuestionTopic::Unfinished { task: task.id, started_at: task.started_at },
        _ => QuestionTopic::Unclear,
    };
    let held = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let intent = Some(route.reading.intent);
    builder.draft.push(Body::Asked(Asked {
        held,
        cause: weighed.cause,
        older: None,
        intent,
        manner: QuestionMode::Hold,
        messages_left: 0,
    }))?;
    let verdict = Verdict::of(weighed, session).notice(Notice::Question { session, stake, older: None });
    builder.close(verdict.observing(signals.observed).about(Some(held)))
}

/// Tells what "continue" does to the task with the message that was held.
pub(in crate::decide) fn settles(
    state: &State,
    question: &PendingQuestion,
    session: Number,
) -> Option<TaskMove> {
    let task = state.extras.open_task(session).filter(|_| question.held != Seq::ZERO)?;
    // "Continue" says that it is no other task and not the end of this one.
    let intent = match question.intent {
        Some(MessageIntent::NewTask | MessageIntent::Unclear | MessageIntent::Abandon) | None => {
            MessageIntent::Modification
        }
        Some(intent) => intent,
    };
    Some(decide(task.state(), intent, task.work()))
}

/// The person wants to go on: the message that was held is the task's now.
pub(in crate::decide) fn settle(
    builder: &mut DecisionBuilder<'_>,
    session: Number,
    question: &PendingQuestion,
) -> Result<(), Refusal> {
    match settles(builder.state(), question, session) {
        Some(then) => apply(builder, session, then, question.held).map(drop),
        None => Ok(()),
    }
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
