//! What can be typed.

use crate::port_args::{ExportFormat, ImportFormat};
use crate::sessions_args::{SessionArg, Sessions, number, seq};
use clap::{Args as ClapArgs, Parser, Subcommand};
use segue_core::entry::Seq;
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::shapes::Shape;
use std::path::PathBuf;

/// The session engine for AI agents.
#[derive(Debug, Parser)]
#[command(
    name = "segue",
    version,
    max_term_width = 100,
    after_help = "\
Examples:
  segue chat                              talk to it
  segue replay examples/lisbon.jsonl      draw a recorded conversation
  segue scopes                            what is in the store
  segue sessions list                     the sessions of the scope that was written last
  segue why                               why the last message went where it went"
)]
pub struct Args {
    /// What holds for every command.
    #[command(flatten)]
    pub common: Common,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What holds for every command.
#[derive(Debug, Clone, ClapArgs)]
pub struct Common {
    /// Where the log is: sqlite:PATH, files:DIR, postgres://USER@HOST/DATABASE or memory:
    #[arg(long, global = true, value_name = "URL")]
    pub store: Option<String>,
    /// An additional configuration file; it overrides the others
    #[arg(long, global = true, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Print JSON, for programs
    #[arg(long, global = true)]
    pub json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Talk to the engine, with or without a model
    #[command(after_help = "\
Examples:
  segue chat
  segue chat --model-url http://localhost:11434/v1 --model-name qwen3
  echo 'hello' | segue chat --scope agent:main:cli:direct:test --store memory: --json

On a terminal Tab completes commands, the arrow keys go through the history, Alt-Enter begins a new line and
Ctrl-D, exit or quit ends; Ctrl-C stops a reply and keeps what was said; /retry asks the model again. --explain
shows each decision, and without a model what one would be given.")]
    Chat(Chat),
    /// Serve the HTTP interfaces: Segue's own and OpenAI's
    #[command(after_help = "\
Examples:
  segue serve
  segue serve --addr 127.0.0.1:0 --store sqlite:segue.db --json

The first line on standard output says where it listens. Any address but loopback needs a token: segue token add.")]
    Serve(crate::serve_args::Serve),
    /// Make, list and revoke the tokens of `segue serve`
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue token add phone --scopes agent:main:telegram: --rights write
  segue token revoke phone"
    )]
    Token(crate::serve_args::Token),
    /// Encrypt the store: make a master key, look at the keys, rotate them
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue keys new ~/.config/segue/store.key
  segue keys show

The configuration names the file (store.key_file), or a variable that holds it (store.key_env)."
    )]
    Keys(crate::keys_args::Keys),
    /// Run a recorded conversation through the engine, at its own time stamps
    #[command(after_help = "\
Examples:
  segue replay examples/lisbon.jsonl
  segue replay - --json --store sqlite:test.db < conversation.jsonl

A line of the file:
  {\"at\":\"2026-03-01T10:00:00Z\",\"scope\":\"agent:main:cli:direct:me\",\"role\":\"user\",\"text\":\"hello\"}")]
    Replay(Replay),
    /// List the scopes, the last written first
    #[command(after_help = "Example:\n  segue scopes --limit 10 --json")]
    Scopes {
        /// How many at most
        #[arg(long, default_value_t = 50)]
        limit: usize,
    },
    /// Inspect and manage sessions
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue sessions list                     of the scope that was written last
  segue sessions resume 2
  segue sessions list agent:main:telegram:direct:ann"
    )]
    Sessions(Sessions),
    /// Work on tasks: start, ask, note, finish, and read back what is kept
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue task start agent:main:cli:direct:me 'Add retry logic'
  segue task status agent:main:cli:direct:me"
    )]
    Task(crate::task_args::Task),
    /// Show what the model would be given
    #[command(after_help = "Example:\n  segue context --json")]
    Context {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The model's window, in tokens [default: the configuration's]
        #[arg(long, value_name = "TOKENS")]
        window: Option<u64>,
        /// Show it as a provider's interface takes it: openai_chat, openai_responses or anthropic
        #[arg(long, value_name = "SHAPE", value_parser = shape)]
        shape: Option<Shape>,
    },
    /// Look for something in the earlier sessions of a scope
    #[command(after_help = "\
Examples:
  segue recall 'which retry strategy'
  segue recall agent:main:cli:direct:me 'which retry strategy' --why 'the user asked'
  segue recall 备份 --json

What is found is quoted history: nothing of it enters a context by itself.")]
    Recall(Recalling),
    /// Look for something in all scopes, for the operator
    #[command(after_help = "Example:\n  segue search 'connection refused' --limit 20")]
    Search {
        /// What to look for
        query: String,
        /// How many messages at most
        #[arg(long, value_name = "N", default_value_t = 10)]
        limit: usize,
    },
    /// Look at what is remembered of sessions that are over
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue memory work
  segue memory list agent:main:cli:direct:me

Nothing that is remembered enters a context by itself."
    )]
    Memory(crate::memory_args::Memory),
    /// Manage automatic deletion of sessions
    #[command(
        subcommand,
        after_help = "\
Examples:
  segue retention work --dry-run
  segue retention list agent:main:cli:direct:me

What is kept is set in [retention] of the configuration; without it nothing goes."
    )]
    Retention(crate::retention_args::Retention),
    /// Tell why the last messages went where they went
    #[command(after_help = "Example:\n  segue why --last 3")]
    Why {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// How many decisions, newest first
        #[arg(long, value_name = "N", default_value_t = 1)]
        last: usize,
    },
    /// Check the configuration, the store, what was set aside, skills, persona and models
    #[command(after_help = "\
Examples:
  segue doctor
  segue doctor --json

Exit code 0: nothing has to be done. 1: something has; the output says what. It sends nothing to any model;
`segue verify` looks at every entry.")]
    Doctor,
    /// Recompute every digest, fold the log and compare it with the store
    #[command(after_help = "\
Example:
  segue verify --store sqlite:segue.db

Exit code 0: all is as it was written. 1: something is damaged; the output says what.")]
    Verify {
        /// The scope; all of them if none is named
        scope: Option<scope::Key>,
    },
    /// Erase the text of messages, sessions or people; verification still works
    #[command(after_help = "\
Examples:
  segue erase agent:main:cli:direct:me 14 15
  segue erase agent:main:cli:direct:me --session 2
  segue erase --person telegram:111 --dry-run

A person is an identity link or channel:peer: their own scopes as a whole, and their messages in groups.
What was kept of it in memory and on decision records goes along, and with a session its titles.

Files that cannot be read are set aside with every byte. Those in which the person is seen to speak, those of their
own scopes, and those that only the session sees are deleted as a whole. Those that may hold their words, or that
other sessions see too, are named and stay, and the exit code is 1: --set-aside deletes them as well.")]
    Erase(Erase),
    /// Write a session to standard output
    #[command(after_help = "\
Examples:
  segue export 2 --format openai > chat.json
  segue export 2 --format codex > ~/.codex/sessions/rollout-2026-03-01T10-00-00-ID.jsonl

What a form has no place for is said on standard error. docs/import.md says where Claude Code and Codex look.")]
    Export {
        /// The session: its number in the default scope, or its key [default: the latest one]
        key: Option<SessionArg>,
        /// The form
        #[arg(long, value_enum, default_value_t = ExportFormat::Segue)]
        format: ExportFormat,
    },
    /// Take conversations over, each into a session of its own
    #[command(after_help = "\
Examples:
  segue import chat.json --scope agent:main:cli:direct:me
  segue import ~/.claude/projects
  segue import ~/.picoclaw/workspace/sessions --format picoclaw

A second import changes nothing; one of a file that has grown takes over what is new.
docs/import.md says what is taken from each form.")]
    Import {
        /// The file, or a folder with transcripts in it; - for standard input
        path: PathBuf,
        /// The form; by default what the file looks like
        #[arg(long, value_enum)]
        format: Option<ImportFormat>,
        /// The scope; by default the one that the file names
        #[arg(long)]
        scope: Option<scope::Key>,
    },
    /// Copy the store to another place, while it is in use, and verify the copy
    #[command(after_help = "\
Examples:
  segue backup segue-2026-03-01.db
  segue backup files:backup            as files that can be read and searched
  segue restore segue-2026-03-01.db --store sqlite:other.db

Every entry is copied as it was written, from any kind of store to any other. A plain copy of a database that is in use
misses what is still in its write-ahead log.")]
    Backup {
        /// Where to: a file for SQLite, or sqlite:PATH, files:DIR
        to: String,
        /// Do not encrypt the copy, although the store is encrypted
        #[arg(long)]
        plain: bool,
    },
    /// Copy a backup into the store
    #[command(after_help = "Example:\n  segue restore segue-2026-03-01.db --store sqlite:other.db")]
    Restore {
        /// The backup: a file of SQLite, or sqlite:PATH, files:DIR
        from: String,
    },
    /// Move a store to another place while it is in use: copy, catch up, compare
    #[command(after_help = "\
Examples:
  segue move --from sqlite:segue.db --to postgres://segue@db.example/segue
  segue move --from sqlite:segue.db --to postgres://segue@db.example/segue --dry-run

The source may be written meanwhile. To switch: run it; stop what writes to the source; run it again with --quick, which takes
only what is new; start everything on the target. Broken off, it goes on where it stopped. Sessions, flags, memory, message ids,
embeddings, tokens and stored answers come along. Leases, positions of event streams and files in quarantine do not.
Exit code 0: the copy is complete. 1: the source was written all the time, and the copy is behind.")]
    Move(MoveStore),
    /// Look at the configuration
    #[command(subcommand, after_help = "Example:\n  segue config show --origin\n  segue config check")]
    Config(Config),
    /// Let the segue.toml of a folder name models, keys, stores and paths outside of it
    #[command(after_help = "\
Examples:
  segue trust .
  segue trust . --off

Without it such settings of the current folder's segue.toml are left out, with a warning: what came with a folder does
not choose where your words and keys go.")]
    Trust {
        /// The folder
        folder: PathBuf,
        /// Withdraw the trust
        #[arg(long)]
        off: bool,
    },
    /// Measure on labelled dialogues how well the built-in judgement finds where something new begins
    #[command(after_help = "\
Examples:
  segue eval eval/en/conversations.jsonl
  segue eval dialogues.jsonl --json

A line of a file:
  {\"id\":\"1\",\"lang\":\"en\",\"turns\":[{\"role\":\"user\",\"text\":\"hello\",\"boundary\":0}]}")]
    Eval(Eval),
    /// Write the manual, a page for each command, into a folder
    #[command(hide = true)]
    Manual {
        /// The folder
        folder: PathBuf,
    },
    /// Print a script that completes commands in a shell
    #[command(
        after_help = "Example:\n  segue completions bash > ~/.local/share/bash-completion/completions/segue"
    )]
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

/// `segue chat`.
#[derive(Debug, ClapArgs)]
pub struct Chat {
    /// The scope to talk in; by default session.scope, else your own on the channel "cli"
    #[arg(long)]
    pub scope: Option<scope::Key>,
    /// The model that answers: a name from [models] of the configuration. A session keeps the one that it began
    /// with; /model NAME changes it
    #[arg(long, value_name = "NAME", conflicts_with_all = ["model_url", "model_name"])]
    pub model: Option<String>,
    /// The same without a configuration: an OpenAI-compatible endpoint
    #[arg(long, value_name = "URL", requires = "model_name")]
    pub model_url: Option<String>,
    /// What that endpoint calls the model; its key, if it needs one, is in SEGUE_API_KEY
    #[arg(long, value_name = "MODEL", requires = "model_url")]
    pub model_name: Option<String>,
    /// Say after each message what was decided, how surely, and why; /why tells it for the last one
    #[arg(long)]
    pub explain: bool,
}

/// `segue replay`.
#[derive(Debug, ClapArgs)]
pub struct Replay {
    /// The conversation, one JSON object a line; - for standard input
    pub file: PathBuf,
    /// The policy that decides: layered, adaptive, segmented or task
    #[arg(long, value_name = "NAME")]
    pub policy: Option<String>,
    /// Another policy: show where it would have decided otherwise
    #[arg(long, value_name = "NAME")]
    pub against: Option<String>,
    /// The model's window, in tokens
    #[arg(long, value_name = "TOKENS")]
    pub window: Option<u64>,
    /// Stop at the first bad line
    #[arg(long)]
    pub strict: bool,
}

/// What `segue erase` takes.
#[derive(Debug, clap::Args)]
pub struct Erase {
    /// The scope
    #[arg(required_unless_present = "person")]
    pub scope: Option<scope::Key>,
    /// The messages, by their numbers in `segue sessions show`
    #[arg(required_unless_present_any = ["session", "person"], value_parser = seq)]
    pub messages: Vec<Seq>,
    /// Everything in a session, by its number
    #[arg(long, value_name = "N", conflicts_with_all = ["messages", "person"], value_parser = number)]
    pub session: Option<Number>,
    /// Everything that a person said, in all scopes
    #[arg(long, value_name = "NAME", conflicts_with_all = ["scope", "messages"])]
    pub person: Option<String>,
    /// Delete also set-aside copies that only may hold it, with what others said there
    #[arg(long)]
    pub set_aside: bool,
    /// Say what would be erased, and erase nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `segue move`.
#[derive(Debug, ClapArgs)]
pub struct MoveStore {
    /// The store that is moved: sqlite:PATH, files:DIR or postgres://USER@HOST/DATABASE
    #[arg(long, value_name = "URL")]
    pub from: String,
    /// Where to: an empty store, or one that an earlier move of the same source has begun
    #[arg(long, value_name = "URL")]
    pub to: String,
    /// Compare only the scopes that this run has copied something of
    #[arg(long)]
    pub quick: bool,
    /// Leave the target unencrypted, although a key is configured
    #[arg(long)]
    pub plain: bool,
    /// Say what would be copied, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `segue recall`.
#[derive(Debug, ClapArgs)]
#[command(allow_missing_positional = true)]
pub struct Recalling {
    /// The scope [default: session.scope, else the one that was written last]
    pub scope: Option<scope::Key>,
    /// What to look for
    pub query: String,
    /// Why: it stands with every fragment
    #[arg(long, value_name = "TEXT", default_value = "asked on the command line")]
    pub why: String,
    /// How many fragments at most
    #[arg(long, value_name = "N", default_value_t = segue_engine::recall::FRAGMENTS)]
    pub count: usize,
    /// How many tokens they may take together
    #[arg(long, value_name = "TOKENS", default_value_t = segue_engine::recall::TOKENS)]
    pub tokens: u64,
    /// Look into the latest session too
    #[arg(long)]
    pub also_latest: bool,
}

/// `segue eval`.
#[derive(Debug, ClapArgs)]
pub struct Eval {
    /// Labelled dialogues, one JSON object a line
    #[arg(required = true)]
    pub files: Vec<PathBuf>,
}

/// `segue config`.
#[derive(Debug, Subcommand)]
pub enum Config {
    /// Print every setting
    #[command(after_help = "Example:\n  segue config show --origin")]
    Show {
        /// Say where each value comes from
        #[arg(long)]
        origin: bool,
    },
    /// Say what is wrong with the configuration
    #[command(after_help = "\
Example:
  segue config check --config segue.toml

Exit code 0: it is sound. 1: it is not; the output says why.")]
    Check,
}

fn shape(text: &str) -> Result<Shape, String> {
    Shape::named(text).ok_or_else(|| {
        let names = Shape::ALL.map(Shape::name).join(", ");
        format!("there is no such shape; there are {names}")
    })
}
