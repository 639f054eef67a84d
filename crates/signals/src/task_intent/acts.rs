//! The acts of a message: what each clause does.

use std::sync::LazyLock;

use crate::intent::clauses;
use crate::phrases::lists::{Phrases, Words};
use crate::phrases::table::TASK;

/// What one clause does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Act {
    Drop,
    Accept,
    Answer,
    Hesitate,
    /// Says something of its own.
    Speak,
}

/// What the whole message does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Acts {
    pub(super) list: Vec<Act>,
    /// Says that something else begins.
    pub(super) marks_new: bool,
    /// Says that what is there is to be changed.
    pub(super) marks_change: bool,
    /// Says so in words that an answer rarely has.
    pub(super) extends: bool,
    /// Begins like a request.
    pub(super) requests: bool,
    /// "Now ...", "next ...": what comes after something finished.
    pub(super) moves_on: bool,
    pub(super) asks: bool,
    /// Nothing but signs; a thumb up accepts.
    pub(super) wordless: bool,
    pub(super) cheers: bool,
    /// Says thank you.
    pub(super) thanks: bool,
    /// Says of something that it is not wanted any more.
    pub(super) ends_wish: bool,
    /// Ends with dots, or with a word that something must follow.
    pub(super) trails_off: bool,
    /// Words, or characters where there are no spaces, of the clauses that speak.
    pub(super) spoken: usize,
}

static DROP: LazyLock<Words> = LazyLock::new(|| TASK.clauses("drop"));
static ACCEPT: LazyLock<Words> = LazyLock::new(|| TASK.clauses("accept"));
static ANSWER: LazyLock<Words> = LazyLock::new(|| TASK.clauses("answer"));
static HESITATE: LazyLock<Words> = LazyLock::new(|| TASK.clauses("hesitate"));
static NEW_MARKS: LazyLock<Phrases> = LazyLock::new(|| TASK.whole("new"));
static CHANGE_MARKS: LazyLock<Phrases> = LazyLock::new(|| TASK.whole("change"));
static EXTENDS: LazyLock<Phrases> = LazyLock::new(|| TASK.whole("extend"));
static REQUEST: LazyLock<Phrases> = LazyLock::new(|| TASK.whole("request"));
static POLITE: LazyLock<Words> = LazyLock::new(|| TASK.set("polite en"));
static POLITE_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| TASK.words("polite zh"));
static UNFINISHED: LazyLock<Words> = LazyLock::new(|| TASK.set("unfinished"));
static PRAISE: LazyLock<Words> = LazyLock::new(|| TASK.set("praise en"));
static PRAISE_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| TASK.words("praise zh"));
static THANKS: LazyLock<Phrases> = LazyLock::new(|| TASK.anywhere("thanks"));
static ENDS_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| TASK.words("ends zh"));
static NO_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| TASK.words("no zh"));
static NOT_ENDING: LazyLock<Words> = LazyLock::new(|| TASK.set("not ending zh"));
static DENIES: LazyLock<Words> = LazyLock::new(|| TASK.set("denies en"));
static DEGREES_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| TASK.words("degree zh"));
static OPENINGS: LazyLock<Vec<String>> = LazyLock::new(|| TASK.entries("opening"));
static MOVES_ON: LazyLock<Vec<String>> = LazyLock::new(|| TASK.entries("moves on"));
static ENDS_WISH: LazyLock<Phrases> = LazyLock::new(|| TASK.anywhere("ends wish"));

impl Acts {
    pub(super) fn of(text: &str) -> Self {
        let stripped = clauses::strip(text);
        let mut acts = Self {
            wordless: !text.chars().any(char::is_alphanumeric),
            trails_off: trails_off(text),
            cheers: text.chars().any(|ch| "👍👌✅🎉🙏❤🥳💯😍👏🙌😊🤩✔".contains(ch)),
            ..Self::default()
        };
        for clause in clauses::split(&stripped.text) {
            let words = clean(clause.text);
            if words.is_empty() {
                continue;
            }
            let act = act(&words, clause.asks);
            acts.asks |= clause.asks;
            acts.thanks |= THANKS.any_in(&words);
            acts.ends_wish |= ends_wish(&words);
            if act == Act::Speak {
                acts.spoken += length(&words);
                let padded = format!(" {words} ");
                acts.marks_new |= NEW_MARKS.any_in(&padded);
                acts.marks_change |= CHANGE_MARKS.any_in(&padded);
                acts.extends |= EXTENDS.any_in(&padded);
                acts.requests |= requests(&padded);
            } else if words == "now" || words == "next" {
                acts.moves_on = true;
            }
            acts.moves_on |= MOVES_ON.iter().any(|start| words.starts_with(start.as_str()));
            acts.list.push(act);
        }
        // Code and quotations are something of one's own, too.
        if !stripped.hidden.is_empty() && !acts.has(Act::Speak) {
            acts.list.push(Act::Speak);
            acts.spoken += 3;
        }
        acts
    }

    /// Whether it opens with an answer, whatever follows.
    pub(super) fn answers_first(&self) -> bool {
        matches!(self.list.first(), Some(Act::Answer | Act::Accept))
    }

    pub(super) fn has(&self, act: Act) -> bool {
        self.list.contains(&act)
    }

    /// Whether the message does nothing but these acts.
    pub(super) fn only(&self, allowed: &[Act]) -> bool {
        !self.list.is_empty() && self.list.iter().all(|act| allowed.contains(act))
    }
}

fn trails_off(text: &str) -> bool {
    let text = text.trim_end();
    let last = text.rsplit(|ch: char| !ch.is_alphanumeric()).next().unwrap_or("").to_lowercase();
    text.ends_with("..") || text.ends_with('…') || UNFINISHED.has(&last)
}

/// Letters that are drawn out are said once or twice: "hmmmm" is "hmm".
fn drawn_in(word: &str) -> String {
    let mut out = String::new();
    for ch in word.chars() {
        let tail: Vec<char> = out.chars().rev().take(2).collect();
        if tail != [ch, ch] {
            out.push(ch);
        }
    }
    out
}

/// Words in lower case without apostrophes and signs, one space between.
fn clean(text: &str) -> String {
    let words: Vec<String> = text
        .split(|ch: char| !(ch.is_alphanumeric() || ch == '\''))
        .map(|word| drawn_in(&word.replace('\'', "")))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn length(words: &str) -> usize {
    words.split(' ').map(|word| word.chars().filter(|&ch| crate::text::is_unspaced(ch)).count().max(1)).sum()
}

fn act(words: &str, asks: bool) -> Act {
    let core = core(words);
    let in_list = |list: &Words| list.has(words) || list.has(&core);
    if ceases(&core) {
        return Act::Drop;
    }
    // "done?" asks, "done" accepts.
    if asks && in_list(&HESITATE) {
        Act::Hesitate
    } else if in_list(&DROP) {
        Act::Drop
    } else if (in_list(&ACCEPT) || praises(&core)) && !asks {
        Act::Accept
    } else if in_list(&ANSWER) {
        Act::Answer
    } else if in_list(&HESITATE) || stalls(words) {
        Act::Hesitate
    } else {
        Act::Speak
    }
}

/// "不去了", "别拆了", "先不约了": a short verb between a no and a 了 says that something is not done any more.
fn ceases(core: &str) -> bool {
    if ENDS_CHINESE.iter().any(|word| core.starts_with(word)) {
        return true;
    }
    let rest = core
        .trim_start_matches("还是")
        .trim_start_matches('先')
        .trim_start_matches("我们")
        .trim_start_matches("今天");
    let Some(verb) = NO_CHINESE.iter().find_map(|no| rest.strip_prefix(no)) else { return false };
    let verb = verb.trim_end_matches(['吧', '啦', '哈']);
    let verb = verb.strip_suffix('了').unwrap_or("");
    // "Not right", "not bad" and "no problem" have the same shape and say something else.
    (1..=3).contains(&verb.chars().count()) && !NOT_ENDING.has(verb) && verb.chars().all(crate::text::is_han)
}

/// "Sounds wonderful", "特别好": a few words that end in praise and deny nothing.
fn praises(core: &str) -> bool {
    let words: Vec<&str> = core.split(' ').collect();
    let plain = !words.iter().any(|word| DENIES.has(word));
    let english = words.len() <= 4 && plain && words.last().is_some_and(|last| PRAISE.has(last));
    let chinese = core.chars().count() <= 7
        && PRAISE_CHINESE.iter().any(|word| core.ends_with(word))
        && DEGREES_CHINESE.iter().any(|word| core.starts_with(word) || core.contains("都对"))
        && !core.contains('不');
    english || chinese
}

/// Asks for a moment, in whatever words.
fn stalls(words: &str) -> bool {
    length(words) <= 6 && OPENINGS.iter().any(|opening| words.starts_with(opening.as_str()))
}

/// A clause that says of a thing that it is not wanted any more.
fn ends_wish(words: &str) -> bool {
    let han =
        words.contains('不') && words.ends_with('了') || words.contains("取消") || words.contains("用不");
    han || ENDS_WISH.any_in(words)
}

/// The clause without polite words at its ends; itself if nothing else is left.
fn core(words: &str) -> String {
    let mut list: Vec<&str> = words.split(' ').collect();
    let polite = |word: &str| POLITE.has(word);
    while list.len() > 1 && list.first().is_some_and(|word| polite(word)) {
        list.remove(0);
    }
    while list.len() > 1 && list.last().is_some_and(|word| polite(word)) {
        list.pop();
    }
    let mut core = list.join(" ");
    loop {
        let next = POLITE_CHINESE.iter().find_map(|word| {
            let rest = core.strip_prefix(word).or_else(|| core.strip_suffix(word))?;
            (rest.chars().count() >= 2).then(|| rest.trim().to_owned())
        });
        let lists: [&Words; 4] = [&DROP, &ACCEPT, &ANSWER, &HESITATE];
        let whole = lists.iter().any(|list| list.has(&core));
        match next {
            Some(shorter) if !whole => core = shorter,
            _ => return core,
        }
    }
}

/// A request in Chinese stands among so many characters.
const FIRST_CHARS: usize = 8;

/// Whether one of the requests begins the clause, with or without polite words before it.
fn requests(padded: &str) -> bool {
    let words: Vec<&str> = padded.split_whitespace().collect();
    let skip = words.iter().take_while(|word| POLITE.has(word)).count();
    let start = format!(" {} ", words[skip.min(words.len())..].join(" "));
    let first: String = padded.trim_start().chars().take(FIRST_CHARS).collect();
    REQUEST.iter().any(|entry| match entry.starts_with(' ') {
        true => padded.starts_with(entry) || start.starts_with(entry),
        false => first.contains(entry),
    })
}
