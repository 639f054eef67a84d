//! Effects: what is done once a decision is durable, besides the entries themselves.

use crate::entry::Seq;
use crate::notice::Notice;
use crate::segment;
use crate::session::Number;

/// Something to do with a decision.
///
/// A store takes [`Effect::Sweep`] and [`Effect::Erase`] with the append, so that a crash cannot separate them from it.
/// The engine carries out the rest after the append.
#[derive(Debug, Clone, PartialEq)]
pub enum Effect {
    /// The person is told what happened, or asked something.
    Tell(Notice),
    /// The person is told something besides, which is not about this turn.
    Warn(Notice),
    /// Sessions were dropped.
    Drop(Vec<Number>),
    /// Segments that no session sees any more are deleted.
    Sweep(Vec<segment::Number>),
    /// The bodies of entries are erased.
    Erase(Vec<Seq>),
    /// Nothing of what was erased or deleted may be left in the store's files when the person is told so.
    Purge,
    /// Agents that wait for the person are woken.
    Wake,
    /// Messages were added after this entry: they are indexed in the background.
    Index {
        /// The head that the entries were decided on.
        after: Seq,
    },
    /// Something was erased or dropped: caches that may hold its words or what was made of them are emptied.
    Forget,
}
