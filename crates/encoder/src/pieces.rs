//! Pieces: a text is cut where the pieces are the most likely ones together (a unigram model, as SentencePiece has it).

use crate::Damaged;
use crate::bytes::Bytes;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Stands for a space in front of a word, in the list of pieces and in a text.
pub const SPACE: char = '\u{1}';

/// How much less likely than the least likely piece a character is that no piece has.
const UNKNOWN_PENALTY: f32 = 10.0;

/// The pieces, sorted by their bytes; the last three are the unknown one, the beginning and the end of a text.
#[derive(Debug)]
pub(crate) struct Pieces {
    text: &'static [u8],
    ends: Vec<u32>,
    scores: Vec<f32>,
    /// Where the pieces begin that have these first two bytes.
    first: Vec<u32>,
    unknown: f32,
}

/// A place in a text, reached by the best cut.
#[derive(Clone, Copy)]
struct Reached {
    score: f32,
    from: usize,
    piece: usize,
}

impl Pieces {
    pub(crate) fn read(bytes: &mut Bytes) -> Result<Self, Damaged> {
        let count = bytes.count()?;
        let lengths = bytes.take(count)?;
        let scores = bytes.floats(count)?;
        let mut end = 0;
        let mut add = |length: &u8| {
            end += u32::from(*length);
            end
        };
        let ends: Vec<u32> = lengths.iter().map(&mut add).collect();
        let text = bytes.take(end as usize)?;
        let unknown = scores.iter().copied().fold(0.0, f32::min) - UNKNOWN_PENALTY;
        let mut pieces = Self { text, ends, scores, first: Vec::new(), unknown };
        let sorted: Vec<u32> = (0..count).map(|at| u32::from(two(pieces.piece(at)))).collect();
        if !sorted.is_sorted() {
            return Err(Damaged);
        }
        let begin = |two: u32| sorted.partition_point(|known| *known < two) as u32;
        pieces.first = (0..=1 << 16).map(begin).collect();
        Ok(pieces)
    }

    /// How many rows the table of embeddings has.
    pub(crate) fn count(&self) -> usize {
        self.ends.len() + 3
    }

    /// All pieces, and how likely each is.
    pub(crate) fn into_list(self) -> impl Iterator<Item = (&'static str, f32)> {
        let text = |at: usize| std::str::from_utf8(self.piece(at)).ok().map(|piece| (piece, self.scores[at]));
        (0..self.ends.len()).filter_map(text).collect::<Vec<_>>().into_iter()
    }

    fn piece(&self, at: usize) -> &'static [u8] {
        let begin = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[begin..self.ends[at] as usize]
    }

    /// The pieces of a text, between its beginning and its end.
    pub(crate) fn cut(&self, text: &str) -> Vec<usize> {
        let known = self.ends.len();
        let (unknown, beginning, end) = (known, known + 1, known + 2);
        let text = normal(text);
        let unreached = Reached { score: f32::NEG_INFINITY, from: 0, piece: unknown };
        let mut best = vec![unreached; text.len() + 1];
        best[0].score = 0.0;
        for (from, ch) in text.char_indices() {
            let score = best[from].score;
            let mut reach = |to: usize, piece: usize, score: f32| {
                if score > best[to].score {
                    best[to] = Reached { score, from, piece };
                }
            };
            let mut is_known = false;
            self.prefixes(&text.as_bytes()[from..], |length, piece| {
                is_known |= length == ch.len_utf8();
                reach(from + length, piece, score + self.scores[piece]);
            });
            if !is_known {
                reach(from + ch.len_utf8(), unknown, score + self.unknown);
            }
        }
        let mut pieces = vec![end];
        let mut at = text.len();
        while at > 0 {
            pieces.push(best[at].piece);
            at = best[at].from;
        }
        if text.is_empty() {
            pieces.push(unknown);
        }
        pieces.push(beginning);
        pieces.reverse();
        pieces
    }

    /// Calls with each piece that a text begins with, and its length, the shortest first.
    fn prefixes(&self, text: &[u8], mut call: impl FnMut(usize, usize)) {
        let byte = |at: usize, depth: usize| self.piece(at).get(depth).copied();
        let bucket = usize::from(two(text));
        // A text of one byte may be the beginning of longer pieces only.
        let mut range: Range<usize> = self.first[bucket] as usize..self.first[bucket + 1] as usize;
        // A piece of one byte sorts before all that begin with it.
        if let Some(single) = text.first().map(|byte| self.first[usize::from(*byte) << 8] as usize)
            && single < self.ends.len()
            && self.piece(single) == &text[..1]
        {
            call(1, single);
        }
        let mut depth = 2;
        while !range.is_empty() && depth <= text.len() {
            if self.piece(range.start).len() == depth {
                call(depth, range.start);
                range.start += 1;
            }
            let Some(next) = text.get(depth).copied() else { break };
            let within = |from: usize, limit: Option<u8>| {
                let (mut low, mut high) = (from, range.end);
                while low < high {
                    let middle = low.midpoint(high);
                    if byte(middle, depth) < limit { low = middle + 1 } else { high = middle }
                }
                low
            };
            let start = within(range.start, Some(next));
            let end = next.checked_add(1).map_or(range.end, |after| within(start, Some(after)));
            range = start..end;
            depth += 1;
        }
    }
}

/// The first two bytes; a missing one is zero, which no piece and no text has.
fn two(text: &[u8]) -> u16 {
    let byte = |at: usize| text.get(at).copied().map_or(0, u16::from);
    byte(0) << 8 | byte(1)
}

/// Compatible characters made one, single spaces, and one in front.
fn normal(text: &str) -> String {
    let mut normal = String::with_capacity(text.len() + 1);
    let mut space = true;
    for ch in text.nfkc() {
        if ch.is_whitespace() {
            space = true;
        } else if !is_invisible(ch) {
            if space {
                normal.push(SPACE);
                space = false;
            }
            normal.push(ch);
        }
    }
    normal
}

fn is_invisible(ch: char) -> bool {
    matches!(ch, '\0' | SPACE | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}'
        | '\u{2066}'..='\u{2069}' | '\u{feff}' | '\u{ad}' | '\u{fe00}'..='\u{fe0f}')
}
