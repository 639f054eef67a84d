//! R-1, R-5: a rolling summary of a session: topics, decisions, open questions, names and numbers.
//!
//! It grows with each message and costs the same for each, whatever the length of the session; what
//! matters least gives way. It quotes and never rewrites, so nothing in it was not said.

mod decisions;
mod facts;
mod prose;
mod questions;
mod render;
mod title;
mod topics;

use crate::role::Role;
use crate::terms::terms;
use crate::text::{Reading, Window};

pub use render::SummaryLanguage;
pub use title::{TITLE_MESSAGES_MAX, title};

/// What a session has come to so far.
///
/// ```
/// use segue_signals::{Role, summary::Summary};
/// let mut summary = Summary::new();
/// summary.observe(Role::User, "Which hotel in Kyoto has a garden?");
/// summary.observe(Role::Assistant, "The Sakura has one, for 120 euros a night.");
/// summary.observe(Role::User, "Let's go with the Sakura. Does it have parking?");
/// assert_eq!(summary.decisions(), ["Let's go with the Sakura."]);
/// assert_eq!(summary.questions(), ["Does it have parking?"]);
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    messages: u32,
    topics: topics::Topics,
    decisions: decisions::Decisions,
    questions: questions::Questions,
    facts: facts::Facts,
}

/// The summary as plain data, for records and answers.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct Structured {
    /// What it is about, the most telling first.
    pub topics: Vec<String>,
    /// What was settled, in order.
    pub decisions: Vec<String>,
    /// What nobody answered yet, in order.
    pub questions: Vec<String>,
    /// Names and numbers, the most used first.
    pub facts: Vec<String>,
}

impl Summary {
    /// Makes the summary of a session in which nothing was said yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message. Hosts and tools are not part of the conversation.
    pub fn observe(&mut self, role: Role, text: &str) {
        if let Some(gleaned) = Gleaned::of(role, text) {
            self.add(&gleaned);
        }
    }

    /// Adds a message that was read before.
    pub fn add(&mut self, gleaned: &Gleaned) {
        self.messages = self.messages.saturating_add(1);
        self.topics.add(gleaned.speaker, &gleaned.mentions);
        self.decisions.add(gleaned.speaker, &gleaned.settling);
        self.questions.add(gleaned.speaker, &gleaned.asking);
        self.facts.add(gleaned.speaker, &gleaned.named);
    }

    /// How many messages it has seen; those of tools and hosts do not count.
    #[must_use]
    pub fn messages(&self) -> u32 {
        self.messages
    }

    /// What it is about, at most six words or short phrases, the most telling first.
    #[must_use]
    pub fn topics(&self) -> Vec<String> {
        self.topics.best()
    }

    /// What was settled, at most the last eight, in order.
    #[must_use]
    pub fn decisions(&self) -> Vec<String> {
        self.decisions.list()
    }

    /// What nobody answered yet, at most the last six, in order.
    #[must_use]
    pub fn questions(&self) -> Vec<String> {
        self.questions.list()
    }

    /// Names, files, amounts, dates, links and versions, at most twelve, the most used first.
    #[must_use]
    pub fn facts(&self) -> Vec<String> {
        self.facts.best()
    }

    /// Everything as plain data.
    #[must_use]
    pub fn structured(&self) -> Structured {
        Structured {
            topics: self.topics(),
            decisions: self.decisions(),
            questions: self.questions(),
            facts: self.facts(),
        }
    }

    /// Compact text for a model; empty if there is nothing to say.
    #[must_use]
    pub fn render(&self, language: SummaryLanguage) -> String {
        self.structured().render(language)
    }
}

impl Structured {
    /// Compact text for a model; empty if there is nothing to say.
    #[must_use]
    pub fn render(&self, language: SummaryLanguage) -> String {
        render::render(self, language)
    }
}

/// What a summary takes from one message: reading a message is most of the work, and the same for every summary.
#[derive(Clone, Debug, PartialEq)]
pub struct Gleaned {
    speaker: Speaker,
    mentions: Vec<topics::Mention>,
    settling: decisions::Settling,
    asking: questions::Asking,
    named: Vec<facts::Named>,
}

impl Gleaned {
    /// Reads a message; nothing if it is no part of the conversation.
    #[must_use]
    pub fn of(role: Role, text: &str) -> Option<Self> {
        let speaker = match role {
            Role::User => Speaker::Person,
            Role::Assistant => Speaker::Agent,
            Role::System | Role::Tool => return None,
        };
        let said = prose::ProseMessage::new(speaker, text);
        let words = said.without_links();
        let reading = Reading::new(&words, Window::HISTORY);
        let terms = terms(&reading);
        Some(Self {
            speaker,
            mentions: topics::Mention::all(&reading, &terms),
            settling: decisions::Settling::of(&said),
            asking: questions::Asking::of(&said, &terms),
            named: facts::Named::all(&said),
        })
    }
}

/// Who said something that counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Speaker {
    Person,
    Agent,
}

#[cfg(test)]
mod tests;
