//! The faults: what happens to the cluster, by a seed.

use super::clients::Target as _;
use super::nodes::Cluster;
use super::seed::Seed;
use clap::ValueEnum;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::sleep;

/// A kind of fault.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A node is killed and started again.
    Kill,
    /// A node stands still for some seconds.
    Pause,
    /// A node cannot reach the database for some seconds.
    Partition,
    /// The database's primary is lost.
    Primary,
    /// A node is started again with another time.
    Clock,
    /// The database's disk is full for a while.
    Disk,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Done {
    /// How often each kind happened.
    pub counts: BTreeMap<Kind, u64>,
    /// When the primary was lost, in microseconds.
    pub primaries_us: Vec<u64>,
}

/// How faults are spread.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long between two faults, on average.
    pub every: Duration,
    /// How long between two losses of the primary, at least.
    pub primary_every: Duration,
}

/// Hurts a cluster until it is told to stop.
pub async fn hurt(
    cluster: Arc<Cluster>,
    kinds: Vec<Kind>,
    seed: u64,
    pace: Pace,
    stopped: Arc<AtomicBool>,
) -> anyhow::Result<Done> {
    let mut seed = Seed::new(seed);
    let mut done = Done::default();
    let mut primary_us = cluster.now_us();
    let mut healing = tokio::task::JoinSet::new();
    while !stopped.load(Ordering::Relaxed) {
        sleep(pace.every.mul_f64(0.5 + seed.share())).await;
        cluster.revive()?;
        let is_due = cluster.now_us().saturating_sub(primary_us) >= pace.primary_every.as_micros() as u64;
        let kind = match kinds.contains(&Kind::Primary) && is_due {
            true => Kind::Primary,
            false => {
                let others: Vec<Kind> = kinds.iter().copied().filter(|kind| *kind != Kind::Primary).collect();
                let Some(kind) = others.get(seed.below(others.len())) else { continue };
                *kind
            }
        };
        let (node, long) = (seed.below(cluster.len()), Duration::from_millis(500 + seed.below(4_500) as u64));
        let ahead = seed.below(7_200) as i64 - 3_600;
        *done.counts.entry(kind).or_default() += 1;
        match kind {
            Kind::Kill => cluster.kill(node)?,
            Kind::Clock => cluster.restart_ahead(node, ahead)?,
            Kind::Primary => {
                primary_us = cluster.now_us();
                done.primaries_us.push(primary_us);
                cluster.lose_primary().await?;
            }
            Kind::Disk => cluster.fill_disk().await?,
            Kind::Pause => {
                cluster.pause(node).await;
                let cluster = Arc::clone(&cluster);
                healing.spawn(async move {
                    sleep(long).await;
                    cluster.resume(node).await;
                });
            }
            Kind::Partition => {
                cluster.partition(node);
                let cluster = Arc::clone(&cluster);
                healing.spawn(async move {
                    sleep(long).await;
                    cluster.heal(node);
                });
            }
        }
    }
    healing.join_all().await;
    Ok(done)
}
