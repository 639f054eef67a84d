//! Kin: how near a question is to what sessions say, word by word.
//!
//! People seldom ask in the words that were used. So each word of the question looks for its nearest word in a
//! session; a word that has kin in few sessions counts more than one that has it everywhere. The whole question is
//! compared with each message and with the session as well. All of it is relative: sessions are compared with each other.
//!
//! Two tables tell what words mean: one of many languages, and one of English and Chinese that was made for finding.

use crate::assets;
use crate::classifier::{Classifier, LoadError};
use crate::embed::{Table, Vector};
use crate::features::Meaning;
use crate::numerals;
use crate::terms::CONTENT_WEIGHT;
use crate::text::{Window, is_han};
use foldhash::fast::RandomState as Fast;
use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// How many different words of a session are looked at, and of a question.
const WORDS_MAX: usize = 400;
const ASKED_MAX: usize = 16;

/// How many words are remembered.
const KNOWN_MAX: usize = 20_000;

/// Two words are no kin up to here.
const KIN_MIN: f32 = 0.25;
/// The nearest other word counts so much of the word itself.
const KIN_WORTH: f32 = 0.9;
/// How much of nearness is that of the three nearest words together, and how many those are.
const NEAREST_SHARE: f32 = 0.2;
const NEAREST: usize = 3;
/// What a word counts that only asks.
const ASKING_WORTH: f32 = 0.3;
/// How much it counts that a word is rare among the sessions.
const RARITY_POWER: f32 = 0.75;

/// How much of nearness comes from the words, and from each table by the nearest message and by the session as a whole.
const BY_WORDS: f32 = 0.5;
const BY_MESSAGE: [f32; TABLES] = [0.3, 0.6];
const BY_SESSION: [f32; TABLES] = [0.25, 0.6];

/// The tables: of many languages, and the one that was made for finding. Nearness in one says nothing about the other.
const TABLES: usize = 2;

/// What a word has to say that was placed by its translations and neighbours, beside one that was learnt from sentences.
const TRANSLATED_SAY: f32 = 0.35;

/// What is known of a word besides its meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Named {
    /// The same for all forms of a word.
    pub key: u64,
    /// The word is used to ask, and says little about what.
    pub asks: bool,
}

/// A word; gists share it with the lexicon.
#[derive(Debug)]
struct Word {
    /// Of two words of a lexicon that have the same number one knows nothing in any table.
    number: u32,
    named: Named,
    weight: f32,
    /// Nothing where a table does not have the word; with none of them it has no kin but itself.
    rows: [Option<Row>; TABLES],
}

/// A word in a table: what it means, and how much it says.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Row {
    unit: Vector,
    norm: f32,
    /// How far the row is to be believed, from 0 to 1.
    say: f32,
}

impl Row {
    fn of(vector: &Vector, say: f32) -> Option<Self> {
        (*vector != Vector::ZERO).then(|| Self { unit: vector.unit(), norm: vector.norm(), say })
    }
}

/// What some messages are about, word by word.
#[derive(Debug, Clone, Default)]
pub struct Gist {
    words: Vec<Arc<Word>>,
    /// The words that each table has: their numbers, and where they stand among the words.
    placed: [Vec<(u32, u32)>; TABLES],
    keys: HashSet<u64, Fast>,
    messages: Vec<[Vector; TABLES]>,
}

/// How near a session is.
#[derive(Debug, Clone, PartialEq)]
pub struct Near {
    /// From 0 to 1.
    pub score: f64,
    /// How near each of its messages is.
    messages: Vec<f32>,
}

impl Near {
    /// Tells which of some messages is nearest.
    #[must_use]
    pub fn message(&self, among: Range<usize>) -> usize {
        let nearness = |message: &usize| self.messages.get(*message).copied().unwrap_or_default();
        // The last of equals, since that is what came of it.
        among.clone().max_by(|a, b| nearness(a).total_cmp(&nearness(b))).unwrap_or(among.start)
    }

    /// All messages of the session.
    #[must_use]
    pub fn all(&self) -> Range<usize> {
        0..self.messages.len()
    }
}

/// Reads words, and remembers what it found out about them: people use the same ones again and again.
///
/// A word may be a name or a secret, so it is remembered by a number that only this lexicon can make.
#[derive(Debug)]
pub struct Lexicon {
    classifier: Arc<Classifier>,
    made_to_find: Table,
    name: fn(&str) -> Named,
    hasher: RandomState,
    known: Mutex<HashMap<u64, Arc<Word>>>,
    numbers: AtomicU32,
}

impl Lexicon {
    /// Makes one that knows nothing yet, and gives words their names.
    pub fn new(classifier: Arc<Classifier>, name: fn(&str) -> Named) -> Result<Self, LoadError> {
        let made_to_find = Table::load(assets::KIN)?;
        Ok(Self {
            classifier,
            made_to_find,
            name,
            hasher: RandomState::new(),
            known: Mutex::default(),
            numbers: AtomicU32::new(0),
        })
    }

    /// Adds a message to a gist: its words, which come in pieces.
    pub fn gather<'a>(&self, gist: &mut Gist, pieces: impl Iterator<Item = &'a str>) {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let mut message = [Vector::ZERO; TABLES];
        for piece in pieces {
            if gist.words.len() >= WORDS_MAX {
                break;
            }
            // "web03" is a name: it is the same or it is not.
            if piece.bytes().any(|byte| byte.is_ascii_digit()) {
                gist.add(self.number(piece));
                continue;
            }
            // So is 两千六, besides the words that it is made of.
            numerals::numbers(piece).iter().for_each(|number| gist.add(self.number(number)));
            let number = self.hasher.hash_one(piece);
            if let Some(word) = known.get(&number) {
                gist.add_to(&mut message, word);
                continue;
            }
            if known.len() >= KNOWN_MAX {
                // What is used is soon known again.
                known.clear();
            }
            let read = self.read(piece, &mut known);
            read.iter().for_each(|word| gist.add_to(&mut message, word));
            if let [only] = read.as_slice() {
                known.insert(number, Arc::clone(only));
            }
        }
        gist.messages.push(message.map(|sum| sum.unit()));
    }

    /// A word that has no kin but itself.
    fn number(&self, text: &str) -> Arc<Word> {
        Arc::new(Word { number: 0, named: (self.name)(text), weight: 1.0, rows: [None; TABLES] })
    }

    /// Reads the words of a piece; one that is known from another piece is shared with it.
    fn read(&self, piece: &str, known: &mut HashMap<u64, Arc<Word>>) -> Vec<Arc<Word>> {
        let meanings = self.classifier.reader().meanings(piece, Window::MESSAGE);
        let word = |meaning: Meaning<'_>| {
            let number = self.hasher.hash_one(("part", meaning.text));
            Arc::clone(known.entry(number).or_insert_with(|| Arc::new(self.word(&meaning))))
        };
        meanings.into_iter().map(word).collect()
    }

    fn word(&self, meaning: &Meaning<'_>) -> Word {
        let say = if meaning.text.chars().any(is_han) { TRANSLATED_SAY } else { 1.0 };
        let found = self.made_to_find.vector(meaning.hash);
        let rows = [Row::of(&meaning.vector, 1.0), Row::of(&found, say)];
        let number = self.numbers.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        Word { number, named: (self.name)(meaning.text), weight: meaning.weight, rows }
    }
}

impl Gist {
    /// Counts the different words.
    #[must_use]
    pub fn word_count(&self) -> usize {
        self.words.len()
    }

    /// Tells whether there is an English word among them; names and numbers have no meaning that could be compared.
    #[must_use]
    pub fn has_english(&self) -> bool {
        let made_to_find = |word: &Arc<Word>| word.rows[TABLES - 1].is_some_and(|row| row.say >= 1.0);
        self.words.iter().any(made_to_find)
    }

    fn add_to(&mut self, message: &mut [Vector; TABLES], word: &Arc<Word>) {
        for (sum, row) in message.iter_mut().zip(&word.rows) {
            if let Some(row) = row {
                sum.add(&row.unit, row.norm);
            }
        }
        self.add(Arc::clone(word));
    }

    fn add(&mut self, word: Arc<Word>) {
        if self.keys.insert(word.named.key) {
            for (placed, row) in self.placed.iter_mut().zip(&word.rows) {
                placed.extend(row.map(|_| (word.number, self.words.len() as u32)));
            }
            self.words.push(word);
        }
    }

    /// Tells how near a word's kin is in here, from 0 to 1.
    fn kin(&self, word: &Word, cosines: &mut [Cosines; TABLES]) -> f32 {
        if self.keys.contains(&word.named.key) {
            return 1.0;
        }
        let kin = |(table, cosines): (usize, &mut Cosines)| self.kin_in(table, word, cosines);
        cosines.iter_mut().enumerate().map(kin).fold(0.0, f32::max)
    }

    fn kin_in(&self, table: usize, word: &Word, cosines: &mut Cosines) -> f32 {
        let Some(row) = &word.rows[table] else { return 0.0 };
        let mut nearest = [0.0_f32; NEAREST];
        for (number, at) in &self.placed[table] {
            let mut cosine = cosines.of(*number, || {
                let other = self.words[*at as usize].rows[table].as_ref();
                other.map_or(0.0, |other| row.unit.dot(&other.unit))
            });
            for place in &mut nearest {
                if cosine > *place {
                    std::mem::swap(place, &mut cosine);
                }
            }
        }
        let together = nearest.iter().sum::<f32>() / NEAREST as f32;
        let near = NEAREST_SHARE * together + (1.0 - NEAREST_SHARE) * nearest[0];
        KIN_WORTH * ((near - KIN_MIN) / (1.0 - KIN_MIN)).clamp(0.0, 1.0)
    }

    /// Tells how far a table is to be believed about these words; not at all if it has none of them.
    fn say(&self, table: usize) -> f32 {
        let says = self.words.iter().filter_map(|word| word.rows[table].as_ref()).map(|row| row.say);
        let (sum, count) = says.fold((0.0, 0.0), |(sum, count), say| (sum + say, count + 1.0));
        if count > 0.0 { sum / count } else { 0.0 }
    }

    /// Sums the words up in each table, the rare ones first of all.
    fn whole(&self, rarity: impl Fn(&Word) -> f32) -> [Vector; TABLES] {
        let mut sums = [Vector::ZERO; TABLES];
        for word in self.words.iter().filter(|word| word.weight >= CONTENT_WEIGHT) {
            let rarity = rarity(word);
            for (sum, row) in sums.iter_mut().zip(&word.rows) {
                if let Some(row) = row {
                    sum.add(&row.unit, row.norm * rarity);
                }
            }
        }
        sums.map(|sum| sum.unit())
    }
}

/// How near the words of sessions are to one of the question, in one table: sessions have most of their words in common.
struct Cosines {
    /// Whose it is, and of which round.
    slots: Vec<(u32, u32, f32)>,
    round: u32,
}

impl Cosines {
    /// How many words are remembered: more than the sessions that are compared at once have, in most cases.
    const SLOTS: usize = 1 << 13;

    fn new() -> Self {
        Self { slots: vec![(0, 0, 0.0); Self::SLOTS], round: 0 }
    }

    /// Begins with another word of the question.
    fn begin(&mut self) {
        self.round += 1;
    }

    #[inline]
    fn of(&mut self, number: u32, cosine: impl FnOnce() -> f32) -> f32 {
        let slot = &mut self.slots[number as usize % Self::SLOTS];
        if (slot.0, slot.1) != (number, self.round) {
            *slot = (number, self.round, cosine());
        }
        slot.2
    }
}

/// Tells how near sessions are to a question, in their order. All gists must be of one lexicon.
#[must_use]
pub fn near(question: &Gist, sessions: &[&Gist]) -> Vec<Near> {
    let by_words = by_words(question, sessions);
    let all = sessions.len() as f32;
    // How many sessions have a word, and how rare it is for that.
    let mut having: HashMap<u64, (f32, f32), Fast> = HashMap::default();
    for key in sessions.iter().flat_map(|session| &session.keys) {
        having.entry(*key).or_default().0 += 1.0;
    }
    having.values_mut().for_each(|(with, rarity)| *rarity = (all / *with).ln_1p());
    let with = |word: &Word| having.get(&word.named.key).copied().unwrap_or_default();
    let worth = |word: &Word| if word.named.asks { ASKING_WORTH } else { 1.0 };
    let asked = question.whole(|word| worth(word) * (all / (1.0 + with(word).0)).ln_1p());
    let plain = question.messages.first().copied().unwrap_or([Vector::ZERO; TABLES]);
    let says: [f32; TABLES] = std::array::from_fn(|table| question.say(table));
    let by_message: [f32; TABLES] = std::array::from_fn(|table| BY_MESSAGE[table] * says[table]);
    let by_session: [f32; TABLES] = std::array::from_fn(|table| BY_SESSION[table] * says[table]);
    let most = BY_WORDS + by_message.iter().sum::<f32>() + by_session.iter().sum::<f32>();
    // How near two texts are in all tables, each as far as it has a say.
    let nearness = |shares: &[f32; TABLES], a: &[Vector; TABLES], b: &[Vector; TABLES]| -> f32 {
        (0..TABLES).map(|table| shares[table] * a[table].dot(&b[table]).max(0.0)).sum()
    };
    let near = |(session, by_words): (&&Gist, f32)| {
        let messages: Vec<f32> =
            session.messages.iter().map(|message| nearness(&by_message, message, &plain)).collect();
        let nearest = messages.iter().copied().fold(0.0, f32::max);
        let whole = session.whole(|word| with(word).1);
        let score = (BY_WORDS * by_words + nearest + nearness(&by_session, &whole, &asked)) / most;
        Near { score: f64::from(score.clamp(0.0, 1.0)), messages }
    };
    sessions.iter().zip(by_words).map(near).collect()
}

/// Tells how much of the question's words sessions have, or kin of them.
fn by_words(question: &Gist, sessions: &[&Gist]) -> Vec<f32> {
    let mut sums = vec![0.0_f32; sessions.len()];
    let mut whole = 0.0_f32;
    let mut cosines = [Cosines::new(), Cosines::new()];
    for word in question.words.iter().filter(|word| word.weight >= CONTENT_WEIGHT).take(ASKED_MAX) {
        cosines.iter_mut().for_each(Cosines::begin);
        let kin: Vec<f32> = sessions.iter().map(|session| session.kin(word, &mut cosines)).collect();
        let having: f32 = kin.iter().map(|kin| kin * kin).sum();
        let rarity = ((sessions.len() as f32 - having + 0.5).max(0.0) / (having + 0.5)).ln_1p();
        let asking = if word.named.asks { ASKING_WORTH } else { 1.0 };
        let worth = word.weight.sqrt() * rarity.powf(RARITY_POWER) * asking;
        whole += worth;
        for (sum, kin) in sums.iter_mut().zip(kin) {
            *sum += worth * kin;
        }
    }
    if whole > 0.0 {
        sums.iter_mut().for_each(|sum| *sum /= whole);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lexicon() -> Lexicon {
        let name = |word: &str| Named {
            key: word.to_lowercase().bytes().fold(7, |key, byte| key * 31 + u64::from(byte)),
            asks: false,
        };
        Lexicon::new(Arc::new(Classifier::builtin().unwrap()), name).unwrap()
    }

    fn gist(lexicon: &Lexicon, messages: &[&str]) -> Gist {
        let mut gist = Gist::default();
        for message in messages {
            lexicon.gather(&mut gist, message.split(' '));
        }
        gist
    }

    #[test]
    fn a_word_that_is_remembered_is_read_as_before() {
        let lexicon = lexicon();
        let said = ["the bread is dense", "swordfish9 xqzvfhj 面包 面包", "面包太硬了怎么办 the bread"];
        let (first, again) = (gist(&lexicon, &said), gist(&lexicon, &said));
        assert!(lexicon.known.lock().unwrap().contains_key(&lexicon.hasher.hash_one("bread")));
        assert_eq!(first.messages, again.messages);
        let words = |gist: &Gist| gist.words.iter().map(|word| (word.named, word.rows)).collect::<Vec<_>>();
        assert_eq!(words(&first), words(&again));
    }

    #[test]
    fn a_question_in_other_words_finds_its_session() {
        let lexicon = lexicon();
        let sessions = [
            gist(&lexicon, &["my knee hurts", "try slow squats"]),
            gist(&lexicon, &["the bread is dense", "let the dough rise longer"]),
            gist(&lexicon, &["deploy the server", "restart web03 first"]),
        ];
        let nearest = |question: &str| {
            let near = near(&gist(&lexicon, &[question]), &sessions.each_ref());
            let best = (0..3).max_by(|a, b| near[*a].score.total_cmp(&near[*b].score)).unwrap();
            (best, near[best].message(near[best].all()))
        };
        assert_eq!(nearest("painful leg"), (0, 0));
        assert_eq!(nearest("baking flour"), (1, 0));
        assert_eq!(nearest("web03").0, 2);
    }

    #[test]
    fn a_number_is_the_same_in_digits_and_in_characters() {
        let lexicon = lexicon();
        let sessions = [gist(&lexicon, &["红包 预算 3100"]), gist(&lexicon, &["红包 预算 2600"])];
        let near = near(&gist(&lexicon, &["总共两千六"]), &sessions.each_ref());
        assert!(near[1].score > near[0].score, "{near:?}");
    }

    #[test]
    fn nothing_is_near_to_nothing() {
        let lexicon = lexicon();
        let empty = gist(&lexicon, &[""]);
        assert_eq!(near(&empty, &[&empty, &gist(&lexicon, &["a cake"])])[1].score, 0.0);
        assert!(near(&empty, &[]).is_empty());
    }
}
