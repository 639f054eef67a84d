//! Gists: what a scope's sessions are about, kept from one recall to the next.
//!
//! An old session seldom changes, and reading it is most of what it costs to compare it. No text is kept, only which
//! words a session has and where its messages lie. A gist holds as long as its session sees the same messages and they are
//! its own; when anything of a scope is erased, all gists of the scope go.

use crate::engine::Engine;
use crate::recall::embeddings::{Draft, Exchange};
use segue_core::entry::{Body, Record, Seq};
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use segue_signals::kin::Gist;
use segue_store::search::{self, Sight};
use segue_store::{Reading, Take};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// How many messages of a session it is compared by.
const MESSAGES_MAX: usize = 16;

/// How many words the gists that are kept have together, and as how many an exchange counts that was looked at closely.
const WORDS_MAX: usize = 400_000;
const EXCHANGE_WORDS: usize = 16;

/// How many entries are looked through for erasures; after more of them the gists are made anew.
const LOOKED_THROUGH_MAX: usize = 512;

/// Where a message lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) segment: segment::Number,
    pub(crate) seq: Seq,
}

/// How closely sessions are looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Look {
    /// By their words.
    Words,
    /// By where their exchanges lie for the sentence encoder, too, which takes a hundred times as long the first time.
    Sense,
}

/// What a session is about.
#[derive(Debug)]
pub(crate) struct About {
    pub(crate) session: Number,
    pub(crate) gist: Gist,
    /// The messages, in the order of the gist.
    pub(crate) messages: Vec<Place>,
    /// Which of the messages belong together, and where those lie; nothing while nobody has looked that closely.
    pub(crate) exchanges: Option<Vec<Exchange>>,
    /// Messages that the session sees and that are another one's.
    foreign: Vec<Place>,
    view: Spans,
}

impl About {
    /// Tells how much is kept, in words.
    fn size(&self) -> usize {
        self.gist.word_count() + EXCHANGE_WORDS * self.exchanges.as_ref().map_or(0, Vec::len)
    }

    /// Tells whether reading the session again would give the same.
    fn holds(&self, view: &Spans, sight: &Sight) -> bool {
        let is_own = |place: &Place| sight.owner(place.segment, place.seq) == Some(self.session);
        self.view == *view && self.messages.iter().all(is_own) && !self.foreign.iter().any(is_own)
    }
}

/// The gists of a scope, and up to where its log was looked through for erasures.
#[derive(Debug)]
struct Kept {
    seen: Seq,
    sessions: HashMap<Number, Arc<About>>,
}

/// The gists of all scopes.
#[derive(Debug, Default)]
pub(crate) struct Gists(Mutex<HashMap<Key, Kept>>);

impl Gists {
    fn lock(&self) -> MutexGuard<'_, HashMap<Key, Kept>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seen(&self, scope: &Key) -> Option<Seq> {
        self.lock().get(scope).map(|kept| kept.seen)
    }

    /// Notes that nothing was erased from one entry to another, if the gists are those that this was asked for.
    fn hold_until(&self, scope: &Key, from: Seq, until: Seq) {
        if let Some(kept) = self.lock().get_mut(scope)
            && kept.seen == from
        {
            kept.seen = until;
        }
    }

    fn find(&self, state: &State, sight: &Sight, session: Number, look: Look) -> Option<Arc<About>> {
        let scopes = self.lock();
        // One of another head may hold words that are erased by now, or not yet.
        let kept = scopes.get(&state.scope).filter(|kept| kept.seen == state.head)?;
        let about = kept.sessions.get(&session).map(Arc::clone)?;
        drop(scopes);
        let is_close_enough = look == Look::Words || about.exchanges.is_some();
        (is_close_enough && about.holds(&state.view(session), sight)).then_some(about)
    }

    fn keep(&self, state: &State, about: &[Arc<About>]) {
        if about.is_empty() {
            return;
        }
        let mut scopes = self.lock();
        let words: usize =
            scopes.values().flat_map(|kept| kept.sessions.values()).map(|about| about.size()).sum();
        if words > WORDS_MAX {
            // What is used is soon known again.
            scopes.clear();
        }
        let new = || Kept { seen: state.head, sessions: HashMap::new() };
        let kept = scopes.entry(state.scope.clone()).or_insert_with(new);
        // Gists of different heads are never mixed: nobody has looked for erasures between them.
        if kept.seen == state.head {
            kept.sessions.extend(about.iter().map(|about| (about.session, Arc::clone(about))));
        }
    }
}

impl Engine {
    /// Tells what sessions are about; those that cannot be read or say nothing are left out.
    pub(crate) async fn abouts(
        &self,
        state: &State,
        sight: &Sight,
        sessions: &[Number],
        look: Look,
    ) -> Vec<Arc<About>> {
        self.forget_erased(state).await;
        let mut abouts: HashMap<Number, Arc<About>> = HashMap::new();
        for session in sessions {
            abouts.extend(self.gists.find(state, sight, *session, look).map(|about| (*session, about)));
        }
        let unread: Vec<Number> =
            sessions.iter().copied().filter(|session| !abouts.contains_key(session)).collect();
        let read = self.read_abouts(state, sight, &unread, look).await;
        self.gists.keep(state, &read);
        abouts.extend(read.into_iter().map(|about| (about.session, about)));
        let in_order = sessions.iter().filter_map(|session| abouts.remove(session));
        in_order.filter(|about| !about.messages.is_empty()).collect()
    }

    /// Lets the gists of a scope go if anything was erased since they were made, by whatever program.
    async fn forget_erased(&self, state: &State) {
        let Some(seen) = self.gists.seen(&state.scope) else { return };
        if seen == state.head {
            return;
        }
        let erases = |record: &Record| record.kind.erases();
        match self.store.tail(&state.scope, seen, LOOKED_THROUGH_MAX).await {
            Ok(since)
                if since.len() < LOOKED_THROUGH_MAX && !since.iter().any(erases) && seen < state.head =>
            {
                self.gists.hold_until(&state.scope, seen, state.head);
            }
            Ok(_) | Err(_) => {
                self.gists.lock().remove(&state.scope);
            }
        }
    }

    async fn read_abouts(
        &self,
        state: &State,
        sight: &Sight,
        sessions: &[Number],
        look: Look,
    ) -> Vec<Arc<About>> {
        let reading = |session: &Number| {
            let take = Take::Newest(MESSAGES_MAX);
            Reading { take, ..Reading::messages(state.view(*session)) }
        };
        let readings: Vec<Reading> = sessions.iter().map(reading).collect();
        let read = self.read_each(&state.scope, &readings).await;
        let views = readings.into_iter().map(|reading| reading.view);
        let about = |((session, view), records): ((&Number, Spans), Option<Vec<Record>>)| {
            records.map(|records| self.about(*session, view, sight, &records, look))
        };
        let read = sessions.iter().zip(views).zip(read).filter_map(about);
        let (mut abouts, drafts): (Vec<About>, Vec<(Number, Vec<Draft>)>) = read.unzip();
        if look == Look::Sense
            && let Some(exchanges) = self.exchanges(&state.scope, state.head, &drafts).await
        {
            abouts.iter_mut().zip(exchanges).for_each(|(about, exchanges)| about.exchanges = Some(exchanges));
        }
        abouts.into_iter().map(Arc::new).collect()
    }

    /// Reads several parts of a scope at once; one that cannot be read does not hide the others (L-10).
    pub(crate) async fn read_each(&self, scope: &Key, readings: &[Reading]) -> Vec<Option<Vec<Record>>> {
        if readings.is_empty() {
            return Vec::new();
        }
        if let Ok(read) = self.store.read_many(scope, readings).await {
            return read.into_iter().map(Some).collect();
        }
        let mut each = Vec::new();
        for reading in readings {
            each.push(self.store.read(scope, reading).await.ok());
        }
        each
    }

    /// Tells what a session is about by its words, and what its exchanges are made of where those are asked for.
    fn about(
        &self,
        session: Number,
        view: Spans,
        sight: &Sight,
        records: &[Record],
        look: Look,
    ) -> (About, (Number, Vec<Draft>)) {
        let (gist, messages, foreign) = (Gist::default(), Vec::new(), Vec::new());
        let mut about = About { session, gist, messages, exchanges: None, foreign, view };
        let mut drafts: Vec<Draft> = Vec::new();
        for record in records {
            let place = Place { segment: record.segment, seq: record.seq };
            let Ok(Body::Message(role, message)) = record.body() else { continue };
            if message.carried_from.is_some() {
                continue;
            }
            if sight.owner(place.segment, place.seq) == Some(session) {
                self.lexicon.gather(&mut about.gist, search::words(&message.text));
                if look == Look::Sense {
                    Draft::gather(&mut drafts, (about.messages.len(), place.seq), role, &message.text);
                }
                about.messages.push(place);
            } else {
                about.foreign.push(place);
            }
        }
        (about, (session, drafts))
    }
}
