//! `segue-lab numbers`: what the models of the judgement are fitted on, computed as the engine computes it.

use crate::args::Numbers;
use anyhow::{Context as _, bail};
use segue_signals::judge::{self, Embedder};
use segue_signals::{Remark, Role};
use serde::Deserialize;
use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};

/// What was said, and the message after it.
#[derive(Debug, Deserialize)]
struct Pair {
    h: Vec<(String, String)>,
    m: String,
}

pub fn run(options: &Numbers) -> anyhow::Result<()> {
    let shown = options.pairs.display();
    let pairs = fs::read_to_string(&options.pairs).with_context(|| format!("{shown} cannot be read"))?;
    let mut numbers = BufWriter::new(File::create(&options.numbers)?);
    let mut embeddings = BufWriter::new(File::create(&options.embeddings)?);
    let embedder = Embedder::default();
    let (mut known, mut width) = (HashSet::<String>::new(), 0);
    for (at, line) in pairs.lines().enumerate() {
        let pair: Pair =
            serde_json::from_str(line).with_context(|| format!("{shown}: line {} is no pair", at + 1))?;
        for text in pair.h.iter().map(|(_, text)| text).chain([&pair.m]) {
            if known.insert(text.clone()) {
                let Some(embedding) = embedder.embed(text) else {
                    bail!("the encoder is damaged");
                };
                embeddings.write_all(&embedding.bytes())?;
            }
        }
        let said = pair
            .h
            .iter()
            .map(|(role, text)| Remark::of(if role == "user" { Role::User } else { Role::Assistant }, text));
        let said: Vec<Remark> = said.collect();
        // Who wished for something else before, and said no more, leaves nothing to go by.
        let row = judge::numbers(&embedder, &said, &Remark::of(Role::User, &pair.m));
        width = row.as_ref().map_or(width, Vec::len);
        for number in row.unwrap_or_else(|| vec![f32::NAN; width]) {
            numbers.write_all(&number.to_le_bytes())?;
        }
    }
    numbers.flush()?;
    embeddings.flush()?;
    Ok(())
}
