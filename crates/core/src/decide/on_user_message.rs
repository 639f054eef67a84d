//! A message of the person: where does it belong? The precedence of DESIGN.md, first match wins.

use super::rotate::rotate;
use super::task::on_user_message::TaskReaction;
use super::{Decided, DecisionBuilder, MessageSignals, Verdict, answer, start_over, task, undo};
use crate::decision::{Action, Cause, Reason};
use crate::entry::{Asked, Body};
use crate::message::{Message, Role};
use crate::notice::{Notice, Reversal, Stake};
use crate::observed::Objection;
use crate::policy::{AutoRoute, Mode};
use crate::refusal::Refusal;
use crate::rules::{Errand, Scales, Weighed, weigh};
use crate::session::Number;
use crate::undo::Boundary;

/// How many messages after a rotation it can still be taken back by what is said.
const REVERSAL_MESSAGES_MAX: u32 = 3;

/// The same, where only what later messages are about speaks for it: who has stayed with the new topic meant it.
const EVIDENCE_MESSAGES_MAX: u32 = 1;

/// How surely a message must belong to the session before.
const BELONGS_BEFORE: f64 = 0.8;

/// How many times less likely it must be that it does not belong there than that it does not belong here.
const SURER: f64 = 5.0;

pub(super) fn on_user_message(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
) -> Result<Decided, Refusal> {
    let Some(latest) = builder.state().latest() else {
        let session = builder.open(None)?;
        let verdict = Verdict::new(Action::Continue, Cause::None, session).because(Reason::FirstMessage);
        return go_on(builder, message, signals, verdict);
    };
    let observed = signals.observed;
    if let (Some(_), Some(answer)) = (&builder.state().extras.question, observed.answer) {
        return answer::spoken(builder, message, answer, signals);
    }
    if let Some(by) = reversal(&builder, signals) {
        return rejoin(builder, message, signals, by);
    }
    if let Some(phrase) = &observed.start_over {
        return start_over::start_over(builder, message, phrase, signals);
    }
    if builder.state().extras.tasks.contains_key(&latest) {
        builder = match task::on_user_message::on_user_message(builder, message, signals, latest)? {
            TaskReaction::Done(decided) => return Ok(*decided),
            TaskReaction::Pass(builder) => *builder,
        };
    }
    let stay = |reason| Verdict::new(Action::Continue, Cause::None, latest).because(reason);
    if builder.policy.mode == Mode::Legacy {
        return go_on(builder, message, signals, stay(Reason::LegacyMode));
    }
    if builder.policy.auto_route == AutoRoute::Never {
        return go_on(builder, message, signals, stay(Reason::AutoRouteOff));
    }
    let weighed = {
        let state = builder.state();
        let Some(open) = &state.open else { return Err(Refusal::NothingSaid) };
        let (policy, extras) = (builder.policy, state.extras.as_ref());
        let now = builder.draft.effective_now();
        weigh(&Scales { policy, open, extras, errand: Errand::None, now }, observed)
    };
    match weighed.action {
        Action::New | Action::NewCarryOver => rotate(builder, message, signals, weighed, latest),
        Action::Ask => ask(builder, message, signals, weighed, latest),
        _ => {
            let verdict = Verdict::of(weighed, latest);
            go_on(builder, message, signals, verdict)
        }
    }
}

impl Verdict {
    pub(super) fn of(weighed: Weighed, session: Number) -> Self {
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

/// Holds the message where it was sent, and asks.
fn ask(
    mut builder: DecisionBuilder<'_>,
    message: &Message,
    signals: MessageSignals<'_>,
    weighed: Weighed,
    session: Number,
) -> Result<Decided, Refusal> {
    let stake = match weighed.cause {
        Cause::Temporal => Stake::Pause { gap_ms: gap_ms(&builder) },
        Cause::Health => Stake::Stuck,
        _ => Stake::Topic,
    };
    let held = builder.draft.push(Body::Message(Role::User, message.clone()))?;
    let older = weighed.older.filter(|older| builder.live(*older).is_ok());
    builder.draft.push(Body::Asked(Asked { held, cause: weighed.cause, older, intent: None }))?;
    let verdict = Verdict::of(weighed, session).notice(Notice::Question { session, stake, older });
    builder.close(verdict.observing(signals.observed).about(Some(held)))
}

fn gap_ms(builder: &DecisionBuilder<'_>) -> i64 {
    let now = builder.draft.effective_now();
    builder.state().open.as_ref().map_or(0, |open| crate::freshness::Silence::of(open, now).gap_ms)
}

/// Tells whether a message takes back the rotation that its session began with (M-E2).
fn reversal(builder: &DecisionBuilder<'_>, signals: MessageSignals<'_>) -> Option<Reversal> {
    let state = builder.state();
    let rotation = state.extras.rotation.as_ref()?;
    let Some(Boundary::Created { from, to, .. }) = state.boundaries.last() else { return None };
    if (*from, *to) != (rotation.from, rotation.to)
        || state.latest() != Some(*to)
        || rotation.heard > REVERSAL_MESSAGES_MAX
    {
        return None;
    }
    if state.two_tasks(*from, *to).is_err() {
        return None;
    }
    if signals.observed.objection != Objection::Absent {
        return Some(Reversal::User);
    }
    // Only what was decided by meaning is taken back by meaning.
    let before = signals.observed.before?;
    if rotation.cause != Cause::Semantic || rotation.heard > EVIDENCE_MESSAGES_MAX {
        return None;
    }
    let here = signals.observed.meaning.belongs?;
    let surer = before.rest().value() * SURER < here.rest().value();
    (before.value() > BELONGS_BEFORE && surer).then_some(Reversal::Evidence)
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
