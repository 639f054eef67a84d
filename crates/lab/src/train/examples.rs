//! From dialogues to examples: the model's features beside what is right.

use segue_signals::boundary::Output;
use segue_signals::eval::label;
use segue_signals::eval::{Dataset, Dialogue, Meaning};
use segue_signals::internals::Window;
use segue_signals::internals::{Features, Reader};
use segue_signals::{Profile, Role};

/// One example.
#[derive(Clone, Debug)]
pub(crate) struct Example {
    pub(crate) features: Features,
    pub(crate) label: bool,
    pub(crate) weight: f32,
}

/// Whether the profile begins anew where a session does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Restart {
    /// As in an engine that found the boundary.
    AtBoundaries,
    /// As in an engine that missed it.
    Never,
}

/// Makes an example of every turn that could begin something and whose answer is known.
pub(crate) fn of_dialogue(
    reader: &Reader,
    output: Output,
    meaning: Meaning,
    dialogue: &Dialogue,
    restart: Restart,
    out: &mut Vec<Example>,
) {
    let mut profile = Profile::new();
    for turn in &dialogue.turns {
        let role = turn.role();
        let could_begin = role == Role::User && profile.messages() > 0;
        if let (true, Some(label)) = (could_begin, label(output, meaning, turn)) {
            let read = reader.read(&turn.text, Window::MESSAGE);
            let features = Features::of(&profile, &read);
            out.push(Example { features, label, weight: 1.0 });
        }
        if meaning == Meaning::Session && turn.boundary == 1 && restart == Restart::AtBoundaries {
            profile = Profile::new();
        }
        reader.observe(&mut profile, role, &turn.text);
    }
}

/// All examples of a set. A session is shown both ways: with its boundaries found and with them missed.
pub(crate) fn of_set(reader: &Reader, output: Output, set: &Dataset) -> Vec<Example> {
    let mut out = Vec::new();
    for dialogue in &set.dialogues {
        of_dialogue(reader, output, set.meaning, dialogue, Restart::Never, &mut out);
        if set.meaning == Meaning::Session {
            of_dialogue(reader, output, set.meaning, dialogue, Restart::AtBoundaries, &mut out);
        }
    }
    out
}
