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
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::sleep;

/// How long a node is cut off at least, when it is for longer than it waits for an answer.
const BLACKOUT: Duration = Duration::from_secs(40);

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
    /// A node cannot reach the database for longer than it waits for an answer.
    Blackout,
    /// The backends of all nodes are ended in the database.
    Terminate,
    /// The database's primary crashes, and starts again where it is.
    Restart,
    /// The database's primary is lost.
    Primary,
    /// A node is started again with another time.
    Clock,
    /// The database's disk is full, or its writes fail, for a while.
    Disk,
}

/// What happened.
#[derive(Debug, Default)]
pub struct Done {
    /// How often each kind happened.
    pub counts: BTreeMap<Kind, u64>,
    /// The losses of the primary.
    pub losses: Vec<Loss>,
}

/// A loss of the primary, in microseconds.
#[derive(Debug, Clone, Copy)]
pub struct Loss {
    /// When it was taken away.
    pub began_us: u64,
    /// When the cluster was whole again.
    pub ended_us: u64,
}

/// What a fault of the database came to.
enum Fault {
    /// The primary was lost.
    Primary(Loss),
    /// The primary was started again.
    Restart,
    /// The disk was full.
    Disk,
    /// The cluster was still healing, and refused.
    Refused,
}

/// How faults are spread.
#[derive(Debug, Clone, Copy)]
pub struct Pace {
    /// How long between two faults, on average.
    pub every: Duration,
    /// How long between two losses of the primary, at least.
    pub primary_every: Duration,
}

/// Hurts a cluster until it is told to stop. Nodes are hurt while the database is: it is hurt by one fault at a time.
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
    let mut healing = JoinSet::new();
    let mut database: Option<JoinHandle<anyhow::Result<Fault>>> = None;
    let (mut due, mut cut_until): (Vec<Kind>, BTreeMap<usize, u64>) = (Vec::new(), BTreeMap::new());
    while !stopped.load(Ordering::Relaxed) {
        sleep(pace.every.mul_f64(0.5 + seed.share())).await;
        cluster.revive()?;
        if database.as_ref().is_some_and(JoinHandle::is_finished) {
            done.note(database.take()).await?;
        }
        let is_due = cluster.now_us().saturating_sub(primary_us) >= pace.primary_every.as_micros() as u64;
        let kind = match kinds.contains(&Kind::Primary) && is_due && database.is_none() {
            true => Kind::Primary,
            false => {
                // Each has its turn, in another order each time.
                if due.is_empty() {
                    due = kinds.iter().copied().filter(|kind| *kind != Kind::Primary).collect();
                }
                if due.is_empty() {
                    continue;
                }
                due.swap_remove(seed.below(due.len()))
            }
        };
        let (node, long) = (seed.below(cluster.len()), Duration::from_millis(500 + seed.below(4_500) as u64));
        let ahead = seed.below(7_200) as i64 - 3_600;
        match kind {
            Kind::Primary => {
                primary_us = cluster.now_us();
                database = Some(tokio::spawn(lose_primary(Arc::clone(&cluster))));
                continue;
            }
            // Another fault of the database is under way: this one comes later.
            Kind::Disk | Kind::Restart if database.is_some() => {
                due.push(kind);
                continue;
            }
            Kind::Restart => {
                let cluster = Arc::clone(&cluster);
                database = Some(tokio::spawn(async move {
                    Ok(if cluster.restart_primary().await? { Fault::Restart } else { Fault::Refused })
                }));
                continue;
            }
            Kind::Disk => {
                let cluster = Arc::clone(&cluster);
                database = Some(tokio::spawn(async move {
                    Ok(if cluster.fill_disk(long).await? { Fault::Disk } else { Fault::Refused })
                }));
                continue;
            }
            Kind::Kill => cluster.kill(node)?,
            Kind::Clock => cluster.restart_ahead(node, ahead)?,
            Kind::Pause => {
                cluster.pause(node).await;
                let cluster = Arc::clone(&cluster);
                healing.spawn(async move {
                    sleep(long).await;
                    cluster.resume(node).await;
                });
            }
            Kind::Terminate => {
                if !cluster.terminate_backends().await? {
                    continue;
                }
            }
            // It is cut off already.
            Kind::Partition | Kind::Blackout
                if cut_until.get(&node).is_some_and(|end| *end > cluster.now_us()) =>
            {
                continue;
            }
            Kind::Partition | Kind::Blackout => {
                let long = match kind {
                    Kind::Blackout => BLACKOUT.mul_f64(1.0 + long.as_secs_f64() / 10.0),
                    _ => long,
                };
                cluster.partition(node);
                cut_until.insert(node, cluster.now_us() + long.as_micros() as u64);
                let cluster = Arc::clone(&cluster);
                healing.spawn(async move {
                    sleep(long).await;
                    cluster.heal(node);
                });
            }
        }
        *done.counts.entry(kind).or_default() += 1;
    }
    done.note(database).await?;
    healing.join_all().await;
    Ok(done)
}

async fn lose_primary(cluster: Arc<Cluster>) -> anyhow::Result<Fault> {
    let began_us = cluster.now_us();
    let is_lost = cluster.lose_primary().await?;
    let loss = Loss { began_us, ended_us: cluster.now_us() };
    Ok(if is_lost { Fault::Primary(loss) } else { Fault::Refused })
}

impl Done {
    /// Counts a fault of the database once it is over.
    async fn note(&mut self, fault: Option<JoinHandle<anyhow::Result<Fault>>>) -> anyhow::Result<()> {
        let Some(fault) = fault else { return Ok(()) };
        let kind = match fault.await?? {
            Fault::Primary(loss) => {
                self.losses.push(loss);
                Kind::Primary
            }
            Fault::Restart => Kind::Restart,
            Fault::Disk => Kind::Disk,
            Fault::Refused => return Ok(()),
        };
        *self.counts.entry(kind).or_default() += 1;
        Ok(())
    }
}
