//! The word that was probably meant.

use rapidfuzz::distance::osa;

/// Finds the candidate that is nearest to a mistyped word, if one is near enough to suggest.
///
/// ```
/// use segue_engine::words::nearest;
/// assert_eq!(nearest("/sesion", ["/session", "/status"]), Some("/session"));
/// assert_eq!(nearest("/weather", ["/session", "/status"]), None);
/// ```
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let word = word.to_lowercase();
    let length = word.chars().count();
    // A third of the letters may be wrong, and never more than four: past that it is another word.
    let limit = (length / 3).clamp(1, 4);
    let distance = |candidate: &str| {
        let candidate = candidate.to_lowercase();
        // The beginning of a word is near it, however long the rest is.
        if length >= 3 && candidate.starts_with(&word) {
            1
        } else {
            osa::distance(word.chars(), candidate.chars())
        }
    };
    let near = candidates.into_iter().map(|candidate| (distance(candidate), candidate));
    near.filter(|(far, _)| *far <= limit).min_by_key(|(far, _)| *far).map(|(_, candidate)| candidate)
}
