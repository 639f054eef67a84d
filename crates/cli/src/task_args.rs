//! What can be typed behind `segue task`.

use clap::{Subcommand, ValueEnum};
use segue_core::scope;
use std::path::PathBuf;

/// `segue task`.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Start a task; without a description the last message is it
    #[command(
        after_help = "Example:\n  segue task start agent:main:cli:direct:me 'Add retry logic to connect'"
    )]
    Start {
        /// The scope [default: session.scope, else the one that was written last], and what is to be done; - reads it from standard input
        #[arg(value_name = "SCOPE] [DESCRIPTION", num_args = 0..=2)]
        given: Vec<String>,
    },
    /// Ask the person, and wait for the answer
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task ask agent:main:cli:direct:me 'Fixed delay, or backoff?'"
    )]
    Ask {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The question
        question: String,
    },
    /// Say that it is done; the person confirms it
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task finish agent:main:cli:direct:me 'Retries added, tests pass'"
    )]
    Finish {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// What was done
        summary: String,
    },
    /// Note something
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task note agent:main:cli:direct:me --kind decision 'Jitter it is'"
    )]
    Note {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// What
        text: String,
        /// What it is about; decisions and questions are kept for good
        #[arg(long, value_enum, default_value_t = NoteKind::Note)]
        kind: NoteKind,
    },
    /// Note that a file was read, or written
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task file agent:main:cli:direct:me src/net.rs --write"
    )]
    File {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The file, from the root of the workspace, which is the current folder
        path: PathBuf,
        /// It was written; by default it was read
        #[arg(long)]
        write: bool,
    },
    /// Note that a command was run; its output comes from standard input or a file
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  cargo test 2>&1 | segue task command agent:main:cli:direct:me 'cargo test' --exit 0"
    )]
    Command {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The command line
        command: String,
        /// How it ended; nothing if it was killed
        #[arg(long, value_name = "CODE", allow_hyphen_values = true)]
        exit: Option<i32>,
        /// What it printed; - for standard input
        #[arg(long, value_name = "FILE", default_value = "-")]
        output: PathBuf,
    },
    /// Note what is going to be done
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task plan agent:main:cli:direct:me '1. backoff 2. tests'"
    )]
    Plan {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The plan
        text: String,
    },
    /// Note how two things hang together
    #[command(
        allow_missing_positional = true,
        after_help = "Example:\n  segue task relate agent:main:cli:direct:me note:12 mentions file:src/net.rs"
    )]
    Relate {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// A node: KIND:ID, such as note:12 or file:src/net.rs
        from: String,
        /// What the edge says: mentions, answers, modifies, causes, fixes, depends_on, relates, ...
        label: String,
        /// Another node
        to: String,
        /// What speaks for it
        #[arg(long, default_value = "")]
        evidence: String,
        /// How strong it is, from 0 to 1
        #[arg(long, default_value_t = 1.0)]
        weight: f64,
    },
    /// Make a work commit of what was noted
    #[command(after_help = "Example:\n  segue task flush agent:main:cli:direct:me")]
    Flush {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Tell where the task stands
    #[command(after_help = "Example:\n  segue task status agent:main:cli:direct:me --json")]
    Status {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Take what was said meanwhile, and go on
    #[command(after_help = "Example:\n  segue task incorporate agent:main:cli:direct:me")]
    Incorporate {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Come back to the task: show it as it stands, ask, or let it expire
    #[command(after_help = "Example:\n  segue task resume agent:main:cli:direct:me")]
    Resume {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Tell a task's story, day by day, as Markdown
    #[command(after_help = "Example:\n  segue task log agent:main:cli:direct:me > story.md")]
    Log {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The task, by its number in `segue task show`; the last one by default
        #[arg(long, value_name = "N")]
        task: Option<u64>,
    },
    /// Show what is kept of tasks: summary, decisions, open questions, files, commands
    #[command(
        after_help = "Example:\n  segue task show agent:main:cli:direct:me\n  segue task show agent:main:cli:direct:me --task 3"
    )]
    Show {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The task; all of them by default
        #[arg(long, value_name = "N")]
        task: Option<u64>,
    },
    /// Give the task up; what was done is kept
    #[command(after_help = "Example:\n  segue task abort agent:main:cli:direct:me 'The server is gone'")]
    Abort {
        /// The scope [default: session.scope, else the one that was written last], and why
        #[arg(value_name = "SCOPE] [REASON", num_args = 0..=2)]
        given: Vec<String>,
    },
    /// Keep the task for good, in a canonical commit
    #[command(after_help = "Example:\n  segue task compact agent:main:cli:direct:me 'Retries with backoff'")]
    Compact {
        /// The scope [default: session.scope, else the one that was written last], and what was done
        #[arg(value_name = "SCOPE] [SUMMARY", num_args = 0..=2)]
        given: Vec<String>,
    },
    /// Draw how things hang together, in the DOT language of Graphviz
    #[command(after_help = "Example:\n  segue task graph agent:main:cli:direct:me | dot -Tsvg > task.svg")]
    Graph {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The task; the last one by default
        #[arg(long, value_name = "N")]
        task: Option<u64>,
    },
}

/// What a note is about.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum NoteKind {
    /// Anything
    Note,
    /// Something that was decided
    Decision,
    /// Something that went wrong
    Diagnostic,
    /// Something that is open
    Question,
}

impl From<NoteKind> for segue_core::task::observation::NoteKind {
    fn from(kind: NoteKind) -> Self {
        match kind {
            NoteKind::Note => Self::Note,
            NoteKind::Decision => Self::Decision,
            NoteKind::Diagnostic => Self::Diagnostic,
            NoteKind::Question => Self::Question,
        }
    }
}
