//! Retention: which sessions of a scope are past what is to be kept, by age, count and size. Finding them drops
//! nothing: an operator sees what would go before it does.

use crate::engine::Engine;
use crate::error::Error;
use jiff::SignedDuration;
use segue_core::Timestamp;
use segue_core::scope;
use segue_core::session::Number;
use std::cmp::Reverse;

/// What is to be kept. What is not said has no bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Retention {
    /// How many sessions, the active one included.
    pub count_max: Option<usize>,
    /// For how long after the last message of a session.
    pub age_max: Option<SignedDuration>,
    /// How many bytes all messages take together.
    pub bytes_max: Option<u64>,
}

/// Why a session would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// It is older than is kept.
    Age,
    /// There are more than are kept.
    Count,
    /// All together take more room than they may.
    Size,
}

/// A session that would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Going {
    /// The session.
    pub session: Number,
    /// When anything was last said in it.
    pub updated_at: Timestamp,
    /// How many bytes its messages take, where that was asked for.
    pub bytes: u64,
    /// Why.
    pub past: Past,
}

impl Engine {
    /// Finds the sessions that are past what is to be kept: the oldest ones, never the active one.
    pub async fn past_retention(
        &self,
        scope: &scope::Key,
        keep: &Retention,
        now: Timestamp,
    ) -> Result<Vec<Going>, Error> {
        let state = self.state(scope).await?;
        let mut sessions: Vec<Number> = state.list().map(|(session, _)| session).collect();
        // As in P-8: the oldest go first, work that was left open after them, the active one never.
        let active = state.latest();
        let at_work = |session: Number| state.standing.open_task(session).is_some();
        sessions.sort_by_key(|session| Reverse((Some(*session) == active, at_work(*session), *session)));
        let mut going = Vec::new();
        let (mut count, mut total) = (0, 0);
        for session in sessions {
            let bytes = match keep.bytes_max {
                Some(_) => self
                    .messages(&state, session, usize::MAX)
                    .await?
                    .iter()
                    .map(|t| t.text.len() as u64)
                    .sum(),
                None => 0,
            };
            let updated_at = state.updated_at(session).unwrap_or(now);
            let age = now.duration_since(updated_at);
            let past = match () {
                () if Some(session) == active => None,
                () if keep.age_max.is_some_and(|max| age > max) => Some(Past::Age),
                () if keep.count_max.is_some_and(|max| count >= max) => Some(Past::Count),
                () if keep.bytes_max.is_some_and(|max| total + bytes > max) => Some(Past::Size),
                () => None,
            };
            match past {
                Some(past) => going.push(Going { session, updated_at, bytes, past }),
                None => count += 1,
            }
            // Counted in any case: where there is no room for a session there is none for older ones.
            total += bytes;
        }
        Ok(going)
    }
}
