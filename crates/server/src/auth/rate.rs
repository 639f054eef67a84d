//! Rate limits: a bucket for each token, refilled evenly.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// How many buckets are kept. Full ones say nothing and go first.
const BUCKETS_MAX: usize = 10_000;

#[derive(Debug, Clone, Copy)]
struct Bucket {
    left: f64,
    at: Instant,
}

/// How often each caller may ask.
#[derive(Debug)]
pub struct Rates(Mutex<HashMap<String, Bucket>>);

impl Default for Rates {
    fn default() -> Self {
        Self(Mutex::new(HashMap::new()))
    }
}

impl Rates {
    /// Takes one request from the caller's bucket, or tells after how long there is room again. A limit of 0 is none.
    pub fn take(&self, caller: &str, per_minute: u64, now: Instant) -> Result<(), Duration> {
        if per_minute == 0 {
            return Ok(());
        }
        #[expect(clippy::cast_precision_loss, reason = "a limit is small")]
        let (most, per_second) = (per_minute as f64, per_minute as f64 / 60.0);
        let mut buckets = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refilled = |bucket: &Bucket| {
            let since = now.saturating_duration_since(bucket.at).as_secs_f64();
            (bucket.left + since * per_second).min(most)
        };
        if buckets.len() >= BUCKETS_MAX {
            buckets.retain(|_, bucket| refilled(bucket) < most);
        }
        let bucket = buckets.entry(caller.to_owned()).or_insert(Bucket { left: most, at: now });
        *bucket = Bucket { left: refilled(bucket), at: now };
        if bucket.left < 1.0 {
            return Err(Duration::from_secs_f64((1.0 - bucket.left) / per_second));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_emptied_and_refilled() {
        let rates = Rates::default();
        let start = Instant::now();
        for _ in 0..60 {
            assert!(rates.take("a", 60, start).is_ok());
        }
        assert_eq!(rates.take("a", 60, start), Err(Duration::from_secs(1)));
        assert!(rates.take("b", 60, start).is_ok(), "another caller has its own");
        assert!(rates.take("a", 60, start + Duration::from_secs(1)).is_ok());
        assert!(rates.take("a", 0, start).is_ok(), "0 is no limit");
    }
}
