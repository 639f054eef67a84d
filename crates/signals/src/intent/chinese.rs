//! The wish to start over, in Chinese: there are no spaces, so the clause is covered by pieces.

use std::sync::LazyLock;

use super::clauses::Clause;
use super::{Finding, Match, MentionKind};
use crate::phrases::pattern::Pattern;
use crate::phrases::simple;
use crate::phrases::table::INTENT;

static LISTED: LazyLock<Vec<&str>> = LazyLock::new(|| INTENT.words("listed zh"));
static PARAPHRASES: LazyLock<Vec<Pattern<char>>> = LazyLock::new(|| {
    let lines = INTENT.lines("paraphrase zh");
    lines.map(|line| Pattern::parse(line, |choice| choice.chars().collect())).collect()
});
static FRAMES: LazyLock<Vec<Vec<char>>> =
    LazyLock::new(|| INTENT.words("frame zh").iter().map(|frame| frame.chars().collect()).collect());
static NEGATIONS: LazyLock<Vec<&str>> = LazyLock::new(|| INTENT.words("negation zh"));
static ASKING: LazyLock<Vec<&str>> = LazyLock::new(|| INTENT.words("asking zh"));
static NEXT: LazyLock<Vec<&str>> = LazyLock::new(|| INTENT.words("next zh"));
static SOUNDS: LazyLock<Vec<&str>> = LazyLock::new(|| INTENT.words("sound zh"));

const CHARS_MAX: usize = 60;
const KEYS: &str = "新换重头另别其忘清聊说谈讲问关翻零此打岔转切忽略不心唤从始下抛就当";
pub(super) fn judge(clause: &Clause<'_>) -> Finding {
    if clause.text.is_ascii() {
        return Finding::Nothing;
    }
    let chars: Vec<char> = clause.text.chars().filter(|ch| !ch.is_whitespace()).map(simple).collect();
    if chars.len() > CHARS_MAX || !chars.iter().any(|&ch| crate::text::is_han(ch)) {
        return Finding::Nothing;
    }
    // One of these is in every wish; most clauses have none and need no closer look.
    if !chars.iter().any(|ch| KEYS.contains(*ch)) {
        return Finding::Nothing;
    }
    let text = |from: usize, to: usize| chars[from..to].iter().collect::<String>();
    let mut mention = Finding::Nothing;
    // The longest phrase first: "开始新的对话" before "新的对话".
    let mut found: Vec<(usize, usize, Match)> = Vec::new();
    for phrase in LISTED.iter() {
        let wanted: Vec<char> = phrase.chars().collect();
        let places = chars.windows(wanted.len()).enumerate().filter(|(_, window)| **window == wanted[..]);
        found.extend(places.map(|(at, _)| (wanted.len(), at, Match::Exact)));
    }
    for at in 0..chars.len() {
        let longest =
            PARAPHRASES.iter().filter_map(|pattern| pattern.longest(&chars[at..], &|a, b| a == b)).max();
        found.extend(longest.filter(|&length| length > 1).map(|length| (length, at, Match::Paraphrase)));
    }
    found.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
    for &(length, at, how) in &found {
        let phrase = text(at, at + length);
        match around(&text(0, at), &text(at + length, chars.len()), clause) {
            // "Another one" is said of colours and names as well: it must stand alone.
            None if phrase == "换一个" && !clause.alone => mention = Finding::Mention(MentionKind::Inside),
            None => {
                let listed = LISTED.iter().any(|entry| phrase.contains(entry));
                let how = if listed { Match::Exact } else { how };
                return Finding::Wish { phrase, how };
            }
            Some(kind) => {
                if how == Match::Exact || mention == Finding::Nothing {
                    mention = Finding::Mention(kind);
                }
            }
        }
    }
    if found.is_empty() { misspelled(&chars, clause) } else { mention }
}

/// What stands around a phrase; nothing if it leaves the phrase a wish.
fn around(left: &str, right: &str, clause: &Clause<'_>) -> Option<MentionKind> {
    let denied = NEGATIONS.iter().any(|word| left.ends_with(word) || covers_end(left, word));
    if denied {
        return Some(MentionKind::Negated);
    }
    if clause.conditional {
        return Some(MentionKind::Inside);
    }
    let follows =
        NEXT.iter().any(|word| right.trim_start_matches(['吧', '了', '，', '啊', '哈']).starts_with(word));
    if covered(left) && (covered(right) || follows) {
        return None;
    }
    let asks = clause.asks || ASKING.iter().any(|word| left.contains(word) || right.contains(word));
    Some(if asks { MentionKind::Question } else { MentionKind::Inside })
}

/// A negation a few polite words before the phrase: "别给我开新对话".
fn covers_end(left: &str, word: &str) -> bool {
    left.rfind(word).is_some_and(|at| covered(&left[at + word.len()..]))
}

/// Whether a text consists of polite and empty words only.
fn covered(text: &str) -> bool {
    let chars: Vec<char> = text.chars().filter(|ch| ch.is_alphanumeric() || *ch == '\u{fffc}').collect();
    let mut reachable = vec![false; chars.len() + 1];
    reachable[0] = true;
    for from in 0..chars.len() {
        if !reachable[from] {
            continue;
        }
        for frame in FRAMES.iter().filter(|frame| chars[from..].starts_with(frame)) {
            reachable[from + frame.len()] = true;
        }
    }
    reachable[chars.len()]
}

/// The clause with one or two characters typed wrong, left out or doubled.
fn misspelled(chars: &[char], clause: &Clause<'_>) -> Finding {
    for phrase in LISTED.iter() {
        let wanted: Vec<char> = phrase.chars().collect();
        for from in 0..chars.len() {
            for length in [wanted.len(), wanted.len() + 1, wanted.len().saturating_sub(1)] {
                let Some(window) = chars.get(from..from + length) else { continue };
                let Some(distance) = near(window, &wanted) else { continue };
                let left: String = chars[..from].iter().collect();
                let right: String = chars[from + length..].iter().collect();
                if around(&left, &right, clause).is_none() {
                    let how = Match::Typo { distance };
                    return Finding::Wish { phrase: (*phrase).to_owned(), how };
                }
            }
        }
    }
    Finding::Nothing
}

fn near(window: &[char], wanted: &[char]) -> Option<u8> {
    let sounds_like = |a: char, b: char| SOUNDS.iter().any(|group| group.contains(a) && group.contains(b));
    if window.len() == wanted.len() {
        let wrong: Vec<(char, char)> =
            window.iter().zip(wanted).filter(|(a, b)| a != b).map(|(&a, &b)| (a, b)).collect();
        let limit = if wanted.len() >= 4 { 2 } else { 1 };
        let swapped = matches!(wrong[..], [(a, b), (c, d)] if a == d && b == c) && wanted.len() >= 4;
        let sound = wrong.len() <= limit && wrong.iter().all(|&(a, b)| sounds_like(a, b));
        return (!wrong.is_empty() && (sound || swapped)).then_some(wrong.len() as u8);
    }
    if wanted.len() < 4 {
        return None;
    }
    // One character too many must be a doubled one; one too few may be any but the first.
    let (long, short) = if window.len() > wanted.len() { (window, wanted) } else { (wanted, window) };
    let at = (0..long.len()).find(|&at| long[..at] == short[..at] && long[at + 1..] == short[at..])?;
    let doubled = at > 0 && long[at] == long[at - 1] || long.get(at + 1) == Some(&long[at]);
    let missing = long.len() == wanted.len() && at > 0;
    (missing || (long.len() == window.len() && doubled)).then_some(1)
}
