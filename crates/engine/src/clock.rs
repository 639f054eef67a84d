//! Where time and fresh ids come from: the only place that asks the machine for them.

use segue_core::Timestamp;
use segue_core::session::Id;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the time now.
    fn now(&self) -> Timestamp;
}

/// Makes ids that nobody has made before.
pub trait Ids: Send + Sync {
    /// Makes an id for a session that is opened at a time.
    fn fresh(&self, at: Timestamp) -> Id;
}

/// The machine's clock.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[allow(clippy::disallowed_methods, reason = "this is the one place")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}

/// Random ids that sort by time (UUID version 7).
#[derive(Debug, Clone, Copy, Default)]
pub struct RandomIds;

impl Ids for RandomIds {
    fn fresh(&self, at: Timestamp) -> Id {
        let seconds = u64::try_from(at.as_second()).unwrap_or(0);
        let nanos = u32::try_from(at.subsec_nanosecond()).unwrap_or(0);
        Id(uuid::Uuid::new_v7(uuid::Timestamp::from_unix(uuid::NoContext, seconds, nanos)))
    }
}
