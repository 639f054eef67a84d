//! Small patterns over words: `start|begin a|the? new chat|topic`; a `?` makes a word optional, a `*` is
//! one to three words of any kind.

/// A place that takes one to three words, whatever they are.
const ANYTHING: &str = "*";
const ANYTHING_MAX: usize = 3;

/// One place of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot {
    words: Vec<&'static str>,
    optional: bool,
}

/// A sequence of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    slots: Vec<Slot>,
}

impl Pattern {
    pub(super) fn parse(text: &'static str) -> Self {
        let slots = text.split(' ').map(|place| {
            let (words, optional) = place.strip_suffix('?').map_or((place, false), |words| (words, true));
            Slot { words: words.split('|').collect(), optional }
        });
        Self { slots: slots.collect() }
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.slots.iter().flat_map(|slot| slot.words.iter().copied())
    }

    /// The words that it can begin with: those of its first places, up to one that must be taken.
    pub(super) fn beginnings(&self) -> impl Iterator<Item = &'static str> + '_ {
        let optional = self.slots.iter().take_while(|slot| slot.optional).count();
        self.slots.iter().take(optional + 1).flat_map(|slot| slot.words.iter().copied())
    }

    /// How many words the pattern takes from the front, as many as it can.
    pub(super) fn matches(&self, words: &[&str]) -> Option<usize> {
        Self::from(&self.slots, words)
    }

    /// How many bytes the pattern takes from the front of a text without spaces.
    pub(super) fn matches_text(&self, text: &str) -> Option<usize> {
        Self::from_text(&self.slots, text)
    }

    fn from_text(slots: &[Slot], text: &str) -> Option<usize> {
        let Some((slot, rest)) = slots.split_first() else { return Some(0) };
        let taken = slot
            .words
            .iter()
            .filter_map(|word| {
                let after = text.strip_prefix(word)?;
                Self::from_text(rest, after).map(|count| count + word.len())
            })
            .max();
        let skipped = if slot.optional { Self::from_text(rest, text) } else { None };
        taken.max(skipped)
    }

    fn from(slots: &[Slot], words: &[&str]) -> Option<usize> {
        let Some((slot, rest)) = slots.split_first() else { return Some(0) };
        if slot.words == [ANYTHING] {
            return (1..=ANYTHING_MAX.min(words.len()))
                .rev()
                .find_map(|count| Self::from(rest, &words[count..]).map(|more| more + count));
        }
        let taken = words
            .first()
            .filter(|word| slot.words.contains(word))
            .and_then(|_| Self::from(rest, &words[1..]))
            .map(|count| count + 1);
        let skipped = if slot.optional { Self::from(rest, words) } else { None };
        taken.max(skipped)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_words_may_be_missing() {
        let pattern = Pattern::parse("start a? new chat|topic");
        assert_eq!(pattern.matches(&["start", "a", "new", "topic", "now"]), Some(4));
        assert_eq!(pattern.matches(&["start", "new", "chat"]), Some(3));
        assert_eq!(pattern.matches(&["start", "chat"]), None);
        let pattern = Pattern::parse("enough about *");
        assert_eq!(pattern.matches(&["enough", "about", "the", "garden"]), Some(4));
        assert_eq!(pattern.matches(&["enough", "about"]), None);
    }
}
