//! What can be typed.

use clap::{Args as ClapArgs, Parser, Subcommand};
use std::path::PathBuf;

/// Fits and measures what ships inside Segue.
#[derive(Debug, Parser)]
#[command(name = "segue-lab", version, max_term_width = 100)]
pub struct Args {
    /// What holds for every command.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Debug, ClapArgs)]
pub struct Common {
    /// A configuration file over the defaults; no other one is read
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Fit what a message is to a task (C-9) to the messages in `assets-src`; the same messages give the same bytes
    #[command(after_help = "\
Example:
  segue-lab train --out crates/signals/assets/intents.bin

What tells whether something new begins is fitted by crates/lab/scripts/judge/fit.")]
    Train(Train),
    /// Run labelled conversations through the whole engine: where do sessions start?
    Decisions(Decisions),
    /// What boundaries, lists and messages cost in a large scope, beside a small one
    Flat(Flat),
    /// Write what the models of the judgement are fitted on: numbers of pairs, and embeddings of texts
    #[command(hide = true)]
    Numbers(Numbers),
    /// Judge streams of real conversations and play them through the whole engine: how good is it?
    #[command(after_help = "\
Example:
  segue-lab quality streams.dev.jsonl
  segue-lab quality streams.dev.jsonl --recall locomo.dev.jsonl --recall memorybank_zh.dev.jsonl
  segue-lab quality streams.dev.jsonl --set lifecycle.shift.threshold=0.9 --worst 50

A stream is several conversations of one person, one after the other:
{\"id\",\"lang\",\"kind\",\"turns\":[{\"role\",\"text\",\"at\",\"boundary\",\"conv\",\"returns_to\",\"hard\"}]}.
Intervals hold 95 of 100 draws of streams.")]
    Quality(Quality),
    /// Ask for archived sessions: is the right one found? Takes sets like eval/en/recall.jsonl, and histories with evidence
    Recall {
        /// The sets
        #[arg(required = true)]
        files: Vec<PathBuf>,
    },
    /// Hurt a cluster of nodes while clients talk to it, and check that nothing was lost
    #[command(after_help = "\
Example:
  segue-lab torture --minutes 1 --faults kill,pause,partition,terminate,primary,clock,disk
  scripts/cluster start --no-nodes --disk-mb=2000
  segue-lab torture --store postgres://segue@127.0.0.1:7802/segue?sslmode=disable --nodes 3 --minutes 30 \\
      --faults kill,pause,partition,blackout,terminate,restart,primary,clock,disk --primary-every 90 \\
      --primary-command 'scripts/cluster fail' --restart-command 'scripts/cluster restart' --disk-command 'scripts/cluster fill'

Without --store a PostgreSQL server is started for it; `primary` crashes it, `disk` lets its writes fail. Exit 0: no violation; 2: some, or it could not run.")]
    Torture(Torture),
    /// What a turn costs on PostgreSQL, beside a bare statement with the same writes
    #[command(after_help = "\
Example:
  segue-lab costs --scopes 1000000
  scripts/bench-postgres        beside LangGraph's saver, on the same database

A server is started for it. Everything is measured in turns, in another order each round. Scopes are made by the database itself.")]
    Costs(Costs),
    /// How many turns 1, 2 and 3 nodes take on one PostgreSQL, spread over scopes and on one hot scope
    Throughput(Throughput),
    /// Run one node, as `torture` does
    #[command(hide = true)]
    Node(Node),
}

/// `segue-lab torture`.
#[derive(Debug, ClapArgs)]
pub struct Torture {
    /// The store that all nodes use; nothing for a PostgreSQL server of its own
    #[arg(long, value_name = "URL")]
    pub store: Option<String>,
    /// How many nodes
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub nodes: usize,
    /// How many clients talk at once
    #[arg(long, value_name = "N", default_value_t = 12)]
    pub clients: usize,
    /// How many scopes they talk to; every other message goes to the first one
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub scopes: usize,
    /// How long
    #[arg(long, value_name = "M", default_value_t = 1.0)]
    pub minutes: f64,
    /// What happens meanwhile
    #[arg(long, value_delimiter = ',', default_value = "kill,pause")]
    pub faults: Vec<crate::torture::faults::Kind>,
    /// Where the faults come from; the same number gives the same faults
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// How many seconds between two faults, on average
    #[arg(long, value_name = "SECONDS", default_value_t = 2.0)]
    pub every: f64,
    /// What takes the primary away, for `primary` on a cluster that is not its own
    #[arg(long, value_name = "COMMAND")]
    pub primary_command: Option<String>,
    /// What lets the primary crash and start again where it is, for `restart`
    #[arg(long, value_name = "COMMAND")]
    pub restart_command: Option<String>,
    /// What fills the database's disk for a while, for `disk`
    #[arg(long, value_name = "COMMAND")]
    pub disk_command: Option<String>,
    /// How many seconds lie between two losses of the primary, at least
    #[arg(long, value_name = "SECONDS", default_value_t = 30.0)]
    pub primary_every: f64,
    /// Where the history is written, one operation a line
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
}

/// `segue-lab costs`.
#[derive(Debug, ClapArgs)]
pub struct Costs {
    /// How many messages the longest scope has
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub messages: u64,
    /// How many scopes the larger database has; the smaller one has 1,000
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub scopes: u64,
    /// How many rounds
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub rounds: usize,
    /// How many turns of each in a round
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub turns: usize,
    /// Where the order comes from
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Measure what standard input asks for, for a program that measures others in turn
    #[arg(long)]
    pub batches: bool,
}

/// `segue-lab throughput`.
#[derive(Debug, ClapArgs)]
pub struct Throughput {
    /// How many nodes, one run each
    #[arg(long, value_delimiter = ',', default_value = "1,2,3")]
    pub nodes: Vec<usize>,
    /// How many clients
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub clients: usize,
    /// How long each run takes
    #[arg(long, value_name = "SECONDS", default_value_t = 8)]
    pub seconds: u64,
    /// Let the nodes judge what is said, as they do by default
    #[arg(long)]
    pub judge: bool,
}

/// `segue-lab node`.
#[derive(Debug, ClapArgs)]
pub struct Node {
    /// The store
    #[arg(long, value_name = "URL")]
    pub store: String,
    /// Where it listens
    #[arg(long, value_name = "HOST:PORT")]
    pub addr: std::net::SocketAddr,
    /// How many seconds its clock is ahead
    #[arg(long, value_name = "SECONDS", default_value_t = 0, allow_negative_numbers = true)]
    pub ahead: i64,
    /// Judge what is said
    #[arg(long)]
    pub judge: bool,
}

/// `segue-lab flat`.
#[derive(Debug, ClapArgs)]
pub struct Flat {
    /// How many sessions the large scope has
    #[arg(long, default_value_t = 100_000)]
    pub sessions: u32,
    /// How many of them are forks
    #[arg(long, default_value_t = 10_000)]
    pub forks: u32,
}

/// `segue-lab numbers`.
#[derive(Debug, ClapArgs)]
pub struct Numbers {
    /// What was said and the message after it, one JSON object a line: {"h":[["user","..."],...],"m":"..."}
    pub pairs: PathBuf,
    /// Where the numbers are written: 32 bits each, a row for each pair
    pub numbers: PathBuf,
    /// Where the embeddings are written: a byte for each number, a row for each text in the order in which they first appear
    pub embeddings: PathBuf,
}

/// `segue-lab train`.
#[derive(Debug, ClapArgs)]
pub struct Train {
    /// Where the weights are written
    #[arg(long, value_name = "FILE", default_value = "intents.bin")]
    pub out: PathBuf,
}

/// `segue-lab decisions`.
#[derive(Debug, ClapArgs)]
pub struct Decisions {
    /// Labelled conversations with times, one JSON object a line
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The policy that decides
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Show each decision that was no plain continue
    #[arg(long)]
    pub show: bool,
}

/// `segue-lab quality`.
#[derive(Debug, ClapArgs)]
pub struct Quality {
    /// Streams, one JSON object a line
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// A setting, as KEY=VALUE; may be said again
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Histories with evidence: recall is measured too, by category; may be said again
    #[arg(long, value_name = "FILE")]
    pub recall: Vec<PathBuf>,
    /// How many of the worst mistakes are shown
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub worst: usize,
    /// Show what was done with each message
    #[arg(long)]
    pub show: bool,
}
