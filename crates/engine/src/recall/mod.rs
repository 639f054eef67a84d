//! Recall: fragments of earlier sessions of a scope, only on request and only with a reason (M-D2).
//!
//! Nothing here is ever called on the road of a message: what is recalled enters a context because someone asked.

mod clip;
mod ranking;
mod speaker;
mod tasks;
pub(crate) mod timeline;

use crate::background::away;
use crate::engine::Engine;
use crate::error::Error;
use clip::clip;
use jiff::ToSpan as _;
use ranking::{Ranked, RecallQuery, rank};
use segue_core::Timestamp;
use segue_core::entry::{Body, Record, Seq};
use segue_core::message::Role;
use segue_core::scope;
use segue_core::segment;
use segue_core::session::{Key, Number};
use segue_core::state::State;
use segue_signals::context::TokenCounter;
use segue_signals::periods::periods;
use segue_store::search::{self, Query, Reach, Visibility};
use speaker::Speaker;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use timeline::BATCH;

/// How many fragments are recalled if nothing else is said, and how many at most.
pub const FRAGMENTS: usize = 5;
/// How many fragments are recalled at most.
pub const FRAGMENTS_MAX: usize = 50;
/// How many tokens the fragments take together if nothing else is said.
pub const TOKENS: u64 = 2_000;
/// How many tokens the fragments take together at most.
pub const TOKENS_MAX: u64 = 32_000;

/// The longest fragment, in characters; longer messages are cut around what was found.
const FRAGMENT_CHARS_MAX: usize = 600;

/// The longest neighbour, in characters.
const NEIGHBOUR_CHARS_MAX: usize = 160;

/// What a fragment costs besides its text, in tokens: the line that says where it comes from.
const SOURCE_TOKENS: u64 = 24;

/// How many messages are read beyond those that are asked for: some may be erased meanwhile, or too long.
const SPARE: usize = 10;

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
#[non_exhaustive]
pub struct Fragment {
    /// The session that it comes from.
    pub session: Key,
    /// The segment.
    pub segment: segment::Number,
    /// The message.
    pub seq: Seq,
    /// Who said it.
    pub role: Role,
    /// Who that is, where several people share the scope.
    pub sender: Option<String>,
    /// When.
    pub at: Timestamp,
    /// What was said, or the part of it around what was looked for.
    pub text: String,
    /// How well it matches, from 0 to 1.
    pub score: f64,
    /// Why it was recalled.
    pub rationale: String,
    /// What was said just before it in the same session, unless that was recalled too.
    pub before: Option<Neighbour>,
    /// What was said just after it.
    pub after: Option<Neighbour>,
}

/// A message beside a fragment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbour {
    /// The message.
    pub seq: Seq,
    /// Who said it.
    pub role: Role,
    /// Who that is, where several people share the scope.
    pub sender: Option<String>,
    /// What was said, or the beginning of it.
    pub text: String,
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
    /// [`Error::NoQuery`] and [`Error::NoRationale`] if one of the two is missing. Messages are ranked by their words and their
    /// meaning, by those of their neighbours and their session, and by the days that the query names.
    pub async fn recall(&self, scope: &scope::Key, recall: &Recall) -> Result<Recalled, Error> {
        if recall.query.trim().is_empty() {
            return Err(Error::NoQuery);
        }
        if recall.why.trim().is_empty() {
            return Err(Error::NoRationale);
        }
        let state = self.state(scope).await?;
        let visibility = Visibility::of(&state, recall.reach);
        // A few messages are embedded here, and more of them in the background: their words find them meanwhile.
        if self.timelines.catch_up(scope, BATCH).await? > 0 {
            self.timelines.wake(scope);
        }
        let (embedder, query) = (Arc::clone(&self.embedder), recall.query.clone());
        let has_meaning = has_meaning(&query);
        let embedding = away(move || has_meaning.then(|| embedder.embed(&query)).flatten());
        let matches = search::matches(self.store.as_ref(), scope, &recall.query, &visibility).await?;
        let embedding = embedding.await.flatten().map(|found| (*found).clone());
        let periods = self.named_periods(scope, &recall.query, &state);
        let question = RecallQuery { matches, embedding, periods, speakers: Speaker::named(&recall.query) };
        let count = recall.count_max.min(FRAGMENTS_MAX) + SPARE;
        let timeline = self.timelines.at(scope, state.head).await?;
        let ranked = away(move || rank(&timeline, &visibility, &question, count)).await.unwrap_or_default();
        let wanted: BTreeSet<Seq> = ranked.iter().flat_map(Ranked::seqs).collect();
        let wanted: Vec<Seq> = wanted.into_iter().collect();
        let records = self.store.get_many(scope, &wanted).await?;
        // Someone may have erased some of them meanwhile.
        let records: HashMap<Seq, Record> =
            records.into_iter().flatten().map(|record| (record.seq, record)).collect();
        let mut fragments = Vec::new();
        for found in ranked {
            let Some(record) = records.get(&found.seq) else { continue };
            let (hit, why) = ((record, found.session, found.score), recall.why.trim());
            let Some(mut fragment) = fragment(scope, hit, &recall.query, why) else { continue };
            let beside = |seq: Option<Seq>| neighbour(records.get(&seq?)?);
            [fragment.before, fragment.after] = found.around.map(beside);
            fragments.push(fragment);
        }
        fragments.extend(self.recall_tasks(&state, recall).await?);
        // Stable, so that what was said keeps its order.
        fragments.sort_by(|a, b| b.score.total_cmp(&a.score));
        let mut fragments = bounded(fragments.into_iter(), recall, self.counter.as_ref());
        let found: Vec<Seq> = fragments.iter().map(|fragment| fragment.seq).collect();
        for fragment in &mut fragments {
            for neighbour in [&mut fragment.before, &mut fragment.after] {
                neighbour.take_if(|neighbour| found.contains(&neighbour.seq));
            }
        }
        Ok(Recalled { fragments })
    }

    /// Embeds and indexes the messages of a scope, so that a recall need not. What is made is kept by the store, and made once.
    pub async fn prepare_recall(&self, scope: &scope::Key) -> Result<(), Error> {
        while self.timelines.catch_up(scope, BATCH).await? > 0 {}
        self.timelines.index(scope).await
    }

    /// Finds the times that a query names, in the scope's time zone, seen from its last entry.
    fn named_periods(&self, scope: &scope::Key, query: &str, state: &State) -> Vec<(Timestamp, Timestamp)> {
        let zone = self.config.time_zone_for(scope, None);
        let today = state.clock.to_zoned(zone.clone()).date();
        let times = |period: segue_signals::periods::Period| {
            let from = period.first.to_zoned(zone.clone()).ok()?;
            let to = period.last.checked_add(1.day()).ok()?.to_zoned(zone.clone()).ok()?;
            Some((from.timestamp(), to.timestamp()))
        };
        periods(query, today).into_iter().filter_map(times).collect()
    }

    /// Finds what was said anywhere, for the operator.
    pub async fn search(&self, query: &str, count_max: usize) -> Result<Recalled, Error> {
        if query.trim().is_empty() {
            return Err(Error::NoQuery);
        }
        let mut fragments: Vec<Fragment> = Vec::new();
        for scope in self.every_scope().await? {
            let Some(state) = self.store.load(&scope).await? else { continue };
            let visibility = Arc::new(Visibility::of(&state, Reach::Everything));
            let asked = Query { text: query.to_owned(), visibility, limit: count_max };
            let hits = search::find(self.store.as_ref(), &scope, &asked).await?;
            let hit =
                |hit: &search::Hit| fragment(&scope, (&hit.record, hit.session, hit.score), query, SEARCHED);
            fragments.extend(hits.iter().filter_map(hit));
            fragments.sort_by(|a, b| b.score.total_cmp(&a.score).then(b.at.cmp(&a.at)));
            fragments.truncate(count_max);
        }
        Ok(Recalled { fragments })
    }
}

/// Tells whether a query can be compared by its meaning. Numbers and names with digits are looked up.
fn has_meaning(query: &str) -> bool {
    let mut words = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.any(|word| !word.contains(|c: char| c.is_ascii_digit()))
}

fn neighbour(record: &Record) -> Option<Neighbour> {
    let (role, text) = (record.kind.role()?, search::said(record)?);
    let sender = match record.body() {
        Ok(Body::Message(_, message)) => message.sender,
        Ok(_) | Err(_) => None,
    };
    Some(Neighbour { seq: record.seq, role, sender, text: clip(&text, "", NEIGHBOUR_CHARS_MAX) })
}

fn fragment(
    scope: &scope::Key,
    (record, session, score): (&Record, Number, f64),
    query: &str,
    why: &str,
) -> Option<Fragment> {
    search::said(record)?;
    let Ok(Body::Message(role, message)) = record.body() else { return None };
    Some(Fragment {
        session: Key::new(scope.clone(), session),
        segment: record.segment,
        seq: record.seq,
        role,
        sender: message.sender.clone(),
        at: message.given_at.unwrap_or(record.at),
        text: clip(&message.text, query, FRAGMENT_CHARS_MAX),
        // Three digits say all that there is to say.
        score: (score * 1e3).round() / 1e3,
        rationale: why.to_owned(),
        before: None,
        after: None,
    })
}

/// Takes fragments until there are enough; one that does not fit leaves room for a shorter one.
fn bounded(
    fragments: impl Iterator<Item = Fragment>,
    recall: &Recall,
    counter: &dyn TokenCounter,
) -> Vec<Fragment> {
    let mut left = recall.tokens_max.min(TOKENS_MAX);
    let fits = |fragment: &Fragment| {
        let neighbours = [&fragment.before, &fragment.after].into_iter().flatten();
        let beside: u64 = neighbours.map(|neighbour| counter.count(&neighbour.text)).sum();
        let tokens = counter.count(&fragment.text) + beside + SOURCE_TOKENS;
        let fits = tokens <= left;
        left -= if fits { tokens } else { 0 };
        fits
    };
    fragments.filter(fits).take(recall.count_max.min(FRAGMENTS_MAX)).collect()
}
