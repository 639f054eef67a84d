//! Speakers: who said something in a group, as a number, so that no name is kept beside the log.

/// The longest name in a script without spaces, in characters.
const UNSPACED_CHARS_MAX: usize = 4;

/// A speaker, by the first word of the name that the channel gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Speaker(pub(crate) u32);

impl Speaker {
    /// Nobody in particular.
    pub(crate) const NONE: Self = Self(0);

    /// Makes the number of a name.
    pub(crate) fn of(name: Option<&str>) -> Self {
        name.and_then(|name| words(name).next()).map_or(Self::NONE, |word| Self::word(&word.to_lowercase()))
    }

    fn word(word: &str) -> Self {
        // FNV-1a: it stands on disk, so it is the same in every version.
        let step = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        Self(word.bytes().fold(0x811c_9dc5, step).max(1))
    }

    /// Makes the numbers of everybody whom a question may name.
    pub(crate) fn named(question: &str) -> Vec<Self> {
        let lower = question.to_lowercase();
        let mut named = Vec::new();
        for word in words(&lower) {
            named.push(Self::word(word));
            let starts: Vec<usize> = word.char_indices().map(|(at, _)| at).chain([word.len()]).collect();
            if word.is_ascii() {
                continue;
            }
            for (nth, from) in starts.iter().enumerate() {
                let ends = starts.iter().skip(nth + 2).take(UNSPACED_CHARS_MAX - 1);
                named.extend(ends.map(|to| Self::word(&word[*from..*to])));
            }
        }
        named
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_names_a_speaker() {
        for (name, question) in [
            ("Anna Schmidt", "what did anna say about the boat?"),
            ("小明", "小明上次说了什么"),
            ("欧阳小明", "上次欧阳小明说了什么"),
            ("u4711", "the idea of u4711"),
        ] {
            assert!(Speaker::named(question).contains(&Speaker::of(Some(name))), "{name}");
        }
        assert!(!Speaker::named("who said it?").contains(&Speaker::of(Some("Anna"))));
        assert!(!Speaker::named("who said it?").contains(&Speaker::NONE));
        assert_eq!((Speaker::of(None), Speaker::of(Some("--"))), (Speaker::NONE, Speaker::NONE));
    }
}
