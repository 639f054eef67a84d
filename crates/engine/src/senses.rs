//! Senses: where the exchanges of earlier sessions lie, asked for where words do not decide (M-D2).
//!
//! Someone who asks for "the trip where I lost my luggage" finds "Lufthansa has no trace of the suitcase" by a sentence encoder and
//! by nothing else. To read a session with it takes some milliseconds for each exchange, so it is done once.

use crate::engine::Engine;
use crate::error::Error;
use crate::gists::Look;
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::Number;
use segue_signals::encoder::{self, Encoder, Sense};
use segue_store::Impression;
use segue_store::search::{Reach, Sight};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;

/// How much of an exchange is looked at, in bytes; the encoder reads less.
const TEXT_BYTES_MAX: usize = 2_048;

/// How many sessions are looked at before what was found out is kept.
const PREPARED_AT_ONCE: usize = 16;

/// How the names of exchanges are made (FNV-1a).
const NAME_BASIS: u64 = 0xcbf2_9ce4_8422_2325;
const NAME_PRIME: u64 = 0x0100_0000_01b3;

/// From how many texts on it is worth a thread more.
const TEXTS_OF_A_THREAD: usize = 8;

/// What a person said and what came of it: together they say more than each by itself.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Which of the session's messages.
    pub(crate) messages: Range<usize>,
    /// Where it lies; nothing if it has no English in it.
    pub(crate) sense: Option<Sense>,
}

/// An exchange that nobody has looked at yet.
#[derive(Debug)]
pub(crate) struct Draft {
    messages: Range<usize>,
    /// A number that only these messages have: what is kept of others is not taken for theirs.
    name: u64,
    text: String,
}

impl Draft {
    /// Adds a message to the exchange that it belongs to: whatever follows what a person said.
    pub(crate) fn gather(drafts: &mut Vec<Self>, (at, seq): (usize, Seq), role: Role, text: &str) {
        let open = drafts.last_mut().filter(|_| role != Role::User);
        let draft = match open {
            Some(draft) => draft,
            None => drafts.push_mut(Self { messages: at..at, name: NAME_BASIS, text: String::new() }),
        };
        draft.messages.end = at + 1;
        let name = |name: u64, byte: u8| (name ^ u64::from(byte)).wrapping_mul(NAME_PRIME);
        draft.name = seq.0.to_le_bytes().into_iter().fold(draft.name, name);
        let room = TEXT_BYTES_MAX.saturating_sub(draft.text.len());
        draft.text.push_str(&text[..text.floor_char_boundary(room)]);
        draft.text.push('\n');
    }
}

/// A session as far as it was read: where it begins and ends, and its exchanges.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) session: Number,
    pub(crate) first: Seq,
    pub(crate) last: Seq,
    pub(crate) drafts: Vec<Draft>,
}

/// What is kept of a session: where each exchange lies, by its name.
#[derive(Debug, Default)]
struct Kept(HashMap<u64, Option<Sense>>);

impl Kept {
    /// Takes bytes that [`Kept::bytes`] gave, of this encoder; nothing from any others.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut kept = Self::default();
        let Some(mut rest) = bytes.strip_prefix(&encoder::VERSION.to_le_bytes()) else { return kept };
        while let Some((name, more)) = rest.split_first_chunk::<8>() {
            let Some((length, more)) = more.split_first_chunk::<2>() else { break };
            let length = usize::from(u16::from_le_bytes(*length));
            let Some((sense, more)) = more.split_at_checked(length) else { break };
            kept.0.insert(u64::from_le_bytes(*name), Sense::from_bytes(sense));
            rest = more;
        }
        kept
    }

    fn bytes(drafts: &[Draft], exchanges: &[Exchange]) -> Vec<u8> {
        let mut bytes = encoder::VERSION.to_le_bytes().to_vec();
        for (draft, exchange) in drafts.iter().zip(exchanges) {
            let sense = exchange.sense.as_ref().map(Sense::bytes).unwrap_or_default();
            bytes.extend(draft.name.to_le_bytes());
            bytes.extend((sense.len() as u16).to_le_bytes());
            bytes.extend(sense);
        }
        bytes
    }
}

/// Tells how near a question is to the nearest of some exchanges, and which messages that has; nothing if the encoder cannot
/// say anything about them.
pub(crate) fn nearest(question: &Sense, exchanges: &[Exchange]) -> Option<(f64, Range<usize>)> {
    let near = |exchange: &Exchange| {
        let sense = exchange.sense.as_ref()?;
        Some((f64::from(question.nearness(sense).max(0.0)), exchange.messages.clone()))
    };
    exchanges.iter().filter_map(near).max_by(|a, b| a.0.total_cmp(&b.0))
}

impl Engine {
    /// Looks at the sessions that were left, as closely as a recall may have to, and tells how many there were that nobody had
    /// looked at. A recall does so itself, if it must, and takes the longer: some milliseconds for each exchange, once.
    pub async fn prepare_recall(&self, scope: &scope::Key) -> Result<usize, Error> {
        let state = self.state(scope).await?;
        let mut sessions: Vec<Number> = state.list().map(|(number, _)| number).collect();
        let known = self.store.impressions(scope, &sessions).await?;
        let known: HashSet<Number> = known.into_iter().map(|impression| impression.session).collect();
        sessions.retain(|session| !known.contains(session) && state.latest() != Some(*session));
        for some in sessions.chunks(PREPARED_AT_ONCE) {
            let state = self.state(scope).await?;
            self.abouts(&state, &Sight::of(&state, Reach::Archived), some, Look::Sense).await;
        }
        Ok(sessions.len())
    }

    /// Finds out where the exchanges of sessions lie, which were read at a head; what is found out is kept.
    pub(crate) async fn exchanges(&self, scope: &scope::Key, head: Seq, read: &[Read]) -> Vec<Vec<Exchange>> {
        let mut kept = self.kept_senses(scope, read).await;
        let is_new = |of: &Read, kept: &HashMap<Number, Kept>, draft: &Draft| {
            !kept.get(&of.session).is_some_and(|kept| kept.0.contains_key(&draft.name))
        };
        let mut unknown: Vec<(Number, u64)> = Vec::new();
        let mut texts: Vec<String> = Vec::new();
        for of in read {
            for draft in of.drafts.iter().filter(|draft| is_new(of, &kept, draft)) {
                unknown.push((of.session, draft.name));
                texts.push(draft.text.clone());
            }
        }
        let changed: HashSet<Number> = unknown.iter().map(|(session, _)| *session).collect();
        for ((session, name), sense) in unknown.into_iter().zip(self.senses(texts).await) {
            kept.entry(session).or_default().0.insert(name, sense);
        }
        let exchange = |kept: Option<&Kept>, draft: &Draft| Exchange {
            messages: draft.messages.clone(),
            sense: kept.and_then(|kept| kept.0.get(&draft.name)).cloned().flatten(),
        };
        let of_session = |of: &Read| {
            let kept = kept.get(&of.session);
            of.drafts.iter().map(|draft| exchange(kept, draft)).collect::<Vec<_>>()
        };
        let exchanges: Vec<Vec<Exchange>> = read.iter().map(of_session).collect();
        let impression = |(of, exchanges): (&Read, &Vec<Exchange>)| Impression {
            session: of.session,
            first: of.first,
            last: of.last,
            bytes: Kept::bytes(&of.drafts, exchanges),
        };
        let news = read.iter().zip(&exchanges).filter(|(of, _)| changed.contains(&of.session));
        let news: Vec<Impression> = news.map(impression).collect();
        if !news.is_empty()
            && let Err(error) = self.store.keep_impressions(scope, head, news).await
        {
            // It is found out again next time.
            tracing::debug!(%error, "what was found out for recall is not kept");
        }
        exchanges
    }

    async fn kept_senses(&self, scope: &scope::Key, read: &[Read]) -> HashMap<Number, Kept> {
        let sessions: Vec<Number> = read.iter().map(|of| of.session).collect();
        let impressions = self.store.impressions(scope, &sessions).await.unwrap_or_default();
        impressions.into_iter().map(|found| (found.session, Kept::from_bytes(&found.bytes))).collect()
    }

    /// Tells where texts lie, away from the threads that answer.
    async fn senses(&self, texts: Vec<String>) -> Vec<Option<Sense>> {
        let (encoder, count) = (self.encoder, texts.len());
        let read = tokio::task::spawn_blocking(move || read(encoder, &texts)).await;
        // Whoever cannot be asked has nothing to say; recall goes on by words.
        read.unwrap_or_else(|_| vec![None; count])
    }
}

/// Reads texts on as many threads as there are.
fn read(encoder: &Encoder, texts: &[String]) -> Vec<Option<Sense>> {
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let share = texts.len().div_ceil(threads).max(TEXTS_OF_A_THREAD);
    let of_share = |texts: &[String]| encoder.senses(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    if texts.len() <= share {
        return of_share(texts);
    }
    thread::scope(|scope| {
        let shares: Vec<_> = texts.chunks(share).map(|texts| scope.spawn(move || of_share(texts))).collect();
        shares
            .into_iter()
            .flat_map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    })
}
