//! Whether a text is in English: the encoder was taught nothing else.

use crate::text::is_han;

/// Small words that English has and its neighbours have not.
const ENGLISH: &[&str] = &[
    "a", "about", "and", "are", "be", "did", "do", "does", "for", "from", "had", "has", "have", "how", "i",
    "is", "it", "its", "my", "not", "of", "on", "our", "that", "the", "their", "they", "this", "to", "was",
    "we", "were", "what", "when", "where", "which", "who", "why", "with", "would", "you", "your",
];

/// Small words of languages that are written in the same letters, as far as they are no English ones.
const OTHERS: &[&str] = &[
    // German and Dutch
    "aber", "auf", "bei", "das", "dem", "den", "der", "ein", "eine", "einen", "einer", "gibt", "habe",
    "haben", "het", "ich", "ik", "ist", "mein", "meine", "mijn", "mit", "nicht", "niet", "oder", "sich",
    "sie", "sind", "und", "uns", "van", "vom", "von", "voor", "waar", "wann", "warum", "welche", "welchen",
    "welcher", "welches", "wer", "werden", "wie", "wir", "wo", "wurde", "zu", "zum", "zur", "een", "zijn",
    // French, Italian, Spanish and Portuguese
    "au", "aux", "avec", "che", "como", "con", "cuando", "da", "dans", "del", "della", "des", "di", "donde",
    "dove", "du", "el", "elle", "et", "gli", "il", "je", "la", "las", "le", "les", "los", "mes", "meu",
    "minha", "mio", "moi", "mon", "nel", "notre", "nous", "onde", "para", "pas", "por", "pour", "quand",
    "quando", "que", "quel", "quelle", "qui", "sont", "sono", "sur", "uma", "una", "une", "votre", "vous",
];

/// Tells whether a text may be English: in its letters, and without more small words of other languages than of English.
#[must_use]
pub fn is_english(text: &str) -> bool {
    let (mut letters, mut foreign) = (0_u32, 0_u32);
    for letter in text.chars().filter(|letter| letter.is_alphabetic()) {
        letters += 1;
        // A character says about as much as three letters.
        foreign += if is_han(letter) { 3 } else { u32::from(!letter.is_ascii()) };
    }
    if letters == 0 || foreign * 2 > letters {
        return false;
    }
    let words = text.split(|letter: char| !letter.is_alphabetic()).map(str::to_lowercase);
    let (mut own, mut others) = (0_u32, 0_u32);
    for word in words {
        own += u32::from(ENGLISH.contains(&word.as_str()));
        others += u32::from(OTHERS.contains(&word.as_str()));
    }
    others <= own
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_words_tell_languages_apart() {
        for text in [
            "which lizard lives in the greenhouse",
            "sourdough hydration",
            "flights to Los Angeles",
            "how do I cook 面包",
            "don’t forget the café",
            "DNS",
        ] {
            assert!(is_english(text), "{text}");
        }
        for text in [
            "",
            "42 !?",
            "面包怎么做才松软",
            "用 git 提交代码怎么做",
            "Почему хлеб тяжёлый",
            "wo war das hotel in berlin das wir gebucht haben",
            "welches restaurant hat die pizza",
            "que se passe avec mon ordinateur portable",
            "donde comimos la paella con los primos",
            "dove abbiamo mangiato il gelato",
            "waar hebben we het fietsslot gekocht",
            "onde ficou a receita da minha avó",
        ] {
            assert!(!is_english(text), "{text}");
        }
    }

    #[test]
    fn no_word_is_of_both_kinds() {
        assert!(ENGLISH.iter().all(|word| !OTHERS.contains(word)));
    }
}
