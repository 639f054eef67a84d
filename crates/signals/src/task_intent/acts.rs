//! The acts of a message: what each clause does.

use super::lexicon;
use crate::intent::clauses;

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
    /// Begins like a request.
    pub(super) requests: bool,
    /// "Now ...", "next ...": what comes after something finished.
    pub(super) moves_on: bool,
    pub(super) asks: bool,
    /// Nothing but signs; a thumb up accepts.
    pub(super) wordless: bool,
    pub(super) cheers: bool,
    /// Words, or characters where there are no spaces, of the clauses that speak.
    pub(super) spoken: usize,
}

const POLITE: &str = "ok okay so well now alright hey hi please pls plz just oh ah and then really sorry thanks thank you actually yes yeah no hmm um i think lets let's that its it is this we can you all of very so much pretty really for now guys mate man here again then just fully completely to me for me from my side at the moment anymore a lot honestly im i'm think ill i'll totally simply do all";
const POLITE_CHINESE: [&str; 36] = [
    "嗯", "哦", "噢", "啊", "呃", "额", "那", "那就", "好的", "好", "好吧", "我", "我们", "咱们", "你", "请", "吧", "了", "啦", "呢", "哈", "呀", "嘛", "的", "先",
    "就", "都", "这个", "这", "现在", "觉得", "感觉", "真的", "非常", "太", "很",
];

impl Acts {
    pub(super) fn of(text: &str) -> Self {
        let stripped = clauses::strip(text);
        let mut acts = Self {
            wordless: !text.chars().any(char::is_alphanumeric),
            cheers: text.chars().any(|ch| "👍👌✅🎉🙏❤🥳💯😍👏🙌😊🤩✔".contains(ch)),
            ..Self::default()
        };
        for clause in clauses::split(&stripped.text) {
            let words = clean(&clause.text);
            if words.is_empty() {
                continue;
            }
            let act = act(&words, clause.asks);
            acts.asks |= clause.asks;
            if act == Act::Speak {
                acts.spoken += length(&words);
                let padded = format!(" {words} ");
                acts.marks_new |= has(&padded, lexicon::NEW_MARKS);
                acts.marks_change |= has(&padded, lexicon::CHANGE_MARKS);
                acts.requests |= begins(&padded, lexicon::REQUEST);
            } else if words == "now" || words == "next" {
                acts.moves_on = true;
            }
            acts.moves_on |= ["now ", "next ", "then ", "okay now ", "ok now ", "现在", "接下来", "下一步", "接着", "下面"]
                .iter()
                .any(|start| words.starts_with(start));
            acts.list.push(act);
        }
        // Code and quotations are something of one's own, too.
        if !stripped.hidden.is_empty() && !acts.has(Act::Speak) {
            acts.list.push(Act::Speak);
            acts.spoken += 3;
        }
        acts
    }

    pub(super) fn has(&self, act: Act) -> bool {
        self.list.contains(&act)
    }

    /// Whether the message does nothing but these acts.
    pub(super) fn only(&self, allowed: &[Act]) -> bool {
        !self.list.is_empty() && self.list.iter().all(|act| allowed.contains(act))
    }
}

/// Words in lower case without apostrophes and signs, one space between.
fn clean(text: &str) -> String {
    let words: Vec<String> = text
        .split(|ch: char| !(ch.is_alphanumeric() || ch == '\''))
        .map(|word| word.replace('\'', ""))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(" ")
}

fn length(words: &str) -> usize {
    words
        .split(' ')
        .map(|word| word.chars().filter(|&ch| crate::text::is_unspaced(ch)).count().max(1))
        .sum()
}

fn act(words: &str, asks: bool) -> Act {
    let core = core(words);
    let in_list = |list: &str| list.split('|').any(|entry| entry == words || entry == core);
    // "done?" asks, "done" accepts.
    if asks && in_list(lexicon::HESITATE) {
        Act::Hesitate
    } else if in_list(lexicon::DROP) {
        Act::Drop
    } else if in_list(lexicon::ACCEPT) && !asks {
        Act::Accept
    } else if in_list(lexicon::ANSWER) {
        Act::Answer
    } else if in_list(lexicon::HESITATE) {
        Act::Hesitate
    } else {
        Act::Speak
    }
}

/// The clause without polite words at its ends; itself if nothing else is left.
fn core(words: &str) -> String {
    let mut list: Vec<&str> = words.split(' ').collect();
    let polite = |word: &str| POLITE.split(' ').any(|known| known == word);
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
        let whole = [lexicon::DROP, lexicon::ACCEPT, lexicon::ANSWER, lexicon::HESITATE]
            .iter()
            .any(|list| list.split('|').any(|entry| entry == core));
        match next {
            Some(shorter) if !whole => core = shorter,
            _ => return core,
        }
    }
}

fn has(padded: &str, list: &str) -> bool {
    list.split('|').filter(|entry| !entry.is_empty()).any(|entry| {
        if entry.is_ascii() { padded.contains(&format!(" {entry} ")) } else { padded.contains(entry) }
    })
}

fn begins(padded: &str, list: &str) -> bool {
    let words: Vec<&str> = padded.split_whitespace().collect();
    let skip = words.iter().take_while(|word| POLITE.split(' ').any(|known| known == **word)).count();
    let start = format!(" {} ", words[skip.min(words.len())..].join(" "));
    list.split('|').filter(|entry| !entry.is_empty()).any(|entry| {
        if entry.is_ascii() {
            start.starts_with(&format!(" {entry} ")) || padded.starts_with(&format!(" {entry} "))
        } else {
            padded.trim_start().chars().take(8).collect::<String>().contains(entry)
        }
    })
}
