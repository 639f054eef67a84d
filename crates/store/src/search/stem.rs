//! Stems: "batteries" and "battery" are one term, "cached", "caching" and "caches" too.

/// The shortest word that has a stem of its own.
const LETTERS_MIN: usize = 4;

/// Cuts the ending off an English word in lower case; other words stay as they are.
pub(super) fn stem(word: &str) -> &str {
    if word.len() < LETTERS_MIN || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word;
    }
    ending(plural(word))
}

fn plural(word: &str) -> &str {
    if word.ends_with("ss") || word.ends_with("us") || word.ends_with("is") {
        return word;
    }
    for (suffix, keep) in [("sses", 2), ("ies", 1), ("ches", 2), ("shes", 2), ("xes", 1), ("s", 0)] {
        if let Some(rest) = word.strip_suffix(suffix)
            && rest.len() >= 2
        {
            return word.get(..rest.len() + keep).unwrap_or(word);
        }
    }
    word
}

fn ending(word: &str) -> &str {
    for suffix in ["ingly", "edly", "ation", "ing", "ed"] {
        if let Some(rest) = word.strip_suffix(suffix)
            && rest.len() >= 3
            && rest.bytes().any(|byte| b"aeiouy".contains(&byte))
        {
            // "migration" and "migrate" meet in "migrat".
            let rest = if suffix == "ation" { word.strip_suffix("ion").unwrap_or(rest) } else { rest };
            return last_letter(undoubled(rest));
        }
    }
    last_letter(word)
}

/// "planned" and "plan" are one, "called" and "call" as well, whatever that costs "call".
fn undoubled(word: &str) -> &str {
    match word.as_bytes() {
        [.., a, b] if a == b && !b"aeiou".contains(a) => word.get(..word.len() - 1).unwrap_or(word),
        _ => word,
    }
}

/// "cache" ends as "caching" does, "battery" as "batteri(es)" does without its last letter.
fn last_letter(word: &str) -> &str {
    let word = match word.strip_suffix(['e', 'y', 'i']) {
        Some(rest) if rest.len() >= 3 => rest,
        _ => word,
    };
    undoubled(word)
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn forms_of_a_word_meet() {
        for forms in [
            &["battery", "batteries"][..],
            &["cache", "caches", "cached", "caching"],
            &["plan", "plans", "planned", "planning"],
            &["migrate", "migration", "migrations", "migrating", "migrated"],
            &["call", "calls", "called"],
            &["pass", "passes", "passed"],
            &["index", "indexes"],
            &["store", "stored", "storing"],
        ] {
            let stems: Vec<&str> = forms.iter().map(|form| stem(form)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{forms:?}: {stems:?}");
        }
    }

    #[test]
    fn what_is_no_english_word_stays() {
        for word in ["is", "bus", "42", "x86s", "größe", "status", "ring"] {
            assert_eq!(stem(word), word);
        }
    }
}
