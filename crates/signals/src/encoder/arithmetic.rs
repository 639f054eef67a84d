//! Sums and curves, written so that a compiler can do many at once.

const LANES: usize = 8;

/// The product of two rows.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for (a, b) in a.chunks_exact(LANES).zip(b.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += a[lane] * b[lane];
        }
    }
    sums.iter().sum()
}

/// The sum of a row.
#[inline(always)]
pub(super) fn sum(row: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    for row in row.chunks_exact(LANES) {
        for lane in 0..LANES {
            sums[lane] += row[lane];
        }
    }
    sums.iter().sum()
}

/// e to the power of a number that is not above 0, to six digits.
#[inline(always)]
pub(super) fn exp(power: f32) -> f32 {
    // Added to a number, it pushes the fraction out of it.
    const WHOLE: f32 = 12_582_912.0;
    let halvings = power.max(-87.0) * std::f32::consts::LOG2_E;
    let pushed = halvings + WHOLE;
    let rest = (halvings - (pushed - WHOLE)) * std::f32::consts::LN_2;
    let series = 1.0
        + rest * (1.0 + rest * (0.5 + rest * (0.166_666_67 + rest * (0.041_666_67 + rest * 0.008_333_334))));
    // The whole part goes where a number keeps its power of two.
    f32::from_bits(series.to_bits().wrapping_add(pushed.to_bits().wrapping_sub(WHOLE.to_bits()) << 23))
}

/// A number, as far as it is above what is usual (GELU); the error function is that of Abramowitz and Stegun, 7.1.26.
#[inline(always)]
pub(super) fn gelu(number: f32) -> f32 {
    let x = number.abs() * std::f32::consts::FRAC_1_SQRT_2;
    let t = 1.0 / (1.0 + 0.327_591_1 * x);
    let series =
        t * (0.254_829_6 + t * (-0.284_496_74 + t * (1.421_413_7 + t * (-1.453_152 + t * 1.061_405_4))));
    let erf = (1.0 - series * exp(-x * x)).copysign(number);
    0.5 * number * (1.0 + erf)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_are_what_tables_say() {
        for power in [0.0_f32, -0.1, -0.5, -1.0, -3.7, -20.0] {
            assert!((exp(power) / power.exp() - 1.0).abs() < 1e-5, "{power}");
        }
        assert!(exp(-1e9) < 1e-30);
        for (number, expected) in
            [(0.0, 0.0), (1.0, 0.841_345), (-1.0, -0.158_655), (3.0, 2.995_95), (-6.0, 0.0)]
        {
            assert!((gelu(number) - expected).abs() < 1e-5, "{number}: {}", gelu(number));
        }
        let row: Vec<f32> = (0..32).map(|number| number as f32).collect();
        assert_eq!((sum(&row), dot(&row, &row)), (496.0, 10_416.0));
    }
}
