//! A hash for small numbers: entries, segments and sessions are counted by us, so nobody can choose bad ones.

use std::hash::{BuildHasherDefault, Hasher};

/// Makes maps of small numbers fast.
pub(super) type Mixed = BuildHasherDefault<Mix>;

/// Multiplies by an odd number, so that near numbers lie far apart.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mix(u64);

const ODD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(ODD);
        self.0 = mixed ^ (mixed >> 32);
    }
}
