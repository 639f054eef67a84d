//! Labelled conversations as samples for fitting and measuring.

use jiff::{SignedDuration, Timestamp};

use super::fit::fit;
use super::{Arbiter, Moment, Numbers};
use crate::eval::Dialogue;
use crate::profile::{Profile, Role};
use crate::remark::Remark;
use crate::{Classifier, Probability};

/// One message of a user, not the first of its conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Which conversation it is of, counted over all.
    pub conversation: usize,
    /// The conversation's language.
    pub language: String,
    /// What the arbiter weighs; `None` where the classifier says unknown.
    pub numbers: Option<Numbers>,
    /// What the classifier alone says.
    pub classifier: Option<Probability>,
    /// Whether a new conversation begins with it.
    pub label: bool,
}

/// Judges every message of the users as it arrives; at a labelled boundary a new session begins.
#[must_use]
pub fn samples(classifier: &Classifier, dialogues: &[Dialogue]) -> Vec<Sample> {
    let mut out = Vec::new();
    for (conversation, dialogue) in dialogues.iter().enumerate() {
        let messages: Vec<Remark> =
            dialogue.turns.iter().map(|turn| Remark::of(turn.role(), &turn.text)).collect();
        let mut profile = Profile::new();
        let mut begun = 0;
        let mut last: Option<Timestamp> = None;
        for (at, turn) in dialogue.turns.iter().enumerate() {
            if turn.role() == Role::User {
                let now = turn.at.as_deref().and_then(|at| at.parse().ok());
                let gap: Option<SignedDuration> =
                    last.zip(now).map(|(last, now): (Timestamp, Timestamp)| now.duration_since(last));
                last = now.or(last);
                if at > 0 {
                    let judgement = classifier.judge(&profile, &turn.text, gap);
                    let moment = Moment { text: &turn.text, gap, recent: &messages[begun..at] };
                    let label = turn.boundary == 1;
                    out.push(Sample {
                        conversation,
                        language: dialogue.lang.clone(),
                        numbers: Arbiter::numbers(&judgement, &moment),
                        classifier: judgement.session.probability,
                        label,
                    });
                    if label {
                        (profile, begun) = (Profile::new(), at);
                    }
                }
            }
            classifier.observe(&mut profile, turn.role(), &turn.text);
        }
    }
    out
}

/// The samples about which something can be said.
#[must_use]
pub fn known(samples: &[Sample]) -> Vec<(Numbers, bool)> {
    samples.iter().filter_map(|sample| Some((sample.numbers?, sample.label))).collect()
}

/// What weights say that were fitted without the sample's conversation; zero where nothing can be said.
///
/// Whole conversations are left out, one in `folds`: turns of one conversation know too much of each other.
#[must_use]
pub fn cross_validate(samples: &[Sample], folds: usize) -> Vec<f64> {
    let mut out = vec![0.0; samples.len()];
    for fold in 0..folds {
        let held_out = |sample: &Sample| sample.conversation % folds == fold;
        let rest: Vec<Sample> = samples.iter().filter(|sample| !held_out(sample)).cloned().collect();
        let fitted = fit(&known(&rest));
        for (place, sample) in out.iter_mut().zip(samples).filter(|(_, sample)| held_out(sample)) {
            *place = sample.numbers.map_or(0.0, |numbers| fitted.probability(&numbers));
        }
    }
    out
}
