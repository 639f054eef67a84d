//! The command line of Segue.

mod args;
mod commands;
mod input;
mod json;
mod keys_args;
mod layout;
mod memory_args;
mod out;
mod paint;
mod port_args;
mod retention_args;
mod serve_args;
mod sessions_args;
mod setup;
mod task_args;
mod transcript;
mod trust;

use clap::Parser;
use std::process::ExitCode;

/// Exit codes, as `docs/cli.md` lists them.
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: damage was found, an operation was refused, or there is no such thing.
    No,
}

impl Exit {
    /// Returns what two parts of a command come to.
    pub fn worse(self, other: Self) -> Self {
        match (self, other) {
            (Self::Done, Self::Done) => Self::Done,
            _ => Self::No,
        }
    }
}

const NO: u8 = 1;

/// The call was wrong, or something is in the way.
const WRONG: u8 = 2;

/// What was named is not there; the sentence says where to look.
#[derive(Debug)]
pub struct Missing(pub String);

impl std::fmt::Display for Missing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

fn main() -> ExitCode {
    let args = args::Args::parse();
    match run(args) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(NO),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            out::error(sentence(&error));
            ExitCode::from(if is_missing(&error) { NO } else { WRONG })
        }
    }
}

fn run(args: args::Args) -> anyhow::Result<Exit> {
    match &args.command {
        args::Command::Serve(serve) => commands::serve::log(serve),
        // What the library has to say beside its answers: deletes that failed, files that were healed.
        _ => {
            let log = tracing_subscriber::fmt().with_max_level(tracing_subscriber::filter::LevelFilter::WARN);
            log.without_time().with_target(false).with_writer(std::io::stderr).init();
        }
    }
    // A person who types at a chat holds one thread up, and what is done meanwhile needs another one.
    let runtime = match args.command {
        args::Command::Chat(_) => {
            tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build()?
        }
        args::Command::Serve(_) => tokio::runtime::Builder::new_multi_thread().enable_all().build()?,
        _ => tokio::runtime::Builder::new_current_thread().enable_all().build()?,
    };
    runtime.block_on(commands::run(args))
}

/// Writes an error and what caused it as one sentence.
pub fn sentence(error: &anyhow::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    for cause in error.chain() {
        let text = cause.to_string();
        // A wrapper often repeats what it wraps.
        if !parts.iter().any(|part| part.contains(&text)) {
            parts.push(text);
        }
    }
    parts.join(": ")
}

fn is_missing(error: &anyhow::Error) -> bool {
    let no_scope = matches!(error.downcast_ref(), Some(segue_engine::Error::NoScope { .. }));
    no_scope || error.downcast_ref::<Missing>().is_some()
}

/// Rust turns a reader that went away (`segue scopes | head`) into an error; for a program it is the end.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
