//! X-11: a title: the first sentence of the person that says what a session is about. It quotes and never rewrites,
//! and the same messages always have the same one.

use super::Summary;
use crate::classifier::Classifier;
use crate::profile::Role;
use crate::sentences::sentences;

/// How many of the first messages of a session are looked at: what it is about is said early.
pub const TITLE_MESSAGES_MAX: usize = 8;

/// Words of a greeting. A day's time is a topic to the summary, and no title.
const GREETINGS: [&str; 10] =
    ["morning", "afternoon", "evening", "night", "早上", "上午", "中午", "下午", "晚上", "早安"];

/// Finds the title of a session in its first messages; nothing if nothing was said in them.
///
/// ```
/// use segue_signals::{Classifier, Role, summary::title};
/// let classifier = Classifier::builtin()?;
/// let said = [
///     (Role::User, "Good morning! How are you?"),
///     (Role::Assistant, "Fine, thanks. What can I do for you?"),
///     (Role::User, "Please find a quiet hotel in Lisbon. I travel in April."),
/// ];
/// assert_eq!(title(&classifier, &said).as_deref(), Some("Please find a quiet hotel in Lisbon"));
/// # Ok::<(), segue_signals::LoadError>(())
/// ```
#[must_use]
pub fn title<'a>(classifier: &Classifier, said: &[(Role, &'a str)]) -> Option<String> {
    let mut summary = Summary::new();
    for (role, text) in said.iter().take(TITLE_MESSAGES_MAX) {
        summary.observe(classifier, *role, text);
    }
    let topics = summary.topics().into_iter().map(|topic| topic.to_lowercase());
    let topics: Vec<String> = topics.filter(|topic| !GREETINGS.contains(&topic.as_str())).collect();
    let count = |sentence: &str| {
        let sentence = sentence.to_lowercase();
        topics.iter().filter(|topic| sentence.contains(topic.as_str())).count()
    };
    let by = |wanted: Role| {
        let texts = said.iter().filter(move |(role, _)| *role == wanted);
        texts.take(TITLE_MESSAGES_MAX).map(|(_, text)| *text)
    };
    // The sentence of a message that tells most; of two that tell as much, the first.
    let telling = |text: &'a str| {
        let told =
            sentences(text).map(|sentence| (count(sentence), sentence)).filter(|(count, _)| *count > 0);
        told.reduce(|best, next| if next.0 > best.0 { next } else { best }).map(|(_, sentence)| sentence)
    };
    // Who only says hello has still said something, and where nobody spoke the agent did.
    let of =
        |role: Role| by(role).find_map(telling).or_else(|| by(role).find_map(|text| sentences(text).next()));
    let found = of(Role::User).or_else(|| of(Role::Assistant))?;
    let line = found.split_whitespace().collect::<Vec<_>>().join(" ");
    let line = line.trim_end_matches(['.', '。', ',', '，', ';', '；', ':', '：']).trim_end();
    (!line.is_empty()).then(|| line.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(said: &[(Role, &str)], expected: Option<&str>) {
        let classifier = Classifier::builtin().unwrap();
        assert_eq!(title(&classifier, said).as_deref(), expected, "{said:?}");
    }

    #[test]
    fn x11_a_title_is_what_the_session_is_about() {
        use Role::{Assistant, System, Tool, User};
        check(&[], None);
        check(&[(User, " \n ")], None);
        check(&[(System, "Summary of the session before: tides"), (Tool, "{}")], None);
        check(&[(User, "hello")], Some("hello"));
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
