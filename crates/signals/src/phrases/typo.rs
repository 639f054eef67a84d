//! Typing errors: edit distance with swapped neighbours, scaled by length, at most two.

/// The largest distance that is forgiven in a phrase of so many letters.
pub(crate) fn allowed(letters: usize) -> usize {
    match letters {
        0..=5 => 0,
        6..=9 => 1,
        _ => 2,
    }
}

/// A word, and which letters it has, in 32 classes. One error changes at most two of them, so that most pairs of
/// words need no closer look.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Spelled<'a> {
    pub(crate) word: &'a str,
    letters: u32,
}

impl<'a> Spelled<'a> {
    pub(crate) fn new(word: &'a str) -> Self {
        Self { word, letters: word.chars().fold(0, |letters, ch| letters | 1 << (ch as u32 % 32)) }
    }

    /// Whether it has all the letters of another, by their classes.
    pub(crate) fn has_letters_of(self, other: Self) -> bool {
        self.letters & other.letters == other.letters
    }

    fn is_far_from(self, other: Self, limit: usize) -> bool {
        (self.letters ^ other.letters).count_ones() as usize > 2 * limit
    }
}

/// The number of letters to insert, delete, replace or swap, if it is at most `limit`.
pub(crate) fn distance(one: Spelled<'_>, other: Spelled<'_>, limit: usize) -> Option<usize> {
    if limit == 0 {
        return (one.word == other.word).then_some(0);
    }
    if one.is_far_from(other, limit) {
        return None;
    }
    let (a, b): (Vec<char>, Vec<char>) = (one.word.chars().collect(), other.word.chars().collect());
    if a.len().abs_diff(b.len()) > limit || a.len().max(b.len()) > 64 {
        return None;
    }
    let mut before: Vec<usize> = Vec::new();
    let mut last: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = usize::from(a[i - 1] != b[j - 1]);
            let mut best = (last[j] + 1).min(row[j - 1] + 1).min(last[j - 1] + change);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut last, row);
    }
    last.last().copied().filter(|&found| found <= limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r3_distance_counts_swaps_as_one_and_has_a_limit() {
        let distance = |one, other, limit| distance(Spelled::new(one), Spelled::new(other), limit);
        assert_eq!(distance("strat over", "start over", 2), Some(1));
        assert_eq!(distance("new chat", "new chat", 0), Some(0));
        assert_eq!(distance("abc", "xyz", 2), None);
        assert_eq!(distance("abcd", "abxy", 2), Some(2));
        assert_eq!((allowed(3), allowed(8), allowed(30)), (0, 1, 2));
    }
}
