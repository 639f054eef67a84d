//! `segue completions`: a script that completes commands in a shell.

use crate::args::Args;
use crate::{Exit, out};
use clap::CommandFactory;

pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "segue", &mut script);
    out::bytes(&script)?;
    Ok(Exit::Done)
}
