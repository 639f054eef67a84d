//! X-11: a title: the first sentence of the person that says what a session is about. It quotes and never rewrites, and
//! stays the same while the session grows. A courtesy, a command or a tag is no title.

use super::Summary;
use crate::intent::{explicit_intent, is_bare_wish};
use crate::role::Role;
use crate::sentences::sentences;
use crate::text::is_unspaced;

/// How many of the first messages of a session are looked at: what it is about is said early.
pub const TITLE_MESSAGES_MAX: usize = 8;

/// Words of a greeting. A day's time is a topic to the summary, and no title.
const GREETINGS: [&str; 10] =
    ["morning", "afternoon", "evening", "night", "早上", "上午", "中午", "下午", "晚上", "早安"];

/// How many characters a title without spaces has at least.
const CHARACTERS_MIN: usize = 4;
/// A longer clause leads to nothing: it says something.
const LEAD_CHARS_MAX: usize = 40;
const LEADS: [&str; 24] = [
    "ok",
    "okay",
    "so",
    "well",
    "hi",
    "hello",
    "hey",
    "btw",
    "by the way",
    "anyway",
    "also",
    "and",
    "now",
    "next",
    "please",
    "thanks",
    "好",
    "好的",
    "那",
    "对了",
    "你好",
    "谢谢",
    "嗯",
    "请问",
];

/// Finds the title of a session in its first messages; nothing if nothing was said in them.
///
/// ```
/// use segue_signals::{Role, summary::title};
/// let said = [
///     (Role::User, "Good morning! How are you?"),
///     (Role::Assistant, "Fine, thanks. What can I do for you?"),
///     (Role::User, "Please find a quiet hotel in Lisbon. I travel in April."),
/// ];
/// assert_eq!(title(&said).as_deref(), Some("Please find a quiet hotel in Lisbon"));
/// ```
#[must_use]
pub fn title(said: &[(Role, &str)]) -> Option<String> {
    let by = |wanted: Role| {
        let texts = said.iter().take(TITLE_MESSAGES_MAX).filter(move |(role, _)| *role == wanted);
        texts.map(|(_, text)| without_tags(text))
    };
    // Who has only asked for another topic has named none yet.
    let names_some = |text: &String| !text.trim().is_empty() && !is_bare_wish(text);
    if by(Role::User).any(|text| is_bare_wish(&text)) && !by(Role::User).any(|text| names_some(&text)) {
        return None;
    }
    // The first message that says something, by itself: what is said later changes no title.
    let told = |role: Role| by(role).filter(names_some).find_map(|text| telling(&text));
    let any =
        |role: Role| by(role).filter(names_some).find_map(|text| sentences(&text).map(str::to_owned).next());
    // Who only says hello has still said something, and where nobody spoke the agent did.
    let found = told(Role::User)
        .or_else(|| any(Role::User))
        .or_else(|| told(Role::Assistant))
        .or_else(|| any(Role::Assistant))?;
    let line = found.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(['.', '。', ',', '，', ';', '；', ':', '：']).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

/// Finds the sentence of a message that tells most; of two that tell as much, the first.
fn telling(text: &str) -> Option<String> {
    if text.trim_start().starts_with('/') {
        return None;
    }
    let mut summary = Summary::new();
    summary.observe(Role::User, text);
    let topics = summary.topics().into_iter().map(|topic| topic.to_lowercase());
    let topics: Vec<String> = topics.filter(|topic| !GREETINGS.contains(&topic.as_str())).collect();
    let count = |sentence: &str| {
        let sentence = sentence.to_lowercase();
        topics.iter().filter(|topic| sentence.contains(topic.as_str())).count()
    };
    let told = sentences(text).map(without_lead).map(|sentence| (count(sentence), sentence));
    let told = told.filter(|(count, sentence)| *count > 0 && is_more_than_a_word(sentence));
    told.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, told)| told.to_owned())
}

/// "Warmup" and "测试" name nothing; four characters or two words may.
fn is_more_than_a_word(sentence: &str) -> bool {
    let characters = sentence.chars().filter(|ch| is_unspaced(*ch)).count();
    characters >= CHARACTERS_MIN || characters == 0 && sentence.split_whitespace().nth(1).is_some()
}

/// Leaves out what only leads to the topic: "new topic:", "换个话题，", "ok, ".
fn without_lead(sentence: &str) -> &str {
    let mut rest = sentence;
    while let Some((lead, after)) = rest.split_once([',', '，', ':', '：', ';', '；', '、']) {
        let short = lead.chars().count() <= LEAD_CHARS_MAX;
        let leads =
            explicit_intent(lead).is_start_over() || LEADS.contains(&lead.trim().to_lowercase().as_str());
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
        check(&[(User, "hello")], Some("hello"));
        check(&[(User, "换个话题")], None);
        check(&[(User, "换个话题"), (User, "嗯")], Some("嗯"));
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
        check(&[(User, "new topic: how do i repair a bike tyre")], Some("how do i repair a bike tyre"));
        check(&[(User, "换个话题，成都有什么好吃的火锅")], Some("成都有什么好吃的火锅"));
        check(&[(User, "is a < b here? <b>bold</b> a > c")], Some("is a < b here?"));
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
        check(&[(User, "你好")], Some("你好"));
    }
}
