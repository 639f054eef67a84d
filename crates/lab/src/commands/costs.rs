//! `segue-lab costs`: what a turn costs on PostgreSQL, beside a bare statement, in short and long logs, among few and many scopes.

use crate::args::{Common, Costs};
use crate::costs::bare::Bare;
use crate::costs::grow::grow;
use crate::costs::turns::{Line, through_engine};
use crate::costs::{median, shuffle};
use crate::torture::seed::Seed;
use anyhow::bail;
use segue_engine::Engine;
use segue_store::Store;
use segue_store::postgres::Postgres;
use segue_testing::postgres::{Cluster, Durability};
use segue_testing::processes::cpu_ms;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

/// The scope of a bare statement: as long as the one that it is compared with.
const MIDDLE: &str = "agent:main:costs:direct:m1000";

/// How many messages the scopes have that are copied.
const COPIED_MESSAGES: u64 = 2;

/// Something that is measured.
enum Lane {
    Bare(Box<Bare>),
    Line(Box<Line>),
    Engine(Box<Engine>, String),
}

impl Lane {
    async fn turns(&mut self, count: usize) -> anyhow::Result<Vec<f64>> {
        match self {
            Self::Bare(bare) => bare.turns(MIDDLE, count).await,
            Self::Line(line) => line.turns(count).await,
            Self::Engine(engine, scope) => through_engine(engine, scope, count).await,
        }
    }
}

pub async fn run(common: &Common, options: &Costs) -> anyhow::Result<()> {
    let server = Cluster::start(Durability::Synced)?;
    let (few, many) = (server.url(&server.create()?), server.url(&server.create()?));
    let open = |url: &str| -> anyhow::Result<Arc<dyn Store>> { Ok(Arc::new(Postgres::open(url)?)) };
    let (small, large) = (open(&few)?, open(&many)?);
    let mut lanes: BTreeMap<String, Lane> = BTreeMap::new();
    for messages in [10, 1_000, options.messages] {
        let mut line =
            Line::open(Arc::clone(&small), &format!("agent:main:costs:direct:m{messages}")).await?;
        line.fill(messages).await?;
        lanes.insert(format!("turn at {messages} messages"), Lane::Line(Box::new(line)));
    }
    for (url, store, scopes) in [(&few, &small, 1_000), (&many, &large, options.scopes)] {
        let template = "agent:main:costs:direct:copied";
        Line::open(Arc::clone(store), template).await?.fill(COPIED_MESSAGES).await?;
        grow(url, template, scopes).await?;
        let mut line = Line::open(Arc::clone(store), "agent:main:costs:direct:among").await?;
        line.fill(10).await?;
        lanes.insert(format!("turn among {scopes} scopes"), Lane::Line(Box::new(line)));
    }
    let Some(Lane::Line(middle)) = lanes.get_mut("turn at 1000 messages") else {
        bail!("no scope to compare")
    };
    let entries = middle.entries_of_a_turn().await?;
    lanes.insert("bare".to_owned(), Lane::Bare(Box::new(Bare::open(&few, MIDDLE, entries).await?)));
    for (name, route) in [("engine", "never"), ("engine that judges", "auto")] {
        let settings: &[(&str, &str)] =
            if route == "never" { &[("lifecycle.auto_route", route)] } else { &[] };
        let engine = Engine::open(open(&few)?, super::config(common, settings)?).await?;
        let scope = format!("agent:main:costs:direct:{}", name.replace(' ', "-"));
        Line::open(Arc::clone(&small), &scope).await?.fill(1_000).await?;
        lanes.insert(format!("{name} at 1000 messages"), Lane::Engine(Box::new(engine), scope));
    }
    // Everything is warm before anything is measured.
    for lane in lanes.values_mut() {
        lane.turns(options.turns).await?;
    }
    if options.batches {
        return batches(&mut lanes, &few, &server).await;
    }
    let mut seed = Seed::new(options.seed);
    let mut times: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for _ in 0..options.rounds {
        let mut order: Vec<String> = lanes.keys().cloned().collect();
        shuffle(&mut order, &mut seed);
        for name in order {
            let Some(lane) = lanes.get_mut(&name) else { continue };
            times.entry(name).or_default().extend(lane.turns(options.turns).await?);
        }
    }
    let bytes = server.psql(&database_of(&few), &size_sql(options.messages))?;
    let figures = json!({
        "entries_of_a_turn": entries, "turns_of_each": options.rounds * options.turns,
        "median_us": times.iter().map(|(name, times)| (name.clone(), median(times).into())).collect::<serde_json::Map<String, Value>>(),
        "to_bare": times.iter().map(|(name, own)| {
            let bare = times.get("bare").map_or(f64::NAN, |bare| median(bare));
            (name.clone(), ((median(own) / bare * 100.0).round() / 100.0).into())
        }).collect::<serde_json::Map<String, Value>>(),
        "bytes_a_message": bytes,
    });
    match common.json {
        true => println!("{figures}"),
        false => println!("{}", serde_json::to_string_pretty(&figures)?),
    }
    Ok(())
}

fn database_of(url: &str) -> String {
    url.rsplit('/').next().unwrap_or_default().to_owned()
}

/// Bytes of all tables and indexes, for each message that they hold.
fn size_sql(messages: u64) -> String {
    format!(
        "SELECT round(sum(pg_total_relation_size(c.oid))::numeric / {messages}) FROM pg_class AS c
         WHERE c.relkind = 'r' AND c.relname LIKE 'segue\\_%'"
    )
}

/// Measures what is asked for, for another program that measures others in turn: `NAME COUNT` a line, answered by the times; `cpu`
/// by the processor time that the server and this program have taken so far.
async fn batches(lanes: &mut BTreeMap<String, Lane>, url: &str, server: &Cluster) -> anyhow::Result<()> {
    let mut out = std::io::stdout();
    writeln!(out, "{}", json!({ "url": url, "lanes": lanes.keys().collect::<Vec<_>>() }))?;
    for asked in std::io::stdin().lock().lines() {
        let asked = asked?;
        let answer = match asked.rsplit_once(' ') {
            None if asked == "cpu" => {
                json!({ "database_ms": server.cpu_ms(), "own_ms": cpu_ms(std::process::id()) })
            }
            Some((name, count)) => {
                let Some(lane) = lanes.get_mut(name) else { bail!("there is no {name}") };
                json!({ "us": lane.turns(count.parse()?).await? })
            }
            None => bail!("say NAME COUNT, or cpu"),
        };
        writeln!(out, "{answer}")?;
        out.flush()?;
    }
    Ok(())
}
