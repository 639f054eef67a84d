//! Conversations written for this project, in the manner of people who talk to an assistant.
//!
//! The public sets are about booking things; nobody in them pastes a stack trace or asks for a
//! shorter sentence. These do. They are for fitting only; `eval/` holds others, for testing.

use segue_signals::eval::{Dataset, Dialogue, Meaning, Split, Turn};

const ENGLISH: &str = include_str!("../../assets-src/conversations.en.txt");
const CHINESE: &str = include_str!("../../assets-src/conversations.zh.txt");

/// The names of the sets that come with the library; they can be left out like any other.
pub const OWN_SETS: [&str; 2] = ["own_en", "own_zh"];

/// The sets themselves.
pub(super) fn sets() -> [Dataset; 2] {
    [parse(OWN_SETS[0], "en", ENGLISH), parse(OWN_SETS[1], "zh", CHINESE)]
}

/// Blocks between empty lines are conversations. `u:` is the user, `a:` the assistant; `u*:` is the
/// user who turns to something else within the conversation. A `\n` is a line break.
fn parse(name: &str, language: &str, text: &str) -> Dataset {
    let dialogues = text
        .split("\n\n")
        .map(|block| block.lines().filter_map(turn).collect::<Vec<Turn>>())
        .filter(|turns| !turns.is_empty())
        .enumerate()
        .map(|(at, turns)| Dialogue { id: format!("{name}-{at}"), lang: language.to_owned(), turns })
        .collect();
    Dataset { name: name.to_owned(), meaning: Meaning::Session, split: Split::Train, dialogues }
}

fn turn(line: &str) -> Option<Turn> {
    let (mark, text) = line.split_once(": ")?;
    let (role, task_switch) = match mark {
        "u" => ("user", 0),
        "u*" => ("user", 1),
        "a" => ("assistant", 0),
        _ => return None,
    };
    Some(Turn {
        role: role.to_owned(),
        text: text.replace("\\n", "\n"),
        boundary: 0,
        task_switch: Some(task_switch),
        at: None,
    })
}
