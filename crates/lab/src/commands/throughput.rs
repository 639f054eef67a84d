//! `segue-lab throughput`: how many turns nodes take on one PostgreSQL, spread over scopes and on one hot scope.

use crate::args::{Common, Throughput};
use crate::costs::median;
use crate::torture::clients::{Target as _, scope};
use crate::torture::history::{Action, ClientOutcome, Operation};
use crate::torture::nodes::{Cluster, Commands, Judging, Wiring};
use segue_engine::clock::{Clock as _, SystemClock};
use segue_testing::postgres::{self, Durability};
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

pub async fn run(common: &Common, options: &Throughput) -> anyhow::Result<()> {
    let server = postgres::Cluster::start(Durability::Synced)?;
    let judging = if options.judge { Judging::On } else { Judging::Off };
    let mut figures = Vec::new();
    for hot in [false, true] {
        for nodes in &options.nodes {
            let url = format!("{}?pool=32", server.url(&server.create()?));
            let cluster =
                Arc::new(Cluster::start(Some(&url), *nodes, Commands::default(), Wiring::Direct, judging)?);
            cluster.ready().await?;
            // Connections are made and plans are cached before anything is counted.
            talk(&cluster, options.clients, hot, Duration::from_secs(3)).await;
            let (nodes_before, server_before) = (cluster.cpu_ms(), server.cpu_ms());
            let began = SystemClock.ticks_us();
            let times = talk(&cluster, options.clients, hot, Duration::from_secs(options.seconds)).await;
            let seconds = (SystemClock.ticks_us() - began) as f64 / 1e6;
            let turns = times.len() as f64;
            let mut sorted = times.clone();
            sorted.sort_unstable_by(f64::total_cmp);
            let worst = sorted.get(sorted.len() * 99 / 100).copied().unwrap_or(f64::NAN);
            let round = |value: f64| (value * 100.0).round() / 100.0;
            let one = json!({
                "nodes": nodes, "judged": options.judge, "clients": options.clients, "scopes": if hot { 1 } else { options.clients },
                "turns_a_second": round(turns / seconds), "median_ms": round(median(&times) / 1e3),
                "p99_ms": round(worst / 1e3), "node_cpu_ms_a_turn": round((cluster.cpu_ms() - nodes_before) / turns),
                "database_cpu_ms_a_turn": round((server.cpu_ms() - server_before) / turns),
            });
            if !common.json {
                println!("{one}");
            }
            figures.push(one);
        }
    }
    if common.json {
        println!("{}", json!(figures));
    }
    Ok(())
}

/// Lets clients talk, each to a node and a scope of its own or all to one scope, and returns the microseconds of each message that
/// was acknowledged.
async fn talk(cluster: &Arc<Cluster>, clients: usize, hot: bool, long: Duration) -> Vec<f64> {
    let end = cluster.now_us() + long.as_micros() as u64;
    let mut running = JoinSet::new();
    for client in 0..clients {
        let cluster = Arc::clone(cluster);
        running.spawn(async move {
            let (mut times, mut n) = (Vec::new(), 0_u64);
            while cluster.now_us() < end {
                n += 1;
                let began = cluster.now_us();
                let operation = Operation {
                    client,
                    action: Action::Message,
                    scope: scope(if hot { 0 } else { client }),
                    id: format!("{client}/{began}/{n}"),
                    text: format!("client {client} says something, for the time number {n}"),
                    invoked_us: began,
                    ended_us: 0,
                    tries: 1,
                    told: ClientOutcome::Unknown,
                    seq: None,
                };
                if cluster.send(client % cluster.len(), &operation).await.told == ClientOutcome::Acknowledged
                {
                    times.push((cluster.now_us() - began) as f64);
                }
            }
            times
        });
    }
    running.join_all().await.concat()
}
