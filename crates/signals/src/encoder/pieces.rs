//! Pieces: a text as the encoder knows it, whole words where it knows them and parts of them where it does not.

use crate::text::is_han;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// The pieces that stand for something else than letters, in the order of the asset.
const UNKNOWN: usize = 0;
const BEGIN: usize = 1;
const END: usize = 2;
const SPECIAL: usize = 3;

/// What a piece begins with that does not begin a word.
const GOES_ON: &str = "##";

/// How much of a text is looked at, in characters; more has more tokens than are read.
const CHARS_MAX: usize = 1_024;

/// A word that is longer is not looked for.
const WORD_BYTES_MAX: usize = 100;

/// The pieces of words, in the order of their bytes.
#[derive(Debug)]
pub(super) struct Pieces {
    ends: Vec<usize>,
    text: &'static str,
}

impl Pieces {
    /// Nothing if the ends are no ends of pieces in the text.
    pub(super) fn new(ends: Vec<usize>, text: &'static [u8]) -> Option<Self> {
        let text = str::from_utf8(text).ok()?;
        let sound =
            ends.len() > SPECIAL && ends.is_sorted() && ends.iter().all(|end| text.is_char_boundary(*end));
        sound.then_some(Self { ends, text })
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, number: usize) -> &str {
        let begin = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[begin..self.ends[number]]
    }

    fn find(&self, piece: &str) -> Option<usize> {
        let (mut low, mut high) = (SPECIAL, self.len());
        while low < high {
            let middle = low.midpoint(high);
            match self.get(middle).cmp(piece) {
                std::cmp::Ordering::Equal => return Some(middle),
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
            }
        }
        None
    }

    /// Cuts a text into pieces, as many as there may be, with the two that frame it.
    pub(super) fn of(&self, text: &str, count_max: usize) -> Vec<usize> {
        let mut pieces = vec![BEGIN];
        for word in words(text) {
            self.cut(&word, &mut pieces);
            if pieces.len() >= count_max {
                break;
            }
        }
        pieces.truncate(count_max - 1);
        pieces.push(END);
        pieces
    }

    /// Cuts a word, the longest piece first; if some of it is no piece, the word is unknown as a whole.
    fn cut(&self, word: &str, pieces: &mut Vec<usize>) {
        let known = pieces.len();
        let mut rest = word;
        while !rest.is_empty() {
            let goes_on = if pieces.len() > known { GOES_ON } else { "" };
            let ends = rest.char_indices().map(|(at, letter)| at + letter.len_utf8()).rev();
            let found = (word.len() <= WORD_BYTES_MAX)
                .then(|| {
                    ends.filter_map(|end| Some((end, self.find(&format!("{goes_on}{}", &rest[..end]))?)))
                })
                .and_then(|mut found| found.next());
            let Some((end, piece)) = found else {
                pieces.truncate(known);
                pieces.push(UNKNOWN);
                return;
            };
            pieces.push(piece);
            rest = &rest[end..];
        }
    }
}

/// The words of a text in small letters without accents, and each sign by itself.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_open = false;
    let letters = text
        .chars()
        .take(CHARS_MAX)
        .flat_map(char::to_lowercase)
        .nfd()
        .filter(|letter| !is_combining_mark(*letter));
    for letter in letters.filter(|letter| !is_format(*letter)) {
        if letter.is_alphanumeric() && !is_han(letter) {
            match words.last_mut().filter(|_| is_open) {
                Some(word) => word.push(letter),
                None => words.push(letter.into()),
            }
            is_open = true;
        } else {
            is_open = false;
            if !letter.is_whitespace() && !letter.is_control() {
                words.push(letter.into());
            }
        }
    }
    words
}

/// Tells whether a character only says how others are to be shown: a soft hyphen, a space of no width.
fn is_format(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}
