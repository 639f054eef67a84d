//! Taking a message apart: what is quoted or code is set aside, the rest is cut into clauses.

use std::sync::LazyLock;

use super::MentionKind;
use crate::phrases::table::INTENT;
use crate::text::{fold, is_invisible};

/// A message without what it only shows.
#[derive(Debug, Default)]
pub(crate) struct Stripped {
    /// Lower case, plain width, invisible characters gone.
    pub(crate) text: String,
    /// What was set aside, and why.
    pub(crate) hidden: Vec<(MentionKind, String)>,
}

/// A stretch of text between punctuation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Clause<'a> {
    pub(crate) text: &'a str,
    /// Ends with a question mark.
    pub(crate) asks: bool,
    /// Follows a condition in the same sentence: "if it fails, start over".
    pub(crate) conditional: bool,
    /// The message has no other clause of any length.
    pub(crate) alone: bool,
}

const OPENERS: &str = "\"“「『《‘";
const CLOSERS: &str = "\"”」』》’";
/// A quotation longer than this is an apostrophe that was taken for one.
const QUOTE_CHARS_MAX: usize = 2_000;

/// Sets code and quotations aside.
pub(crate) fn strip(text: &str) -> Stripped {
    let mut out = Stripped::default();
    let mut fenced: Option<String> = None;
    // Two lines that begin with a name and a colon are somebody else's conversation.
    let transcript = text.lines().filter(|line| is_speaker_line(line)).count() >= 2;
    for line in text.lines() {
        let trimmed = line.trim_start();
        if trimmed.starts_with("```") || trimmed.starts_with("~~~") {
            match fenced.take() {
                Some(code) => out.hidden.push((MentionKind::Code, code)),
                None => fenced = Some(String::new()),
            }
        } else if let Some(code) = &mut fenced {
            code.push_str(&plain(line));
            code.push('\n');
        } else if trimmed.starts_with('>') || (transcript && is_speaker_line(line)) {
            out.hidden.push((MentionKind::Quoted, plain(trimmed)));
        } else if looks_like_code(trimmed) {
            out.hidden.push((MentionKind::Code, plain(trimmed)));
        } else {
            strip_line(&plain(line), &mut out);
            out.text.push('\n');
        }
    }
    if let Some(code) = fenced {
        out.hidden.push((MentionKind::Code, code));
    }
    out
}

fn plain(line: &str) -> String {
    if line.is_ascii() {
        return line.to_ascii_lowercase();
    }
    line.chars()
        .filter(|&ch| !is_invisible(ch))
        .map(|ch| match ch {
            // Curly quotes stay what they are: they say where a quotation ends.
            '‘' => '‘',
            ch => fold(ch),
        })
        .flat_map(char::to_lowercase)
        .collect()
}

fn is_speaker_line(line: &str) -> bool {
    let Some(at) = line.find([':', '：']) else { return false };
    let name = line[..at].trim();
    let words = name.split(' ').count();
    !name.is_empty()
        && name.chars().count() <= 20
        && words <= 2
        && line[at..].chars().count() > 3
        && name.chars().all(|ch| ch.is_alphanumeric() || ch == ' ')
}

/// Lines of programs, logs and markup.
fn looks_like_code(line: &str) -> bool {
    let is_sign = |ch: &char| {
        matches!(ch, '{' | '}' | '(' | ')' | ';' | '=' | '<' | '>' | '$' | '\\' | '|' | '#' | '_' | '[' | ']')
    };
    let signs = line.chars().filter(is_sign).count();
    let starts = ["$ ", "# ", "// ", "/* ", "import ", "def ", "fn ", "let ", "const ", "var ", "<"];
    let identifier = line.contains("_") && !line.contains(' ');
    let command = line.starts_with('/') && line.len() > 1 && !line[1..].starts_with(' ');
    signs >= 3 || identifier || command || (signs >= 1 && starts.iter().any(|start| line.starts_with(start)))
}

fn strip_line(line: &str, out: &mut Stripped) {
    if line.is_ascii() && !line.contains(['`', '"', '\'']) {
        return out.text.push_str(line);
    }
    let chars: Vec<char> = line.chars().collect();
    let mut at = 0;
    while let Some(&ch) = chars.get(at) {
        let (close, kind) = if ch == '`' {
            ('`', MentionKind::Code)
        } else if let Some(pair) = OPENERS.chars().position(|open| open == ch) {
            (CLOSERS.chars().nth(pair).unwrap_or(ch), MentionKind::Quoted)
        } else if ch == '\'' && at.checked_sub(1).is_none_or(|before| !chars[before].is_alphanumeric()) {
            ('\'', MentionKind::Quoted)
        } else {
            out.text.push(ch);
            at += 1;
            continue;
        };
        let closes = |&(place, other): &(usize, &char)| {
            let inside_word =
                *other == '\'' && chars.get(place + 1).is_some_and(|next| next.is_alphanumeric());
            (*other == close || (close == '’' && *other == '\'')) && !inside_word
        };
        let end = chars.iter().enumerate().skip(at + 1).take(QUOTE_CHARS_MAX).find(closes);
        if let Some((end, _)) = end {
            out.hidden.push((kind, chars[at + 1..end].iter().collect()));
            // What stood there is something: "the 'new chat' button" has a hole, not a gap.
            out.text.push('\u{fffc}');
            at = end + 1;
        } else {
            at += 1;
        }
    }
}

static CONDITIONS: LazyLock<Vec<String>> = LazyLock::new(|| INTENT.entries("condition"));

/// Cuts text into clauses at punctuation and line breaks.
pub(crate) fn split(text: &str) -> impl Iterator<Item = Clause<'_>> {
    let ends_sentence = |ch: char| matches!(ch, '.' | '!' | '?' | '。' | '\n' | '…');
    let breaks = |ch: char| matches!(ch, ',' | ';' | ':' | '、' | '—' | '–' | '(' | ')' | '~' | '/');
    let mut clauses: Vec<Clause<'_>> = Vec::new();
    let mut from = 0;
    let mut conditional = false;
    let mut previous = ' ';
    for (at, ch) in text.char_indices().chain([(text.len(), '\n')]) {
        // A spaced hyphen is a dash; one inside a word is not.
        let dash = ch == '-' && previous == ' ';
        if ends_sentence(ch) || breaks(ch) || dash {
            let trimmed = text[from..at].trim();
            if !trimmed.is_empty() {
                let condition = CONDITIONS.iter().any(|word| trimmed.starts_with(word.as_str()));
                clauses.push(Clause {
                    text: trimmed,
                    asks: ch == '?',
                    conditional: conditional || condition,
                    alone: false,
                });
                conditional = (conditional || condition) && !ends_sentence(ch);
            } else if let (Some(last), '?') = (clauses.last_mut(), ch) {
                last.asks = true;
            }
            from = at + ch.len_utf8();
        }
        previous = ch;
    }
    let long = |clause: &Clause<'_>| clause.text.chars().filter(|ch| ch.is_alphanumeric()).nth(3).is_some();
    let others = clauses.iter().filter(|clause| long(clause)).count();
    for clause in &mut clauses {
        clause.alone = others <= usize::from(long(clause));
    }
    clauses.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_and_code_are_set_aside() {
        let stripped =
            strip("the \"New Chat\" button, don't press `start over`\n> new topic\n```\nnew chat\n```");
        assert_eq!(stripped.text.trim(), "the \u{fffc} button, don't press \u{fffc}");
        assert_eq!(stripped.hidden.len(), 4);
    }

    #[test]
    fn clauses_know_conditions_and_questions() {
        let all: Vec<Clause<'_>> = split("if it fails, start over. new topic: why?").collect();
        assert!(all[1].conditional && !all[2].conditional && all[3].asks);
    }
}
