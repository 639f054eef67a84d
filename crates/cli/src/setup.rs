//! What a command begins with: the configuration, the store, the engine.

use crate::args::Common;
use crate::paint;
use anyhow::Context as _;
use jiff::tz::TimeZone;
use segue_engine::Engine;
use segue_engine::config::{Config, Layer, Origin};
use segue_store::{Location, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the configuration in its layers; `options` are keys that the command line sets.
pub fn config(common: &Common, options: &[(&str, &str)]) -> anyhow::Result<Config> {
    let mut layers = Vec::new();
    layers.extend(file(Path::new("/etc/segue/segue.toml"), Origin::System)?);
    if let Some(folder) = config_folder() {
        layers.extend(file(&folder.join("segue").join("segue.toml"), Origin::User)?);
    }
    layers.extend(file(Path::new("segue.toml"), Origin::Workspace)?);
    layers.push(Layer::environment(variables()));
    if let Some(path) = &common.config {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("the configuration file {} cannot be read", path.display()))?;
        layers.push(Layer::toml(Origin::File(path.clone()), text));
    }
    let store = common.store.iter().map(|url| ("store.url".to_owned(), url.clone()));
    let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    layers.push(Layer::options(store.chain(options)));
    Ok(Config::load(layers, &TimeZone::try_system().unwrap_or(TimeZone::UTC))?)
}

/// Opens the engine on the store that the configuration names.
pub async fn engine(common: &Common) -> anyhow::Result<Engine> {
    let config = config(common, &[])?;
    warn(&config);
    let store = open(&config.store_url)?;
    Ok(Engine::open(store, config).await?)
}

/// Opens a store.
pub fn open(url: &str) -> anyhow::Result<Arc<dyn Store>> {
    let location: Location = url.parse()?;
    let location = match location {
        Location::Sqlite(path) => Location::Sqlite(expand(&path)),
        Location::Files(path) => Location::Files(expand(&path)),
        Location::Memory => Location::Memory,
    };
    location.open().with_context(|| format!("the store {location} cannot be opened"))
}

/// Says on standard error what is odd about the configuration.
pub fn warn(config: &Config) {
    for warning in &config.warnings {
        eprintln!("{} {warning}", paint::warning("warning:"));
    }
}

fn file(path: &Path, origin: fn(PathBuf) -> Origin) -> anyhow::Result<Option<Layer>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(Layer::toml(origin(path.to_owned()), text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(error).with_context(|| format!("the configuration file {} cannot be read", path.display()))
        }
    }
}

fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| name.starts_with("SEGUE_"))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

fn config_folder() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    xdg.map(PathBuf::from).or_else(|| home().map(|home| home.join(".config")))
}

fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}
