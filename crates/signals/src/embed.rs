//! The word table: a vector for each of some hundred thousand words of sixteen languages.
//!
//! Layout of the asset, little endian: `SGWT`, version `u16`, dimensions `u16`, rows `u32`;
//! then the rows' fingerprints in order (`u32` each), their factors (the upper half of an `f32`
//! each) and their numbers (`i8` each). It is used where it lies; only an index of 65,537 offsets
//! is built when it is loaded. `crates/lab/scripts/distil_embeddings.py` makes it.

use crate::hash::WordHash;

/// How many numbers a vector has.
pub const DIMENSIONS: usize = 64;
const HEADER_BYTES: usize = 12;
const VERSION: u16 = 1;

/// Why a word table cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// The bytes do not begin as a table does.
    #[error("this is not a word table; make one with crates/lab/scripts/distil_embeddings.py")]
    NotATable,
    /// The bytes end before the table does.
    #[error("the word table is cut short; make it again with crates/lab/scripts/distil_embeddings.py")]
    Truncated,
}

/// A meaning in numbers; the sum of the words' rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vector(pub [f32; DIMENSIONS]);

impl Vector {
    pub const ZERO: Self = Self([0.0; DIMENSIONS]);

    pub fn dot(&self, other: &Self) -> f32 {
        // Eight sums side by side: the compiler can use wide registers, and the order is fixed.
        let mut sums = [0.0_f32; 8];
        for (a, b) in self.0.chunks_exact(8).zip(other.0.chunks_exact(8)) {
            for lane in 0..8 {
                sums[lane] += a[lane] * b[lane];
            }
        }
        sums.iter().sum()
    }

    pub fn norm(&self) -> f32 {
        self.dot(self).sqrt()
    }

    /// The cosine of two vectors, or nothing where one of them has no direction.
    pub fn cosine(&self, other: &Self) -> Option<f32> {
        let norms = self.norm() * other.norm();
        (norms > 1e-6).then(|| (self.dot(other) / norms).clamp(-1.0, 1.0))
    }

    pub fn unit(&self) -> Self {
        let norm = self.norm();
        if norm > 1e-6 { self.scaled(1.0 / norm) } else { Self::ZERO }
    }

    pub fn scaled(&self, by: f32) -> Self {
        Self(self.0.map(|value| value * by))
    }

    pub fn add(&mut self, other: &Self, times: f32) {
        for (mine, theirs) in self.0.iter_mut().zip(&other.0) {
            *mine += theirs * times;
        }
    }
}

/// A row of the table: where a word's vector lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row(u32);

/// The word table, ready for use.
#[derive(Clone, Debug)]
pub struct Table {
    bytes: &'static [u8],
    rows: usize,
    /// For each upper half of a fingerprint, the first row that has it or a later one.
    index: Vec<u32>,
}

impl Table {
    pub fn load(bytes: &'static [u8]) -> Result<Self, TableError> {
        let header = bytes.get(..HEADER_BYTES).ok_or(TableError::NotATable)?;
        let half = |at: usize| u16::from_le_bytes([header[at], header[at + 1]]);
        if &header[..4] != b"SGWT" || half(4) != VERSION || half(6) as usize != DIMENSIONS {
            return Err(TableError::NotATable);
        }
        let rows = u32::from_le_bytes([header[8], header[9], header[10], header[11]]) as usize;
        if bytes.len() != HEADER_BYTES + rows * (6 + DIMENSIONS) {
            return Err(TableError::Truncated);
        }
        let mut table = Self { bytes, rows, index: Vec::with_capacity(65_537) };
        let mut row = 0;
        for upper in 0..=u16::MAX {
            while row < rows && table.fingerprint(row) >> 16 < u32::from(upper) {
                row += 1;
            }
            table.index.push(row as u32);
        }
        table.index.push(rows as u32);
        Ok(table)
    }

    fn fingerprint(&self, row: usize) -> u32 {
        let at = HEADER_BYTES + 4 * row;
        let b = &self.bytes[at..at + 4];
        u32::from_le_bytes([b[0], b[1], b[2], b[3]])
    }

    fn numbers(&self, row: Row) -> &'static [u8] {
        let at = HEADER_BYTES + 6 * self.rows + DIMENSIONS * row.0 as usize;
        &self.bytes[at..at + DIMENSIONS]
    }

    fn factor(&self, row: Row) -> f32 {
        let at = HEADER_BYTES + 4 * self.rows + 2 * row.0 as usize;
        let half = u16::from_le_bytes([self.bytes[at], self.bytes[at + 1]]);
        f32::from_bits(u32::from(half) << 16)
    }

    /// The row of a word, if the table knows it.
    pub fn find(&self, word: WordHash) -> Option<Row> {
        let upper = (word.0 >> 16) as usize;
        let (from, to) = (self.index[upper] as usize, self.index[upper + 1] as usize);
        (from..to).find(|&row| self.fingerprint(row) == word.0).map(|row| Row(row as u32))
    }

    /// The vector of a word; zeros if the table does not know it.
    pub fn vector(&self, word: WordHash) -> Vector {
        let mut vector = Vector::ZERO;
        if let Some(row) = self.find(word) {
            self.add(row, &mut vector);
        }
        vector
    }

    /// Adds a word's row to a sum; returns the word's weight, near one for a rare word.
    pub fn add(&self, row: Row, sum: &mut Vector) -> f32 {
        let factor = self.factor(row);
        let mut square = 0_i32;
        for (mine, &byte) in sum.0.iter_mut().zip(self.numbers(row)) {
            let number = byte as i8;
            square += i32::from(number) * i32::from(number);
            *mine += f32::from(number) * factor;
        }
        factor * (square as f32).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_table_is_refused_with_what_to_do() {
        assert_eq!(Table::load(b"nothing").unwrap_err(), TableError::NotATable);
        let cut = &crate::assets::WORDS[..1_000];
        assert_eq!(Table::load(cut).unwrap_err(), TableError::Truncated);
    }

    #[test]
    fn rare_words_weigh_more_than_common_ones() {
        let table = Table::load(crate::assets::WORDS).unwrap();
        let weight = |word| table.add(table.find(WordHash::of(word)).unwrap(), &mut Vector::ZERO.clone());
        assert!(weight("parser") > 0.9 && weight("the") < 0.1);
        assert!(weight("酒店") > 0.5 && weight("的") < 0.1);
    }
}
