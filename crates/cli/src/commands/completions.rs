//! `segue completions`: a script that completes commands in a shell.

use crate::Exit;
use crate::args::Args;
use clap::CommandFactory;

pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    clap_complete::generate(shell, &mut Args::command(), "segue", &mut std::io::stdout());
    Ok(Exit::Done)
}
