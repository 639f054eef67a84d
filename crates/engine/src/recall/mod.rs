//! Recall: fragments of earlier sessions of a scope, only on request and only with a reason (M-D2).
//!
//! Nothing here is ever called on the road of a message: what is recalled enters a context because someone asked.

mod clip;
pub(crate) mod embeddings;
pub(crate) mod meaning;
pub(crate) mod session_vectors;
mod tasks;

use crate::engine::Engine;
use crate::error::Error;
use clip::clip;
use segue_core::Timestamp;
use segue_core::entry::{Body, Seq};
use segue_core::message::Role;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::Key;
use segue_signals::context::{EstimatedTokens, TokenCounter};
use segue_store::search::{Hit, Query, Reach, Sight};
use std::sync::Arc;

/// How many fragments are recalled if nothing else is said, and how many at most.
pub const FRAGMENTS: usize = 5;
/// How many fragments are recalled at most.
pub const FRAGMENTS_MAX: usize = 50;
/// How many of the last sessions are compared with a question where words do not decide.
pub const LAST_SESSIONS: usize = 64;
/// How many tokens the fragments take together if nothing else is said.
pub const TOKENS: u64 = 2_000;
/// How many tokens the fragments take together at most.
pub const TOKENS_MAX: u64 = 32_000;

/// The longest fragment, in characters; longer messages are cut around what was found.
const FRAGMENT_CHARS_MAX: usize = 600;

/// What a fragment costs besides its text, in tokens: the line that says where it comes from.
const SOURCE_TOKENS: u64 = 24;

/// How many hits are looked at, so that there is something to choose from.
const HITS: usize = 40;

/// Why something is found that the operator searched for.
const SEARCHED: &str = "the operator searched";

/// What is recalled, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// What to look for.
    pub query: String,
    /// Why: it stands with every fragment.
    pub why: String,
    /// How many fragments, at most.
    pub count_max: usize,
    /// How many tokens the fragments may take together.
    pub tokens_max: u64,
    /// Whether the latest session is looked through as well.
    pub reach: Reach,
}

impl Recall {
    /// Recalls what earlier sessions say about something, for a reason.
    pub fn new(query: impl Into<String>, why: impl Into<String>) -> Self {
        let (query, why) = (query.into(), why.into());
        Self { query, why, count_max: FRAGMENTS, tokens_max: TOKENS, reach: Reach::Archived }
    }
}

/// A piece of what was said.
#[derive(Debug, Clone, PartialEq)]
pub struct Fragment {
    /// The session that it comes from.
    pub session: Key,
    /// The segment.
    pub segment: segment::Number,
    /// The message.
    pub seq: Seq,
    /// Who said it.
    pub role: Role,
    /// When.
    pub at: Timestamp,
    /// What was said, or the part of it around what was looked for.
    pub text: String,
    /// How well it matches, from 0 to 1.
    pub score: f64,
    /// Why it was recalled.
    pub rationale: String,
}

/// What was recalled, the best first.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recalled {
    /// The fragments.
    pub fragments: Vec<Fragment>,
}

impl Engine {
    /// Finds fragments of earlier sessions of a scope, and of no other scope.
    ///
    /// [`Error::NoQuery`] and [`Error::NoRationale`] if one of the two is missing. Sessions are ranked by their words,
    /// by how long ago they were, and the best of them by what they are about.
    pub async fn recall(&self, scope: &scope::Key, recall: &Recall) -> Result<Recalled, Error> {
        if recall.query.trim().is_empty() {
            return Err(Error::NoQuery);
        }
        if recall.why.trim().is_empty() {
            return Err(Error::NoRationale);
        }
        let state = self.state(scope).await?;
        let sight = Arc::new(Sight::of(&state, recall.reach));
        let query = Query { text: recall.query.clone(), sight, limit: HITS };
        let mut hits = segue_store::search::find(self.store.as_ref(), scope, &query).await?;
        self.weigh_meaning(&state, &query, &mut hits).await;
        let said = hits.iter().filter_map(|hit| fragment(scope, hit, &recall.query, recall.why.trim()));
        let mut fragments: Vec<Fragment> = said.chain(self.recall_tasks(&state, recall).await?).collect();
        // Stable, so that what was said keeps its order.
        fragments.sort_by(|a, b| b.score.total_cmp(&a.score));
        Ok(Recalled { fragments: bounded(fragments.into_iter(), recall) })
    }

    /// Finds what was said anywhere, for the operator.
    pub async fn search(&self, query: &str, count_max: usize) -> Result<Recalled, Error> {
        if query.trim().is_empty() {
            return Err(Error::NoQuery);
        }
        let mut fragments: Vec<Fragment> = Vec::new();
        for scope in self.every_scope().await? {
            let Some(state) = self.store.load(&scope).await? else { continue };
            let sight = Arc::new(Sight::of(&state, Reach::Everything));
            let asked = Query { text: query.to_owned(), sight, limit: count_max };
            let hits = segue_store::search::find(self.store.as_ref(), &scope, &asked).await?;
            fragments.extend(hits.iter().filter_map(|hit| fragment(&scope, hit, query, SEARCHED)));
            fragments.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
            fragments.truncate(count_max);
        }
        Ok(Recalled { fragments })
    }
}

fn fragment(scope: &scope::Key, hit: &Hit, query: &str, why: &str) -> Option<Fragment> {
    let Ok(Body::Message(role, message)) = hit.record.body() else { return None };
    Some(Fragment {
        session: Key::new(scope.clone(), hit.session),
        segment: hit.record.segment,
        seq: hit.record.seq,
        role,
        at: message.given_at.unwrap_or(hit.record.at),
        text: clip(&message.text, query, FRAGMENT_CHARS_MAX),
        // Three digits say all that there is to say.
        score: (hit.score * 1e3).round() / 1e3,
        rationale: why.to_owned(),
    })
}

/// Takes fragments until there are enough; one that does not fit leaves room for a shorter one.
fn bounded(fragments: impl Iterator<Item = Fragment>, recall: &Recall) -> Vec<Fragment> {
    let mut left = recall.tokens_max.min(TOKENS_MAX);
    let fits = |fragment: &Fragment| {
        let tokens = EstimatedTokens.count(&fragment.text) + SOURCE_TOKENS;
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    fragments.filter(fits).take(recall.count_max.min(FRAGMENTS_MAX)).collect()
}
