//! Packed numbers, read one after the other.

use crate::Damaged;

/// Bytes that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Bytes(pub(crate) &'static [u8]);

impl Bytes {
    pub(crate) fn take(&mut self, count: usize) -> Result<&'static [u8], Damaged> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn magic(&mut self, magic: &[u8; 8]) -> Result<(), Damaged> {
        if self.take(magic.len())? == magic { Ok(()) } else { Err(Damaged) }
    }

    pub(crate) fn count(&mut self) -> Result<usize, Damaged> {
        let bytes = self.take(4)?.try_into().map_err(|_| Damaged)?;
        Ok(u32::from_le_bytes(bytes) as usize)
    }

    pub(crate) fn floats(&mut self, count: usize) -> Result<Vec<f32>, Damaged> {
        let (floats, _) = self.take(count.checked_mul(4).ok_or(Damaged)?)?.as_chunks::<4>();
        Ok(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}
