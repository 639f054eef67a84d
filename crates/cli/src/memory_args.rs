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
    #[command(after_help = "Example:\n  segue memory show agent:main:cli:direct:me 12")]
    Show {
        /// The scope
        scope: scope::Key,
        /// Its number, as `list` shows it
        number: u64,
    },
    /// Forget one thing: its words are erased and do not come back
    #[command(after_help = "Example:\n  segue memory forget agent:main:cli:direct:me 12")]
    Forget {
        /// The scope
        scope: scope::Key,
        /// Its number, as `list` shows it
        number: u64,
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
