//! The verbs of `segue memory`.

use clap::Subcommand;
use segue_core::scope;

/// What is remembered.
#[derive(Debug, Subcommand)]
pub enum Memory {
    /// List what is remembered, of one scope or of all
    #[command(after_help = "Example:\n  segue memory list agent:main:cli:direct:me --json")]
    List {
        /// The scope [default: all]
        scope: Option<scope::Key>,
    },
    /// Show one thing, and the message that it comes from
    #[command(allow_missing_positional = true, after_help = "Example:\n  segue memory show 12")]
    Show {
        /// The scope [default: session.scope, else the one that was written last]
        scope: Option<scope::Key>,
        /// Its number, as `list` shows it
        number: u64,
    },
    /// Forget one thing: its words are erased and do not come back
    #[command(
        allow_missing_positional = true,
        after_help = "\
Examples:
  segue memory forget 12
  segue memory forget agent:main:cli:direct:me 12"
    )]
    Forget {
        /// The scope [default: session.scope, else the only one there is]
        scope: Option<scope::Key>,
        /// Its number, as `list` shows it
        number: u64,
        /// Where no scope is named or configured: the one that was written last is meant, whoever wrote there
        #[arg(long)]
        yes: bool,
    },
    /// Look through the sessions that were left, and keep what is worth keeping
    #[command(after_help = "\
Examples:
  segue memory work
  segue memory work agent:main:cli:direct:me --json

Each session is looked at once; what is cut short goes on where it stood. With `memory.dir` in the configuration
MEMORY.md there gets the new lines too; what stands in it is never changed.")]
    Work {
        /// The scope [default: all]
        scope: Option<scope::Key>,
    },
}
