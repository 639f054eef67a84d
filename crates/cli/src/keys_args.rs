//! What can be typed about the keys of an encrypted store.

use clap::Subcommand;
use std::path::PathBuf;

/// The verbs of `segue keys`.
#[derive(Debug, Subcommand)]
pub enum Keys {
    /// Make a new master key, in a file or on standard output
    #[command(after_help = "\
Examples:
  segue keys new ~/.config/segue/store.key
  segue keys new

A file that is there keeps its keys: the new one is put before them, for `segue keys rotate`.")]
    New {
        /// The file; without one the key is printed
        file: Option<PathBuf>,
    },
    /// Tell whether the store is encrypted, and by which keys
    #[command(after_help = "Example:\n  segue keys show --json")]
    Show,
    /// Make a new data key, and wrap all data keys with the first master key
    #[command(after_help = "\
Examples:
  segue keys new ~/.config/segue/store.key      the new key comes first in the file
  segue keys rotate

Then delete the line of the old key, and restart the daemon.")]
    Rotate,
}
