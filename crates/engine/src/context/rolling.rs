//! The rolling summary: what stands for the messages that are not shown any more.

use super::budget::Budget;
use super::tail::Item;
use crate::words::Language;
use crate::words::quoted::{Block, Quote, block, name_speakers, speakers};
use segue_core::entry::Seq;
use segue_signals::summary::{Summary, SummaryLanguage};
use std::sync::Arc;

/// How many notes are kept of a session: as many as there are budgets that it is shown in.
const NOTES_MAX: usize = 4;

/// The notes on a session. They stay the same from one cut to the next.
#[derive(Debug, Default)]
pub(super) struct Notes(Vec<(Range, Arc<str>)>);

/// Which messages notes are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) language: Language,
}

impl Notes {
    /// Returns notes that were written before.
    pub(super) fn get(&self, range: Range) -> Option<Arc<str>> {
        self.0.iter().find(|(known, _)| *known == range).map(|(_, notes)| Arc::clone(notes))
    }

    /// Keeps notes.
    pub(super) fn put(&mut self, range: Range, notes: Arc<str>) {
        if self.0.len() == NOTES_MAX {
            self.0.remove(0);
        }
        self.0.push((range, notes));
    }
}

/// Writes notes on some messages.
pub(super) fn write<'a>(language: Language, items: impl Iterator<Item = &'a Item>) -> Arc<str> {
    let (mut summary, mut said) = (Summary::new(), Vec::new());
    for item in items {
        if let Some(gleaned) = item.gleaned() {
            summary.add(gleaned);
        }
        said.extend(item.stored.said_by_person());
    }
    let mut summary = summary.structured();
    name_speakers(&mut summary, said.into_iter());
    let headings = match language {
        Language::En => SummaryLanguage::English,
        Language::Zh => SummaryLanguage::Chinese,
    };
    summary.render(headings).into()
}

/// Returns as much of the notes as so many tokens hold; nothing if that says nothing.
pub(super) fn fit(language: Language, budget: &Budget<'_>, tokens_max: u64, notes: &str) -> Option<String> {
    let mut lines: Vec<&str> = notes.lines().collect();
    loop {
        // What is left of a list must have more than its heading.
        while lines.last().is_some_and(|line| line.ends_with([':', '：'])) {
            lines.pop();
        }
        if lines.is_empty() {
            return None;
        }
        let from = speakers(language).to_owned();
        let text = block(language, Block::Notes, &[Quote { from, text: &lines.join("\n") }]);
        if budget.text(&text) <= tokens_max {
            return Some(text);
        }
        lines.pop();
    }
}
