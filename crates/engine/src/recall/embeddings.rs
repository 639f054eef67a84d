//! Senses: where the exchanges of earlier sessions lie, asked for where words do not decide (M-D2).
//!
//! Someone who asks for "the trip where I lost my luggage" finds "Lufthansa has no trace of the suitcase" by a sentence encoder and
//! by nothing else. To read a session with it takes some milliseconds for each exchange, so it is done once.

use crate::engine::Engine;
use crate::error::Error;
use crate::recall::session_vectors::Look;
use segue_core::entry::Seq;
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::Number;
use segue_signals::encoder::{self, Encoder, Sense};
use segue_store::search::{Reach, Sight};
use segue_store::{Embedding, Subject};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::ops::Range;
use std::panic::resume_unwind;
use std::thread;
use tokio::runtime::Handle;

/// How much of an exchange is looked at, in bytes; the encoder reads less.
const TEXT_BYTES_MAX: usize = 2_048;

/// Raised whenever the text of an exchange is made in another way: what was kept before is found out again.
const TEXTS_VERSION: u32 = 1;

/// How many sessions are looked at before what was found out is kept.
const PREPARED_AT_ONCE: usize = 8;

/// From how many texts on it is worth a thread more.
const TEXTS_OF_A_THREAD: usize = 8;

/// What a person said and what came of it: together they say more than each by itself.
#[derive(Debug)]
pub(crate) struct Exchange {
    /// Which of the session's messages.
    pub(crate) messages: Range<usize>,
    /// Where it lies; nothing if it is not in English.
    pub(crate) sense: Option<Sense>,
}

/// An exchange that was not looked at closely.
#[derive(Debug)]
pub(crate) struct Draft {
    messages: Range<usize>,
    /// What it is known by: where its messages lie, of which none ever changes.
    seqs: Vec<Seq>,
    text: String,
}

impl Draft {
    /// Adds a message to the exchange that it belongs to: whatever follows what a person said.
    pub(crate) fn gather(drafts: &mut Vec<Self>, (at, seq): (usize, Seq), role: Role, text: &str) {
        let open = drafts.last_mut().filter(|_| role != Role::User);
        let draft = match open {
            Some(draft) => draft,
            None => drafts.push_mut(Self { messages: at..at, seqs: Vec::new(), text: String::new() }),
        };
        draft.messages.end = at + 1;
        draft.seqs.push(seq);
        let room = TEXT_BYTES_MAX.saturating_sub(draft.text.len());
        draft.text.push_str(&text[..text.floor_char_boundary(room)]);
        draft.text.push('\n');
    }
}

/// What is known of a session's exchanges: where each lies.
#[derive(Debug, Default)]
struct Known(HashMap<Vec<Seq>, Option<Sense>>);

impl Known {
    /// Takes bytes that [`Known::bytes`] gave; from any others as far as they can be read.
    fn from_bytes(bytes: &[u8]) -> Self {
        let mut known = Self::default();
        let mut left = Left(bytes);
        if left.number() == Some(encoder::VERSION) && left.number() == Some(TEXTS_VERSION) {
            while let Some((seqs, sense)) = left.exchange() {
                known.0.insert(seqs, sense);
            }
        }
        known
    }

    fn bytes<'a>(exchanges: impl Iterator<Item = (&'a Draft, &'a Exchange)>) -> Vec<u8> {
        let number = |number: usize| (number as u32).to_le_bytes();
        let mut bytes = [encoder::VERSION.to_le_bytes(), TEXTS_VERSION.to_le_bytes()].concat();
        for (draft, exchange) in exchanges {
            let sense = exchange.sense.as_ref().map(Sense::bytes).unwrap_or_default();
            bytes.extend(number(draft.seqs.len()));
            bytes.extend(draft.seqs.iter().flat_map(|seq| seq.0.to_le_bytes()));
            bytes.extend(number(sense.len()));
            bytes.extend(sense);
        }
        bytes
    }
}

/// Bytes that are not read yet.
struct Left<'a>(&'a [u8]);

impl Left<'_> {
    fn bytes(&mut self, count: usize) -> Option<&[u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn number(&mut self) -> Option<u32> {
        self.bytes(4)?.try_into().ok().map(u32::from_le_bytes)
    }

    fn exchange(&mut self) -> Option<(Vec<Seq>, Option<Sense>)> {
        let count = self.number()? as usize;
        let (seqs, _) = self.bytes(count.checked_mul(8)?)?.as_chunks::<8>();
        let seqs = seqs.iter().map(|seq| Seq(u64::from_le_bytes(*seq))).collect();
        match self.number()? as usize {
            0 => Some((seqs, None)),
            length => Some((seqs, Some(Sense::from_bytes(self.bytes(length)?)?))),
        }
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
    /// Looks at the last sessions that were left, so many of them, as closely as a recall may have to. What was found out
    /// about one is kept, and not looked for again as long as the session stays as it is.
    ///
    /// A recall does so itself, if it must, and takes the longer: some milliseconds for each exchange.
    pub async fn prepare_recall(&self, scope: &scope::Key, sessions_max: usize) -> Result<(), Error> {
        let state = self.state(scope).await?;
        let mut sessions: Vec<Number> = state.all().map(|(number, _)| number).collect();
        sessions.retain(|session| state.latest() != Some(*session));
        sessions.sort_by_key(|session| Reverse((state.updated_at(*session), *session)));
        sessions.truncate(sessions_max);
        for some in sessions.chunks(PREPARED_AT_ONCE) {
            let state = self.state(scope).await?;
            self.abouts(&state, &Sight::of(&state, Reach::Archived), some, Look::Sense).await;
        }
        Ok(())
    }

    /// Finds out where the exchanges of sessions lie, which were read at a head, and keeps it. Nothing if nobody can be asked.
    pub(crate) async fn exchanges(
        &self,
        scope: &scope::Key,
        head: Seq,
        sessions: &[(Number, Vec<Draft>)],
    ) -> Option<Vec<Vec<Exchange>>> {
        let mut known = self.known(scope, sessions).await;
        let mut unknown: Vec<(Number, &Draft)> = Vec::new();
        for (session, drafts) in sessions {
            let known = known.entry(*session).or_default();
            let news = drafts.iter().filter(|draft| !known.0.contains_key(&draft.seqs));
            unknown.extend(news.map(|draft| (*session, draft)));
        }
        if !unknown.is_empty() {
            let texts = unknown.iter().map(|(_, draft)| draft.text.clone()).collect();
            for ((session, draft), sense) in unknown.iter().zip(self.senses(texts).await?) {
                known.entry(*session).or_default().0.insert(draft.seqs.clone(), sense);
            }
        }
        let exchange = |known: &mut Known, draft: &Draft| Exchange {
            messages: draft.messages.clone(),
            sense: known.0.remove(&draft.seqs).flatten(),
        };
        let mut of_session = |(session, drafts): &(Number, Vec<Draft>)| -> Vec<Exchange> {
            let known = known.entry(*session).or_default();
            drafts.iter().map(|draft| exchange(known, draft)).collect()
        };
        let exchanges: Vec<Vec<Exchange>> = sessions.iter().map(&mut of_session).collect();
        let is_news = |session: Number| unknown.iter().any(|(of, _)| *of == session);
        let news = sessions.iter().zip(&exchanges).filter(|((session, _), _)| is_news(*session));
        let news = news.filter_map(|((session, drafts), exchanges)| impression(*session, drafts, exchanges));
        let news: Vec<Embedding> = news.collect();
        if !news.is_empty()
            && let Some(embeddings) = self.store.embeddings()
            && let Err(error) = embeddings.put(scope, head, news).await
        {
            // It is found out again next time.
            tracing::debug!(%error, "what was found out for recall is not kept");
        }
        Some(exchanges)
    }

    async fn known(&self, scope: &scope::Key, sessions: &[(Number, Vec<Draft>)]) -> HashMap<Number, Known> {
        let Some(embeddings) = self.store.embeddings() else { return HashMap::new() };
        let subjects: Vec<Subject> = sessions.iter().map(|(session, _)| Subject::Session(*session)).collect();
        // What cannot be read is found out again.
        let found = embeddings.get(scope, &subjects).await.unwrap_or_default();
        let of_session = |found: Embedding| match found.subject {
            Subject::Session(session) => Some((session, Known::from_bytes(&found.bytes))),
            Subject::Entry(_) => None,
        };
        found.into_iter().filter_map(of_session).collect()
    }

    /// Tells where many texts lie. One after the other, whoever asks: turns need the machine as well.
    async fn senses(&self, texts: Vec<String>) -> Option<Vec<Option<Sense>>> {
        let _permit = self.reading.acquire().await;
        away(move || read(&texts)).await?
    }
}

/// Begins to find out where a question lies.
pub(crate) fn sense(question: &str) -> impl Future<Output = Option<Sense>> + use<> {
    let question = question.to_owned();
    let sense = away(move || Encoder::builtin().ok()?.sense(&question));
    async { sense.await.flatten() }
}

fn impression(session: Number, drafts: &[Draft], exchanges: &[Exchange]) -> Option<Embedding> {
    let seqs = || drafts.iter().flat_map(|draft| &draft.seqs);
    let (first, last) = (*seqs().min()?, *seqs().max()?);
    let bytes = Known::bytes(drafts.iter().zip(exchanges));
    Some(Embedding { subject: Subject::Session(session), first, last, bytes })
}

/// Does some work, at once, away from the threads that answer, where there are others. Nothing if it fails.
pub(crate) fn away<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Option<T>> {
    let begun = match Handle::try_current() {
        Ok(runtime) => Ok(runtime.spawn_blocking(work)),
        Err(_) => Err(work()),
    };
    async {
        match begun {
            Ok(begun) => begun.await.ok(),
            Err(done) => Some(done),
        }
    }
}

/// Reads texts on as many threads as there are. Nothing if what is shipped is no encoder, which a test rules out.
fn read(texts: &[String]) -> Option<Vec<Option<Sense>>> {
    let encoder = Encoder::builtin().ok()?;
    let threads = thread::available_parallelism().map_or(1, |threads| threads.get());
    let share = texts.len().div_ceil(threads).max(TEXTS_OF_A_THREAD);
    let of_share = |texts: &[String]| encoder.senses(&texts.iter().map(String::as_str).collect::<Vec<_>>());
    if texts.len() <= share {
        return Some(of_share(texts));
    }
    Some(thread::scope(|scope| {
        let shares: Vec<_> = texts.chunks(share).map(|texts| scope.spawn(move || of_share(texts))).collect();
        shares
            .into_iter()
            .flat_map(|share| share.join().unwrap_or_else(|panic| resume_unwind(panic)))
            .collect()
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_read_back_and_damage_is_no_knowledge() {
        let mut drafts = Vec::new();
        for (at, role, text) in
            [(0, Role::User, "the bread is dense"), (1, Role::Assistant, "knead it"), (2, Role::User, "谢谢")]
        {
            Draft::gather(&mut drafts, (at, Seq(10 + at as u64)), role, text);
        }
        assert_eq!(drafts.iter().map(|draft| draft.messages.clone()).collect::<Vec<_>>(), [0..2, 2..3]);
        let encoder = Encoder::builtin().unwrap();
        let exchange =
            |draft: &Draft| Exchange { messages: draft.messages.clone(), sense: encoder.sense(&draft.text) };
        let exchanges: Vec<Exchange> = drafts.iter().map(exchange).collect();
        let impression = impression(Number(1), &drafts, &exchanges).unwrap();
        assert_eq!((impression.first, impression.last), (Seq(10), Seq(12)));
        let known = Known::from_bytes(&impression.bytes);
        assert_eq!(known.0.get(&[Seq(10), Seq(11)][..]), Some(&exchanges[0].sense));
        assert_eq!(known.0.get(&[Seq(12)][..]), Some(&None));
        for cut in 0..impression.bytes.len() {
            assert!(Known::from_bytes(&impression.bytes[..cut]).0.len() < 2, "{cut}");
        }
        let other: Vec<u8> = [9_u32.to_le_bytes().as_slice(), &impression.bytes[4..]].concat();
        assert!(Known::from_bytes(&other).0.is_empty(), "it is of another encoder");
    }
}
