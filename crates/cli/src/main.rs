//! The command line of Segue.

mod args;
mod commands;
mod json;
mod paint;
mod setup;

use clap::Parser;
use std::process::ExitCode;

/// Exit codes, as `docs/cli.md` lists them.
pub enum Exit {
    /// Done.
    Done,
    /// The answer is no: damage was found, or an operation was refused.
    No,
}

/// The call was wrong, or something is in the way.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    let args = args::Args::parse();
    match run(args) {
        Ok(Exit::Done) => ExitCode::SUCCESS,
        Ok(Exit::No) => ExitCode::from(1),
        Err(error) if is_closed_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} {}", paint::error("error:"), sentence(&error));
            ExitCode::from(WRONG)
        }
    }
}

fn run(args: args::Args) -> anyhow::Result<Exit> {
    let runtime = tokio::runtime::Builder::new_current_thread().build()?;
    runtime.block_on(commands::run(args))
}

/// Writes an error and what caused it as one sentence.
fn sentence(error: &anyhow::Error) -> String {
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

/// Rust turns a reader that went away (`segue scopes | head`) into an error; for a program it is the end.
fn is_closed_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.downcast_ref::<std::io::Error>().is_some_and(|io| io.kind() == std::io::ErrorKind::BrokenPipe)
    })
}
