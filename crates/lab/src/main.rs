//! `segue-lab`: fits and measures what ships inside Segue. For the people who work on it.

mod args;
mod commands;
mod costs;
mod intents;
mod out;
mod torture;

use args::{Args, Command};
use clap::Parser as _;
use std::process::ExitCode;

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let common = args.common;
    match args.command {
        Command::Train(options) => commands::train::run(&options),
        Command::Decisions(options) => runtime.block_on(commands::decisions::run(&common, &options)),
        Command::Flat(options) => runtime.block_on(commands::flat::run(&common, &options)),
        Command::Numbers(options) => commands::numbers::run(&options),
        Command::Quality(options) => runtime.block_on(commands::quality::run(&common, &options)),
        Command::Torture(options) => runtime.block_on(commands::torture::run(&common, &options)),
        Command::Costs(options) => runtime.block_on(commands::costs::run(&common, &options)),
        Command::Throughput(options) => runtime.block_on(commands::throughput::run(&common, &options)),
        Command::Node(options) => runtime.block_on(commands::node::run(&common, &options)),
        Command::Recall { files } => runtime.block_on(commands::recall::run(&common, &files)),
    }
}
