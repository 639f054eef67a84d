//! Terms: what text is cut into. Words by their stems; Chinese, Japanese and Korean by overlapping pairs of
//! characters, which needs no dictionary and finds words of two characters.

use super::asking::{ASKING, ASKING_PAIRS, EMPTY, PARTICLES};
use super::stem::stem;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// How many terms of a message are looked at; what comes behind is not found.
const TERMS_MAX: usize = 4_000;

/// How many different terms of a query are looked for.
const ASKED_MAX: usize = 32;

/// The longest word, in bytes: what is longer is data.
const WORD_BYTES_MAX: usize = 64;

/// How much a term counts that is in every other question.
const WEAK: f64 = 0.3;

/// A term, as a number of 48 bits: an index holds no word that someone said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Term(pub(crate) u64);

impl Term {
    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }

    fn of(text: &str) -> Self {
        // FNV-1a: the same on every machine and in every version, since it stands on disk.
        let hash = text.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self((hash ^ (hash >> 48)) & 0xffff_ffff_ffff)
    }
}

/// A term of a query, and how much it counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WeightedTerm {
    pub term: Term,
    pub weight: f64,
}

fn is_paired(c: char) -> bool {
    matches!(c,
        '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}'
        | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{323af}')
}

/// A run of characters of one kind.
enum Run<'a> {
    Word(&'a str),
    Paired(&'a str),
}

/// Cuts a text into runs, with where they begin.
fn runs(text: &str) -> impl Iterator<Item = (usize, Run<'_>)> {
    let mut rest = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (begin, first) = rest.next()?;
            let paired = is_paired(first);
            if !paired && !first.is_alphanumeric() {
                continue;
            }
            let mut end = begin + first.len_utf8();
            while let Some((at, c)) = rest.peek().copied() {
                if is_paired(c) != paired || !(paired || c.is_alphanumeric()) {
                    break;
                }
                end = at + c.len_utf8();
                rest.next();
            }
            let run = text.get(begin..end)?;
            return Some((begin, if paired { Run::Paired(run) } else { Run::Word(run) }));
        }
    })
}

fn lower(word: &str) -> String {
    // Chinese keyboards also type Latin letters and digits as wide as a Chinese character.
    let narrow = |c: char| match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        other => other,
    };
    word.chars().map(narrow).flat_map(char::to_lowercase).collect()
}

fn word(run: &str) -> Option<String> {
    if run.len() > WORD_BYTES_MAX {
        return None;
    }
    let word = lower(run);
    (!EMPTY.contains(&word.as_str())).then(|| stem(&word).to_owned())
}

fn pairs(run: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    let starts: Vec<usize> = run.char_indices().map(|(at, _)| at).chain([run.len()]).collect();
    let ranges: Vec<Range<usize>> = starts.windows(3).map(|three| three[0]..three[2]).collect();
    ranges.into_iter().filter_map(move |range| Some((range.clone(), run.get(range)?)))
}

fn singles(run: &str) -> impl Iterator<Item = (Range<usize>, &str)> {
    run.char_indices().filter_map(move |(at, c)| {
        let range = at..at + c.len_utf8();
        Some((range.clone(), run.get(range)?))
    })
}

/// Cuts a message into terms. Single characters are terms too, for a question of one character.
pub fn terms(text: &str) -> impl Iterator<Item = Term> {
    placed(text).map(|(_, term)| term)
}

fn placed(text: &str) -> impl Iterator<Item = (Range<usize>, Term)> {
    let shift = |begin: usize| {
        move |(range, part): (Range<usize>, &str)| (begin + range.start..begin + range.end, Term::of(part))
    };
    let cut = move |(begin, run): (usize, Run<'_>)| -> Vec<(Range<usize>, Term)> {
        match run {
            Run::Word(run) => {
                word(run).map(|stem| (begin..begin + run.len(), Term::of(&stem))).into_iter().collect()
            }
            Run::Paired(run) => pairs(run).chain(singles(run)).map(shift(begin)).collect(),
        }
    };
    runs(text).flat_map(cut).take(TERMS_MAX)
}

/// Cuts a query into terms, each once, with how much it counts.
pub(super) fn asked(text: &str) -> Vec<WeightedTerm> {
    let mut asked: Vec<WeightedTerm> = Vec::new();
    let mut add = |text: &str, weight: f64| {
        let term = Term::of(text);
        if asked.len() < ASKED_MAX && !asked.iter().any(|known| known.term == term) {
            asked.push(WeightedTerm { term, weight });
        }
    };
    for (_, run) in runs(text) {
        match run {
            Run::Word(run) => {
                if let Some(stem) = word(run) {
                    add(&stem, if ASKING.contains(&stem.as_str()) { WEAK } else { 1.0 });
                }
            }
            Run::Paired(run) if run.chars().count() == 1 => add(run, 1.0),
            Run::Paired(run) => {
                for (_, pair) in pairs(run) {
                    let weak = ASKING_PAIRS.contains(&pair) || pair.chars().any(|c| PARTICLES.contains(c));
                    add(pair, if weak { WEAK } else { 1.0 });
                }
            }
        }
    }
    asked
}

/// Tells how much of a query a text has, from 0 to 1. Words that are only used to ask count little.
///
/// ```
/// assert!(segue_store::search::share("retry with a fixed delay", "which retry delay?") > 0.8);
/// assert_eq!(segue_store::search::share("the cake", "which retry delay?"), 0.0);
/// ```
pub fn share(text: &str, query: &str) -> f64 {
    let has: HashSet<Term> = terms(text).collect();
    let asked = asked(query);
    let all: f64 = asked.iter().map(|weighed| weighed.weight).sum();
    let found: f64 =
        asked.iter().filter(|weighed| has.contains(&weighed.term)).map(|weighed| weighed.weight).sum();
    if all > 0.0 { found / all } else { 0.0 }
}

/// Finds where the terms of a query stand in a text.
///
/// ```
/// let text = "then we moved the batteries to the attic";
/// let found = segue_store::search::places(text, "where is the battery?");
/// assert_eq!(found, [18..27]);
/// ```
pub fn places(text: &str, query: &str) -> Vec<Range<usize>> {
    let asked: HashMap<Term, f64> =
        asked(query).into_iter().map(|asked| (asked.term, asked.weight)).collect();
    let strong = asked.values().any(|weight| *weight > WEAK);
    let counts = |term: &Term| asked.get(term).is_some_and(|weight| !strong || *weight > WEAK);
    placed(text).filter(|(_, term)| counts(term)).map(|(range, _)| range).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Vec<Term> {
        words.iter().map(|word| Term::of(word)).collect()
    }

    #[test]
    fn x11_chinese_is_cut_into_overlapping_pairs() {
        let cut: Vec<Term> = terms("数据库，备份").collect();
        assert_eq!(cut, of(&["数据", "据库", "数", "据", "库", "备份", "备", "份"]));
        let asked: Vec<Term> = asked("备份").into_iter().map(|asked| asked.term).collect();
        assert_eq!(asked, of(&["备份"]));
    }

    #[test]
    fn both_languages_stand_side_by_side() {
        let cut: Vec<Term> = terms("用Docker部署，ＡＢ 2.5").collect();
        assert_eq!(cut, of(&["用", "docker", "部署", "部", "署", "ab", "2", "5"]));
    }

    #[test]
    fn words_that_say_nothing_are_no_terms() {
        assert_eq!(terms("What is the").count(), 0);
        assert!(asked("???").is_empty() && asked("").is_empty());
    }

    #[test]
    fn long_texts_and_odd_ones_have_an_end() {
        assert_eq!(terms(&"长".repeat(100_000)).count(), TERMS_MAX);
        assert_eq!(terms(&"x".repeat(100_000)).count(), 0);
        assert!(asked(&(0..1_000).map(|n| format!("w{n} ")).collect::<String>()).len() <= ASKED_MAX);
        assert_eq!(places("👩‍👩‍👧‍👦 \u{202e}ok\0", "ok"), vec![29..31]);
    }
}
