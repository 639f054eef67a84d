//! What can be typed behind `segue sessions`.

use clap::Subcommand;
use segue_core::entry::Seq;
use segue_core::{scope, session};

/// A session as it is typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SessionArg {
    /// By its key.
    Key(session::Key),
    /// By its number, in the scope that was written last.
    Numbered(session::Number),
}

impl std::str::FromStr for SessionArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match number(text) {
            Ok(number) => Ok(Self::Numbered(number)),
            // Notices call the first session #1; its key is the scope.
            Err(_) => {
                let key = text.strip_suffix("#1").unwrap_or(text);
                key.parse().map(Self::Key).map_err(|why: session::KeyError| why.to_string())
            }
        }
    }
}

/// `segue sessions`.
#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// List the sessions of a scope, newest first
    #[command(after_help = "Example:\n  segue sessions list")]
    List {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// Archived ones too
        #[arg(long)]
        all: bool,
    },
    /// Show a session
    #[command(after_help = "\
Examples:
  segue sessions show 2                               in the scope that was written last
  segue sessions show agent:main:cli:direct:me#2")]
    Show {
        /// The session: its number in the default scope, or its key [default: the latest one]
        key: Option<SessionArg>,
    },
    /// Begin a new session
    #[command(after_help = "Example:\n  segue sessions new")]
    New {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Make an older session the active one again
    #[command(allow_missing_positional = true, after_help = "Example:\n  segue sessions resume 2")]
    Resume {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// Its number
        #[arg(value_parser = number)]
        n: session::Number,
    },
    /// Begin a session with the past of another one
    #[command(after_help = "Example:\n  segue sessions fork 2 --at 14")]
    Fork {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// The last message that both share; all of them by default
        #[arg(long, value_name = "SEQ", value_parser = seq)]
        at: Option<Seq>,
    },
    /// Move what was said from a message on to a new session
    #[command(after_help = "Example:\n  segue sessions split --at 14")]
    Split {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The first message of the new session
        #[arg(long, value_name = "SEQ", value_parser = seq)]
        at: Seq,
    },
    /// Take back the last new session, resume, fork or split; again: go to the session before
    #[command(after_help = "Example:\n  segue sessions undo")]
    Undo {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// Go forward again after `undo`
    #[command(after_help = "Example:\n  segue sessions redo")]
    Redo {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
    },
    /// List an archived session again
    #[command(allow_missing_positional = true, after_help = "Example:\n  segue sessions restore 2")]
    Restore {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// Its number
        #[arg(value_parser = number)]
        n: session::Number,
    },
    /// Move the last message of the person and its answer to another session
    #[command(allow_missing_positional = true, after_help = "Example:\n  segue sessions move 2")]
    Move {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// The number of that session
        #[arg(value_parser = number)]
        n: session::Number,
    },
    /// Make one session of two
    #[command(after_help = "Example:\n  segue sessions merge 3 2")]
    Merge {
        /// The session that goes into the other one: its number in the default scope, or its key
        from: SessionArg,
        /// The session that holds both then
        into: SessionArg,
    },
    /// Give a session a title
    #[command(after_help = "Example:\n  segue sessions rename 2 'Lisbon in April'")]
    Rename {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// The title
        title: String,
    },
    /// Have a model name the sessions that were left, of one scope or of all
    #[command(after_help = "\
Examples:
  segue sessions title
  segue sessions title agent:main:cli:direct:me --json

Needs a control model (agents.defaults.control_model); without one a session's title is the first sentence that says what
it is about. A title that a person gave is never touched. `segue chat` does the same after every boundary.")]
    Title {
        /// The scope [default: all]
        scope: Option<scope::Key>,
    },
    /// Show the agents, or let another one answer
    #[command(after_help = "\
Examples:
  segue sessions agent 2            list them
  segue sessions agent 2 work       let work answer")]
    Agent {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// The agent
        name: Option<String>,
    },
    /// Show the model that answers, or let another one answer
    #[command(after_help = "\
Examples:
  segue sessions model 2            show it
  segue sessions model 2 fast       let fast answer")]
    Model {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// The model: a name from [models] of the configuration
        name: Option<String>,
    },
    /// List the skills of a session, or show one as the session took it in
    #[command(after_help = "\
Examples:
  segue sessions skills 2           list them
  segue sessions skills 2 pdf       show one")]
    Skills {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// The skill, by its name or an alias
        name: Option<String>,
    },
    /// Take the skills in as they are on disk now
    #[command(after_help = "Example:\n  segue sessions reload-skills 2")]
    ReloadSkills {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
    },
    /// Take the persona in as it is on disk now
    #[command(after_help = "Example:\n  segue sessions reload-persona 2")]
    ReloadPersona {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
    },
    /// Keep a session, whatever its age
    #[command(after_help = "\
Examples:
  segue sessions keep 2
  segue sessions keep 2 --off     it goes when its time has come

A session that is kept does not go by itself (see `segue retention`), nor by `segue sessions prune`, nor is it archived
when the list is too long.")]
    Keep {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// Undo this setting
        #[arg(long)]
        off: bool,
    },
    /// Delete a session and its messages
    #[command(after_help = "\
Examples:
  segue sessions delete 2 --dry-run     say what it holds
  segue sessions delete agent:main:cli:direct:me#2

It is deleted for good: undo does not bring it back. A number alone is enough where there is only one scope, or where
session.scope names it.")]
    Delete {
        /// The session: its number in the default scope, or its key
        key: SessionArg,
        /// Say what would be deleted, and delete nothing
        #[arg(long)]
        dry_run: bool,
        /// Where no scope is named or configured: the one that was written last is meant, whoever wrote there
        #[arg(long)]
        yes: bool,
    },
    /// Delete the oldest sessions, by count, age or size
    #[command(after_help = "\
Examples:
  segue sessions prune --limit 5
  segue sessions prune --older-than 90d --dry-run

The active session is always kept, so are those of `segue sessions keep`, and what is worth remembering is kept first (see `segue memory`).")]
    Prune(Prune),
}

/// What is kept when sessions are pruned.
#[derive(Debug, clap::Args)]
pub struct Prune {
    /// The scope [default: session.scope, else the one that was written last]
    pub scope: Option<scope::Key>,
    /// How many are kept, the active one included
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..),
          required_unless_present_any = ["older_than", "larger_than"])]
    pub limit: Option<u32>,
    /// Drop what was silent for longer, such as 90d or 36h
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub older_than: Option<jiff::SignedDuration>,
    /// Drop what is left over when all messages take more bytes together
    #[arg(long, value_name = "BYTES")]
    pub larger_than: Option<u64>,
    /// Say what would be deleted, and delete nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Where no scope is named or configured: the one that was written last is meant, whoever wrote there
    #[arg(long)]
    pub yes: bool,
}

/// Reads a time such as `90d`.
fn duration(text: &str) -> Result<jiff::SignedDuration, String> {
    let wrong = || "write a time such as 36h or 90d".to_owned();
    let span: jiff::Span = text.parse().map_err(|_| wrong())?;
    let relative = jiff::SpanRelativeTo::days_are_24_hours();
    span.to_duration(relative).ok().filter(|time| time.is_positive()).ok_or_else(wrong)
}

/// Reads the number of a session: `2` or `#2`.
pub fn number(text: &str) -> Result<session::Number, String> {
    match text.strip_prefix('#').unwrap_or(text).parse::<u32>() {
        Ok(n) if n > 0 => Ok(session::Number(n)),
        _ => Err("a session is named by its number, 1 or more".to_owned()),
    }
}

/// Reads the number of a message.
pub fn seq(text: &str) -> Result<Seq, String> {
    match text.parse::<u64>() {
        Ok(n) if n > 0 => Ok(Seq(n)),
        _ => Err("a message is named by its number, 1 or more".to_owned()),
    }
}
