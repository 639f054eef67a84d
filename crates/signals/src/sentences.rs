//! Sentences, and which of them ask.

use std::sync::LazyLock;

use crate::phrases::lists::{Phrases, Words};
use crate::phrases::table::SENTENCE;
use crate::phrases::{Patterns, tokens};
use crate::text::fold;

/// Sentences of one message that are looked at; the rest of a long text repeats or elaborates.
pub(crate) const SENTENCES_MAX: usize = 200;
/// A longer sentence without a mark is no question, and a longer question no courtesy.
const CHARS_MAX: usize = 160;

/// Cuts a text after full stops, question marks and line breaks; what is blank is left out.
///
/// A full stop ends a sentence only before a space, so that "3.5" and "main.rs" stay whole.
pub(crate) fn sentences(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            if rest.is_empty() {
                return None;
            }
            let end = sentence_end(rest);
            let (sentence, after) = rest.split_at(end);
            rest = after;
            let sentence = sentence.trim();
            if sentence.chars().any(char::is_alphanumeric) {
                return Some(sentence);
            }
        }
    })
    .take(SENTENCES_MAX)
}

fn sentence_end(text: &str) -> usize {
    let mut chars = text.char_indices().peekable();
    while let Some((at, ch)) = chars.next() {
        let end = at + ch.len_utf8();
        let next = chars.peek().map(|&(_, next)| next);
        let ends = match ch {
            '\n' | '。' | '！' | '？' | '；' => true,
            '.' | '!' | '?' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&text[..at]),
            _ => false,
        };
        // "What?!" and "why？？" are one sentence.
        let goes_on = ch != '\n' && next.is_some_and(|next| ".!?！？。\"”".contains(next));
        if ends && !goes_on {
            return end;
        }
    }
    text.len()
}

/// "e.g." and "1." end no sentence.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(char::is_whitespace).next().unwrap_or(before);
    let word = word.trim_start_matches(['(', '"']);
    let number = !word.is_empty() && word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    let list_item = number && before.rsplit('\n').next().is_some_and(|line| line.trim() == word);
    // "U.S." and "p.m."
    let initials = word.len() > 1 && word.split('.').all(|part| part.len() == 1 && part.is_ascii());
    list_item
        || initials
        || matches!(word, "e.g" | "i.e" | "Mr" | "Mrs" | "Ms" | "Dr" | "vs" | "No" | "St" | "approx")
}

static VERBS: LazyLock<Words> = LazyLock::new(|| SENTENCE.set("verb"));
static SUBJECTS: LazyLock<Words> = LazyLock::new(|| SENTENCE.set("subject"));
static MEASURES: LazyLock<Words> = LazyLock::new(|| SENTENCE.set("measure"));
static ASKING_CHINESE: LazyLock<Vec<&str>> = LazyLock::new(|| SENTENCE.words("asking zh"));
static COURTESIES: LazyLock<Phrases> = LazyLock::new(|| SENTENCE.anywhere("courtesy"));

/// Whether a sentence asks: by its mark, or as a question that was typed without one.
pub(crate) fn asks(sentence: &str) -> bool {
    let ending = sentence.trim_end_matches(|ch: char| !ch.is_alphanumeric() && fold(ch) != '?');
    if fold(ending.chars().last().unwrap_or(' ')) == '?' {
        return true;
    }
    let chars = sentence.chars().count();
    if chars > CHARS_MAX || sentence.ends_with(['.', '。', '!', '！', ':', '：']) {
        return false;
    }
    if ending.ends_with(['吗', '呢']) {
        return true;
    }
    if ASKING_CHINESE.iter().any(|word| sentence.contains(word)) {
        return !["不管", "无论", "没什么", "任何", "不知道", "告诉", "知道了"]
            .iter()
            .any(|word| sentence.contains(word));
    }
    let mut words = sentence.split_whitespace().map(|word| {
        word.chars().filter(|ch| ch.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>()
    });
    let first = words.next().unwrap_or_default();
    let (second, third) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    // "What a day" and "when it rains" do not ask; a question without its mark has its verb early.
    match first.as_str() {
        "what" | "which" | "whose" | "how" => {
            VERBS.has(&second) || VERBS.has(&third) || MEASURES.has(&second)
        }
        "who" | "where" | "when" | "why" => VERBS.has(&second),
        "whats" | "whos" | "wheres" | "hows" => !second.is_empty(),
        first => VERBS.has(first) && SUBJECTS.has(&second),
    }
}

static REQUESTS: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(SENTENCE, "request"));
static REQUESTS_POLITELY: LazyLock<Patterns> = LazyLock::new(|| Patterns::new(SENTENCE, "request polite"));
/// A request begins early.
const REQUEST_TOKENS: usize = 16;

/// Whether a message begins with a request: "translate this", 帮我写一个.
pub(crate) fn requests(text: &str) -> bool {
    let words = tokens(text, REQUEST_TOKENS).list;
    let mut rest = &words[..];
    while let Some(polite) = REQUESTS_POLITELY.begin(rest) {
        if REQUESTS.begin(rest).is_some() {
            return true;
        }
        rest = &rest[polite..];
    }
    REQUESTS.begin(rest).is_some()
}

/// A question that is asked of everybody and leaves nothing open: "anything else?"
pub(crate) fn is_courtesy(question: &str) -> bool {
    let lower = question.to_lowercase();
    lower.chars().count() <= CHARS_MAX && COURTESIES.any_in(&lower)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_where_people_end_them() {
        let cut = |text| sentences(text).collect::<Vec<_>>();
        assert_eq!(cut("Use main.rs v1.5. Why?! Ok"), ["Use main.rs v1.5.", "Why?!", "Ok"]);
        assert_eq!(cut("U.S. law. At 5 p.m. today"), ["U.S. law.", "At 5 p.m. today"]);
        assert_eq!(cut("好的。你去哪？\n\n1. first\n..."), ["好的。", "你去哪？", "1. first"]);
        assert_eq!(sentences(&"a. ".repeat(100_000)).count(), SENTENCES_MAX);
    }

    #[test]
    fn questions_are_known_with_and_without_their_mark() {
        for text in [
            "Why?",
            "which one is it",
            "how do i install it",
            "去哪？",
            "你喜欢什么",
            "这样行吗",
            "is it open",
            "what time is it",
            "Really? 😀",
            "(ok?)",
            "can you do it",
        ] {
            assert!(asks(text), "{text}");
        }
        for text in [
            "What a day!",
            "when it rains I stay home",
            "好的",
            "没什么",
            "I see.",
            "",
            "is",
            "无论怎么说都行",
            "How nice",
        ] {
            assert!(!asks(text), "{text}");
        }
        for text in [
            "translate this line",
            "please, can you do it",
            "good morning! recommend a film",
            "帮我写一个",
            "讲个笑话",
        ] {
            assert!(requests(text), "{text}");
        }
        for text in ["the later one", "做前端的", "three", "I work here", "", "translate"] {
            assert!(!requests(text), "{text}");
        }
        assert!(
            is_courtesy("Is there anything else I can do?") && !is_courtesy("Which hotel do you prefer?")
        );
    }
}
