//! `segue completions`: a script that completes commands in a shell.

use crate::args::Args;
use crate::{Exit, out};
use anyhow::Context as _;
use clap::CommandFactory;
use std::path::Path;

pub fn run(shell: clap_complete::Shell) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Args::command(), "segue", &mut script);
    out::bytes(&script)?;
    Ok(Exit::Done)
}

/// Writes the manual: a page for each command.
pub fn manual(folder: &Path) -> anyhow::Result<Exit> {
    std::fs::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let pages = clap_mangen::generate_to(Args::command(), folder);
    pages.with_context(|| format!("the manual cannot be written to {}", folder.display()))?;
    Ok(Exit::Done)
}
