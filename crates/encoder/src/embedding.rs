//! Where a text lies.

/// How many numbers an embedding has.
pub const DIMENSIONS: usize = 512;

/// A number of an embedding is kept as so many steps of this size: few are beyond 0.25.
const STEP: f32 = 1.0 / 508.0;

/// Where a text lies: a direction, as 512 small whole numbers, so that it is the same on every machine and wherever it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Embedding(Box<[i8; DIMENSIONS]>);

impl Embedding {
    /// Makes an embedding of numbers of which the squares add up to one.
    #[must_use]
    pub fn of(numbers: &[f32; DIMENSIONS]) -> Self {
        Self(Box::new(numbers.map(|number| (number / STEP).round().clamp(-127.0, 127.0) as i8)))
    }

    /// Takes what [`Embedding::bytes`] gave.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; DIMENSIONS] = bytes.try_into().ok()?;
        Some(Self(Box::new(bytes.map(u8::cast_signed))))
    }

    /// The embedding as bytes, to be kept.
    #[must_use]
    pub fn bytes(&self) -> [u8; DIMENSIONS] {
        self.0.map(i8::cast_unsigned)
    }

    /// The numbers; their squares add up to one, nearly.
    #[must_use]
    pub fn numbers(&self) -> [f32; DIMENSIONS] {
        self.0.map(|number| f32::from(number) * STEP)
    }

    /// How alike two directions are, from -1 to 1.
    #[must_use]
    pub fn cosine(&self, other: &Self) -> f32 {
        let product = |a: &Self, b: &Self| -> i32 {
            a.0.iter().zip(b.0.iter()).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
        };
        let lengths = (product(self, self) as f32) * (product(other, other) as f32);
        if lengths > 0.0 { product(self, other) as f32 / lengths.sqrt() } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn an_embedding_is_read_back_and_is_like_itself() {
        let mut numbers = [0.0; DIMENSIONS];
        (numbers[3], numbers[9]) = (0.2, -0.15);
        let embedding = Embedding::of(&numbers);
        assert_eq!(Embedding::from_bytes(&embedding.bytes()), Some(embedding.clone()));
        assert!((embedding.cosine(&embedding) - 1.0).abs() < 1e-6);
        assert_eq!(Embedding::from_bytes(&[0; 7]), None);
        assert_eq!(Embedding::from_bytes(&[0; 512]).unwrap().cosine(&embedding), 0.0);
    }
}
