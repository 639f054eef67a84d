//! Phrase tables: the files of `phrases/`, each with lists under headings. All that is language-specific stands there.

use super::lists::{Phrases, Words};

/// One file: `[heading]`, then the list, line by line. `#` begins a comment, and `_` at an end of an entry is a space.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table(&'static str);

pub(crate) const ANSWER: Table = Table(include_str!("../../phrases/answer.txt"));
pub(crate) const CUE: Table = Table(include_str!("../../phrases/cue.txt"));
pub(crate) const DECISION: Table = Table(include_str!("../../phrases/decision.txt"));
pub(crate) const HEALTH: Table = Table(include_str!("../../phrases/health.txt"));
pub(crate) const INJECTION: Table = Table(include_str!("../../phrases/injection.txt"));
pub(crate) const INTENT: Table = Table(include_str!("../../phrases/intent.txt"));
pub(crate) const MEMORY: Table = Table(include_str!("../../phrases/memory.txt"));
pub(crate) const NAMING: Table = Table(include_str!("../../phrases/naming.txt"));
pub(crate) const OBJECTION: Table = Table(include_str!("../../phrases/objection.txt"));
pub(crate) const SENTENCE: Table = Table(include_str!("../../phrases/sentence.txt"));
pub(crate) const TASK: Table = Table(include_str!("../../phrases/task.txt"));

pub(crate) const TITLE: Table = Table(include_str!("../../phrases/title.txt"));

impl Table {
    /// Gives the lines under a heading; none if there is no such heading, which a test rules out.
    pub(crate) fn lines(self, heading: &str) -> impl Iterator<Item = &'static str> + use<> {
        let mut lines = self.0.lines();
        let is_it =
            |line: &str| line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) == Some(heading);
        let found = lines.by_ref().any(is_it);
        let list = lines.take_while(move |line| found && !line.starts_with('['));
        list.filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
    }

    /// Gives the sets of choices that patterns name: lines `name = one|other` under `[sets]`. A set may name those before it.
    pub(crate) fn sets(self) -> Vec<(&'static str, &'static str)> {
        self.lines("sets").filter_map(|line| line.split_once(" = ")).collect()
    }

    /// Gives the entries of a list with spaces between them.
    pub(crate) fn words(self, heading: &str) -> Vec<&'static str> {
        self.lines(heading).flat_map(str::split_whitespace).collect()
    }

    /// The same, to look words up.
    pub(crate) fn set(self, heading: &str) -> Words {
        Words::new(self.words(heading))
    }

    /// Gives the entries of a list with bars between them.
    pub(crate) fn entries(self, heading: &str) -> Vec<String> {
        let entries = self.lines(heading).flat_map(|line| line.split('|')).filter(|entry| !entry.is_empty());
        entries.map(|entry| entry.replace('_', " ")).collect()
    }

    /// The same, to look whole clauses up.
    pub(crate) fn clauses(self, heading: &str) -> Words {
        Words::new(self.lines(heading).flat_map(|line| line.split('|')).collect())
    }

    /// The same, as beginnings of lines: a space at the end counts.
    pub(crate) fn starts(self, heading: &str) -> Vec<String> {
        let entries = self.lines(heading).flat_map(|line| line.split('|'));
        entries.filter(|entry| !entry.is_empty()).map(str::to_owned).collect()
    }

    /// The same, to look for them anywhere in a text.
    pub(crate) fn anywhere(self, heading: &str) -> Phrases {
        Phrases::new(self.entries(heading))
    }

    /// The same, as whole words: in letters they need a space at both ends, which the text must have too.
    pub(crate) fn whole(self, heading: &str) -> Phrases {
        let spaced = |entry: String| if entry.is_ascii() { format!(" {entry} ") } else { entry };
        Phrases::new(self.entries(heading).into_iter().map(spaced).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code that asks for a heading that is not there would find nothing and say nothing.
    #[test]
    fn every_heading_that_is_asked_for_is_there() {
        for (table, headings) in [
            (ANSWER, "sets/continue/fresh/older/frame/denial/after denial/asking/yes/offered/choice"),
            (ANSWER, "continue place/fresh place/older place"),
            (DECISION, "settled/choosing/unsettled/proposing/yes/not yes/yes first/yes still/no/letter"),
            (DECISION, "replacing/choosing verb zh"),
            (
                CUE,
                "greeting/parting/thanks/closing/offers more/agree/disagree/anaphora/continue/request/question",
            ),
            (CUE, "switch/refer/done/material/acknowledging/wants material/done by you/changes"),
            (HEALTH, "error/negative/negation/filler/helpless/next step"),
            (INJECTION, "mark"),
            (
                INTENT,
                "listed en/paraphrase en/frame en/anchor en/real en/next en/about en/negation en/asking en",
            ),
            (INTENT, "wishing en/listed zh/paraphrase zh/frame zh/negation zh/asking zh/next zh/sound zh"),
            (INTENT, "condition/traditional/typo en/new misspelled"),
            (MEMORY, "sets/remember/polite/recalling/preference/fact/unreal/passing"),
            (NAMING, "empty en/generic en/end en/choice en/choice zh/frame zh/tail zh"),
            (NAMING, "numbered/numbered behind/numbered loosely/numbered loosely behind/numeral en"),
            (NAMING, "back/to sign/to noun"),
            (OBJECTION, "plain/alone/frame/denial/after denial/no"),
            (SENTENCE, "verb/subject/measure/asking zh/courtesy/evasion/withdrawn/request/request polite"),
            (TASK, "drop/accept/answer/hesitate/new/change/request/extend/polite en/polite zh/unfinished"),
            (TITLE, "nothing/lead/day/material/markers"),
            (TASK, "thanks/ends zh/no zh/not ending zh/denies en/degree zh"),
            (TASK, "praise en/praise zh/opening/moves on/ends wish"),
        ] {
            for heading in headings.split('/') {
                assert!(table.lines(heading).next().is_some(), "{heading}");
            }
        }
        assert_eq!(SENTENCE.lines("no such list").count(), 0);
        assert_eq!(INTENT.entries("condition")[0], "if ");
    }
}
