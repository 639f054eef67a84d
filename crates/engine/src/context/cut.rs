//! The cut: from which message on a context shows a session.
//!
//! A provider's prompt cache keeps what begins as before. So the cut must stand still while messages come,
//! and move far when it moves. It also must be a function of the session alone, since nothing remembers
//! where it stood.
//!
//! Both hold for a ruler: every place has as many marks as its number can be halved, and of any stretch
//! exactly one place has the most. The stretch goes from the first message with which the newest fill the
//! room to the first with which they fill half of it. Its ends only move forward, so the cut does too, and
//! it stays until the stretch has left it behind or reaches a place with more marks.

/// Finds the place with the most marks from `first` to `last`, both included.
pub(super) fn ruler(first: usize, last: usize) -> usize {
    let last = last.max(first);
    let mut place = last;
    // Taking away the lowest mark goes to the next place before with more of them.
    while place != 0 {
        let before = place & (place - 1);
        if before < first {
            break;
        }
        place = before;
    }
    place
}

/// Finds the cut for messages of some costs, the first of which has the place `from`.
///
/// Nothing if not even the newest message fits. Where there are messages before `from`, these must cost more
/// than the room is.
pub(super) fn cut(from: usize, costs: &[u64], room: u64) -> Option<Cut> {
    let first = fitting(costs, room);
    if first == costs.len() && !costs.is_empty() {
        return None;
    }
    let (first, half) = (from + first, from + fitting(costs, room / 2));
    Some(Cut { first, place: place(first, half, from + costs.len()) })
}

/// Finds the cut, given from where on messages up to an end fit into the room, and into half of it.
pub(super) fn place(first: usize, half: usize, end: usize) -> usize {
    ruler(first, half.min(end.saturating_sub(1)).max(first))
}

/// Where a context begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut {
    /// The first message that would fit.
    pub(super) first: usize,
    /// The first message that is shown.
    pub(super) place: usize,
}

/// Finds the first message from which on all fit.
fn fitting(costs: &[u64], room: u64) -> usize {
    let mut left = room;
    let fits = |cost: &&u64| match left.checked_sub(**cost) {
        Some(rest) => {
            left = rest;
            true
        }
        None => false,
    };
    costs.len() - costs.iter().rev().take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_ruler_has_one_highest_mark() {
        for (first, last, place) in
            [(0, 9, 0), (1, 9, 8), (5, 7, 6), (9, 15, 12), (7, 7, 7), (50, 75, 64), (9_950, 9_975, 9_952)]
        {
            assert_eq!(ruler(first, last), place, "{first} to {last}");
        }
    }

    #[test]
    fn what_fits_is_shown_whole() {
        assert_eq!(cut(0, &[1, 2, 3], 6), Some(Cut { first: 0, place: 0 }));
        assert_eq!(cut(0, &[], 6), Some(Cut { first: 0, place: 0 }));
        assert_eq!(cut(0, &[1, 7], 6), None, "the newest message does not fit");
    }

    proptest! {
        #[test]
        fn the_ruler_is_the_highest_mark(first in 0usize..3_000, width in 0usize..300) {
            let marks = |place: usize| if place == 0 { u32::MAX } else { place.trailing_zeros() };
            let expected = (first..=first + width).max_by_key(|place| marks(*place));
            prop_assert_eq!(Some(ruler(first, first + width)), expected);
        }

        /// Whatever messages come, the cut never goes back, and what is shown always fits.
        #[test]
        fn the_cut_only_moves_forward(costs in prop::collection::vec(0u64..40, 1..400), room in 40u64..400) {
            let mut before = 0;
            for count in 1..=costs.len() {
                let place = cut(0, &costs[..count], room).unwrap().place;
                prop_assert!(place >= before && place < count);
                prop_assert!(costs[place..count].iter().sum::<u64>() <= room);
                before = place;
            }
        }
    }
}
