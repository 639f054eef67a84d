//! Shortening of texts for lists, questions and commits.

/// Makes one line of a text: white space becomes single blanks, what is too long ends in `…`.
pub fn headline(text: &str, chars_max: usize) -> String {
    let mut line = String::new();
    let mut chars = 0;
    for word in text.split_whitespace() {
        let blank = if line.is_empty() { None } else { Some(' ') };
        for c in blank.into_iter().chain(word.chars()).filter(|c| !c.is_control()) {
            if chars == chars_max {
                line.pop();
                line.push('…');
                return line;
            }
            line.push(c);
            chars += 1;
        }
    }
    line
}

/// Keeps the beginning of a text; what is longer ends in `…`, and no character is torn.
pub fn clip(text: &str, bytes_max: usize) -> String {
    if text.len() <= bytes_max {
        return text.to_owned();
    }
    let room = bytes_max.saturating_sub('…'.len_utf8());
    let end = text.floor_char_boundary(room);
    format!("{}…", text.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_headline_is_cut_only_where_it_is_too_long() {
        assert_eq!(headline("ab cd", 5), "ab cd");
        assert_eq!(headline("ab cde", 5), "ab c…");
        assert_eq!(headline("a\u{7}b\n\nc", 5), "ab c");
    }

    #[test]
    fn a_clip_fits_and_tears_nothing() {
        assert_eq!(clip("abc", 3), "abc");
        assert_eq!(clip("abcdefg", 6), "abc…");
        assert_eq!(clip("ééééé", 6), "é…");
        assert!(clip(&"€".repeat(99), 20).len() <= 20);
    }
}
