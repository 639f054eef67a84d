//! X-11: a title: the first message of the person that says what a session is about, or a sentence of it. It quotes and never
//! rewrites, and once there is one it stays: what is said later changes no title. A courtesy, a command, a tag or "test" is none.

use std::sync::LazyLock;

use super::Summary;
use crate::cues::CUES;
use crate::intent::{explicit_intent, is_bare_wish};
use crate::phrases::lists::Words;
use crate::phrases::table::TITLE;
use crate::role::Role;
use crate::sentences::{is_courtesy, sentences};
use crate::text::{Reading, Window, fold, is_unspaced};

/// How many of the first messages of a session are looked at: what it is about is said early.
pub const TITLE_MESSAGES_MAX: usize = 8;

/// How many sentences of a message may be its title.
const SENTENCES_MAX: usize = 6;
/// How many lines of a message are looked at: what is asked stands above what is pasted, or below it.
const LINES_MAX: usize = 200;
/// How many characters a title without spaces has at least, and how many letters one of a single word.
const CHARACTERS_MIN: usize = 2;
const LETTERS_MIN: usize = 4;
/// A longer clause leads to nothing: it says something.
const LEAD_CHARS_MAX: usize = 40;
/// What a title in parentheses or quotes would be is not cut out of it.
const ENDS: [char; 10] = ['.', '。', ',', '，', ';', '；', ':', '：', '\\', '…'];

static NOTHING: LazyLock<Words> = LazyLock::new(|| TITLE.clauses("nothing"));
static LEADS: LazyLock<Words> = LazyLock::new(|| TITLE.clauses("lead"));
static DAYS: LazyLock<Words> = LazyLock::new(|| TITLE.clauses("day"));
static MATERIAL: LazyLock<Vec<String>> = LazyLock::new(|| TITLE.starts("material"));
static MARKERS: LazyLock<Vec<String>> = LazyLock::new(|| TITLE.starts("markers"));

/// Finds the title of a session in its first messages; nothing if nothing was said in them that could be one.
///
/// ```
/// use segue_signals::{Role, summary::title};
/// let said = [
///     (Role::User, "Good morning! How are you?"),
///     (Role::Assistant, "Fine, thanks. What can I do for you?"),
///     (Role::User, "Please find a quiet hotel in Lisbon. I travel in April."),
/// ];
/// assert_eq!(title(&said).as_deref(), Some("Please find a quiet hotel in Lisbon"));
/// assert_eq!(title(&said[..2]), None);
/// ```
#[must_use]
pub fn title(said: &[(Role, &str)]) -> Option<String> {
    let said = &said[..said.len().min(TITLE_MESSAGES_MAX)];
    // Where the agent spoke first, that is what it is about.
    let spoken = |(role, _): &&(Role, &str)| matches!(role, Role::User | Role::Assistant);
    let first = said.iter().filter(spoken).take_while(|(role, _)| *role == Role::Assistant);
    let own = said.iter().filter(|(role, _)| *role == Role::User);
    first.chain(own).find_map(|(_, text)| of_message(text))
}

/// What a line of a message is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Line {
    Prose,
    /// `# Plan`
    Heading,
    /// One of a list, or a quotation.
    Item,
    /// Pasted: code, a log, a difference, a table.
    Material,
}

fn of_message(text: &str) -> Option<String> {
    let text = without_tags(text);
    if text.trim_start().starts_with('/') || is_bare_wish(&text) {
        return None;
    }
    let lines = lines(&text);
    // "Implement the following plan:" stands above what names it.
    let leads = lines.first().is_some_and(|(kind, line)| *kind == Line::Prose && line.ends_with([':', '：']));
    if leads && let Some((Line::Heading, heading)) = lines.get(1) {
        return trimmed(heading);
    }
    let of = |wanted: Line| {
        let lines = lines.iter().filter(move |(kind, _)| *kind == wanted);
        lines.map(|(_, line)| *line).collect::<Vec<_>>().join("\n")
    };
    let kinds = [Line::Prose, Line::Heading, Line::Item, Line::Material];
    trimmed(&kinds.into_iter().find_map(|kind| told(&of(kind), kind))?)
}

fn trimmed(found: &str) -> Option<String> {
    let line = found.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(ENDS).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Tells what each line is, without the signs of a list.
fn lines(text: &str) -> Vec<(Line, &str)> {
    let mut out = Vec::new();
    let mut fenced = false;
    let mut pasted = false;
    for line in text.lines().take(LINES_MAX) {
        let start = line.trim();
        if start.starts_with("```") || start.starts_with("~~~") {
            fenced = !fenced;
            continue;
        }
        let lower = start.to_lowercase();
        if start.is_empty() {
            continue;
        }
        let unmarked = without_marker(start);
        // What follows the head of a difference belongs to it.
        pasted |= lower.starts_with("diff --git") || lower.starts_with("traceback (");
        let is_material = fenced || pasted || is_material(line, &lower);
        let kind = match () {
            () if is_material => Line::Material,
            () if unmarked.len() == start.len() => Line::Prose,
            () if start.starts_with('#') => Line::Heading,
            () => Line::Item,
        };
        out.push((kind, if kind == Line::Material { start } else { unmarked }));
    }
    out
}

/// "- one", "2) two", "# three".
fn without_marker(line: &str) -> &str {
    let digits = line.trim_start_matches(|ch: char| ch.is_ascii_digit());
    let numbered = (digits.len() < line.len()).then(|| digits.strip_prefix(['.', ')', '、', '：'])).flatten();
    let rest = numbered.or_else(|| {
        let marker = MARKERS.iter().find(|marker| line.starts_with(marker.as_str()))?;
        Some(line.trim_start_matches(marker.as_str()))
    });
    // "-5 degrees" and "#2" are no items; "1、" needs no space.
    rest.filter(|rest| rest.starts_with(char::is_whitespace) || line.contains('、'))
        .map_or(line, str::trim_start)
}

/// Whether a line looks like code, a log or a table. An indented line of prose is prose.
fn is_material(line: &str, lower: &str) -> bool {
    let signs = lower.chars().filter(|ch| "{}<>=;|_\\/$[]()+*~^".contains(*ch)).count();
    let letters = lower.chars().filter(|ch| ch.is_alphabetic()).count();
    let link = !lower.contains(' ') && (lower.contains("://") || lower.contains('/'));
    MATERIAL.iter().any(|start| lower.starts_with(start.as_str()))
        || link
        || signs * 5 > letters
        || line.starts_with('\t') && signs > 1
}

/// Finds the first sentence that names a topic; else the first that is more than a courtesy.
fn told(text: &str, kind: Line) -> Option<String> {
    let mut summary = Summary::new();
    summary.observe(Role::User, text);
    let topics = summary.topics().into_iter().map(|topic| topic.to_lowercase());
    let topics: Vec<String> = topics.filter(|topic| !DAYS.has(topic)).collect();
    let names_topic = |sentence: &&str| {
        let sentence = sentence.to_lowercase();
        topics.iter().any(|topic| sentence.contains(topic.as_str()))
    };
    let names = sentences(text).map(without_lead).filter(|sentence| names_something(sentence));
    let mut names = names.take(if kind == Line::Prose { SENTENCES_MAX } else { 1 }).peekable();
    let first = names.peek().copied();
    names.find(names_topic).or(first).map(str::to_owned)
}

/// Whether a sentence is more than a courtesy, a "test" or a letter.
fn names_something(sentence: &str) -> bool {
    let plain: Vec<String> = sentence
        .split(|ch: char| !ch.is_alphanumeric() && fold(ch) != '\'')
        .map(|word| word.chars().filter(|ch| ch.is_alphanumeric()).collect::<String>().to_lowercase())
        .filter(|word| !word.is_empty())
        .collect();
    let characters = sentence.chars().filter(|ch| is_unspaced(*ch)).count();
    let letters = plain.iter().flat_map(|word| word.chars()).filter(|ch| ch.is_alphabetic()).count();
    let long = match characters {
        0 => plain.len() > 1 && letters > 1 || letters >= LETTERS_MIN,
        characters => characters >= CHARACTERS_MIN,
    };
    let asks_nothing = || is_courtesy(sentence) && plain.len() < 8;
    long && !NOTHING.has(&plain.join(" "))
        && !CUES.says_nothing(&Reading::new(sentence, Window::MESSAGE).tokens)
        && !asks_nothing()
}

/// Leaves out what only leads to the topic: "new topic:", "换个话题，", "ok, ".
fn without_lead(sentence: &str) -> &str {
    let mut rest = sentence;
    while let Some((lead, after)) =
        rest.split_once([',', '，', ':', '：', ';', '；', '、', '!', '！', '~', '～'])
    {
        let short = lead.chars().count() <= LEAD_CHARS_MAX;
        let plain: String =
            lead.trim().chars().map(fold).filter(|ch| *ch != '\'').flat_map(char::to_lowercase).collect();
        let leads = LEADS.has(&plain) || NOTHING.has(&plain) || explicit_intent(lead).is_start_over();
        if !short || !leads || after.trim().is_empty() {
            break;
        }
        rest = after.trim_start();
    }
    rest
}
/// Leaves out what programs put into messages: `<command-name>/clear</command-name>`, `<bash-input>ls</bash-input>`.
fn without_tags(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(open) = rest.find('<') {
        let (before, tagged) = rest.split_at(open);
        out.push_str(before);
        let name =
            tagged[1..].split(|ch: char| !(ch.is_ascii_alphanumeric() || ch == '-' || ch == '_')).next();
        let name = name.filter(|name| name.starts_with(|ch: char| ch.is_ascii_lowercase()));
        let closing = name.map(|name| format!("</{name}>"));
        let end = closing.and_then(|closing| tagged.find(&closing).map(|at| at + closing.len()));
        match end {
            Some(end) => rest = &tagged[end..],
            None => {
                out.push('<');
                rest = &tagged[1..];
            }
        }
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &[(Role, &str)], expected: Option<&str>) {
        assert_eq!(title(said).as_deref(), expected, "{said:?}");
    }

    #[test]
    fn x11_a_title_is_what_the_session_is_about() {
        use Role::{Assistant, System, Tool, User};
        check(&[], None);
        check(&[(User, " \n ")], None);
        check(&[(System, "Summary of the session before: tides"), (Tool, "{}")], None);
        for courtesy in [
            "hello",
            "嗯",
            "你好",
            "Thanks!",
            "ok",
            "hi there",
            "在吗",
            "👍",
            "q1",
            "test",
            "测试一下",
            "/new",
        ] {
            check(&[(User, courtesy)], None);
        }
        check(&[(User, "换个话题")], None);
        check(&[(User, "换个话题"), (User, "嗯")], None);
        check(&[(User, "let's talk about something else"), (Assistant, "Gladly. What about?")], None);
        check(
            &[(User, "Good morning! What should I cook for six people tonight?")],
            Some("What should I cook for six people tonight?"),
        );
        check(
            &[(User, "Hi there!\nMy Python script reads a CSV with pandas. It takes four minutes.")],
            Some("My Python script reads a CSV with pandas"),
        );
        check(
            &[
                (System, "Summary of the session before: tides"),
                (User, "Thanks!"),
                (Assistant, "You are welcome."),
                (User, "What do I cook for six guests, lasagne?"),
            ],
            Some("What do I cook for six guests, lasagne?"),
        );
        check(
            &[(Assistant, "The nightly backup has failed. Look at it.")],
            Some("The nightly backup has failed"),
        );
    }

    #[test]
    fn x11_a_title_stays_and_is_no_courtesy_command_or_tag() {
        use Role::{Assistant, User};
        let mut talk = vec![
            (User, "plan a trip to japan for two weeks in april"),
            (Assistant, "With pleasure. What do you like?"),
            (User, "whats the jr pass cost now?"),
            (User, "no oven btw"),
            (User, "and the jr pass for kids, jr pass for seniors?"),
        ];
        for length in 1..=talk.len() {
            check(&talk[..length], Some("plan a trip to japan for two weeks in april"));
        }
        talk.truncate(1);
        for before in [
            "<command-name>/clear</command-name>\n<command-message>clear</command-message>",
            "<bash-input>ls -la</bash-input>",
            "Warmup",
            "thanks!",
            "/clear",
        ] {
            let talk = [(User, before), talk[0]];
            check(&talk, Some("plan a trip to japan for two weeks in april"));
        }
        // A title that is there stays, however little it tells.
        let short = [(User, "tides"), (Assistant, "What about them?"), (User, "when is high tide in Brest?")];
        for length in 1..=short.len() {
            check(&short[..length], Some("tides"));
        }
        let none_yet = [(User, "q1"), (Assistant, "Yes?"), (User, "and the bread again, with rye flour")];
        check(&none_yet[..2], None);
        check(&none_yet, Some("and the bread again, with rye flour"));
        check(&[(User, "new topic: how do i repair a bike tyre")], Some("how do i repair a bike tyre"));
        check(&[(User, "换个话题，成都有什么好吃的火锅")], Some("成都有什么好吃的火锅"));
        check(&[(User, "is a < b here? <b>bold</b> a > c")], Some("is a < b here?"));
    }

    #[test]
    fn x11_what_is_asked_comes_before_what_is_pasted() {
        use Role::User;
        for (text, expected) in [
            (
                "diff --git a/src/main.rs b/src/main.rs\n--- a/src/main.rs\n+++ b/src/main.rs\n+use std::fs;\n",
                None,
            ),
            (
                "- three vegetables\n- two fruits\n\nWhat do I cook with these for tonight?",
                Some("What do I cook with these for tonight?"),
            ),
            ("Fix the tests below\n1. test_login fails\n2. test_logout hangs", Some("Fix the tests below")),
            (
                "Implement the following plan:\n\n# Plan: a cache for thumbnails\n\n## Context\nThey are slow.",
                Some("Plan: a cache for thumbnails"),
            ),
            (
                "error[E0382]: borrow of moved value: `x`\n  --> src/main.rs:4:5\n\nwhy does the compiler say so",
                Some("why does the compiler say so"),
            ),
            (
                "```\nprint(1)\n```\nexplain this python snippet to me",
                Some("explain this python snippet to me"),
            ),
            ("- suggest categories for my recipes", Some("suggest categories for my recipes")),
            (
                "Write a website in HTML. When a user clicks the button, a random joke of four is shown.",
                Some("Write a website in HTML"),
            ),
            (
                "What are the main parties in current U.S. politics?",
                Some("What are the main parties in current U.S. politics?"),
            ),
        ] {
            match expected {
                Some(_) => check(&[(User, text)], expected),
                None => assert!(title(&[(User, text)]).is_some(), "{text}"),
            }
        }
        let odd = ["-".repeat(100_000), "# ".repeat(50_000), "a\n".repeat(100_000), "```\n".repeat(9_999)];
        odd.iter().for_each(|text| drop(title(&[(User, text.as_str())])));
    }

    #[test]
    fn x11_a_title_in_chinese() {
        use Role::{Assistant, User};
        check(
            &[
                (User, "你好！"),
                (Assistant, "你好，有什么可以帮你？"),
                (User, "帮我订一家里斯本的安静酒店。谢谢！"),
            ],
            Some("帮我订一家里斯本的安静酒店"),
        );
    }
}
