//! Where a text lies.

use pulp::{Arch, NullaryFnOnce};

/// How many numbers an embedding has.
pub const DIMENSIONS: usize = 512;

/// A number of an embedding is kept as so many steps of this size: few are beyond 0.25.
pub const STEP: f32 = 1.0 / 508.0;

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

/// A direction that many embeddings are compared with. It need not be that of a text.
#[derive(Clone, Debug)]
pub struct Direction {
    steps: [i8; DIMENSIONS],
    step: f32,
}

impl Direction {
    /// Makes a direction of numbers.
    #[must_use]
    pub fn of(numbers: &[f32; DIMENSIONS]) -> Self {
        let most = numbers.iter().fold(f32::MIN_POSITIVE, |most, number| number.abs().max(most));
        let step = most / 127.0;
        Self { steps: numbers.map(|number| (number / step).round() as i8), step }
    }

    /// Multiplies it with embeddings that lie one behind the other, as [`Embedding::bytes`] gives them.
    #[must_use]
    pub fn products(&self, embeddings: &[u8]) -> Vec<f32> {
        let rows = embeddings.as_chunks().0;
        let mut products = vec![0.0; rows.len()];
        Arch::new().dispatch(Multiply { rows, direction: self, products: &mut products });
        products
    }
}

/// Multiplies rows with a direction. It is written out, so that all of it is compiled for the processor that is there.
struct Multiply<'a> {
    rows: &'a [[u8; DIMENSIONS]],
    direction: &'a Direction,
    products: &'a mut [f32],
}

impl NullaryFnOnce for Multiply<'_> {
    type Output = ();

    #[inline(always)]
    fn call(self) {
        let Self { rows, direction, products } = self;
        let scale = direction.step * STEP;
        for (row, product) in rows.iter().zip(products) {
            let mut sum = 0_i32;
            for (a, b) in row.iter().zip(&direction.steps) {
                sum += i32::from(i16::from(a.cast_signed()) * i16::from(*b));
            }
            *product = sum as f32 * scale;
        }
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
    #[test]
    fn a_direction_is_multiplied_with_many() {
        let [a, b] = [0.2_f32, -0.1].map(|number| {
            let numbers: [f32; DIMENSIONS] = std::array::from_fn(|at| number * (at % 7) as f32 / 7.0);
            (Embedding::of(&numbers), numbers)
        });
        let rows = [a.0.bytes(), b.0.bytes()].concat();
        let found = Direction::of(&b.1).products(&rows);
        let exact = |other: &Embedding| -> f32 { other.numbers().iter().zip(&b.1).map(|(x, y)| x * y).sum() };
        assert_eq!(found.len(), 2);
        assert!((found[0] - exact(&a.0)).abs() < 0.02 && (found[1] - exact(&b.0)).abs() < 0.02, "{found:?}");
    }
}
