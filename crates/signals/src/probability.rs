//! Numbers between nothing and certainty.

use std::fmt;

/// A probability: never below 0, never above 1, never "not a number".
///
/// ```
/// use segue_signals::Probability;
/// assert_eq!(Probability::new(1.5), Probability::new(1.0));
/// assert_eq!(Probability::new(f32::NAN), Probability::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Probability(f32);

impl Probability {
    /// Impossible.
    pub const ZERO: Self = Self(0.0);

    /// Makes a probability of any number; what lies outside is moved to the nearest end.
    #[must_use]
    pub fn new(value: f32) -> Self {
        if value.is_nan() { Self::ZERO } else { Self(value.clamp(0.0, 1.0)) }
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f32 {
        self.0
    }

    /// The probability of the opposite.
    #[must_use]
    pub fn complement(self) -> Self {
        Self(1.0 - self.0)
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2}", self.0)
    }
}
