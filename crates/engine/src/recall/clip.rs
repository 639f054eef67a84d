//! Clipping: the part of a long text that matters.

use segue_store::search::places;

/// How much is shown in front of what was found, as a part of the whole.
const IN_FRONT: usize = 4;

/// Cuts a text to so many characters, around where most of a query's words stand.
pub(crate) fn clip(text: &str, query: &str, chars_max: usize) -> String {
    let text = text.trim();
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).collect();
    if starts.len() <= chars_max {
        return text.to_owned();
    }
    let nth = |byte: usize| starts.partition_point(|start| *start < byte);
    let found: Vec<usize> = places(text, query).into_iter().map(|place| nth(place.start)).collect();
    let room = chars_max.saturating_sub(chars_max / IN_FRONT);
    let within = |from: usize| found.iter().filter(|at| (from..from + room).contains(*at)).count();
    // The first of the best places: what comes first is what the rest refers to.
    let best = found.iter().copied().rev().max_by_key(|from| within(*from)).unwrap_or(0);
    let begin = best.saturating_sub(chars_max / IN_FRONT).min(starts.len() - chars_max);
    let end = begin + chars_max;
    let byte = |nth: usize| starts.get(nth).copied().unwrap_or(text.len());
    let piece = text.get(byte(begin)..byte(end)).unwrap_or(text).trim();
    let front = if begin > 0 { "…" } else { "" };
    let behind = if end < starts.len() { "…" } else { "" };
    format!("{front}{piece}{behind}")
}

#[cfg(test)]
mod tests {
    use super::clip;

    #[test]
    fn short_texts_stay_whole() {
        assert_eq!(clip("  the crane ", "crane", 20), "the crane");
    }

    #[test]
    fn long_texts_are_cut_around_what_was_found() {
        let text = format!("{}the old crane at the harbour{}", "word ".repeat(200), " more".repeat(200));
        let cut = clip(&text, "harbour crane", 60);
        assert!(cut.contains("crane at the harbour") && cut.starts_with('…') && cut.ends_with('…'), "{cut}");
        assert!(cut.chars().count() <= 62);
    }

    #[test]
    fn cuts_are_between_characters() {
        let text = format!("{}备份在凌晨三点{}", "长".repeat(500), "👩‍👩‍👧‍👦".repeat(50));
        assert!(clip(&text, "备份", 40).contains("备份在凌晨三点"));
        assert_eq!(clip(&text, "nothing", 3), "长长长…");
    }
}
