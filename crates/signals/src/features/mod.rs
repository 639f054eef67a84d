//! What the model sees: numbers about a message and the session it arrives in.

pub mod cues;
mod dense;
mod sparse;

use crate::embed::{Table, Vector};
use crate::hash::WordHash;
use crate::profile::{Profile, Role, Scripts};
use crate::terms::{Term, Terms};
use crate::text::{Reading, Window, fold};
use cues::{CueTable, Cues};

pub use dense::{DENSE, overlap};
pub use sparse::{Active, BUCKET_BITS};

/// Everything that is needed to read a text.
#[derive(Clone, Debug)]
pub struct Reader {
    table: Table,
    cues: CueTable,
}

/// A message that has been read.
#[derive(Clone, Debug)]
pub struct Read<'a> {
    pub(crate) reading: Reading<'a>,
    pub(crate) terms: Terms,
    pub(crate) cues: Cues,
    pub(crate) scripts: Scripts,
    pub asks: bool,
}

/// A word, and what the table knows of it.
#[derive(Clone, Copy, Debug)]
pub struct Meaning<'a> {
    pub text: &'a str,
    pub hash: WordHash,
    pub weight: f32,
    /// Zeros where the table does not have the word.
    pub vector: Vector,
}

impl Reader {
    pub fn new(table: Table) -> Self {
        Self { table, cues: CueTable::new() }
    }

    pub fn read<'a>(&self, text: &'a str, window: Window) -> Read<'a> {
        let reading = Reading::new(text, window);
        let terms = Terms::of(&reading, &self.table);
        let cues = self.cues.cues(&reading.tokens);
        let scripts = Scripts::of(&reading);
        let asks = ends_with_question(reading.ending());
        Read { reading, terms, cues, scripts, asks }
    }

    /// The words of a text, and what the table knows of each.
    pub fn meanings<'a>(&self, text: &'a str, window: Window) -> Vec<Meaning<'a>> {
        let reading = Reading::new(text, window);
        let meaning = |term: &Term| {
            let vector = self.table.vector(term.hash);
            let text = reading.between(term.first, term.last);
            Meaning { text, hash: term.hash, weight: term.weight, vector }
        };
        Terms::of(&reading, &self.table).list.iter().map(meaning).collect()
    }

    /// Whether a message says no more than yes, no, hello or thanks.
    pub fn says_nothing(&self, read: &Read<'_>) -> bool {
        self.cues.says_nothing(&read.reading.tokens)
    }

    /// Adds a message to a profile. Hosts and tools are not part of the conversation.
    pub fn observe(&self, profile: &mut Profile, role: Role, text: &str) {
        match role {
            Role::System | Role::Tool => {}
            Role::User | Role::Assistant => {
                let read = self.read(text, Window::HISTORY);
                profile.observe(role, &read.reading, &read.terms, read.cues, read.asks);
            }
        }
    }
}

/// The numbers of one decision.
#[derive(Clone, Debug, PartialEq)]
pub struct Features {
    pub sparse: Vec<Active>,
    pub dense: [f32; DENSE],
}

impl Features {
    pub fn of(profile: &Profile, read: &Read<'_>) -> Self {
        let comparable = profile.scripts.comparable(read.scripts);
        Self {
            sparse: sparse::features(profile, read, comparable),
            dense: dense::features(profile, read, comparable),
        }
    }
}

/// A question mark among the last characters, also before a closing quote or an emoji.
pub fn ends_with_question(text: &str) -> bool {
    text.chars().rev().take(4).any(|ch| fold(ch) == '?')
}
