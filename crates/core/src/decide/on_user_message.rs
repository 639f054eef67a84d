//! A message of the person: where does it belong? The precedence of DESIGN.md, first match wins.

use super::rotate::rotate;
use super::task::on_user_message::TaskRoute;
use super::{Decided, DecisionBuilder, MessageSignals, Verdict, answer, back_to, start_over, task, undo};
use crate::Timestamp;
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Asked, Body};
use crate::extras::{MESSAGES_SINCE_MAX, OFFER_MESSAGES};
use crate::message::{Message, Role};
use crate::notice::{Notice, QuestionTopic, Reversal};
use crate::observed::{Answer, Mentioned, Objection, Observed, Share};
use crate::policy::{AutoRoute, Mode, Policy, QuestionMode, Rule};
use crate::refusal::Refusal;
use crate::rules::{OpenTask, RuleInputs, RuleResult, weigh};
use crate::segment;
use crate::session::Number;
use crate::state::State;
use crate::undo::Boundary;

/// How many messages after a rotation it can still be taken back by what is said.
const REVERSAL_MESSAGES_MAX: u32 = MESSAGES_SINCE_MAX - 1;

/// The same, where only what later messages are about speaks for it: who has stayed with the new topic meant it.
const EVIDENCE_MESSAGES_MAX: u32 = 1;

/// How surely a message must belong to the session before, and how surely at most to this one.
const BELONGS_BEFORE: f64 = 0.8;
const BELONGS_HERE: f64 = 0.5;

/// How many times less likely it must be that it does not belong there than that it does not belong here.
const SURER: f64 = 5.0;

/// What a message of the person is judged by.
#[derive(Clone, Copy)]
pub(super) struct Situation<'a> {
    pub(super) state: &'a State,
    pub(super) policy: &'a Policy,
    pub(super) observed: &'a Observed,
    /// The time that counts for every rule.
    pub(super) now: Timestamp,
}

/// Where a message of the person goes.
pub(super) enum Route {
    /// It is the first one of its scope.
    First,
    /// It answers our question.
    Answer(Answer),
    /// It takes the last rotation back.
    TakeBack(Reversal),
    /// It belongs to the session before the last rotation. What began the session was answered since, and stays there.
    Return(Number, Share),
    /// It asks for a new session in words.
    StartOver(String),
    /// It names an earlier session in plain words.
    BackTo(Mentioned),
    /// It is about the task of its session.
    Task(Box<TaskRoute>),
    /// It goes on where it was sent: nothing but commands moves a session.
    Stay(Reason),
    /// The policy's rule decided.
    RuleResult(Box<RuleResult>),
}

impl Route {
    /// Finds where a message goes.
    pub(super) fn of(situation: Situation<'_>) -> Result<Self, Refusal> {
        let Situation { state, policy, observed, now } = situation;
        let Some(open) = &state.open else { return Ok(Self::First) };
        if let (Some(question), Some(answer)) = (&state.extras.question, observed.answer)
            && question.takes(answer)
        {
            return Ok(Self::Answer(answer));
        }
        if let Some(route) = reversal(state, open, observed) {
            return Ok(route);
        }
        if let Some(phrase) = &observed.start_over {
            return Ok(Self::StartOver(phrase.clone()));
        }
        if let Some(mentioned) = &observed.mentioned
            && policy.mode != Mode::Legacy
            && mentioned.session != open.session
            && state.all().any(|(number, _)| number == mentioned.session)
        {
            return Ok(Self::BackTo(mentioned.clone()));
        }
        if let Some(route) = TaskRoute::of(situation, open)? {
            return Ok(Self::Task(Box::new(route)));
        }
        if policy.mode == Mode::Legacy {
            return Ok(Self::Stay(Reason::LegacyMode));
        }
        if policy.auto_route == AutoRoute::Never {
            return Ok(Self::Stay(Reason::AutoRouteOff));
        }
        let extras = state.extras.as_ref();
        let scales = RuleInputs { policy, open, extras, errand: OpenTask::None, now };
        Ok(Self::RuleResult(Box::new(weigh(&scales, observed))))
    }

    /// Tells whether a session begins with the message.
    pub(super) fn opens_session(&self) -> bool {
        match self {
            Self::First | Self::Answer(Answer::Continue | Answer::Older) | Self::TakeBack(_) => false,
            Self::Stay(_) | Self::BackTo(_) | Self::Return(..) => false,
            Self::Answer(Answer::Fresh) | Self::StartOver(_) => true,
            Self::Task(route) => route.opens_session(),
            Self::RuleResult(weighed) => matches!(weighed.action, Action::New | Action::NewCarryOver),
        }
    }
}

pub(super) fn on_user_message(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let (observed, now) = (signals.observed, builder.draft.effective_now());
    let route = Route::of(Situation { state: builder.state(), policy: builder.policy, observed, now })?;
    let session = match builder.state().latest() {
        Some(latest) => latest,
        None => builder.open(None)?,
    };
    let stay = |reason| Verdict::new(Action::Continue, Cause::None, session).because(reason);
    match route {
        Route::First => go_on(builder, message, signals, stay(Reason::FirstMessage)),
        Route::Answer(answer) => answer::spoken(builder, message, answer, signals),
        Route::TakeBack(by) => rejoin(builder, message, signals, by),
        Route::StartOver(phrase) => start_over::start_over(builder, message, &phrase, signals),
        Route::BackTo(mentioned) => back_to::named(builder, message, &mentioned, signals),
        Route::Return(before, belongs) => {
            let reason = Reason::BelongsBefore { session: before, belongs };
            back_to::back_to(builder, message, (before, Cause::Semantic, reason), signals)
        }
        Route::Task(route) => task::on_user_message::on_user_message(builder, message, signals, *route),
        Route::Stay(reason) => go_on(builder, message, signals, stay(reason)),
        Route::RuleResult(weighed) => match weighed.action {
            Action::New | Action::NewCarryOver => rotate(builder, message, signals, *weighed, session),
            Action::Ask => ask(builder, message, signals, *weighed, session),
            _ => {
                let verdict = Verdict::of(*weighed, session);
                go_on(builder, message, signals, verdict)
            }
        },
    }
}

impl Verdict {
    pub(super) fn of(weighed: RuleResult, session: Number) -> Self {
        Self {
            confidence: weighed.confidence,
            rule: weighed.rule,
            reasons: weighed.reasons,
            thresholds: weighed.thresholds,
            alternatives: weighed.alternatives,
            ..Self::new(weighed.action, weighed.cause, session)
        }
    }
}

pub(super) fn go_on(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    verdict: Verdict,
) -> Result<Decided, Refusal> {
    let about = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    builder.close(verdict.observing(signals.observed).about(Some(about)))
}

/// Asks where a message belongs: holds it where it was sent, or lets it go on there and offers a session of its own.
fn ask(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: RuleResult,
    session: Number,
) -> Result<Decided, Refusal> {
    let stake = match weighed.cause {
        Cause::Temporal => QuestionTopic::Pause { gap_ms: gap_ms(&builder) },
        Cause::Health => QuestionTopic::Stuck,
        _ => QuestionTopic::Topic,
    };
    let held = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let older = weighed.older.filter(|older| builder.live(*older).is_ok());
    // A conversation that is stuck would stay so.
    let manner = match (builder.policy.rule, stake) {
        (Rule::Layered, QuestionTopic::Topic | QuestionTopic::Pause { .. }) => builder.policy.question.manner,
        _ => QuestionMode::Hold,
    };
    let messages_left = if manner == QuestionMode::Propose { OFFER_MESSAGES } else { 0 };
    let asked = Asked { held, cause: weighed.cause, older, intent: None, manner, messages_left };
    builder.draft.push(Body::Asked(asked))?;
    let verdict = match manner {
        QuestionMode::Hold => {
            Verdict::of(weighed, session).notice(Notice::Question { session, stake, older })
        }
        QuestionMode::Propose => {
            let action = match weighed.cause {
                Cause::Temporal => Action::ContinueReinject,
                _ => Action::Continue,
            };
            Verdict::of(RuleResult { action, ..weighed }, session).notice(Notice::Offer { session, older })
        }
    };
    builder.close(verdict.observing(signals.observed).about(Some(held)))
}

fn gap_ms(builder: &DecisionBuilder<'_>) -> i64 {
    let now = builder.draft.effective_now();
    builder.state().open.as_ref().map_or(0, |open| crate::freshness::Silence::of(open, now).gap_ms)
}

/// Tells whether a message takes back the rotation that its session began with (M-E2), or goes back to the session before it.
fn reversal(state: &State, open: &segment::Open, observed: &Observed) -> Option<Route> {
    let rotation = state.extras.rotation.as_ref()?;
    let Some(Boundary::Created { from, to, .. }) = state.boundaries.last() else { return None };
    if (*from, *to) != (rotation.from, rotation.to)
        || state.latest() != Some(*to)
        || rotation.messages_since > REVERSAL_MESSAGES_MAX
    {
        return None;
    }
    if state.two_tasks(*from, *to).is_err() {
        return None;
    }
    if observed.objection != Objection::Absent {
        return Some(Route::TakeBack(Reversal::User));
    }
    // Only what was decided by meaning is taken back by meaning.
    let before = observed.before?;
    if rotation.cause != Cause::Semantic || rotation.messages_since > EVIDENCE_MESSAGES_MAX {
        return None;
    }
    let here = observed.meaning.belongs.filter(|here| here.value() < BELONGS_HERE)?;
    let surer = before.rest().value() * SURER < here.rest().value();
    (before.value() > BELONGS_BEFORE && surer).then_some(match open.messages > rotation.messages_since {
        true => Route::Return(rotation.from, before),
        false => Route::TakeBack(Reversal::Evidence),
    })
}

/// Takes the rotation back: what was said since belongs to the session before, in order.
fn rejoin(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    by: Reversal,
) -> Result<Decided, Refusal> {
    let Some(rotation) = builder.state().extras.rotation.clone() else { return Err(Refusal::NothingToUndo) };
    let (session, from) = (rotation.from, rotation.to);
    undo::take_back(&mut builder)?;
    let (cause, reason) = match (by, signals.observed.before) {
        (Reversal::Evidence, Some(belongs)) => (Cause::Semantic, Reason::BelongsBefore { session, belongs }),
        _ => (Cause::Intent, Reason::Objected),
    };
    let verdict = Verdict::new(Action::Merge, cause, session).because(reason);
    go_on(builder, message, signals, verdict.notice(Notice::Rejoined { session, from, by }))
}
