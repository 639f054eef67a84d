//! `segue-lab torture`: hurts a cluster while clients talk to it, and checks that nothing was lost.

use crate::args::{Common, Torture};
use crate::torture::check::check;
use crate::torture::clients::{scope, talk};
use crate::torture::faults::{Done, Kind, Loss, Pace, hurt};
use crate::torture::history::{ClientOutcome, History, Operation};
use crate::torture::nodes::{Cluster, Commands, Judging, Wiring};
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
    for (kind, command, option) in [
        (Kind::Disk, &options.disk_command, "disk needs --disk-command"),
        (Kind::Primary, &options.primary_command, "primary needs --primary-command"),
        (Kind::Restart, &options.restart_command, "restart needs --restart-command"),
    ] {
        if options.store.is_some() && options.faults.contains(&kind) && command.is_none() {
            bail!("{option} on a database that is not its own");
        }
    }
    let commands = Commands {
        primary: options.primary_command.clone(),
        restart: options.restart_command.clone(),
        disk: options.disk_command.clone(),
    };
    let cluster =
        Cluster::start(options.store.as_deref(), options.nodes, commands, Wiring::Proxied, Judging::Off)?;
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
    cluster.restart_all()?;
    cluster.ready().await?;
    wrong.extend(cluster.differences(&scopes).await?);
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
    let mut told: BTreeMap<ClientOutcome, usize> = BTreeMap::new();
    let mut asked: BTreeMap<&str, usize> = BTreeMap::new();
    for operation in operations {
        *told.entry(operation.told).or_default() += 1;
        *asked.entry(operation.action.name(&operation.text)).or_default() += 1;
    }
    let gaps: Vec<u64> = done.losses.iter().map(|loss| without_service_ms(operations, loss)).collect();
    let mut sorted = gaps.clone();
    sorted.sort_unstable();
    let figures: Value = json!({
        "nodes": options.nodes, "clients": options.clients, "scopes": options.scopes, "minutes": options.minutes,
        "seed": options.seed, "operations": operations.len(), "asked": asked, "told": told, "faults": done.counts,
        "without_service_ms": { "median": sorted.get(sorted.len() / 2), "longest": sorted.last(), "each": gaps },
        "violations": wrong.len(), "shown": wrong.iter().take(SHOWN_MAX).collect::<Vec<_>>(),
    });
    match common.json {
        true => println!("{figures}"),
        false => println!("{}", serde_json::to_string_pretty(&figures)?),
    }
    Ok(())
}

/// The longest time without any acknowledgement, from the loss of a primary until the cluster was whole again.
fn without_service_ms(operations: &[Operation], loss: &Loss) -> u64 {
    let acknowledged = operations.iter().filter(|operation| operation.told == ClientOutcome::Acknowledged);
    let during =
        acknowledged.map(|one| one.ended_us).filter(|at| (loss.began_us..loss.ended_us).contains(at));
    let mut times: Vec<u64> = during.chain([loss.began_us, loss.ended_us]).collect();
    times.sort_unstable();
    times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0) / 1_000
}
