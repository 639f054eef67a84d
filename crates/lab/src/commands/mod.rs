//! One file per command.

pub mod costs;
pub mod decisions;
pub mod flat;
pub mod node;
pub mod numbers;
pub mod quality;
pub mod recall;
pub mod throughput;
pub mod torture;
pub mod train;

use crate::args::Common;
use anyhow::Context as _;
use jiff::tz::TimeZone;
use segue_engine::config::{Config, Layer, Origin};

/// Reads the configuration: the defaults, the file that was named, and what the command sets.
fn config(common: &Common, options: &[(&str, &str)]) -> anyhow::Result<Config> {
    let mut layers = Vec::new();
    if let Some(path) = &common.config {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("{} cannot be read", path.display()))?;
        layers.push(Layer::toml(Origin::File(path.clone()), text));
    }
    layers.push(Layer::options(options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))));
    Ok(Config::load(layers, &TimeZone::UTC)?)
}
