//! Coming back: the earlier session that a message belongs to better than to the latest one (R-11, J-3).
//!
//! A message is compared with the newest sessions of its scope, archived ones too. Embeddings find those that are near; the
//! judgement that tells whether a message goes on then looks at the nearest of them.

use crate::background::away;
use crate::engine::Engine;
use crate::scope::session_profile::speaker;
use jiff::SignedDuration;
use segue_core::observed::{Earlier, Share};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::judge::{self, Embedder};
use segue_signals::{Remark, Role};
use std::cmp::Reverse;
use std::sync::Arc;

/// How many other sessions are looked at, the last ones first.
const SESSIONS_MAX: usize = 16;

/// How many of a session's newest messages are looked at.
const MESSAGES_MAX: usize = 8;

/// How many sessions are judged: the nearest.
const JUDGED_MAX: usize = 3;

/// How surely a message must belong to an earlier session. The sessions are many, so that one of them is like it by chance.
const BELONGS: f64 = 0.982;

/// How many times less likely it must be that it does not belong there than that it does not belong here.
const SURER: f64 = 12.0;

/// A message that so surely belongs here is not looked for elsewhere.
const BELONGS_HERE: f64 = 0.982;

/// What was said in a session.
type Said = Vec<(Role, String)>;

impl Engine {
    /// Finds the earlier session that a message belongs to much better than to the latest one.
    pub(super) async fn earlier(&self, state: &State, here: Share, text: &str) -> Option<Earlier> {
        if here.value() > BELONGS_HERE {
            return None;
        }
        let latest = state.latest();
        let others = state.all().map(|(number, _)| number).filter(|number| Some(*number) != latest);
        let mut others: Vec<Number> = others.collect();
        others.sort_by_key(|number| Reverse((state.updated_at(*number), *number)));
        let mut sessions = Vec::new();
        for session in others.into_iter().take(SESSIONS_MAX) {
            sessions.extend(self.newest_of(state, session).await.map(|said| (session, said)));
        }
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        let found = away(move || nearest(&embedder, &sessions, &text)).await.flatten()?;
        let surer = found.belongs.rest().value() * SURER < here.rest().value();
        (found.belongs.value() > BELONGS && surer).then_some(found)
    }

    /// Tells how much a message belongs to a session that is not the latest.
    pub(super) async fn belongs(&self, state: &State, session: Number, text: &str) -> Option<Share> {
        let said = self.newest_of(state, session).await?;
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        away(move || belongs(&embedder, &said, &text)).await.flatten()
    }

    /// Returns what was said last in a session; nothing if it cannot be read.
    async fn newest_of(&self, state: &State, session: Number) -> Option<Said> {
        let told = self.messages(state, session, MESSAGES_MAX).await.ok()?;
        Some(told.into_iter().map(|told| (speaker(told.role), told.text)).collect())
    }
}

/// Finds the session that a message belongs to most, among the nearest.
fn nearest(embedder: &Embedder, sessions: &[(Number, Said)], text: &str) -> Option<Earlier> {
    let near = |(session, said): &(Number, Said)| {
        let spoken = said.iter().filter(|(role, _)| matches!(role, Role::User | Role::Assistant));
        let spoken: Vec<&str> = spoken.map(|(_, text)| text.as_str()).collect();
        Some((judge::nearness(embedder, &spoken, text)?, *session))
    };
    let mut nearest: Vec<(f32, Number)> = sessions.iter().filter_map(near).collect();
    nearest.sort_by(|a, b| b.0.total_cmp(&a.0));
    nearest.truncate(JUDGED_MAX);
    let judged = sessions.iter().filter(|(session, _)| nearest.iter().any(|(_, near)| near == session));
    let judged = judged.filter_map(|(session, said)| {
        Some(Earlier { session: *session, belongs: belongs(embedder, said, text)? })
    });
    // Of equals the one that was talked to last, which comes first.
    judged.reduce(|best, other| if other.belongs > best.belongs { other } else { best })
}

fn belongs(embedder: &Embedder, said: &Said, text: &str) -> Option<Share> {
    let said: Vec<Remark> = said.iter().map(|(role, text)| Remark::of(*role, text)).collect();
    let shift = judge::by_meaning(embedder, &said, &Remark::of(Role::User, text))?;
    Some(Share::new(f64::from(shift.after(SignedDuration::ZERO).complement().get())))
}
