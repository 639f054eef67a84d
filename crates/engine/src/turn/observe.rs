//! Observing: what the words, the window and the course of a conversation say about a message, before anything is
//! decided.

use crate::background::away;
use crate::engine::{Engine, Turn};
use crate::history::StoredMessage;
use crate::scope::session_profile::{SessionProfile, voice};
use crate::scope::{Entered, OtherSessions};
use crate::words::Language;
use crate::words::quoted::name_speakers;
use jiff::SignedDuration;
use segue_core::decision::Cause;
use segue_core::evidence::{Health, Semantic, Window};
use segue_core::freshness::Silence;
use segue_core::message::Message;
use segue_core::observed::{
    Answers, Condition, ConversationProblem, Filling, Grounds, LastWord, Meaning, Objection, Observed,
    PauseAllowance, Share, Work,
};
use segue_core::policy::{AutoRoute, Mode, Policy};
use segue_core::state::State;
use segue_signals::context::ContextBand;
use segue_signals::health::{Finding, HealthState, Symptoms, judge_health};
use segue_signals::intent::{ExplicitIntent, explicit_intent};
use segue_signals::judge::{self, Shift, Stage};
use segue_signals::semantic::{Band, Relevance};
use segue_signals::summary::{Structured, Summary, SummaryLanguage};
use segue_signals::{KEPT_MAX, Remark, Role, objection, work};
use std::sync::Arc;

/// How many messages after a rotation the session before it is still looked at.
const WATCHED_MESSAGES_MAX: u32 = 3;

impl Engine {
    /// Returns the profile of the latest session, from memory or from the store. A session that cannot be read is one
    /// about which nothing is known: that never starts a fresh one.
    pub(crate) async fn profile<'a>(
        &self,
        entered: &'a mut Entered<'_>,
        state: &State,
    ) -> Option<&'a SessionProfile> {
        let known = entered.profile.take();
        entered.profile = match known.and_then(|profile| profile.caught_up()) {
            Some(profile) => Some(profile),
            None => self.read_profile(state).await,
        };
        entered.profile.as_deref()
    }

    async fn read_profile(&self, state: &State) -> Option<Box<SessionProfile>> {
        let latest = state.latest()?;
        let reach = SessionProfile::reach(state.messages_of(latest)) as usize;
        match self.messages(state, latest, reach).await {
            Ok(told) => {
                self.remind(state, &told[told.len().saturating_sub(KEPT_MAX)..]).await;
                Some(Box::new(SessionProfile::of(self.reader(), state, latest, &told)))
            }
            Err(error) => {
                tracing::warn!(scope = %state.scope, %error, "the latest session cannot be read; it goes on");
                None
            }
        }
    }

    /// Observes a message of the person.
    pub(crate) async fn observe(
        &self,
        turn: &Turn,
        state: &State,
        profile: Option<&SessionProfile>,
        others: &OtherSessions,
        message: &Message,
    ) -> Observed {
        let began = self.clock.ticks_us();
        let text = message.text.as_str();
        let mut observed = Observed {
            start_over: match explicit_intent(text) {
                ExplicitIntent::StartOver { phrase, .. } => Some(phrase),
                ExplicitIntent::Mention { .. } | ExplicitIntent::Absent => None,
            },
            ..Observed::default()
        };
        if let Some(question) = &state.extras.question {
            observed.answer = self.answer_in_words(state, question, profile, text).await;
        }
        observed.mentioned = self.mentioned(state, others, text).await;
        if state.extras.rotation.is_some() {
            observed.objection = match objection::reads_as_objection(text) {
                objection::Objection::Whole => Objection::Whole,
                objection::Objection::Leading => Objection::Leading,
                objection::Objection::Absent => Objection::Absent,
            };
        }
        if let Some(profile) = profile {
            self.judge(turn, state, profile, text, &mut observed).await;
            self.compare(state, others, text, &mut observed).await;
        }
        observed.took_us = self.clock.ticks_us().saturating_sub(began);
        observed
    }

    async fn judge(
        &self,
        turn: &Turn,
        state: &State,
        profile: &SessionProfile,
        text: &str,
        observed: &mut Observed,
    ) {
        let now = state.effective(turn.at);
        let gap = state.open.as_ref().map_or(SignedDuration::ZERO, |open| Silence::of(open, now).gap);
        let (recent, message) = (profile.recent(), Remark::of(Role::User, text));
        // A session that holds nothing but the wish for it is about nothing yet.
        let is_wish = |(role, said): &(_, String)| {
            *role == segue_core::message::Role::User && wishes_to_start_over(said)
        };
        let has_begun = !profile.said().iter().rev().all(is_wish);
        let shift = match has_begun {
            true => self.shift(recent, message.clone()).await,
            false => None,
        };
        observed.meaning = meaning(match shift {
            Some(shift) => Relevance::scored(shift.after(gap).complement(), judge::evidence(recent, text)),
            None => Relevance::unknown("too little text to tell"),
        });
        if judge::answers(recent, &message, shift) {
            observed.answers = Answers::Agent;
        }
        if judge::is_grounded(recent, &message) {
            observed.grounds = Grounds::Words;
        }
        let used = profile.use_with(self.reader(), text, turn.window);
        observed.window = Filling {
            band: match used.band {
                ContextBand::Healthy => Window::Healthy,
                ContextBand::Warning => Window::Warning,
                ContextBand::Critical => Window::Critical,
                ContextBand::Emergency => Window::Emergency,
            },
            percent: used.percent(),
        };
        observed.patience = PauseAllowance {
            work: match work::judge_work(recent) {
                work::Work::General => Work::General,
                work::Work::Coding => Work::Coding,
            },
            last_word: match work::judge_last_word(recent) {
                work::LastWord::Settled => LastWord::Settled,
                work::LastWord::OpenQuestion => LastWord::OpenQuestion,
            },
        };
        let health =
            judge_health(recent.iter().map(Remark::symptoms).chain([&Symptoms::of(Role::User, text)]));
        observed.health = Condition {
            band: match health.state {
                HealthState::Good => Health::Good,
                HealthState::Bad => Health::Bad,
            },
            findings: health.findings.iter().map(ailment).collect(),
        };
    }

    /// Compares a message with other sessions, where that can matter: with the one before a rotation, and with earlier ones if
    /// it may not belong to the latest.
    async fn compare(&self, state: &State, others: &OtherSessions, text: &str, observed: &mut Observed) {
        let watched = state.extras.rotation.as_ref().filter(|rotation| {
            rotation.cause == Cause::Semantic
                && rotation.messages_since <= WATCHED_MESSAGES_MAX
                && state.latest() == Some(rotation.to)
        });
        if let Some(rotation) = watched {
            observed.before = self.belongs(state, others, rotation.from, text).await;
        }
        if let Some(here) = observed.meaning.belongs {
            observed.earlier = self.earlier(state, others, here, text).await;
        }
    }

    /// Judges whether something new begins, in stages: the encoder is asked where words are not sure, away from the threads
    /// that answer.
    async fn shift(&self, recent: &[Remark], message: Remark) -> Option<Shift> {
        let by_words = judge::by_words(recent, &message)?;
        if by_words.stage == Stage::Words {
            return Some(by_words);
        }
        let (embedder, recent) = (Arc::clone(&self.embedder), recent.to_vec());
        let by_meaning = away(move || judge::by_meaning(&embedder, &recent, &message)).await.flatten();
        Some(by_meaning.unwrap_or(by_words))
    }

    /// Summarises the latest session. Only where it is needed: most messages need none. In a group, what was settled and
    /// asked says who said so.
    pub(crate) async fn summarised(&self, state: &State) -> Option<Structured> {
        let latest = state.latest()?;
        let reach = SessionProfile::reach(state.messages_of(latest)) as usize;
        let told = self.messages(state, latest, reach).await.ok()?;
        let mut summary = Summary::new();
        for told in &told {
            if let Some(message) = &told.message {
                summary.observe(voice(told.role, message), &message.text);
            }
        }
        let mut summary = summary.structured();
        name_speakers(&mut summary, told.iter().filter_map(StoredMessage::said_by_person));
        Some(summary)
    }

    /// Writes the summary that goes along into a new session.
    pub(crate) async fn carry_over(&self, turn: &Turn, state: &State) -> Option<String> {
        let language = match turn.language {
            Language::En => SummaryLanguage::English,
            Language::Zh => SummaryLanguage::Chinese,
        };
        let summary = self.summarised(state).await?.render(language);
        let before = state.latest()?;
        (!summary.trim().is_empty()).then(|| match turn.language {
            Language::En => format!("Summary of the session before (#{before}):\n{summary}"),
            Language::Zh => format!("上一个会话（#{before}）的摘要：\n{summary}"),
        })
    }
}

fn wishes_to_start_over(text: &str) -> bool {
    matches!(explicit_intent(text), ExplicitIntent::StartOver { .. })
}

/// Tells whether a message needs a summary at hand: a new session may begin with it.
/// Where nothing moves a session by itself, a full window begins none.
pub(crate) fn may_carry(policy: &Policy, observed: &Observed) -> bool {
    let may_overflow = policy.auto_route == AutoRoute::Auto && policy.mode == Mode::Segmented;
    (may_overflow && observed.window.band >= Window::Critical) || observed.answer.is_some()
}

pub(crate) fn meaning(relevance: Relevance) -> Meaning {
    Meaning {
        band: match relevance.band {
            Band::High => Semantic::High,
            Band::Medium => Semantic::Medium,
            Band::Low => Semantic::Low,
            Band::Unknown => Semantic::Unknown,
        },
        belongs: relevance.score.map(|score| Share::new(f64::from(score.get()))),
        evidence: relevance.evidence,
    }
}

fn ailment(finding: &Finding) -> ConversationProblem {
    match finding {
        Finding::ErrorLoop { .. } => ConversationProblem::ErrorLoop,
        Finding::Frustration { .. } => ConversationProblem::Frustration,
        Finding::Contradiction { .. } => ConversationProblem::Contradiction,
        Finding::DeadEnd => ConversationProblem::DeadEnd,
    }
}
