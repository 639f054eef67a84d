//! Titles that no person typed in the conversation: from an import, or given by a host.
//!
//! The title that came with an import was made by another program of what the session says, so it goes with any of that. What
//! a host gave may be somebody's own word: it goes if it repeats what goes. A title that a person typed is their word, and goes with the
//! command that gave it.

use super::{Seq, Trace};
use crate::entry::{Body, CommandBy, Record, Renamed};
use crate::session::Origin;
use std::collections::BTreeSet;

/// How many words in a row, or characters of writing without spaces, a title shares with what it repeats.
const WORDS_MIN: usize = 3;
const IDEOGRAPHS_MIN: usize = 4;

/// Who gave the title that stands behind an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Before {
    /// No command stands there.
    #[default]
    Nothing,
    /// A person typed a command.
    Typed,
    /// A host asked.
    Asked,
}

impl Before {
    pub(super) fn of(body: &Body) -> Self {
        match body {
            Body::Command(spoken) if spoken.by == CommandBy::Person => Self::Typed,
            Body::Command(_) => Self::Asked,
            _ => Self::Nothing,
        }
    }
}

/// A title of which it is not known yet whether it repeats what goes.
#[derive(Debug)]
pub(super) struct Candidate {
    entry: Seq,
    words: Vec<String>,
}

/// Finds titles that repeat what goes, as the log is read a second time.
#[derive(Debug)]
pub struct Repeats {
    going: BTreeSet<Seq>,
    titles: Vec<Candidate>,
    found: BTreeSet<Seq>,
}

impl Trace {
    /// Takes down a title, unless a person typed it.
    pub(super) fn note_host_title(&mut self, record: &Record, renamed: &Renamed) {
        let session = self.state.sessions.get(&renamed.session);
        // Only the first one came with the import.
        let is_imported = session.is_some_and(|session| {
            session.origin == Origin::Import && session.title_entries.first() == Some(&record.seq)
        });
        match self.before {
            Before::Typed => return,
            Before::Nothing if is_imported => self.imported.push((record.seq, renamed.session)),
            Before::Nothing | Before::Asked => {}
        }
        self.titles.push(Candidate { entry: record.seq, words: words(renamed.title.as_str()) });
    }

    /// Returns the entries that were made of what goes, without what goes by itself. Where there are titles that may repeat what goes, the log has to be read once more.
    pub fn finish(mut self) -> (Vec<Seq>, Option<Repeats>) {
        let imported = std::mem::take(&mut self.imported);
        let made = imported.into_iter().filter(|(_, session)| self.held(*session)).map(|(entry, _)| entry);
        let made: Vec<Seq> = made.filter(|entry| !self.goes(*entry)).collect();
        self.derived.extend(made);
        let Self { derived, going_entries: going, mut titles, .. } = self;
        titles.retain(|title| !derived.contains(&title.entry) && !going.contains(&title.entry));
        let repeats = (!titles.is_empty() && !going.is_empty()).then(|| Repeats {
            going,
            titles,
            found: BTreeSet::new(),
        });
        (derived.into_iter().collect(), repeats)
    }
}

impl Repeats {
    /// Takes in the next entry of the log.
    pub fn read(&mut self, record: &Record) {
        if !self.going.contains(&record.seq) || record.kind.role().is_none() {
            return;
        }
        let Ok(Body::Message(_, message)) = record.body() else { return };
        let said = words(&message.text);
        let repeated = self.titles.iter().filter(|title| repeats(&title.words, &said));
        self.found.extend(repeated.map(|title| title.entry));
    }

    /// Returns the titles that repeat what goes.
    pub fn finish(self) -> impl Iterator<Item = Seq> {
        self.found.into_iter()
    }
}

/// Cuts a text into words; characters of writing without spaces are words by themselves.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in text.to_lowercase().split(|c: char| !c.is_alphanumeric()) {
        let mut word = String::new();
        for c in part.chars() {
            if is_ideograph(c) {
                words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty()));
                words.push(c.to_string());
            } else {
                word.push(c);
            }
        }
        words.extend(Some(word).filter(|word| !word.is_empty()));
    }
    words
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Tells whether a title repeats a part of what was said, or all of it.
fn repeats(title: &[String], said: &[String]) -> bool {
    let is_written_without_spaces = title.iter().any(|word| word.chars().all(is_ideograph));
    let enough = if is_written_without_spaces { IDEOGRAPHS_MIN } else { WORDS_MIN };
    let (shorter, longer) = if title.len() <= said.len() { (title, said) } else { (said, title) };
    let run = enough.min(shorter.len());
    run > 0 && shorter.windows(run).any(|part| longer.windows(run).any(|other| other == part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_repeats_what_it_has_in_common_with_what_was_said() {
        for (title, said, expected) in [
            ("Hotels in Lisbon", "Find me hotels in Lisbon, please", true),
            ("Lisbon…", "Find me hotels in Lisbon, please", true),
            ("Lisbon trip", "Find me hotels in Lisbon, please", false),
            ("My trip to Lisbon with Ann", "We took a trip to Lisbon", true),
            ("PIN 4711", "4711", true),
            ("里斯本的酒店推荐", "帮我找里斯本的酒店", true),
            ("里斯本旅行", "帮我找里斯本的酒店", false),
            ("Garden", "What can I plant?", false),
            ("", "hello", false),
        ] {
            assert_eq!(repeats(&words(title), &words(said)), expected, "{title:?} {said:?}");
        }
    }
}
