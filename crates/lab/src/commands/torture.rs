//! `segue-lab torture`: hurts a cluster while clients talk to it, and checks that nothing was lost.

use crate::args::{Common, Torture};
use crate::torture::check::check;
use crate::torture::clients::{scope, talk};
use crate::torture::faults::{Done, Kind, Pace, hurt};
use crate::torture::history::{History, Operation, Told};
use crate::torture::nodes::Cluster;
use anyhow::bail;
use segue_store::Location;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;

/// How many violations are shown.
const SHOWN_MAX: usize = 20;

pub async fn run(common: &Common, options: &Torture) -> anyhow::Result<()> {
    if options.faults.contains(&Kind::Disk) && options.disk_command.is_none() {
        bail!("disk needs --disk-command");
    }
    let (primary, disk) = (options.primary_command.clone(), options.disk_command.clone());
    let cluster = Cluster::start(options.store.as_deref(), options.nodes, primary, disk)?;
    let cluster = Arc::new(cluster);
    cluster.ready().await?;
    let (history, stopped) = (Arc::new(History::default()), Arc::new(AtomicBool::new(false)));
    let mut clients = JoinSet::new();
    for client in 0..options.clients {
        let (cluster, history, stopped) = (Arc::clone(&cluster), Arc::clone(&history), Arc::clone(&stopped));
        clients.spawn(talk(cluster, history, client, options.scopes, usize::MAX, stopped));
    }
    let pace = Pace {
        every: Duration::from_secs_f64(options.every),
        primary_every: Duration::from_secs_f64(options.primary_every),
    };
    let faults = hurt(Arc::clone(&cluster), options.faults.clone(), options.seed, pace, Arc::clone(&stopped));
    let faults = tokio::spawn(faults);
    tokio::time::sleep(Duration::from_secs_f64(options.minutes * 60.0)).await;
    stopped.store(true, Ordering::Relaxed);
    let done = faults.await??;
    clients.join_all().await;
    // The nodes as they are now, and then all of them anew: both must tell what the log says.
    cluster.ready().await?;
    let operations = history.all();
    let scopes: Vec<String> = (0..options.scopes).map(scope).collect();
    let mut wrong = cluster.differences(&scopes).await?;
    let store = cluster.store.parse::<Location>()?.open()?;
    wrong.extend(check(store.as_ref(), &operations).await?);
    if let Some(path) = &options.history {
        let mut file = std::io::BufWriter::new(std::fs::File::create(path)?);
        for operation in &operations {
            writeln!(file, "{}", serde_json::to_string(operation)?)?;
        }
    }
    tell(common, options, &operations, &done, &wrong)?;
    match wrong.len() {
        0 => Ok(()),
        count => bail!("{count} violations"),
    }
}

fn tell(
    common: &Common,
    options: &Torture,
    operations: &[Operation],
    done: &Done,
    wrong: &[String],
) -> anyhow::Result<()> {
    let mut told: BTreeMap<Told, usize> = BTreeMap::new();
    for operation in operations {
        *told.entry(operation.told).or_default() += 1;
    }
    let gaps = gaps_ms(operations, &done.primaries_us);
    let figures: Value = json!({
        "nodes": options.nodes, "clients": options.clients, "scopes": options.scopes, "minutes": options.minutes,
        "seed": options.seed, "operations": operations.len(), "told": told, "faults": done.counts,
        "without_service_ms": {
            "median": gaps.get(gaps.len() / 2), "longest": gaps.last(), "of": gaps.len(),
        },
        "violations": wrong.len(), "shown": wrong.iter().take(SHOWN_MAX).collect::<Vec<_>>(),
    });
    match common.json {
        true => println!("{figures}"),
        false => println!("{}", serde_json::to_string_pretty(&figures)?),
    }
    Ok(())
}

/// After each loss of the primary: how long until a message was sent and acknowledged. Sorted.
fn gaps_ms(operations: &[Operation], primaries_us: &[u64]) -> Vec<u64> {
    let acknowledged: Vec<&Operation> =
        operations.iter().filter(|operation| operation.told == Told::Acknowledged).collect();
    let next = |lost: &u64| {
        let after =
            acknowledged.iter().filter(|operation| operation.invoked_us >= *lost && operation.tries == 1);
        let after = after.map(|operation| operation.ended_us).min();
        // Those who wait and try again were without service as well.
        let waiting = acknowledged
            .iter()
            .filter(|operation| operation.invoked_us < *lost && operation.ended_us > *lost);
        let waiting = waiting.map(|operation| operation.ended_us).min();
        after.max(waiting).map(|at| at.saturating_sub(*lost) / 1_000)
    };
    let mut gaps: Vec<u64> = primaries_us.iter().filter_map(next).collect();
    gaps.sort_unstable();
    gaps
}
