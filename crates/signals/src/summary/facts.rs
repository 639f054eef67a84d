//! Names and numbers worth carrying over: the most used and the latest stay.

use std::collections::BTreeMap;

use super::Speaker;
use super::prose::ProseMessage;

mod chinese;
mod latin;

/// Facts that are kept; the lightest give way.
const FACTS_MAX: usize = 64;
const FACTS_KEPT: usize = 48;
const BEST_MAX: usize = 12;
/// What is left of a fact's weight after a message without it.
const DECAY: f32 = 0.97;
const AGENT_SHARE: f32 = 0.6;
/// A fact longer than this is no name and no number.
const FACT_CHARS_MAX: usize = 80;
/// Of one message: a table of numbers must not push everything else out.
const PER_MESSAGE_MAX: usize = 16;

#[derive(Clone, Debug, PartialEq)]
struct Fact {
    shown: String,
    weight: f32,
    last: u32,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Facts {
    known: BTreeMap<String, Fact>,
    message: u32,
}

/// A name or a number of a message, and what it is known by.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Named {
    key: String,
    shown: String,
}

impl Named {
    /// Finds the names and numbers of a message, each once.
    pub(super) fn all(said: &ProseMessage) -> Vec<Self> {
        let mut found: Vec<String> = Vec::new();
        for line in said.prose.lines() {
            latin::find(line, &mut found);
            chinese::find(line, &mut found);
        }
        found.retain(|fact| fact.chars().count() <= FACT_CHARS_MAX && !fact.contains(char::is_control));
        let mut here: Vec<Self> = Vec::new();
        for shown in found {
            let key = shown.to_lowercase();
            if here.len() < PER_MESSAGE_MAX && here.iter().all(|named| named.key != key) {
                here.push(Self { key, shown });
            }
        }
        here
    }
}

impl Facts {
    pub(super) fn add(&mut self, by: Speaker, named: &[Named]) {
        self.message = self.message.saturating_add(1);
        for fact in self.known.values_mut() {
            fact.weight *= DECAY;
        }
        let weight = match by {
            Speaker::Person => 1.0,
            Speaker::Agent => AGENT_SHARE,
        };
        for Named { key, shown } in named {
            let new = || Fact { shown: shown.clone(), weight: 0.0, last: 0 };
            let fact = self.known.entry(key.clone()).or_insert_with(new);
            fact.weight += weight;
            fact.last = self.message;
        }
        self.make_room();
    }

    fn make_room(&mut self) {
        if self.known.len() <= FACTS_MAX {
            return;
        }
        let mut order: Vec<(f32, u32)> = self.known.values().map(|fact| (fact.weight, fact.last)).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0).then(b.1.cmp(&a.1)));
        let (least, last) = order.get(FACTS_KEPT).copied().unwrap_or((0.0, 0));
        self.known.retain(|_, fact| fact.weight > least || fact.weight == least && fact.last > last);
    }

    /// The heaviest facts, the latest first among equals.
    pub(super) fn best(&self) -> Vec<String> {
        let mut all: Vec<&Fact> = self.known.values().collect();
        all.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.last.cmp(&a.last)));
        let mut best: Vec<&str> = Vec::new();
        for fact in all {
            if best.len() == BEST_MAX {
                break;
            }
            // "Sakura" is said by "Sakura Hotel".
            let part =
                |taken: &&str| taken.to_lowercase().split(' ').any(|word| word == fact.shown.to_lowercase());
            if !best.iter().any(part) {
                best.push(&fact.shown);
            }
        }
        best.into_iter().map(str::to_owned).collect()
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }
}
