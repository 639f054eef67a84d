//! The built-in classifier: a message and a profile in, evidence out, in microseconds.

use jiff::SignedDuration;

use crate::boundary::{Outcome, Output};
use crate::embed::{Table, TableError};
use crate::evidence;
use crate::features::{Features, Read, Reader};
use crate::intent;
use crate::model::network::sigmoid;
use crate::model::{Model, ModelError};
use crate::profile::{Profile, Role};
use crate::semantic::{Relevance, RelevanceMethod};
use crate::text::Window;
use crate::{Probability, assets};

/// Why the classifier cannot be loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// The word table.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The weights.
    #[error(transparent)]
    Model(#[from] ModelError),
}

/// Everything that is said about one message.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Does it belong to the session?
    pub relevance: Relevance,
    /// Does an unrelated conversation begin?
    pub session: Outcome,
    /// Does something else begin within the conversation?
    pub task: Outcome,
}

/// The word table and the weights, ready for use; cheap to share, never changed.
///
/// ```
/// use segue_signals::{Classifier, Profile, Role, semantic::Band};
/// let classifier = Classifier::builtin()?;
/// let mut profile = Profile::new();
/// classifier.observe(&mut profile, Role::User, "My parser crashes on empty input, can you help?");
/// classifier.observe(&mut profile, Role::Assistant, "Sure: check that the list of rows is not empty.");
/// let judgement = classifier.judge(&profile, "does the parser also fail on a file with only a header row?", None);
/// assert_eq!(judgement.relevance.band, Band::High);
/// # Ok::<(), segue_signals::LoadError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Classifier {
    reader: Reader,
    model: Model,
}

/// How much a silence adds to the logit of a boundary, for each natural logarithm of an hour.
///
/// The labelled sets have no times, so this is not learned; it is small on purpose, since time has
/// a signal of its own ([`crate::time`]) and must not count twice. No time given: nothing is added.
const GAP_PER_LOG_HOUR: f32 = 0.15;
const GAP_LOGIT_MAX: f32 = 0.6;

impl Classifier {
    /// Loads what is shipped inside the library.
    ///
    /// # Errors
    /// Only if the shipped assets are damaged.
    pub fn builtin() -> Result<Self, LoadError> {
        Self::with_model(Model::from_bytes(assets::WEIGHTS)?)
    }

    /// Uses other weights, such as those that `segue-lab train` just made.
    ///
    /// # Errors
    /// Only if the shipped word table is damaged.
    pub fn with_model(model: Model) -> Result<Self, LoadError> {
        let reader = Reader::new(Table::load(assets::WORDS)?);
        Ok(Self { reader, model })
    }

    /// The weights in use.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    pub(crate) fn reader(&self) -> &Reader {
        &self.reader
    }

    /// Adds a message to the session's profile; its cost does not depend on the session's length.
    ///
    /// A bare wish for another topic is about nothing yet, so it adds nothing.
    pub fn observe(&self, profile: &mut Profile, role: Role, text: &str) {
        let says_nothing = |text: &str| self.reader.says_nothing(&self.reader.read(text, Window::MESSAGE));
        if profile.last_of(Role::User).is_none()
            && role == Role::User
            && intent::is_bare_wish(text, says_nothing)
        {
            return;
        }
        self.reader.observe(profile, role, text);
    }

    /// Judges a message of the user before it is added to the profile.
    #[must_use]
    pub fn judge(&self, profile: &Profile, text: &str, gap: Option<SignedDuration>) -> Judgement {
        let read = self.reader.read(text, Window::MESSAGE);
        if let Some(why) = self.cannot_tell(profile, &read) {
            return Judgement {
                relevance: Relevance::unknown(why),
                session: Outcome::UNKNOWN,
                task: Outcome::UNKNOWN,
            };
        }
        let features = Features::of(profile, &read);
        let outcome = |output| {
            let network = self.model.network(output);
            let logit = network.calibration.apply(network.logit(&features));
            Outcome::new(Probability::new(sigmoid(logit + silence(gap))), network.threshold)
        };
        let (session, task) = (outcome(Output::Session), outcome(Output::Task));
        let relevance = session.probability.map_or_else(
            || Relevance::unknown("nothing to compare"),
            |boundary| Relevance::scored(boundary.complement(), evidence::sentence(profile, &read)),
        );
        Judgement { relevance, session, task }
    }

    /// Says in a few words what a message shares with the session.
    #[must_use]
    pub fn evidence(&self, profile: &Profile, text: &str) -> String {
        evidence::sentence(profile, &self.reader.read(text, Window::MESSAGE))
    }

    /// "ok", an emoji, a number: too little to tell anything about a topic.
    fn cannot_tell(&self, profile: &Profile, read: &Read<'_>) -> Option<&'static str> {
        if profile.messages() == 0 {
            return Some("no history to compare with");
        }
        // A greeting, or the answer to a bare wish for another topic.
        if profile.last_of(Role::User).is_none() {
            return Some("the user has said nothing yet to compare with");
        }
        let content = read.terms.list.iter().any(|term| term.is_content());
        (!content || self.reader.says_nothing(read)).then_some("too little text to tell")
    }
}

/// What a silence adds to the logit; nothing below an hour, or where no time is known.
fn silence(gap: Option<SignedDuration>) -> f32 {
    let hours = gap.map_or(0.0, |gap| gap.as_secs_f32() / 3_600.0);
    (hours.max(1.0).ln() * GAP_PER_LOG_HOUR).min(GAP_LOGIT_MAX)
}

impl RelevanceMethod for Classifier {
    fn name(&self) -> &'static str {
        "builtin"
    }

    fn relevance(&self, profile: &Profile, text: &str) -> Relevance {
        self.judge(profile, text, None).relevance
    }
}
