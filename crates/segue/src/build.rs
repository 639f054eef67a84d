//! Building an engine from settings and a store.

use crate::Segue;
use jiff::tz::TimeZone;
use segue_engine::Engine;
use segue_engine::clock::{Clock, Ids, RandomIds, SystemClock};
use segue_engine::config::{Config, Layer, Origin, Problems};
use segue_store::encryption::MasterKeys;
use segue_store::{Location, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Finds the key of a model by the name of its environment variable.
type Keys = Box<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Where settings come from. Texts are TOML; a path names a file of it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Settings {
    /// Read already.
    Config(Box<Config>),
    /// TOML.
    Text(String),
    /// A TOML file.
    File(PathBuf),
}

impl From<Config> for Settings {
    fn from(config: Config) -> Self {
        Self::Config(Box::new(config))
    }
}

impl From<&str> for Settings {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Settings {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<&Path> for Settings {
    fn from(path: &Path) -> Self {
        Self::File(path.to_owned())
    }
}

impl From<PathBuf> for Settings {
    fn from(path: PathBuf) -> Self {
        Self::File(path)
    }
}

/// Why no engine was built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// A settings file cannot be read.
    #[error("the settings file {} cannot be read: {why}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        why: std::io::Error,
    },
    /// A setting is wrong.
    #[error(transparent)]
    Config(#[from] Problems),
    /// No store was named.
    #[error("no store is named: call store(\"sqlite:PATH\"), or set store.url")]
    NoStore,
    /// The settings name a key of the store, and none was given.
    #[error(
        "the settings name a master key (store.key_file or store.key_env): read it and call master_keys(...)"
    )]
    NoKey,
    /// The store's URL names none.
    #[error("{0}")]
    Location(String),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] segue_store::Error),
    /// The engine cannot be started.
    #[error(transparent)]
    Engine(#[from] segue_engine::Error),
}

/// Builds a [`Segue`].
#[derive(Default)]
pub struct Builder {
    url: Option<String>,
    store: Option<Arc<dyn Store>>,
    master_keys: Option<MasterKeys>,
    settings: Option<Settings>,
    time_zone: Option<TimeZone>,
    keys: Option<Keys>,
    clock: Option<Arc<dyn Clock>>,
    ids: Option<Arc<dyn Ids>>,
}

impl Builder {
    /// Names the store: `sqlite:PATH`, `files:DIR` or `memory:`. Without it the settings' `store.url` counts.
    #[must_use]
    pub fn store(self, url: impl Into<String>) -> Self {
        Self { url: Some(url.into()), ..self }
    }

    /// Encrypts the store with a master key: all that people said is encrypted when it is written. An encrypted store cannot
    /// be opened without its key. The library reads no key file and no variable: `store.key_file` and `store.key_env` are
    /// for programs.
    #[must_use]
    pub fn master_keys(self, keys: MasterKeys) -> Self {
        Self { master_keys: Some(keys), ..self }
    }

    /// Uses a store that is open already, perhaps one of another crate.
    #[must_use]
    pub fn open_store(self, store: Arc<dyn Store>) -> Self {
        Self { store: Some(store), ..self }
    }

    /// Uses settings: a [`Config`], TOML as a text, or the path of a TOML file. Without any the defaults hold.
    #[must_use]
    pub fn config(self, settings: impl Into<Settings>) -> Self {
        Self { settings: Some(settings.into()), ..self }
    }

    /// Says which time zone `timezone = "local"` means; UTC without it, because the library does not ask the machine.
    #[must_use]
    pub fn time_zone(self, zone: TimeZone) -> Self {
        Self { time_zone: Some(zone), ..self }
    }

    /// Finds keys of models by the name in their `api_key_env`; the library does not read the environment.
    #[must_use]
    pub fn keys(self, keys: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self { keys: Some(Box::new(keys)), ..self }
    }

    /// Uses another clock, for tests.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock: Some(clock), ..self }
    }

    /// Uses other session ids, for tests.
    #[must_use]
    pub fn ids(self, ids: Arc<dyn Ids>) -> Self {
        Self { ids: Some(ids), ..self }
    }

    /// Opens the store and starts the engine. Files are read and opened on a thread that may wait for them.
    pub async fn build(mut self) -> Result<Segue, BuildError> {
        let (settings, zone) = (self.settings.take(), self.time_zone.take());
        let config = waiting(move || read(settings, &zone.unwrap_or(TimeZone::UTC))).await?;
        let store = match self.store.take() {
            Some(store) => store,
            None => {
                let names_key = config.store_key_file.is_some() || config.store_key_env.is_some();
                if names_key && self.master_keys.is_none() {
                    return Err(BuildError::NoKey);
                }
                let url = self.url.take().unwrap_or_else(|| config.store_url.clone());
                let keys = self.master_keys.take();
                waiting(move || open(&url, keys.as_ref())).await?
            }
        };
        let clock = self.clock.unwrap_or_else(|| Arc::new(SystemClock));
        let ids = self.ids.unwrap_or_else(|| Arc::new(RandomIds));
        let mut engine = Engine::open(store, config).await?.with(clock, ids);
        if let Some(keys) = &self.keys {
            engine = engine.with_keys(keys);
        }
        Ok(Segue { engine: Arc::new(engine) })
    }
}

/// Does some work that waits for files, away from the threads that answer.
async fn waiting<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, BuildError> + Send + 'static,
) -> Result<T, BuildError> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| segue_store::Error::unavailable("opening the store", error))?
}

fn read(settings: Option<Settings>, zone: &TimeZone) -> Result<Config, BuildError> {
    let layers = match settings {
        Some(Settings::Config(config)) => return Ok(*config),
        Some(Settings::Text(text)) => vec![Layer::toml(Origin::File("settings".into()), text)],
        Some(Settings::File(path)) => {
            let text =
                std::fs::read_to_string(&path).map_err(|why| BuildError::File { path: path.clone(), why })?;
            vec![Layer::toml(Origin::File(path), text)]
        }
        None => Vec::new(),
    };
    Ok(Config::load(layers, zone)?)
}

fn open(url: &str, keys: Option<&MasterKeys>) -> Result<Arc<dyn Store>, BuildError> {
    // The default is in the home folder, which only a program may look for.
    if url.split_once(':').is_some_and(|(_, path)| path.starts_with('~')) {
        return Err(BuildError::NoStore);
    }
    let location: Location = url.parse().map_err(|why| BuildError::Location(format!("{why}")))?;
    Ok(location.open_with(keys)?)
}
