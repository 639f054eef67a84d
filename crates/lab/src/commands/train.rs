//! `segue-lab train`: fits what a message is to a task to the messages in `assets-src`.

use crate::args::Train;
use crate::{intents, out};
use anyhow::Context as _;
use segue_signals::judge::Embedder;
use std::fs;

pub fn run(options: &Train) -> anyhow::Result<()> {
    let bytes = intents::fit(&Embedder::default()).to_bytes();
    let shown = options.out.display();
    fs::write(&options.out, &bytes)
        .with_context(|| format!("{shown} cannot be written: check the path and its rights"))?;
    out::line(format!("{shown}: {} bytes", bytes.len()))?;
    Ok(())
}
