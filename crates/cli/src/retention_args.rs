//! The verbs of `segue retention`.

use clap::Subcommand;
use segue_core::scope;

/// Sessions that go by themselves.
#[derive(Debug, Subcommand)]
pub enum Retention {
    /// List what was announced to go, of one scope or of all
    #[command(after_help = "Example:\n  segue retention list agent:main:cli:direct:me --json")]
    List {
        /// The scope [default: all]
        scope: Option<scope::Key>,
    },
    /// Announce what is past its time, and drop what was announced a time of grace ago
    #[command(after_help = "\
Examples:
  segue retention work --dry-run
  segue retention work agent:main:cli:direct:me --json

The person is told with their next message, and keeps a session with `/session keep N`. What is worth remembering is
kept first (see `segue memory`). Run it from a timer; `segue chat` does the same after every boundary.")]
    Work {
        /// The scope [default: all]
        scope: Option<scope::Key>,
        /// Say what would be announced and what would go, and do neither
        #[arg(long)]
        dry_run: bool,
    },
}
