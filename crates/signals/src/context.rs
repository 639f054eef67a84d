//! R-4: how full the context window is.

use crate::vocabulary;
use std::sync::OnceLock;

/// Counts the tokens of a text as a model would.
///
/// Counting is pluggable: implement this for another model's tokenizer.
pub trait TokenCounter: Send + Sync {
    /// How many tokens the text is.
    fn count(&self, text: &str) -> u64;

    /// Names the way of counting. Counters of one name count alike, so that what was counted once is remembered;
    /// without a name everything is counted again.
    fn name(&self) -> Option<&'static str> {
        None
    }
}

/// Counts with OpenAI's `o200k_base` vocabulary.
///
/// The vocabulary takes tens of milliseconds and megabytes to load, so it is loaded when the first
/// text is counted and not before.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenAiTokens;

/// One vocabulary for all counters of a process.
static VOCABULARY: OnceLock<Option<tiktoken_rs::CoreBPE>> = OnceLock::new();

/// The longest piece that is given to the vocabulary at once: its time grows faster than the text
/// where there are no spaces.
const PIECE_BYTES_MAX: usize = 4_096;

impl OpenAiTokens {
    /// Makes a counter; nothing is loaded yet.
    #[must_use]
    pub fn new() -> Self {
        Self
    }
}

impl TokenCounter for OpenAiTokens {
    fn count(&self, text: &str) -> u64 {
        let loaded = VOCABULARY.get_or_init(vocabulary::o200k_base);
        match loaded {
            Some(vocabulary) => {
                pieces(text).map(|piece| vocabulary.encode_ordinary(piece).len() as u64).sum()
            }
            None => EstimatedTokens.count(text),
        }
    }

    fn name(&self) -> Option<&'static str> {
        Some("o200k_base")
    }
}

fn pieces(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        if text.is_empty() {
            return None;
        }
        let mut end = text.len().min(PIECE_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let (piece, rest) = text.split_at(end);
        text = rest;
        Some(piece)
    })
}

/// Estimates without a vocabulary: four letters of Latin script, or one and a half Chinese characters, a token.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EstimatedTokens;

impl EstimatedTokens {
    /// The name of this way of counting.
    pub const NAME: &str = "estimate";
}

impl TokenCounter for EstimatedTokens {
    fn count(&self, text: &str) -> u64 {
        // In twelfths of a token, so that no fraction is lost. A character begins with a byte that is no continuation.
        let twelfth = |byte: &u8| match byte {
            0x00..=0x7f => 3,
            0x80..=0xbf => 0,
            0xc0..=0xff => 8,
        };
        let twelfths: u64 = text.as_bytes().iter().map(twelfth).sum();
        twelfths.div_ceil(12)
    }

    fn name(&self) -> Option<&'static str> {
        Some(Self::NAME)
    }
}

/// The bands of 003, in percent of the window: below 60, 60 to 80, above 80, above 95.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ContextBand {
    /// Nothing to do.
    Healthy,
    /// Begin to summarise older messages.
    Warning,
    /// Recommend a new session with carry-over.
    Critical,
    /// Force one.
    Emergency,
}

/// How full the window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextUse {
    /// Tokens in use.
    pub used: u64,
    /// Tokens that fit.
    pub window: u64,
    /// The band.
    pub band: ContextBand,
}

impl ContextUse {
    /// Returns how much of the window is in use, in percent.
    #[must_use]
    pub fn percent(&self) -> u32 {
        let percent = u128::from(self.used) * 100 / u128::from(self.window.max(1));
        u32::try_from(percent).unwrap_or(u32::MAX)
    }
}

/// Judges how full a window is. A window of nothing is full.
///
/// ```
/// use segue_signals::context::{ContextBand, judge_use};
/// assert_eq!(judge_use(80, 100).band, ContextBand::Warning);
/// assert_eq!(judge_use(81, 100).band, ContextBand::Critical);
/// ```
#[must_use]
pub fn judge_use(used: u64, window: u64) -> ContextUse {
    // Whole numbers: 80 % is exactly 80 %, whatever the window.
    let (part, whole) = (u128::from(used) * 100, u128::from(window));
    let band = if window == 0 || part > 95 * whole {
        ContextBand::Emergency
    } else if part > 80 * whole {
        ContextBand::Critical
    } else if part >= 60 * whole {
        ContextBand::Warning
    } else {
        ContextBand::Healthy
    };
    ContextUse { used, window, band }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r4_bands_are_strict_as_pinned() {
        let band = |used| judge_use(used, 1_000).band;
        assert_eq!(band(599), ContextBand::Healthy);
        assert_eq!(band(600), ContextBand::Warning);
        assert_eq!(band(800), ContextBand::Warning);
        assert_eq!(band(801), ContextBand::Critical);
        assert_eq!(band(950), ContextBand::Critical);
        assert_eq!(band(951), ContextBand::Emergency);
        assert_eq!(judge_use(0, 0).band, ContextBand::Emergency);
        assert_eq!(judge_use(u64::MAX, u64::MAX).band, ContextBand::Emergency);
    }

    #[test]
    fn r4_tokens_are_counted_by_the_vocabulary_and_nothing_is_skipped() {
        let counter = OpenAiTokens::new();
        assert_eq!(counter.count(""), 0);
        assert_eq!(counter.count("Hello, world!"), 4);
        assert!(counter.count("换个话题吧") < 6);
        let long = "数据 data ".repeat(20_000);
        assert!(counter.count(&long) >= 40_000);
    }

    #[test]
    fn an_estimate_needs_no_vocabulary() {
        assert_eq!(EstimatedTokens.count(""), 0);
        assert_eq!(EstimatedTokens.count("four"), 1);
        assert_eq!(EstimatedTokens.count("换个话题吧"), 4);
    }
}
