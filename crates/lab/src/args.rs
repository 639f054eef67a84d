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
    /// Fit the built-in classifier to labelled dialogues
    #[command(after_help = "\
Example:
  segue-lab train data --out weights.bin
  segue-lab train data --leave-out concat_zh --out without_zh.bin

The folder holds session/NAME.train.jsonl, task/NAME.train.jsonl and topic/NAME.train.jsonl.
Files that end in .dev.jsonl choose the thresholds and are never fitted.
The same data gives the same bytes.")]
    Train(Train),
    /// Measure other weights than the built-in ones; `segue eval` measures those
    Classifier(Measure),
    /// Run labelled conversations through the whole engine: where do sessions start?
    Decisions(Decisions),
    /// What boundaries, lists and messages cost in a large scope, beside a small one
    Flat(Flat),
    /// Judge streams of real conversations and play them through the whole engine: how good is it?
    #[command(after_help = "\
Example:
  segue-lab quality streams.dev.jsonl
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
  segue-lab torture --minutes 1 --faults kill,pause,partition,primary,clock
  segue-lab torture --store postgres://segue@127.0.0.1:5000/segue --nodes 3 --minutes 30 \\
      --faults kill,pause,partition,primary --primary-command 'scripts/cluster fail'

Without --store a PostgreSQL server is started for it, and crashed by `primary`. Exit 0: no violation; 2: some, or it could not run.")]
    Torture(Torture),
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

/// `segue-lab train`.
#[derive(Debug, ClapArgs)]
pub struct Train {
    /// The folder with the labelled sets
    pub dir: PathBuf,
    /// Where the weights are written
    #[arg(long, value_name = "FILE", default_value = "weights.bin")]
    pub out: PathBuf,
    /// A set of which nothing is seen, by name; may be said again
    #[arg(long, value_name = "NAME")]
    pub leave_out: Vec<String>,
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
    /// How many of the worst mistakes are shown
    #[arg(long, value_name = "COUNT", default_value_t = 20)]
    pub worst: usize,
    /// Show what was done with each message
    #[arg(long)]
    pub show: bool,
}

/// `segue-lab classifier`.
#[derive(Debug, ClapArgs)]
pub struct Measure {
    /// Labelled dialogues; the folder says what a boundary means
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
    /// The weights that `segue-lab train` made
    #[arg(long, value_name = "FILE")]
    pub model: PathBuf,
}
