//! Remarks: what is kept of a message, so that those after it can be judged without reading it again.

use crate::code::{Code, code_in};
use crate::health::Symptoms;
use crate::judge::Note;
use crate::role::Role;
use crate::work::LastWord;
use crate::work::leaves;

/// How many remarks are ever looked back at.
pub const KEPT_MAX: usize = 16;

/// A message that was read once.
///
/// ```
/// use segue_signals::{Remark, Role, work::{Work, judge_work}};
/// let remark = Remark::of(Role::User, "why?\n```\nlet x = 1;\n```");
/// assert_eq!(judge_work(&[remark]), Work::Coding);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Remark {
    pub(crate) role: Role,
    pub(crate) code: Code,
    pub(crate) last_word: LastWord,
    symptoms: Symptoms,
    pub(crate) note: Note,
    /// What the encoder reads of it.
    pub(crate) text: Box<str>,
}

impl Remark {
    /// What it shows of the conversation's health.
    #[must_use]
    pub fn symptoms(&self) -> &Symptoms {
        &self.symptoms
    }

    /// Reads a message.
    #[must_use]
    pub fn of(role: Role, text: &str) -> Self {
        let spoken = matches!(role, Role::User | Role::Assistant);
        Self {
            role,
            code: if role == Role::System { Code::Absent } else { code_in(text) },
            last_word: if spoken { leaves(text) } else { LastWord::Settled },
            symptoms: Symptoms::of(role, text),
            note: Note::of(if spoken { text } else { "" }),
            text: if spoken { segue_encoder::clipped(text).into() } else { "".into() },
        }
    }
}
