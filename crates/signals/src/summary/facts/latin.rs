//! Names and numbers among words with spaces between them.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::content::FileKind;
use crate::text::is_han;

const NAME_WORDS_MAX: usize = 4;
const MONTHS: &str = "jan feb mar apr may jun jul aug sep sept oct nov dec january february march april june july august september october november december";
const UNITS: &str = "km m cm mm mi mile miles kg g lb lbs pound pounds kb mb gb tb ms s sec second seconds min mins minute minutes h hr hrs hour hours day days week weeks month months year years night nights people person guests room rooms euro euros eur usd dollar dollars yen yuan rmb gbp chf percent % °c °f degrees k million billion tokens rows lines users requests px fps hz ghz mhz w kw kwh l ml ppm am pm x times items pages words euros/night";
/// Words that begin a sentence with a capital and are no names.
const STARTERS: &str = "the a an i im ive ill id we weve well you youre youve they he she it its this that thats these those is are was were am do does did can could would should will shall may might what whats who where when why how which whose if and but or so because then also please yes no not ok okay thanks thank hi hello hey let lets my your our their his her in on at for from to with by as of there here after before since while use try book maybe sure great good nice now just both each some any all have has had dear first second third next finally however run see note make add get go take ask tell show give find check look write create open sorry perfect right wrong well today tomorrow yesterday once until unless though although another other more most many much only even still again never always nothing something everything everyone anyone later actually really cool fine indeed exactly remember forget keep set put call send read buy pay need want think know is isnt dont doesnt cant wont didnt ps btw tldr lol";

static STARTER_SET: LazyLock<BTreeSet<&str>> = LazyLock::new(|| STARTERS.split(' ').collect());

/// Adds what one line holds.
pub(super) fn find(line: &str, found: &mut Vec<String>) {
    let words: Vec<Word<'_>> = line.split_whitespace().flat_map(runs).map(Word::new).collect();
    let heading = line.trim_start().starts_with(['#', '|']) || is_title(&words);
    let mut at = 0;
    while let Some(word) = words.get(at) {
        let rest = &words[at..];
        at += if let Some(fact) = link_or_file(word) {
            found.push(fact);
            1
        } else if let Some((fact, count)) = number(rest) {
            found.push(fact);
            count
        } else if let Some((fact, count)) = name(rest, at == 0 || words[at - 1].ends).filter(|_| !heading) {
            found.extend(fact);
            count
        } else {
            1
        };
    }
}

/// Chinese writes "用SQLite吧" without spaces: the foreign word is one of its own.
fn runs(word: &str) -> impl Iterator<Item = &str> {
    let whole = word.contains("://");
    let mut rest = word;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let differs = |ch: char| ch.is_alphanumeric() && is_han(ch) != is_han(first);
        let end = if whole { rest.len() } else { rest.find(differs).unwrap_or(rest.len()) };
        let (run, after) = rest.split_at(end);
        rest = after;
        Some(run)
    })
}

/// A word, without the punctuation around it.
struct Word<'a> {
    raw: &'a str,
    bare: &'a str,
    /// A sentence ends after it.
    ends: bool,
    /// A comma or bracket stands after it.
    breaks: bool,
}

impl<'a> Word<'a> {
    fn new(raw: &'a str) -> Self {
        let outer = |ch: char| !(ch.is_alphanumeric() || "$€£¥%°/_".contains(ch));
        let bare = raw.trim_matches(outer);
        let bare = bare.strip_suffix("'s").or_else(|| bare.strip_suffix("’s")).unwrap_or(bare);
        let closing = raw.trim_end_matches(['"', '”', ')', '*', '_']);
        let ends = closing.ends_with(['.', '!', '?', ':', '。', '！', '？', '：']) || bare.is_empty();
        Self { raw, bare, ends, breaks: ends || raw.ends_with([',', ';', ')', '"', '”', '，', '；']) }
    }

    fn lower(&self) -> String {
        self.bare.chars().filter(|ch| *ch != '\'' && *ch != '’').flat_map(char::to_lowercase).collect()
    }
}

fn has(list: &str, word: &str) -> bool {
    list.split(' ').any(|entry| entry == word)
}

/// A line in capitals, or a heading In Title Case, names nothing.
fn is_title(words: &[Word<'_>]) -> bool {
    let capital = words.iter().filter(|word| word.bare.starts_with(char::is_uppercase)).count();
    words.len() >= 6 && capital * 3 > words.len() * 2
}

fn link_or_file(word: &Word<'_>) -> Option<String> {
    if let Some(at) = word.raw.find("http://").or_else(|| word.raw.find("https://")) {
        let link = &word.raw[at..];
        let end = link.find(|ch: char| "\"'<>)]}，。；、）」”".contains(ch)).unwrap_or(link.len());
        let link = link[..end].trim_end_matches(['.', ',', ';', ':', '!', '?']);
        return (link.len() > 10).then(|| link.to_owned());
    }
    // Chinese around a name has no spaces: "看main.rs的第三行".
    let inside = |ch: char| ch.is_alphanumeric() && !is_han(ch) || "._-/@+".contains(ch);
    let part = word.bare.split(|ch| !inside(ch)).find(|part| part.contains('.'))?;
    let part = part.trim_matches(['.', '-', '/']);
    let (stem, ending) = part.rsplit_once('.')?;
    let named = !stem.is_empty() && stem.chars().any(char::is_alphabetic) && ending.len() >= 2;
    if part.contains('@') {
        return (named && !part.starts_with('@')).then(|| part.to_owned());
    }
    let small = ending.chars().all(|ch| ch.is_ascii_lowercase() || ch.is_ascii_digit()) && !ending.is_empty();
    let short = ending.len() == 1 && has("c h r", ending) && stem.len() >= 2;
    let known = FileKind::of_name(part) != FileKind::Other;
    ((named || short) && small && known && stem.chars().any(char::is_alphabetic)).then(|| part.to_owned())
}

/// An amount, a date, a time or a version, and how many words it takes.
fn number(words: &[Word<'_>]) -> Option<(String, usize)> {
    let word = words.first()?;
    let bare = word.bare;
    if !bare.contains(|ch: char| ch.is_ascii_digit())
        || !bare.chars().all(|ch| ch.is_ascii() || "€£¥°".contains(ch))
    {
        return None;
    }
    let next = words.get(1).filter(|_| !word.breaks);
    let two = |second: &Word<'_>| (format!("{bare} {}", second.bare), 2);
    let all = |text: &str, also: &str| {
        !text.is_empty() && text.chars().all(|ch| ch.is_ascii_digit() || also.contains(ch))
    };
    if bare.starts_with(['$', '€', '£', '¥']) {
        let scale = next.filter(|next| has("k million billion", &next.lower()));
        return Some(scale.map_or((bare.to_owned(), 1), two));
    }
    let parts = |sign: char| bare.split(sign).filter(|part| all(part, "")).count();
    let date = all(bare, "-/") && (parts('-') == 3 || parts('/') == 3);
    let version =
        bare.strip_prefix(['v', 'V']).is_some_and(|rest| all(rest, ".")) || all(bare, ".") && parts('.') >= 3;
    if date || version {
        return Some((bare.to_owned(), 1));
    }
    if all(bare, ":") && parts(':') == 2 {
        let half = next.filter(|next| matches!(next.lower().as_str(), "am" | "pm" | "a.m" | "p.m"));
        return Some(half.map_or((bare.to_owned(), 1), two));
    }
    let digits = bare.trim_start_matches(|ch: char| ch.is_ascii_digit() || ".,".contains(ch));
    if digits.len() < bare.len() && !digits.is_empty() {
        return has(UNITS, &digits.to_lowercase()).then(|| (bare.to_owned(), 1));
    }
    if !all(bare, ".,") {
        return None;
    }
    match next {
        Some(next) if has(MONTHS, &next.lower()) && next.bare.starts_with(char::is_uppercase) => {
            Some(two(next))
        }
        Some(next) if has(UNITS, &next.lower()) => Some(two(next)),
        _ => {
            // "2026年" is a date in Chinese, and found there.
            let other = words.get(1).is_some_and(|next| next.raw.starts_with(is_han));
            let year = !other && bare.len() == 4 && (bare.starts_with("19") || bare.starts_with("20"));
            year.then(|| (bare.to_owned(), 1))
        }
    }
}

/// A run of words with capitals; nothing to add if only the sentence made them so.
fn name(words: &[Word<'_>], starts_sentence: bool) -> Option<(Option<String>, usize)> {
    let is_name = |word: &Word<'_>| {
        word.bare.starts_with(|ch: char| ch.is_uppercase())
            && word.bare.chars().all(|ch| ch.is_alphanumeric() && !is_han(ch) || "-'’&+._".contains(ch))
    };
    let mut count = 0;
    for word in words.iter().take(NAME_WORDS_MAX) {
        if !is_name(word) {
            break;
        }
        count += 1;
        if word.breaks {
            break;
        }
    }
    let run = &words[..count];
    let (first, _) = run.split_first()?;
    let plain = STARTER_SET.contains(first.lower().as_str());
    let own = |word: &Word<'_>| word.bare.chars().skip(1).any(char::is_uppercase);
    let skipped = usize::from(plain);
    let named = &run[skipped..];
    let alone_at_start = starts_sentence && !plain && named.len() == 1 && !own(first);
    let Some(last) = named.last().filter(|_| !alone_at_start) else { return Some((None, count)) };
    if named.iter().all(|word| STARTER_SET.contains(word.lower().as_str()) || word.bare.chars().count() < 2) {
        return Some((None, count));
    }
    let mut fact = named.iter().map(|word| word.bare).collect::<Vec<_>>().join(" ");
    // "Rust 1.95" and "March 12" are one thing.
    let follower = words.get(count).filter(|_| !last.breaks);
    let goes_on = follower.filter(|next| {
        let digits = next.bare.chars().all(|ch| ch.is_ascii_digit() || ch == '.') && !next.bare.is_empty();
        let day =
            ["st", "nd", "rd", "th"].iter().find_map(|end| next.bare.strip_suffix(end)).unwrap_or(next.bare);
        let month =
            has(MONTHS, &last.lower()) && !day.is_empty() && day.bytes().all(|byte| byte.is_ascii_digit());
        month || digits && next.bare.contains('.')
    });
    if let Some(next) = goes_on {
        fact.push(' ');
        fact.push_str(next.bare);
        return Some((Some(fact), count + 1));
    }
    Some((Some(fact), count))
}
