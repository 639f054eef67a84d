//! `segue-lab classifier`: measures other weights than the built-in ones.

use crate::args::Measure;
use crate::out;
use anyhow::Context as _;
use segue_signals::eval::{self, Dataset, Meaning, Split};
use segue_signals::{Classifier, Model};
use std::fs;
use std::path::Path;
use std::time::Instant;

pub fn run(options: &Measure) -> anyhow::Result<()> {
    let bytes =
        fs::read(&options.model).with_context(|| format!("{} cannot be read", options.model.display()))?;
    let classifier = Classifier::with_model(Model::from_bytes(&bytes)?)?;
    let begun = Instant::now();
    let mut reports = Vec::new();
    for file in &options.files {
        let name = file.display().to_string();
        let text = fs::read_to_string(file).with_context(|| format!("{name} cannot be read"))?;
        let folder = file.parent().and_then(Path::file_name).and_then(|name| name.to_str());
        let meaning = folder.and_then(Meaning::from_folder).unwrap_or(Meaning::Session);
        let set = Dataset::parse(&name, meaning, Split::Dev, &text)?;
        reports.extend(eval::evaluate(&classifier, &set, &mut || begun.elapsed(), &mut || ()));
    }
    reports.extend(eval::pool(&reports));
    reports.iter().try_for_each(out::json)
}
