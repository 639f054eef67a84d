//! Coming back: the earlier session that a message belongs to better than to the latest one (R-11, J-3).
//!
//! A message is compared with every session of its scope, archived ones too. Embeddings find those that are near: of the newest
//! sessions by what was said there last, of all by any message. The judgement that tells whether a message goes on then looks at
//! the nearest of them.

use crate::background::away;
use crate::engine::Engine;
use crate::history::StoredMessage;
use crate::scope::session_profile::speaker;
use crate::scope::{OtherSessions, SessionText};
use jiff::SignedDuration;
use segue_core::entry::Seq;
use segue_core::observed::{Earlier, Share};
use segue_core::session::Number;
use segue_core::state::State;
use segue_signals::judge::{self, Embedder};
use segue_signals::{Remark, Role};
use std::sync::Arc;

/// How many of the sessions that were talked to last are looked at: their messages may have no embeddings yet.
const NEWEST_MAX: usize = 16;

/// How many of all sessions are looked at: those with the nearest messages.
const NEAR_MAX: usize = 8;

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

impl Engine {
    /// Finds the earlier session that a message belongs to much better than to the latest one.
    pub(super) async fn earlier(
        &self,
        state: &State,
        others: &OtherSessions,
        here: Share,
        text: &str,
    ) -> Option<Earlier> {
        if here.value() > BELONGS_HERE {
            return None;
        }
        let mut candidates: Vec<Number> = others.of(state).newest.iter().take(NEWEST_MAX).copied().collect();
        for near in self.near_of_all(state, others, text).await {
            if !candidates.contains(&near) {
                candidates.push(near);
            }
        }
        let mut sessions = Vec::new();
        for session in candidates {
            sessions.extend(self.newest_of(state, others, session).await.map(|said| (session, said)));
        }
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        let found = away(move || nearest(&embedder, &sessions, &text)).await.flatten()?;
        let surer = found.belongs.rest().value() * SURER < here.rest().value();
        (found.belongs.value() > BELONGS && surer).then_some(found)
    }

    /// Tells how much a message belongs to a session that is not the latest.
    pub(super) async fn belongs(
        &self,
        state: &State,
        others: &OtherSessions,
        session: Number,
        text: &str,
    ) -> Option<Share> {
        let said = self.newest_of(state, others, session).await?;
        let (embedder, text) = (Arc::clone(&self.embedder), text.to_owned());
        away(move || belongs(&embedder, &said, &text)).await.flatten()
    }

    /// Has the embedder know what the store keeps of messages.
    pub(super) async fn remind(&self, state: &State, told: &[StoredMessage]) {
        let told: Vec<(Seq, &str)> = told.iter().map(|told| (told.seq, told.text.as_str())).collect();
        self.timelines.remind(&state.scope, &told).await;
    }

    /// Returns what was said last in a session; nothing if it cannot be read.
    async fn newest_of(&self, state: &State, others: &OtherSessions, session: Number) -> Option<SessionText> {
        let others = others.of(state);
        if let Some(said) = others.read(session) {
            return Some(said);
        }
        let told = self.messages(state, session, MESSAGES_MAX).await.ok()?;
        self.remind(state, &told).await;
        let said: SessionText = told.into_iter().map(|told| (speaker(told.role), told.text)).collect();
        others.keep(session, &said);
        Some(said)
    }

    /// Finds the sessions that the nearest messages of all belong to. Where the newest are all, there is nothing more to find.
    pub(super) async fn near_of_all(&self, state: &State, others: &OtherSessions, text: &str) -> Vec<Number> {
        if others.of(state).count <= NEWEST_MAX {
            return Vec::new();
        }
        // What cannot be read is not found.
        let Ok(timeline) = self.timelines.at(&state.scope, state.head).await else { return Vec::new() };
        let (embedder, others, text) = (Arc::clone(&self.embedder), others.clone(), text.to_owned());
        let near = away(move || {
            let message = embedder.embed(&segue_encoder::clipped(&text))?;
            Some(timeline.nearest(&message, &others.known()?.visibility, NEAR_MAX))
        });
        near.await.flatten().unwrap_or_default()
    }
}

/// Finds the session that a message belongs to most, among the nearest.
fn nearest(embedder: &Embedder, sessions: &[(Number, SessionText)], text: &str) -> Option<Earlier> {
    let near = |(session, said): &(Number, SessionText)| {
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

fn belongs(embedder: &Embedder, said: &[(Role, String)], text: &str) -> Option<Share> {
    let said: Vec<Remark> = said.iter().map(|(role, text)| Remark::of(*role, text)).collect();
    let shift = judge::by_meaning(embedder, &said, &Remark::of(Role::User, text))?;
    Some(Share::new(f64::from(shift.after(SignedDuration::ZERO).complement().get())))
}

#[cfg(all(test, feature = "sqlite"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;
    use crate::config::{Config, Layer, Origin};
    use crate::turn::inbound::Inbound;
    use jiff::tz::TimeZone;
    use segue_store::sqlite::Sqlite;
    use std::path::Path;

    async fn opened(path: &Path) -> Engine {
        let layer = Layer::toml(Origin::Workspace("test.toml".into()), "timezone = 'UTC'".to_owned());
        let config = Config::load(vec![layer], &TimeZone::UTC).unwrap();
        Engine::open(Arc::new(Sqlite::open(path).unwrap()), config).await.unwrap()
    }

    /// Judging, coming back and recall use one embedding of a message, which the store keeps.
    #[tokio::test]
    async fn j2_a_message_is_embedded_once_also_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("segue.db");
        let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
        let long = format!("The crane goes to pier four. {}", "It is heavy. ".repeat(200));
        let said = ["The harbour master wants the crane moved", &long, "How long do I boil quail eggs?"];
        {
            let engine = opened(&path).await;
            for text in [said[0], said[1], "/new", said[2]] {
                let message = Inbound::user(scope.clone(), jiff::Timestamp::UNIX_EPOCH, text);
                engine.receive(message).await.unwrap();
            }
            engine.prepare_recall(&scope).await.unwrap();
        }
        let engine = opened(&path).await;
        assert!(said.iter().all(|text| !engine.embedder.knows(text)));
        let state = engine.state(&scope).await.unwrap();
        for (session, _) in state.all() {
            engine.newest_of(&state, &OtherSessions::default(), session).await.unwrap();
        }
        assert!(said.iter().all(|text| engine.embedder.knows(text)));
    }
}
