//! Small patterns: places side by side, `|` between choices, `?` for a place that may be empty, `_` for a space inside a
//! choice, and `*` for one to three units of any kind. What a unit is, a word or a character, is up to the caller.

/// What takes one to three units, whatever they are.
const ANYTHING: &str = "*";
const ANYTHING_MAX: usize = 3;

/// One place of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Slot<U> {
    /// No choice at all takes anything.
    choices: Vec<Vec<U>>,
    optional: bool,
}

/// A sequence of places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern<U>(Vec<Slot<U>>);

impl<U> Pattern<U> {
    /// Reads a pattern; `units` cuts a choice.
    pub(crate) fn parse<'a>(text: &'a str, units: impl Fn(&'a str) -> Vec<U>) -> Self {
        let slots = text.split(' ').map(|place| {
            let (choices, optional) = place.strip_suffix('?').map_or((place, false), |place| (place, true));
            let choices = choices.split('|').filter(|choice| *choice != ANYTHING).map(&units).collect();
            Slot { choices, optional }
        });
        Self(slots.collect())
    }

    /// Everything that can be taken.
    pub(crate) fn units(&self) -> impl Iterator<Item = &U> {
        self.0.iter().flat_map(|slot| slot.choices.iter().flatten())
    }

    /// What it can begin with: the first units of its first places, up to one that must be taken.
    pub(crate) fn beginnings(&self) -> impl Iterator<Item = &U> {
        let optional = self.0.iter().take_while(|slot| slot.optional).count();
        self.0
            .iter()
            .take(optional + 1)
            .flat_map(|slot| slot.choices.iter().filter_map(|choice| choice.first()))
    }

    /// How many items it takes from the front, as many as it can.
    pub(crate) fn longest<T>(&self, items: &[T], same: &impl Fn(&T, &U) -> bool) -> Option<usize> {
        longest(&self.0, items, same)
    }
}

fn longest<T, U>(slots: &[Slot<U>], items: &[T], same: &impl Fn(&T, &U) -> bool) -> Option<usize> {
    let Some((slot, rest)) = slots.split_first() else { return Some(0) };
    if slot.choices.is_empty() {
        let mut counts = (1..=ANYTHING_MAX.min(items.len())).rev();
        return counts.find_map(|count| longest(rest, &items[count..], same).map(|more| more + count));
    }
    let fits = |choice: &&Vec<U>| {
        choice.len() <= items.len() && choice.iter().zip(items).all(|(unit, item)| same(item, unit))
    };
    let taken = slot.choices.iter().filter(fits);
    let taken = taken
        .filter_map(|choice| longest(rest, &items[choice.len()..], same).map(|count| count + choice.len()))
        .max();
    taken.max(if slot.optional { longest(rest, items, same) } else { None })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn optional_words_may_be_missing_and_a_star_takes_any() {
        let takes = |pattern: &'static str, words: &[&str]| {
            Pattern::parse(pattern, |choice| vec![choice]).longest(words, &|word, unit| word == unit)
        };
        assert_eq!(takes("start a? new chat|topic", &["start", "a", "new", "topic", "now"]), Some(4));
        assert_eq!(takes("start a? new chat|topic", &["start", "new", "chat"]), Some(3));
        assert_eq!(takes("start a? new chat|topic", &["start", "chat"]), None);
        assert_eq!(takes("enough about *", &["enough", "about", "the", "garden"]), Some(4));
        assert_eq!(takes("enough about *", &["enough", "about"]), None);
    }
}
