//! A scope with 100,000 archived messages, a third of them Chinese, and questions about it.

use segue_core::decide::{Circumstances, Command, decide};
use segue_core::facts::Facts;
use segue_core::message::{Message, Role};
use segue_core::policy::{Backlog, Policy};
use segue_core::session::Id;
use segue_core::state::State;
use segue_store::{Append, AppendId, Store};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// How many sessions there are.
pub const SESSIONS: usize = 1_000;
const MESSAGES: usize = 100;

/// How many different words there are; the nth is said about once in n words, as in any language.
const WORDS: f64 = 30_000.0;

/// A small generator: the same messages every time.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn word(&mut self) -> u32 {
        (WORDS.powf(self.next())) as u32
    }

    /// Asks for three to six words of a message, as someone remembers it.
    pub fn question(&mut self, texts: &[String]) -> String {
        let text = &texts[(self.next() * texts.len() as f64) as usize];
        let words = 3 + (self.next() * 4.0) as usize;
        match text.contains(' ') {
            true => text.split(' ').take(words).collect::<Vec<_>>().join(" "),
            false => text.chars().take(2 * words).collect(),
        }
    }

    fn message(&mut self) -> String {
        let chinese = self.next() < 0.33;
        let length = 5 + (self.next() * 30.0) as usize;
        let words = (0..length).map(|_| {
            let word = self.word();
            if chinese { chinese_word(word) } else { english_word(word) }
        });
        let words: Vec<String> = words.collect();
        words.join(if chinese { "" } else { " " })
    }
}

/// English words, the most frequent first.
static ENGLISH: LazyLock<Vec<&str>> = LazyLock::new(|| {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let is_word = |word: &&str| word.len() > 1 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    for word in SAID.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(is_word) {
        *counts.entry(word).or_default() += 1;
    }
    let mut words: Vec<(&str, usize)> = counts.into_iter().collect();
    words.sort_unstable_by_key(|(word, count)| (Reverse(*count), *word));
    words.into_iter().map(|(word, _)| word).collect()
});

/// Conversations that were written for this project; only their words are used.
const SAID: &str = include_str!("../../../../eval/dev/en/conversations.jsonl");

fn english_word(n: u32) -> String {
    match ENGLISH.get(n as usize) {
        Some(word) => (*word).to_owned(),
        None => made_up(n),
    }
}

/// A name, or a word that nobody knows.
fn made_up(mut n: u32) -> String {
    let mut word = String::new();
    while n > 0 {
        word.push(char::from(b"bdfgklmnprtvz"[n as usize % 13]));
        word.push(char::from(b"aiou"[n as usize / 13 % 4]));
        n /= 52;
    }
    word + "k"
}

fn chinese_word(n: u32) -> String {
    [0x4e00 + n * 7 % 3_000, 0x4e00 + n * 31 % 2_900].into_iter().filter_map(char::from_u32).collect()
}

/// Writes the sessions.
pub async fn fill(store: &dyn Store, texts: &mut Vec<String>) -> Outcome<Arc<State>> {
    let policy = Policy { backlog: Backlog::new(1_000_000).ok_or("no backlog")?, ..Policy::default() };
    let mut chance = Chance(0x9e37_79b9_7f4a_7c15);
    let mut state = Arc::new(State::empty("agent:main:bench:direct:me".parse()?));
    let mut now = 1_772_359_200;
    for session in 0..SESSIONS {
        let mut commands = vec![Command::New { first: None }];
        commands.extend((0..MESSAGES).map(|n| {
            let role = if n % 2 == 0 { Role::User } else { Role::Assistant };
            texts.push(chance.message());
            Command::Keep { role, message: Message::text(texts.last().cloned().unwrap_or_default()) }
        }));
        let (mut next, mut records) = (State::clone(&state), Vec::new());
        for command in &commands {
            now += 60;
            let fresh = Id(uuid::Uuid::from_u128(session as u128 + 1));
            let circumstances =
                Circumstances { now: jiff::Timestamp::from_second(now)?, fresh, spoken: None };
            let decided = decide(&next, &policy, command, &Facts::default(), &circumstances)?;
            next = decided.state;
            records.extend(decided.records);
        }
        let next = Arc::new(next);
        let (prior, garbage, erase) = (state, Vec::new(), Vec::new());
        let id = AppendId((session as u128 + 1).to_be_bytes());
        store
            .append(Append { id, prior, next: next.clone(), records, message_id: None, garbage, erase })
            .await?;
        state = next;
    }
    Ok(state)
}
