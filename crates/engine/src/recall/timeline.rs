//! Timelines: the messages of a scope in the order of the log, with an embedding of each, for as long as the scope is asked.
//!
//! The store keeps the embeddings. They are made in the order of the log, so that all messages up to the last one that has an
//! embedding have one; a message that is not embedded (a tool's) has an empty one. No text is kept here.

use crate::background::away;
use crate::error::Error;
use crate::recall::speaker::Speaker;
use segue_core::Timestamp;
use segue_core::entry::{Body, Record, Seq};
use segue_core::message::Role;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session;
use segue_encoder::{DIMENSIONS, Embedding, STEP, VERSION};
use segue_signals::judge::Embedder;
use segue_store::search::{Visibility, said};
use segue_store::{Embedding as StoredEmbedding, Store, Subject};
use std::collections::{BTreeSet, BinaryHeap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use tokio::runtime::Handle;
use tokio::sync::{Mutex as AsyncMutex, OwnedMutexGuard, Semaphore};

/// How many messages are kept in all; those of a longer scope are its newest. Half a kilobyte each.
const MESSAGES_MAX: usize = 120_000;

/// How many entries or embeddings are read at once.
const PAGE: usize = 1_000;

/// How many messages are embedded before the embeddings are kept.
pub(crate) const BATCH: usize = 32;

/// How many scopes wait for the background at most; those beyond are embedded by a worker, or when they are asked.
const WAITING_MAX: usize = 256;

/// Of how many scopes it is known that nothing is left to embed.
const DONE_MAX: usize = 10_000;

/// From how many texts on it is worth a thread more.
const TEXTS_OF_A_THREAD: usize = 8;

/// How many messages are compared number by number: those whose signs are most alike.
const ALIKE_MAX: usize = 128;

/// Which numbers of an embedding are above zero. To count where two differ is many times quicker than to multiply them.
type Signs = [u64; DIMENSIONS / 64];

/// A message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct MessageRef {
    pub(crate) seq: Seq,
    pub(crate) segment: segment::Number,
    pub(crate) at: Timestamp,
    pub(crate) speaker: Speaker,
}

impl MessageRef {
    fn of(record: &Record) -> Option<Self> {
        said(record)?;
        let Ok(Body::Message(_, message)) = record.body() else { return None };
        let at = message.given_at.unwrap_or(record.at);
        let speaker = Speaker::of(message.sender.as_deref());
        Some(Self { seq: record.seq, segment: record.segment, at, speaker })
    }

    /// What the store keeps: which encoder it was, the message, and its embedding.
    fn kept(self, vector: &[u8]) -> StoredEmbedding {
        let head = [VERSION, self.segment.0, self.speaker.0].map(u32::to_le_bytes).concat();
        let bytes = [&head, &self.at.as_millisecond().to_le_bytes()[..], vector].concat();
        StoredEmbedding { subject: Subject::Entry(self.seq), first: self.seq, last: self.seq, bytes }
    }

    /// Takes what [`MessageRef::kept`] gave; nothing if another encoder made it.
    fn found(kept: &StoredEmbedding) -> Option<(Self, &[u8])> {
        let Subject::Entry(seq) = kept.subject else { return None };
        let (version, rest) = kept.bytes.split_first_chunk::<4>()?;
        let (segment, rest) = rest.split_first_chunk::<4>()?;
        let (speaker, rest) = rest.split_first_chunk::<4>()?;
        let (at, vector) = rest.split_first_chunk::<8>()?;
        let at = Timestamp::from_millisecond(i64::from_le_bytes(*at)).ok()?;
        let is_whole = vector.is_empty() || vector.len() == DIMENSIONS;
        let segment = segment::Number(u32::from_le_bytes(*segment));
        let said = Self { seq, segment, at, speaker: Speaker(u32::from_le_bytes(*speaker)) };
        (u32::from_le_bytes(*version) == VERSION && is_whole).then_some((said, vector))
    }
}

/// The messages of a scope up to an entry.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// Up to where the log was read.
    seen: Seq,
    pub(crate) said: Vec<MessageRef>,
    /// The embeddings of the first messages, one behind the other.
    pub(crate) vectors: Vec<u8>,
    signs: Vec<Signs>,
    /// The last message that has an embedding.
    embedded: Seq,
    sum: [i32; DIMENSIONS],
    summed: u32,
}

impl Default for Timeline {
    fn default() -> Self {
        let (said, vectors, signs) = (Vec::new(), Vec::new(), Vec::new());
        Self { seen: Seq::ZERO, said, vectors, signs, embedded: Seq::ZERO, sum: [0; DIMENSIONS], summed: 0 }
    }
}

impl Timeline {
    /// Returns the embedding of a message, if it has one.
    pub(crate) fn vector(&self, at: usize) -> Option<&[u8]> {
        self.vectors.get(at * DIMENSIONS..(at + 1) * DIMENSIONS)
    }

    /// What the messages have in common, which says nothing about any of them.
    pub(crate) fn mean(&self) -> [f32; DIMENSIONS] {
        let scale = STEP / self.summed.max(1) as f32;
        self.sum.map(|sum| sum as f32 * scale)
    }

    /// Finds the sessions in sight that have the nearest messages, the nearest first.
    pub(crate) fn nearest(
        &self,
        to: &Embedding,
        visibility: &Visibility,
        count_max: usize,
    ) -> Vec<session::Number> {
        let wanted = signs(&to.bytes());
        let mut alike: BinaryHeap<(u32, usize)> = BinaryHeap::new();
        for (at, signs) in self.signs.iter().enumerate() {
            let apart = signs.iter().zip(&wanted).map(|(a, b)| (a ^ b).count_ones()).sum();
            let farthest = alike.peek().map_or(u32::MAX, |(apart, _)| *apart);
            let is_seen = |said: &MessageRef| visibility.owner(said.segment, said.seq).is_some();
            if (alike.len() < ALIKE_MAX || apart < farthest) && self.said.get(at).is_some_and(is_seen) {
                alike.push((apart, at));
                if alike.len() > ALIKE_MAX {
                    alike.pop();
                }
            }
        }
        let near = |(_, at): (u32, usize)| {
            let said = self.said.get(at)?;
            let own = Embedding::from_bytes(self.vector(at)?)?;
            Some((to.cosine(&own), visibility.owner(said.segment, said.seq)?))
        };
        let mut near: Vec<(f32, session::Number)> = alike.into_iter().filter_map(near).collect();
        near.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let mut found: Vec<session::Number> = Vec::new();
        for (_, session) in near {
            if found.len() < count_max && !found.contains(&session) {
                found.push(session);
            }
        }
        found
    }

    fn embed(&mut self, seq: Seq, vector: &[u8]) {
        self.embedded = seq;
        self.signs.push(signs(vector));
        if vector.is_empty() {
            self.vectors.resize(self.vectors.len() + DIMENSIONS, 0);
            return;
        }
        self.vectors.extend_from_slice(vector);
        self.sum.iter_mut().zip(vector).for_each(|(sum, step)| *sum += i32::from(step.cast_signed()));
        self.summed += 1;
    }

    /// Returns the first messages without an embedding.
    fn bare(&self) -> &[MessageRef] {
        self.said.get(self.vectors.len() / DIMENSIONS..).unwrap_or_default()
    }

    /// Lets the oldest messages go.
    fn trim(&mut self) {
        let over = self.said.len().saturating_sub(MESSAGES_MAX);
        self.said.drain(..over);
        self.vectors.drain(..(over * DIMENSIONS).min(self.vectors.len()));
        self.signs.drain(..over.min(self.signs.len()));
    }
}

/// The timelines of the scopes that were asked last, and what makes embeddings.
pub(crate) struct Timelines {
    store: Arc<dyn Store>,
    embedder: Arc<Embedder>,
    scopes: Mutex<HashMap<Key, Arc<AsyncMutex<Timeline>>>>,
    /// The heads at which nothing was left to embed.
    done: Mutex<HashMap<Key, Seq>>,
    waiting: Mutex<Waiting>,
    /// One at a time: turns need the machine as well.
    embedding: Semaphore,
}

/// Scopes that wait to be embedded in the background.
#[derive(Debug, Default)]
struct Waiting {
    scopes: BTreeSet<Key>,
    is_served: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Timelines {
    pub(crate) fn new(store: Arc<dyn Store>, embedder: Arc<Embedder>) -> Arc<Self> {
        let (scopes, done, waiting) = (Mutex::default(), Mutex::default(), Mutex::default());
        Arc::new(Self { store, embedder, scopes, done, waiting, embedding: Semaphore::new(1) })
    }

    /// Forgets the timeline of a scope of which something was erased.
    pub(crate) fn forget(&self, scope: &Key) {
        lock(&self.scopes).remove(scope);
        self.embedder.forget();
    }

    /// Returns the timeline of a scope, at least up to an entry.
    pub(crate) async fn at(&self, scope: &Key, head: Seq) -> Result<OwnedMutexGuard<Timeline>, Error> {
        let mut timeline = self.slot(scope).lock_owned().await;
        if timeline.seen > Seq::ZERO && self.read(&mut timeline, scope, head).await? == Read::Erased {
            *timeline = Timeline::default();
        }
        if timeline.seen < head {
            // What was erased before the head is not found any more; what is erased later is seen in the log, next time.
            self.load(&mut timeline, scope).await?;
            self.read(&mut timeline, scope, head).await?;
        }
        timeline.trim();
        Ok(timeline)
    }

    fn slot(&self, scope: &Key) -> Arc<AsyncMutex<Timeline>> {
        let mut scopes = lock(&self.scopes);
        if let Some(slot) = scopes.get(scope) {
            return Arc::clone(slot);
        }
        let size = |slot: &Arc<AsyncMutex<Timeline>>| slot.try_lock().map_or(0, |slot| slot.said.len());
        if scopes.values().map(size).sum::<usize>() > MESSAGES_MAX {
            // What is used is soon known again.
            scopes.clear();
        }
        Arc::clone(scopes.entry(scope.clone()).or_default())
    }

    /// Takes the embeddings that the store has.
    async fn load(&self, timeline: &mut Timeline, scope: &Key) -> Result<(), Error> {
        let Some(embeddings) = self.store.embeddings() else { return Ok(()) };
        loop {
            let page = embeddings.tail(scope, timeline.seen, PAGE).await?;
            for kept in &page {
                // From one of another encoder on all are made anew.
                let Some((said, vector)) = MessageRef::found(kept) else { return Ok(()) };
                timeline.said.push(said);
                timeline.embed(said.seq, vector);
                timeline.seen = said.seq;
            }
            if page.len() < PAGE {
                return Ok(());
            }
        }
    }

    /// Reads the log on, up to an entry.
    async fn read(&self, timeline: &mut Timeline, scope: &Key, head: Seq) -> Result<Read, Error> {
        let mut read = Read::Whole;
        while timeline.seen < head {
            let page = self.store.tail(scope, timeline.seen, PAGE).await?;
            let page = page.iter().take_while(|record| record.seq <= head);
            let before = timeline.seen;
            for record in page {
                read = if record.kind.erases() { Read::Erased } else { read };
                timeline.said.extend(MessageRef::of(record));
                timeline.seen = record.seq;
            }
            if timeline.seen == before {
                timeline.seen = head;
            }
        }
        Ok(read)
    }

    /// Embeds messages of a scope that have no embedding, at most so many, the oldest first. Returns how many are left.
    pub(crate) async fn catch_up(&self, scope: &Key, count_max: usize) -> Result<usize, Error> {
        let Some(head) = self.store.head(scope).await? else { return Ok(0) };
        if lock(&self.done).get(scope) == Some(&head) {
            return Ok(0);
        }
        let _permit = self.embedding.acquire().await;
        let (bare, left, embedded) = {
            let timeline = self.at(scope, head).await?;
            let bare = timeline.bare();
            let some = bare.get(..count_max.min(bare.len())).unwrap_or_default().to_vec();
            (some, bare.len().saturating_sub(count_max), timeline.embedded)
        };
        if bare.is_empty() {
            let mut done = lock(&self.done);
            if done.len() >= DONE_MAX {
                done.clear();
            }
            done.insert(scope.clone(), head);
            return Ok(0);
        }
        let seqs: Vec<Seq> = bare.iter().map(|said| said.seq).collect();
        let records = self.store.get_many(scope, &seqs).await?;
        let texts: Vec<Option<String>> =
            records.iter().map(|record| record.as_ref().and_then(spoken)).collect();
        let embedder = Arc::clone(&self.embedder);
        let Some(vectors) = away(move || embed(&embedder, &texts)).await else { return Ok(left) };
        if let Some(embeddings) = self.store.embeddings() {
            let kept = bare.iter().zip(&vectors).map(|(said, vector)| said.kept(vector)).collect();
            embeddings.put(scope, head, kept).await?;
        }
        let mut timeline = self.slot(scope).lock_owned().await;
        // Else somebody has read it anew meanwhile.
        if timeline.embedded == embedded && timeline.bare().starts_with(&bare) {
            bare.iter().zip(&vectors).for_each(|(said, vector)| timeline.embed(said.seq, vector));
        }
        Ok(left)
    }

    /// Tells the embedder what the store keeps of messages: each is embedded once, whoever asks, and also after a restart.
    pub(crate) async fn remind(&self, scope: &Key, told: &[(Seq, &str)]) {
        let unknown = told.iter().filter(|(_, text)| !text.trim().is_empty() && !self.embedder.knows(text));
        let unknown: HashMap<Seq, &str> = unknown.copied().collect();
        let Some(embeddings) = self.store.embeddings().filter(|_| !unknown.is_empty()) else { return };
        let subjects: Vec<Subject> = unknown.keys().copied().map(Subject::Entry).collect();
        match embeddings.get(scope, &subjects).await {
            Ok(found) => {
                for (said, vector) in found.iter().filter_map(MessageRef::found) {
                    if let Some(text) = unknown.get(&said.seq) {
                        self.embedder.learn(text, vector);
                    }
                }
            }
            // They are embedded again.
            Err(error) => tracing::debug!(%scope, %error, "embeddings cannot be read"),
        }
    }

    /// Brings the full-text index of a scope up to date, so that a search need not.
    pub(crate) async fn index(&self, scope: &Key) -> Result<(), Error> {
        match self.store.search() {
            Some(index) => Ok(index.postings(scope, &[]).await.map(drop)?),
            None => Ok(()),
        }
    }

    /// Has a scope embedded in the background, where there is a runtime.
    pub(crate) fn wake(self: &Arc<Self>, scope: &Key) {
        let Ok(runtime) = Handle::try_current() else { return };
        let mut waiting = lock(&self.waiting);
        if waiting.scopes.len() < WAITING_MAX {
            waiting.scopes.insert(scope.clone());
        }
        if !std::mem::replace(&mut waiting.is_served, true) {
            runtime.spawn(serve(Serving(Arc::downgrade(self))));
        }
    }
}

/// What was read of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    /// Something was erased: what is kept may hold it.
    Erased,
}

/// Whoever serves the scopes that wait. It does not keep the store open, and another one comes if it is dropped.
struct Serving(Weak<Timelines>);

impl Drop for Serving {
    fn drop(&mut self) {
        if let Some(timelines) = self.0.upgrade() {
            lock(&timelines.waiting).is_served = false;
        }
    }
}

async fn serve(serving: Serving) {
    while let Some(timelines) = serving.0.upgrade() {
        let Some(scope) = lock(&timelines.waiting).scopes.pop_first() else { return };
        match timelines.catch_up(&scope, BATCH).await {
            Ok(0) => {}
            // The others have their turn first.
            Ok(_) => _ = lock(&timelines.waiting).scopes.insert(scope),
            Err(error) => tracing::debug!(%scope, %error, "messages are not embedded; it is tried again"),
        }
    }
}

fn signs(vector: &[u8]) -> Signs {
    let mut signs = Signs::default();
    for (sign, steps) in signs.iter_mut().zip(vector.chunks(64)) {
        for (bit, step) in steps.iter().enumerate() {
            *sign |= u64::from(step.cast_signed() > 0) << bit;
        }
    }
    signs
}

/// What a person or the assistant said; what tools and the system say is found by its words.
fn spoken(record: &Record) -> Option<String> {
    matches!(record.kind.role()?, Role::User | Role::Assistant).then(|| said(record)).flatten()
}

/// Embeds texts on as many threads as there are; what is no text has no embedding.
fn embed(embedder: &Embedder, texts: &[Option<String>]) -> Vec<Vec<u8>> {
    let one = |text: &Option<String>| {
        let text = text.as_deref().filter(|text| !text.trim().is_empty());
        text.and_then(|text| embedder.embed(text)).map_or_else(Vec::new, |found| found.bytes().to_vec())
    };
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let share = texts.len().div_ceil(threads).max(TEXTS_OF_A_THREAD);
    thread::scope(|scope| {
        let of_share = |texts: &[Option<String>]| texts.iter().map(one).collect::<Vec<_>>();
        let shares: Vec<_> = texts.chunks(share).map(|texts| scope.spawn(move || of_share(texts))).collect();
        let join = |share: thread::ScopedJoinHandle<'_, Vec<Vec<u8>>>| match share.join() {
            Ok(vectors) => vectors,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        shares.into_iter().flat_map(join).collect()
    })
}
