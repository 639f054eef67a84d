//! The default policy, for a session without a task: the window of 000, and inside it the matrix of 003.
//!
//! The end of a day needs a gap of an hour as well: nobody is cut off in mid-sentence. Past the window the words decide.

use super::{RuleInputs, RuleResult, about, adaptive, shift};
use crate::decision::{Action, Cause, Confidence, Reason};
use crate::freshness::{DayEnd, Freshness, Silence, freshness};
use crate::notice::Limit;
use crate::observed::{Answers, Grounds, Observed, Share};
use crate::policy::QuestionMode;

pub(super) fn weigh(scales: &RuleInputs<'_>, observed: &Observed) -> RuleResult {
    match freshness(&scales.policy.segmented, DayEnd::AfterAnHour, scales.open, scales.now) {
        Freshness::Expired(silence, limit) => expired(observed, silence, limit),
        Freshness::Fresh(silence) => shift(scales, observed, "layered/shift")
            .unwrap_or_else(|| doubt(scales, observed, adaptive::by_matrix(scales, observed, silence))),
    }
}

/// Beyond the window an answer goes on, and so does the same topic, with an offer. All else begins a session.
fn expired(observed: &Observed, silence: Silence, limit: Limit) -> RuleResult {
    let same_topic = Share::new(SAME_TOPIC);
    let plainly = |belongs: &Share| *belongs > same_topic && observed.grounds == Grounds::Words;
    let belongs = observed.meaning.belongs.filter(plainly);
    match (observed.answers, belongs) {
        (Answers::Agent, _) => RuleResult::go_on("layered/answer", vec![Reason::AnswersAgent]),
        (Answers::Nothing, Some(belongs)) => RuleResult {
            action: Action::Ask,
            cause: Cause::Temporal,
            confidence: Confidence::new(belongs.value()),
            ..RuleResult::go_on(
                "layered/same topic",
                [limit.reason(silence)].into_iter().chain(about(observed)).collect(),
            )
        },
        (Answers::Nothing, None) => RuleResult::expired("layered/expiry", silence, limit),
    }
}

/// From which probability on a message after a night goes on with the topic. The silence is counted in it.
const SAME_TOPIC: f64 = 0.5;

/// Asks where the matrix would go on although the message may well be about something else, or what an earlier session was
/// about.
fn doubt(scales: &RuleInputs<'_>, observed: &Observed, weighed: RuleResult) -> RuleResult {
    let threshold = scales.policy.question.threshold;
    let goes_on = matches!(weighed.action, Action::Continue | Action::ContinueReinject);
    // A message that fits here as well is not worth a question that holds it.
    let returns = observed.earlier.is_some() && scales.policy.question.manner == QuestionMode::Propose;
    match observed.meaning.shifts() {
        Some(shifts) if goes_on && (shifts > threshold || returns) => RuleResult {
            action: Action::Ask,
            cause: Cause::Semantic,
            confidence: Confidence::new(shifts.value()),
            rule: "layered/doubt".to_owned(),
            ..weighed
        },
        _ => weighed,
    }
}
