//! Buckets: rows of the index, each with some terms next to each other and where they stand.
//!
//! Most terms are rare. A row for each would be mostly the row itself, so terms share one: a directory (how far each
//! term is from the one before, how many messages have it, how many bytes it takes) and, apart from it, the packed
//! postings one after the other. The directory alone says how common a term is.

use super::Posting;
use super::packed::{pack, put, take, unpack};
use super::terms::Term;
use segue_core::entry::Seq;

/// A bucket that has so many bytes takes no more terms. Rows of this size lie well in a page of 4 KB.
const BUCKET_BYTES: usize = 420;

/// Where a term stands in a run.
pub(crate) type Places = (Term, Vec<Posting>);

/// A row of the index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bucket {
    /// The first term that it has.
    pub first: Term,
    pub directory: Vec<u8>,
    pub places: Vec<u8>,
}

/// What a directory says of a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub term: Term,
    pub messages: u64,
    from: usize,
    to: usize,
}

impl Slot {
    /// Unpacks where the term stands; nothing if the bytes are not those of the directory.
    pub(crate) fn postings(&self, run: Seq, places: &[u8]) -> Option<Vec<Posting>> {
        unpack(run, places.get(self.from..self.to)?)
    }
}

/// Reads a directory; a slot is nothing if the bytes are not a directory's.
pub(crate) fn slots(first: Term, mut directory: &[u8]) -> impl Iterator<Item = Option<Slot>> {
    let (mut term, mut to) = (first.0, 0_usize);
    std::iter::from_fn(move || {
        if directory.is_empty() {
            return None;
        }
        let mut slot = || {
            term = term.checked_add(take(&mut directory)?)?;
            let messages = take(&mut directory)?;
            let from = to;
            to = to.checked_add(usize::try_from(take(&mut directory)?).ok()?)?;
            Some(Slot { term: Term(term), messages, from, to })
        };
        let slot = slot();
        if slot.is_none() {
            directory = &[];
        }
        Some(slot)
    })
}

/// Fills buckets with the terms of a run, which come in order.
pub(crate) fn fill<'a>(
    run: Seq,
    places: impl Iterator<Item = (Term, &'a [Posting])>,
) -> impl Iterator<Item = Bucket> {
    let mut places = places.peekable();
    std::iter::from_fn(move || {
        let first = places.peek()?.0;
        let mut bucket = Bucket { first, directory: Vec::new(), places: Vec::new() };
        let mut before = first;
        while let Some((term, postings)) = places.next_if(|(_, postings)| bucket.has_room(postings.len())) {
            let packed = pack(run, postings);
            put(&mut bucket.directory, term.0.saturating_sub(before.0));
            put(&mut bucket.directory, postings.len() as u64);
            put(&mut bucket.directory, packed.len() as u64);
            bucket.places.extend(packed);
            before = term;
        }
        Some(bucket)
    })
}

impl Bucket {
    /// A term that is everywhere has a bucket of its own, so that its neighbours are read without it.
    fn has_room(&self, postings: usize) -> bool {
        let bytes = self.directory.len() + self.places.len();
        bytes == 0 || (bytes < BUCKET_BYTES && postings * 2 < BUCKET_BYTES)
    }

    /// Reads all that a bucket has; nothing if it is not one.
    pub(crate) fn unpacked(&self, run: Seq) -> Option<Vec<Places>> {
        slots(self.first, &self.directory)
            .map(|slot| slot.and_then(|slot| Some((slot.term, slot.postings(run, &self.places)?))))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::segment;

    fn posting(seq: u64) -> Posting {
        Posting { seq: Seq(seq), segment: segment::Number(2), count: 1, length: 20 }
    }

    #[test]
    fn what_is_filled_in_is_found_again() {
        let places: Vec<Places> = (0..1_000_u64)
            .map(|n| {
                (Term(n * n * 977), (0..if n % 100 == 0 { 2_000 } else { n % 4 + 1 }).map(posting).collect())
            })
            .collect();
        let all = places.iter().map(|(term, postings)| (*term, postings.as_slice()));
        let buckets: Vec<Bucket> = fill(Seq::ZERO, all).collect();
        let found: Vec<Places> =
            buckets.iter().flat_map(|bucket| bucket.unpacked(Seq::ZERO).unwrap()).collect();
        assert_eq!(found, places);
        // Common terms are alone or come first; the others share.
        assert!((20..120).contains(&buckets.len()), "{}", buckets.len());
    }

    #[test]
    fn a_directory_that_is_none_ends() {
        for bytes in [&[0x80][..], &[1, 2], &[0xff; 30], &[0, 1, 200, 0]] {
            let bucket = Bucket { first: Term(5), directory: bytes.to_vec(), places: vec![1, 2, 3] };
            assert_eq!(bucket.unpacked(Seq::ZERO), None);
        }
    }
}
