//! Retention: which sessions of a scope are past what is to be kept, by age, count and size.
//!
//! Finding them drops nothing. What the configuration says is done in two steps that both stand in the log: a session is
//! announced first, which the person is told with their next message, and goes when the time of grace is over. Nothing of
//! this is on the road of a message: a host calls [`Engine::retain`] when it is convenient.

use crate::engine::Engine;
use crate::error::Error;
use crate::request::Request;
use crate::turn::effects::Purge;
use jiff::SignedDuration;
use segue_core::Timestamp;
use segue_core::retention::{self, Past, RetireCheck};
use segue_core::scope;
use segue_core::session::Number;
use segue_core::state::State;
use std::cmp::Reverse;
use std::collections::BTreeSet;

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

/// A session that would go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeletionCandidate {
    /// The session.
    pub session: Number,
    /// When anything was last said in it.
    pub updated_at: Timestamp,
    /// How many bytes its messages take, where that was asked for.
    pub bytes: u64,
    /// Why.
    pub past: Past,
}

/// What a look at a scope's sessions comes to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Retained {
    /// Those that go now: they were announced, and the time of grace is over.
    pub goes: Vec<DeletionCandidate>,
    /// Those that are announced now.
    pub announced: Vec<DeletionCandidate>,
    /// Those that were announced before, and when they go.
    pub waits: Vec<(DeletionCandidate, Timestamp)>,
    /// Those that were announced and stay after all.
    pub stays: Vec<Number>,
    /// When those go that are announced now.
    pub due: Timestamp,
}

impl Engine {
    /// Finds the sessions that are past what is to be kept: the oldest ones, never the active one, and none that
    /// somebody asked to be kept.
    pub async fn past_retention(
        &self,
        scope: &scope::Key,
        keep: &Retention,
        now: Timestamp,
    ) -> Result<Vec<DeletionCandidate>, Error> {
        self.past_of(&*self.state(scope).await?, keep, now).await
    }

    /// Tells what the configuration lets go now, and what it announces. Nothing is changed: this is the dry run of
    /// [`Engine::retain`].
    pub async fn retention_plan(&self, scope: &scope::Key, now: Timestamp) -> Result<Retained, Error> {
        let (keep, grace) = self.config.retention_for(scope);
        let state = self.state(scope).await?;
        let now = state.effective(now);
        let past = match keep == Retention::default() {
            true => Vec::new(),
            false => self.past_of(&state, &keep, now).await?,
        };
        let is_past = |number: &Number| past.iter().any(|going| going.session == *number);
        let announced = state.extras.retiring.keys();
        let stays = announced.filter(|number| !is_past(number)).copied().collect();
        let mut plan =
            Retained { stays, due: now.checked_add(grace).unwrap_or(Timestamp::MAX), ..Retained::default() };
        for going in past {
            match state.announced_deletion(going.session) {
                Some(deletion) if deletion.due <= now => plan.goes.push(going),
                Some(deletion) => plan.waits.push((going, deletion.due)),
                None => plan.announced.push(going),
            }
        }
        Ok(plan)
    }

    /// Announces what is past what the configuration keeps, and drops what was announced a time of grace ago. What is
    /// worth remembering is kept with the append that drops it. What was dropped may stand in the store's files until
    /// [`Engine::purge`].
    pub async fn retain(&self, scope: &scope::Key, now: Timestamp) -> Result<Retained, Error> {
        let plan = self.retention_plan(scope, now).await?;
        if !plan.goes.is_empty() {
            let going = plan.goes.iter().map(|going| going.session).collect();
            // Many scopes share a purge, which the host calls for: `Engine::purge`.
            let mut turn = self.turn(scope.clone(), None, now, "");
            turn.purge = Purge::Later;
            self.ask(&turn, &Request::Retire(going, RetireCheck::Yes)).await?;
        }
        if !plan.announced.is_empty() || !plan.stays.is_empty() {
            let going = |going: &DeletionCandidate| retention::ScheduledDeletion {
                session: going.session,
                past: going.past,
            };
            let announced = plan.announced.iter().map(going).collect();
            let announce = Request::Announce(announced, plan.stays.clone(), plan.due);
            self.request(scope, now, &announce).await?;
        }
        Ok(plan)
    }

    async fn past_of(
        &self,
        state: &State,
        keep: &Retention,
        now: Timestamp,
    ) -> Result<Vec<DeletionCandidate>, Error> {
        let mut sessions: Vec<Number> = state.all().map(|(session, _)| session).collect();
        // As in P-8: the oldest go first, work that was left open after them, the active one never.
        let active = state.latest();
        let stays = |session: Number| {
            Some(session) == active || state.is_kept(session) || state.extras.worked_in(session).is_some()
        };
        let at_work = |session: Number| state.extras.open_task(session).is_some();
        sessions.sort_by_key(|session| Reverse((stays(*session), at_work(*session), *session)));
        let mut going = Vec::new();
        let (mut count, mut total) = (0, 0);
        let mut counted = BTreeSet::new();
        for session in sessions {
            // What forks share takes room once.
            let (mut bytes, mut own) = (0, Vec::new());
            if keep.bytes_max.is_some() {
                self.each_message(state, session, |told| {
                    if !counted.contains(&told.seq) {
                        bytes += told.text.len() as u64;
                        own.push(told.seq);
                    }
                })
                .await?;
            }
            let updated_at = state.updated_at(session).unwrap_or(now);
            let age = now.duration_since(updated_at);
            let too_old = keep.age_max.filter(|max| age > *max);
            let too_many = keep.count_max.filter(|max| count >= *max);
            let too_large = keep.bytes_max.filter(|max| total + bytes > *max);
            let past = match (too_old, too_many, too_large) {
                _ if stays(session) => None,
                (Some(max), ..) => {
                    let limit_ms = i64::try_from(max.as_millis()).unwrap_or(i64::MAX);
                    Some(Past::Age { limit_ms })
                }
                (_, Some(max), _) => Some(Past::Count { limit: max as u64 }),
                (.., Some(limit_bytes)) => Some(Past::Size { limit_bytes }),
                (None, None, None) => None,
            };
            // What goes for its age or its number takes no room. Where there is no room for a session there is none for
            // older ones.
            if matches!(past, None | Some(Past::Size { .. })) {
                total += bytes;
                counted.extend(own);
            }
            match past {
                Some(past) => going.push(DeletionCandidate { session, updated_at, bytes, past }),
                None => count += 1,
            }
        }
        Ok(going)
    }
}
