//! What can be typed behind `segue serve` and `segue token`.

use clap::{Args, Subcommand, ValueEnum};

/// Options of `segue serve`.
#[derive(Debug, Clone, Args)]
pub struct Serve {
    /// Where to listen; port 0 takes a free one [default: the configuration's]
    #[arg(long, value_name = "HOST:PORT")]
    pub addr: Option<String>,
    /// How much is logged on standard error, as JSON
    #[arg(long, value_enum, default_value_t = Log::Warn)]
    pub log: Log,
}

/// How much is logged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// What failed.
    Error,
    /// What may fail.
    Warn,
    /// Every request, without a word of anybody.
    Info,
    /// What helps to find a fault.
    Debug,
}

/// The verbs of `segue token`.
#[derive(Debug, Clone, Subcommand)]
pub enum Token {
    /// Make a token and print its secret, once
    #[command(after_help = "Example:\n  segue token add phone --scopes agent:main:telegram: --rights write")]
    Add {
        /// What it is called
        name: String,
        /// The prefixes of the scopes that it sees: `team-a` covers team-a and team-a:x, not team-ab or team-a-1 [default: all
        /// scopes]
        #[arg(long, value_name = "PREFIX", num_args = 1..)]
        scopes: Vec<String>,
        /// What it may do; each right includes those before it
        #[arg(long, value_enum, default_value_t = Rights::Write)]
        rights: Rights,
        /// When it ends: a length of time such as 90d, a day (UTC), or a time stamp
        #[arg(long, value_name = "WHEN")]
        expires: Option<String>,
    },
    /// List the tokens
    #[command(after_help = "Example:\n  segue token list --json")]
    List,
    /// Revoke a token, at once
    #[command(after_help = "Example:\n  segue token revoke phone")]
    Revoke {
        /// Its name
        name: String,
    },
}

/// What a token may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rights {
    /// Look.
    Read,
    /// Speak, and move sessions.
    Write,
    /// Erase.
    Admin,
}
