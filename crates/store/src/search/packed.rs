//! Postings of one term, packed: a common word takes two or three bytes for each message that has it.
//!
//! Of each posting, in the order of the log: how far it is from the one before, with two bits that say whether its
//! segment is another one and whether it has the term more than once; these two if so; how long the message is.
//! Numbers have seven bits in each byte, the lowest first, and the eighth says that more follow.

use super::Posting;
use segue_core::entry::Seq;
use segue_core::segment;

const OTHER_SEGMENT: u64 = 1;
const SEVERAL: u64 = 2;

/// Packs postings of a run that begins with an entry.
pub(super) fn pack(begin: Seq, postings: &[Posting]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(postings.len() * 3 + 4);
    let (mut seq, mut segment) = (begin.0, 0_i64);
    for posting in postings {
        let step = i64::from(posting.segment.0) - segment;
        let marks = if step == 0 { 0 } else { OTHER_SEGMENT } | if posting.count > 1 { SEVERAL } else { 0 };
        put(&mut bytes, posting.seq.0.saturating_sub(seq) << 2 | marks);
        if step != 0 {
            // The sign goes last, so that a small step back is a small number.
            put(&mut bytes, ((step << 1) ^ (step >> 63)) as u64);
        }
        if posting.count > 1 {
            put(&mut bytes, u64::from(posting.count));
        }
        put(&mut bytes, u64::from(posting.length));
        (seq, segment) = (posting.seq.0, i64::from(posting.segment.0));
    }
    bytes
}

/// Unpacks postings; nothing if the bytes are not packed ones.
pub(super) fn unpack(begin: Seq, mut bytes: &[u8]) -> Option<Vec<Posting>> {
    let mut postings = Vec::with_capacity(bytes.len() / 2);
    let (mut seq, mut segment) = (begin.0, 0_i64);
    while !bytes.is_empty() {
        let head = take(&mut bytes)?;
        seq = seq.checked_add(head >> 2)?;
        if head & OTHER_SEGMENT != 0 {
            let step = take(&mut bytes)?;
            segment = segment.checked_add((step >> 1) as i64 ^ -((step & 1) as i64))?;
        }
        let count = if head & SEVERAL != 0 { u32::try_from(take(&mut bytes)?).ok()? } else { 1 };
        let length = u32::try_from(take(&mut bytes)?).ok()?;
        let segment = segment::Number(u32::try_from(segment).ok()?);
        postings.push(Posting { seq: Seq(seq), segment, count, length });
    }
    Some(postings)
}

pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

pub(super) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn postings() -> impl Strategy<Value = Vec<Posting>> {
        let one = (1..100_000_u64, any::<u32>(), 1..5_000_u32, any::<u32>());
        prop::collection::vec(one, 0..50).prop_map(|all| {
            let mut seq = 7;
            let mut posting = |(step, segment, count, length)| {
                seq += step;
                Posting { seq: Seq(seq), segment: segment::Number(segment), count, length }
            };
            all.into_iter().map(&mut posting).collect()
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(postings in postings()) {
            prop_assert_eq!(unpack(Seq(7), &pack(Seq(7), &postings)), Some(postings));
        }

        #[test]
        fn any_bytes_can_be_tried(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
            let _ = unpack(Seq(u64::MAX - 9), &bytes);
        }
    }

    #[test]
    fn a_common_word_takes_two_bytes_a_message() {
        let posting =
            |n: u64| Posting { seq: Seq(100 + 2 * n), segment: segment::Number(3), count: 1, length: 40 };
        let postings: Vec<Posting> = (0..1_000).map(posting).collect();
        assert!(pack(Seq(90), &postings).len() <= 2_002);
    }
}
