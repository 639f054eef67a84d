//! One hash for everything: words, n-grams, fingerprints of the word table.
//!
//! FNV-1a is short enough to be written again in the script that makes the word table, and it
//! can be fed one byte at a time, so a word is hashed while it is being read.

const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
const PRIME: u64 = 0x0000_0100_0000_01b3;
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// A hash that is still being fed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hasher(u64);

impl Hasher {
    pub const fn new() -> Self {
        Self(OFFSET)
    }

    pub const fn byte(self, byte: u8) -> Self {
        Self((self.0 ^ byte as u64).wrapping_mul(PRIME))
    }

    pub fn char(self, ch: char) -> Self {
        let mut buffer = [0; 4];
        ch.encode_utf8(&mut buffer).bytes().fold(self, Hasher::byte)
    }

    pub const fn finish(self) -> WordHash {
        let mixed = (self.0 ^ (self.0 >> 32)).wrapping_mul(GOLDEN);
        WordHash((mixed >> 32) as u32)
    }
}

/// The hash of one word or n-gram.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WordHash(pub u32);

impl WordHash {
    /// Hashes a word that is already in lower case.
    pub const fn of(word: &str) -> Self {
        let bytes = word.as_bytes();
        let mut hasher = Hasher::new();
        let mut at = 0;
        while at < bytes.len() {
            hasher = hasher.byte(bytes[at]);
            at += 1;
        }
        hasher.finish()
    }

    /// Joins two hashes so that order matters: `a b` is not `b a`.
    pub const fn then(self, next: Self) -> Self {
        let joined = ((self.0 as u64) << 32 | next.0 as u64).wrapping_mul(GOLDEN);
        Self(((joined ^ (joined >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 32) as u32)
    }
}

/// A small generator of random numbers: the same seed gives the same numbers everywhere.
#[derive(Clone, Debug)]
#[cfg_attr(not(feature = "lab"), allow(dead_code, reason = "segue-lab fits with it"))]
pub struct SplitMix(u64);

#[cfg_attr(not(feature = "lab"), allow(dead_code, reason = "segue-lab fits with it"))]
impl SplitMix {
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub const fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(GOLDEN);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number in `0..end`; zero for an empty range.
    pub const fn below(&mut self, end: usize) -> usize {
        if end == 0 {
            return 0;
        }
        (self.next() % end as u64) as usize
    }

    /// A number in `[0, 1)`.
    pub fn unit(&mut self) -> f32 {
        (self.next() >> 40) as f32 / (1_u64 << 24) as f32
    }

    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_matters_and_the_empty_word_has_a_hash() {
        let (a, b) = (WordHash::of("a"), WordHash::of("b"));
        assert_ne!(a.then(b), b.then(a));
        assert_ne!(WordHash::of(""), a);
    }

    #[test]
    fn a_range_of_nothing_gives_zero() {
        assert_eq!(SplitMix::new(1).below(0), 0);
    }
}
