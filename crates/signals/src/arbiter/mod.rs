//! R-1: whether a new conversation begins with a message, all things considered.
//!
//! The classifier knows words and vectors; it was fitted on dialogues without times, and joined ones at that.
//! The arbiter weighs what it says together with what a person would look at next: how long the silence was,
//! whether the message leans on what stands before it, whether a question was open, whether the words are new.
//! A logistic regression over a dozen numbers: each weight can be read, and none can do much alone.

mod features;
pub mod fit;
mod lexicon;
pub mod samples;
mod weights;
mod words;

use jiff::SignedDuration;

use crate::Probability;
use crate::classifier::Judgement;
use crate::remark::Remark;

pub(crate) use features::Footprint;
pub use features::{COUNT, NAMES, Numbers};
pub use weights::WEIGHTS;

/// A message at the moment it arrives.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// What it says.
    pub text: &'a str,
    /// How long the person was silent before it; `None` where no time is known.
    pub gap: Option<SignedDuration>,
    /// The session's last messages before this one, oldest first; only the last sixteen are read.
    pub recent: &'a [Remark],
}

/// Weighs everything that is known about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arbiter;

impl Arbiter {
    /// The probability that a new conversation begins with the message; `None` where the classifier says unknown.
    ///
    /// ```
    /// use segue_signals::arbiter::{Arbiter, Moment};
    /// use segue_signals::{Classifier, Profile, Remark, Role};
    /// let classifier = Classifier::builtin()?;
    /// let mut profile = Profile::new();
    /// let talk = [
    ///     (Role::User, "My parser crashes on empty input, can you help?"),
    ///     (Role::Assistant, "Sure. Which line does it point to?"),
    /// ];
    /// for (role, text) in talk {
    ///     classifier.observe(&mut profile, role, text);
    /// }
    /// let talk = talk.map(|(role, text)| Remark::of(role, text));
    /// let shift = |text| {
    ///     let judgement = classifier.judge(&profile, text, None);
    ///     Arbiter::shift(&judgement, &Moment { text, gap: None, recent: &talk })
    /// };
    /// assert!(shift("the one that reads the header") < shift("how long do boiled eggs keep in the fridge?"));
    /// assert_eq!(shift("ok"), None);
    /// # Ok::<(), segue_signals::LoadError>(())
    /// ```
    #[must_use]
    pub fn shift(judgement: &Judgement, moment: &Moment<'_>) -> Option<Probability> {
        let numbers = Self::numbers(judgement, moment)?;
        Some(Probability::new(WEIGHTS.probability(&numbers) as f32))
    }

    /// What the probability is made of, for fitting and for explaining; `None` where the classifier says unknown.
    #[must_use]
    pub fn numbers(judgement: &Judgement, moment: &Moment<'_>) -> Option<Numbers> {
        features::numbers(judgement, moment)
    }
}
