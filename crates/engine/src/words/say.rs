//! One place for a sentence, with both languages side by side.

/// Picks the sentence of a language. Both name the same values, so that a translator sees what the other one says.
macro_rules! say {
    ($language:expr, $en:literal, $zh:literal $(,)?) => {
        match $language {
            $crate::words::Language::En => std::fmt::format(format_args!($en)),
            $crate::words::Language::Zh => std::fmt::format(format_args!($zh)),
        }
    };
}

pub(super) use say;

use super::Language;

/// Picks the word of a language.
pub(super) fn word(language: Language, en: &'static str, zh: &'static str) -> &'static str {
    match language {
        Language::En => en,
        Language::Zh => zh,
    }
}

/// Counts things: "1 message", "2 messages", 2 条消息.
pub(super) fn count(language: Language, count: u32, en: &str, zh: &str) -> String {
    match language {
        Language::En if count == 1 => format!("1 {en}"),
        Language::En => format!("{count} {en}s"),
        Language::Zh => format!("{count} {zh}"),
    }
}
