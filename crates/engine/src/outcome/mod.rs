//! What came of a message: the answer to the host.

pub(crate) mod build;

use crate::words::{self, Language};
use segue_core::decision::{Action, Cause, Confidence, Reason};
use segue_core::entry::Seq;
use segue_core::notice::Notice;
use segue_core::observed::{Answer, Observed};
use segue_core::scope;
use segue_core::segment;
use segue_core::session::{Id, Key, Number};
use segue_core::task::state::StateName;

/// Whether a message was taken now, had been taken before, or could not be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Delivery {
    /// It was taken now.
    First,
    /// The channel had delivered it before: nothing was changed, and this is the answer of then.
    Again,
    /// A command could not be done now, through no fault of the person: the store did not answer, or too many are waiting. The
    /// reply says so; the same command may be sent again.
    Failed,
}

/// Whether the host is to answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Wants {
    /// A message waits for the model's answer.
    Reply,
    /// Nothing does.
    #[default]
    Nothing,
}

/// A question of ours to the person.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Question {
    /// What is asked.
    pub text: String,
    /// What the person can choose from.
    pub options: Vec<Choice>,
}

impl Question {
    /// Tells what was asked, as the log has it; nothing if it is no question.
    pub fn of(language: Language, scope: &scope::Key, notice: &Notice) -> Option<Self> {
        let Notice::Question { older, .. } = notice else { return None };
        let choice = |answer: Answer| {
            let (label, command) = words::choice(language, answer, *older);
            Choice { answer, label, command }
        };
        let answers = Answer::ALL.into_iter().filter(|answer| *answer != Answer::Older || older.is_some());
        Some(Self { text: words::notice(language, scope, notice), options: answers.map(choice).collect() })
    }
}

/// One answer that the person can choose, by a button or by typing it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Choice {
    /// The answer, for [`Request::Answer`](crate::Request::Answer).
    pub answer: Answer,
    /// What a button says.
    pub label: String,
    /// The command that gives this answer.
    pub command: &'static str,
}

/// What came of a message or command.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Outcome {
    /// The scope that it fell into.
    pub scope: scope::Key,
    /// The session that it ended up in.
    pub session: Number,
    /// That session's id; nothing if there is no session yet.
    pub session_id: Option<Id>,
    /// The segment that it was written to; nothing if nothing was written.
    pub segment: Option<segment::Number>,
    /// Its entry; nothing if nothing was written.
    pub seq: Option<Seq>,
    /// Where the task of that session stands now.
    pub state: StateName,
    /// What was done.
    pub action: Action,
    /// What kind of evidence decided.
    pub cause: Cause,
    /// How sure it is.
    pub confidence: Confidence,
    /// Why, to be told in any language.
    pub because: Vec<Reason>,
    /// The language that the person is spoken to in.
    pub language: Language,
    /// What was observed about the message, if anything was.
    pub observed: Option<Box<Observed>>,
    /// What the user is to be told, to be told in any language.
    pub announces: Option<Notice>,
    /// What the user is to be told besides: sessions that will go by themselves.
    pub also: Option<Notice>,
    /// What the user is to be told about a boundary, in one line; what is told besides stands on a line of its own.
    pub notice: Option<String>,
    /// What a command answers. Where there is one, it says all that the notice says.
    pub reply: Option<String>,
    /// The sessions that were dropped.
    pub dropped: Vec<Number>,
    /// Whether it was taken now or before.
    pub delivery: Delivery,
    pub(crate) wants: Wants,
}

impl Outcome {
    /// Tells why, in sentences. Most turns are never asked for them.
    pub fn reasons(&self) -> Vec<String> {
        self.because.iter().map(|reason| words::reason(self.language, reason)).collect()
    }

    /// Tells whether a message waits for the model's answer. It does not where a command was done, where the person is
    /// asked first, where an agent at work takes the message as an interruption, and where it was answered before.
    pub fn wants_reply(&self) -> bool {
        self.wants == Wants::Reply
    }

    /// Returns what the person is to be shown now, with sessions by their numbers instead of their keys.
    pub fn say(&self) -> Option<String> {
        let text = self.reply.as_ref().or(self.notice.as_ref())?;
        // The only notice that names a session by its whole key (P-5).
        let started = self.announces.as_ref().filter(|notice| matches!(notice, Notice::Started { .. }));
        let rest = started.and_then(|started| {
            let whole = words::notice(self.language, &self.scope, started);
            Some((words::numbered_notice(self.language, &self.scope, started), text.strip_prefix(&whole)?))
        });
        Some(rest.map_or_else(|| text.clone(), |(short, rest)| short + rest))
    }

    /// Returns the question that the person is asked, if there is one.
    pub fn question(&self) -> Option<Question> {
        let Some(Notice::Question { older, .. }) = &self.announces else { return None };
        Some(self.choices(self.options(), *older))
    }

    /// Returns what the person is offered besides the answer, if anything: the message goes on, and may begin a session of its
    /// own.
    pub fn suggestion(&self) -> Option<Question> {
        let (fresh, older) = match &self.announces {
            Some(Notice::Offer { older, .. }) => (Some(Answer::Fresh), *older),
            // It is fresh already.
            Some(Notice::Expired { like: Some(like), .. }) => (None, Some(*like)),
            _ => return None,
        };
        let answers = fresh.into_iter().chain(older.map(|_| Answer::Older));
        Some(self.choices(answers.collect(), older))
    }

    fn choices(&self, answers: Vec<Answer>, older: Option<Number>) -> Question {
        let choice = |answer: Answer| {
            let (label, command) = words::choice(self.language, answer, older);
            Choice { answer, label, command }
        };
        let options = answers.into_iter().map(choice).collect();
        Question { text: self.say().unwrap_or_default(), options }
    }

    /// Lists the answers that the user can choose from, if there is a question: buttons carry their names.
    pub fn options(&self) -> Vec<Answer> {
        match &self.announces {
            Some(Notice::Question { older: Some(_), .. }) => Answer::ALL.to_vec(),
            Some(Notice::Question { older: None, .. }) => vec![Answer::Continue, Answer::Fresh],
            _ => Vec::new(),
        }
    }

    /// Returns the name of the model that helped to decide.
    pub fn control_model(&self) -> &str {
        let model = self.observed.as_ref().and_then(|observed| observed.model.as_ref());
        model.map_or("builtin", |model| &model.name)
    }

    /// Returns the key of the session that it ended up in.
    pub fn session_key(&self) -> Key {
        Key::new(self.scope.clone(), self.session)
    }
}
