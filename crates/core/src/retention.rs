//! Retention: sessions that are past what is kept are announced first, and go only when their day has come.
//!
//! An announcement is an entry, so it outlives a restart, and so does that the person was told of it. It is void as
//! soon as anything is said in the session again.

use crate::Timestamp;
use crate::entry::Seq;
use crate::extras::ScopeExtras;
use crate::memory;
use crate::notice::Notice;
use crate::session::Number;
use crate::state::State;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Why a session is past what is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Past {
    /// Nothing was said in it for too long.
    Age {
        /// How long is kept.
        limit_ms: i64,
    },
    /// There are more than are kept.
    Count {
        /// How many are kept.
        limit: u64,
    },
    /// All together take more room than they may.
    Size {
        /// How many bytes they may take.
        limit_bytes: u64,
    },
}

impl Past {
    /// Returns the word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Age { .. } => "age",
            Self::Count { .. } => "count",
            Self::Size { .. } => "size",
        }
    }
}

/// A session that is to go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledDeletion {
    /// The session.
    pub session: Number,
    /// Why.
    pub past: Past,
}

/// What happens to sessions before they go by themselves.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Retiring {
    /// They will go.
    Announced {
        /// The sessions.
        sessions: Vec<ScheduledDeletion>,
        /// Not before this.
        due: Timestamp,
    },
    /// They will not go after all.
    Withdrawn {
        /// The sessions.
        sessions: Vec<Number>,
    },
    /// The person was told of all that is announced.
    Told,
    /// The person wants a session to be kept.
    Kept {
        /// The session.
        session: Number,
    },
    /// The person does not want that any more.
    Released {
        /// The session.
        session: Number,
    },
}

/// An announcement that a session will go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AnnouncedDeletion {
    /// The entry that made it.
    pub entry: Seq,
    /// When it was made.
    pub at: Timestamp,
    /// When the session may go.
    pub due: Timestamp,
    /// Why.
    pub past: Past,
    /// Whether the person knows.
    #[serde(default, skip_serializing_if = "Word::is_told")]
    pub word: Word,
}

impl AnnouncedDeletion {
    /// Returns when the session may go if the person is told only now: who comes back late has as long to object as who
    /// was there.
    fn due_told(&self, now: Timestamp) -> Timestamp {
        let grace = self.due.duration_since(self.at);
        now.checked_add(grace).map_or(self.due, |due| due.max(self.due))
    }
}

/// Whether the person was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// Yes.
    #[default]
    Told,
    /// Not yet.
    Untold,
}

impl Word {
    fn is_told(&self) -> bool {
        *self == Self::Told
    }
}

/// Whether a person wants a session to be kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeepChoice {
    /// It is kept, whatever its age.
    Keep,
    /// It goes when its time has come.
    Release,
}

/// Whether sessions go only if that was announced, and their day has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetireCheck {
    /// Yes: nobody asked for it just now.
    Yes,
    /// No: somebody says that they go, as they were at this entry. One that was written to since stays.
    AsOf(Seq),
}

impl State {
    /// Returns the announcement that a session will go, unless something was said in it since, or it is the latest one.
    pub fn announced_deletion(&self, session: Number) -> Option<&AnnouncedDeletion> {
        self.live(session)?;
        let deletion = self.extras.retiring.get(&session)?;
        if self.latest() == Some(session) {
            return None;
        }
        // By the order of the log and not by its times: those stand still after a clock was far ahead.
        (memory::end(self, session) <= Some(deletion.entry)).then_some(deletion)
    }

    /// Tells whether a person wants a session to be kept.
    pub fn is_kept(&self, session: Number) -> bool {
        self.extras.kept_on_request.contains(&session)
    }
}

/// Makes the notice of what was announced and not yet told. It costs nothing where nothing is announced.
pub(crate) fn untold(state: &State, now: Timestamp, zone: &TimeZone) -> Option<Notice> {
    let extras = &state.extras;
    let waits = |deletion: &AnnouncedDeletion| deletion.word == Word::Untold;
    if !extras.retiring.values().any(waits) {
        return None;
    }
    let going = || {
        let numbers = extras.retiring.keys().filter(|number| !state.is_kept(**number));
        numbers.filter_map(|number| Some((*number, state.announced_deletion(*number).filter(|f| waits(f))?)))
    };
    let sessions: Vec<Number> = going().map(|(number, _)| number).collect();
    let due = |deletion: &AnnouncedDeletion| deletion.due_told(now);
    let (_, first) = going().min_by_key(|(_, deletion)| due(deletion))?;
    let past = going().all(|(_, deletion)| deletion.past == first.past).then_some(first.past);
    Some(Notice::Going { sessions, past, on: due(first).to_zoned(zone.clone()).date() })
}

/// Folds in what happens to sessions before they go.
pub(crate) fn take_in(extras: &mut ScopeExtras, entry: Seq, at: Timestamp, retiring: &Retiring) {
    match retiring {
        Retiring::Announced { sessions, due } => {
            let deletion = |going: &ScheduledDeletion| {
                (
                    going.session,
                    AnnouncedDeletion { entry, at, due: *due, past: going.past, word: Word::Untold },
                )
            };
            extras.retiring.extend(sessions.iter().map(deletion));
        }
        Retiring::Withdrawn { sessions } => {
            extras.retiring.retain(|number, _| !sessions.contains(number));
        }
        Retiring::Told => {
            for deletion in extras.retiring.values_mut().filter(|deletion| deletion.word == Word::Untold) {
                deletion.due = deletion.due_told(at);
                deletion.word = Word::Told;
            }
        }
        Retiring::Kept { session } => {
            extras.retiring.remove(session);
            extras.kept_on_request.insert(*session);
        }
        Retiring::Released { session } => _ = extras.kept_on_request.remove(session),
    }
}

/// Tells whether anything is known here about a session.
pub(crate) fn knows(extras: &ScopeExtras, session: Number) -> bool {
    extras.retiring.contains_key(&session) || extras.kept_on_request.contains(&session)
}

/// Folds in that a session is gone.
pub(crate) fn forget(extras: &mut ScopeExtras, session: Number) {
    extras.retiring.remove(&session);
    extras.kept_on_request.remove(&session);
}

/// Folds in that one session went into another one: who wanted the first to be kept wants what it said to be kept.
pub(crate) fn join(extras: &mut ScopeExtras, from: Number, into: Number) {
    // What was announced of either was not announced of both together.
    extras.retiring.remove(&from);
    extras.retiring.remove(&into);
    if extras.kept_on_request.remove(&from) {
        extras.kept_on_request.insert(into);
    }
}
