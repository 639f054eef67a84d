//! What a command begins with: the configuration, the store, the engine.

use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::{Missing, out, trust};
use anyhow::{Context as _, bail};
use jiff::tz::TimeZone;
use segue_core::scope;
use segue_core::session::Key;
use segue_engine::Engine;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::pins::Folders;
use segue_engine::skills::{Roots, Surroundings};
use segue_store::{Location, Page, Store};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Reads the configuration in its layers; `options` are keys that the command line sets.
pub fn config(common: &Common, options: &[(&str, &str)]) -> anyhow::Result<Config> {
    let mut layers = Vec::new();
    layers.extend(file(Path::new("/etc/segue/segue.toml"), Origin::System)?);
    if let Some(folder) = config_folder() {
        layers.extend(file(&folder.join("segue").join("segue.toml"), Origin::User)?);
    }
    // A file that the person names is theirs, also where it lies in this folder.
    let named = common.config.as_deref().and_then(|path| path.canonicalize().ok());
    if named.is_none() || named != Path::new("segue.toml").canonicalize().ok() {
        layers.extend(workspace()?);
    }
    layers.push(Layer::environment(variables()));
    if let Some(path) = &common.config {
        match file(path, Origin::File)? {
            Some(layer) => layers.push(layer),
            None => bail!("there is no configuration file {}: check --config", path.display()),
        }
    }
    let store = common.store.iter().map(|url| ("store.url".to_owned(), url.clone()));
    let options = options.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned()));
    layers.push(Layer::options(store.chain(options)));
    Ok(Config::load(layers, &TimeZone::try_system().unwrap_or(TimeZone::UTC))?)
}

/// Reads the configuration of the folder that we are in, as far as it may decide: what came with a folder does not choose
/// where words and keys go, unless the folder is trusted.
fn workspace() -> anyhow::Result<Option<Layer>> {
    let Some(layer) = file(Path::new("segue.toml"), Origin::Workspace)? else { return Ok(None) };
    if trust::is_trusted(Path::new("."))? {
        return Ok(Some(layer));
    }
    // What is wrong with the file is told when all layers are read.
    let Ok(alone) = Config::load(vec![layer.clone()], &TimeZone::UTC) else { return Ok(Some(layer)) };
    let own = alone.origins().iter().filter(|setting| matches!(setting.place.origin, Origin::Workspace(_)));
    let refused: Vec<String> = own
        .filter(|setting| trust::needs_trust(&setting.key, &setting.value))
        .map(|s| s.key.clone())
        .collect();
    if !refused.is_empty() {
        let keys = refused.join(", ");
        out::warning(format!("segue.toml of this folder may not set {keys}: `segue trust .` lets it"));
    }
    Ok(Some(layer.without(refused)))
}

/// What becomes of a store that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It is made.
    Make,
    /// It counts as empty: who mistypes a path and looks at it must not leave a database there.
    Empty,
}

/// Opens the engine on the store that the configuration names.
pub async fn engine(common: &Common, absent: Absent) -> anyhow::Result<Engine> {
    engine_with(common, absent, &[]).await
}

/// The same, with keys that the command line sets.
pub async fn engine_with(
    common: &Common,
    absent: Absent,
    options: &[(&str, &str)],
) -> anyhow::Result<Engine> {
    let config = config(common, options)?;
    warn(&config);
    let location = locate(&config.store_url)?;
    let store = if absent == Absent::Empty && !is_there(&location) {
        out::warning(format!("there is no store at {location}; --store URL names another one"));
        Location::Memory.open()?
    } else {
        open(&config.store_url)?
    };
    let host = host(&config);
    Ok(Engine::open(store, config).await?.with_keys(&key).with_host(host))
}

/// Returns the scope that was named, else the one that was written last.
pub async fn scope_or_last(engine: &Engine, scope: Option<&scope::Key>) -> anyhow::Result<scope::Key> {
    if let Some(scope) = scope {
        return Ok(scope.clone());
    }
    let last = engine.store().scopes(&Page::first(1)).await?.rows.into_iter().next();
    let missing =
        || Missing("the store is empty, so there is no scope that was written last: name one".to_owned());
    Ok(last.ok_or_else(missing)?.scope)
}

/// Returns the session that was named, else the latest one of the scope that was written last.
pub async fn session_or_latest(engine: &Engine, session: Option<&SessionArg>) -> anyhow::Result<Key> {
    if let Some(SessionArg::Key(key)) = session {
        return Ok(key.clone());
    }
    let scope = scope_or_last(engine, None).await?;
    let number = match session {
        Some(SessionArg::Numbered(number)) => Some(*number),
        _ => engine.state(&scope).await?.latest(),
    };
    let missing = || Missing(format!("there is no session in {scope} yet"));
    Ok(Key::new(scope.clone(), number.ok_or_else(missing)?))
}

/// Finds the folders from which sessions take in skills and persona.
pub fn host(config: &Config) -> Arc<Folders> {
    let folder = |path: &str| Some(expand(Path::new(path)));
    let roots = Roots {
        workspace: folder(&config.skills.workspace),
        user: folder(&config.skills.user),
        bundled: bundled(),
    };
    let tools = config.skills.tools.clone();
    let here: std::sync::OnceLock<Surroundings> = std::sync::OnceLock::new();
    let around = Arc::new(move || here.get_or_init(|| surroundings(&tools)).clone());
    Arc::new(Folders { persona: expand(Path::new(&config.persona_dir)), roots, around })
}

/// The skills that come with the program, where it is installed with some.
fn bundled() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?.parent()?.join("share").join("segue").join("skills");
    folder.is_dir().then_some(folder)
}

/// What a skill can count on: the agent's tools, the programs on the path, the variables that are set.
fn surroundings(tools: &[String]) -> Surroundings {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter_map(|folder| std::fs::read_dir(folder).ok());
    let programs = folders.flatten().flatten().filter_map(|file| file.file_name().into_string().ok());
    let programs = programs.flat_map(|name| {
        let stem = name.strip_suffix(".exe").map(str::to_owned);
        stem.into_iter().chain([name])
    });
    Surroundings {
        tools: tools.iter().cloned().chain(programs).collect(),
        platform: std::env::consts::OS.to_owned(),
        env: std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect(),
    }
}

/// Opens a store.
pub fn open(url: &str) -> anyhow::Result<Arc<dyn Store>> {
    let location = locate(url)?;
    location.open().map_err(|why| Unopened { location, why }.into())
}

/// A store that cannot be opened, and what to do next.
#[derive(Debug)]
struct Unopened {
    location: Location,
    why: segue_store::Error,
}

impl std::fmt::Display for Unopened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { location, why } = self;
        write!(f, "the store {location} cannot be opened: {why}")?;
        match why {
            segue_store::Error::Damaged { .. } => {
                f.write_str("; restore a backup, or name another store with --store URL")
            }
            segue_store::Error::Unavailable { .. } => f.write_str("; --store URL names another place"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Unopened {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.why)
    }
}

/// Finds out where a store is.
pub fn locate(url: &str) -> anyhow::Result<Location> {
    Ok(match url.parse()? {
        Location::Sqlite(path) if path == Path::new(":memory:") => {
            bail!("'{url}' names no store: write memory: for one that is forgotten at the end")
        }
        Location::Sqlite(path) => Location::Sqlite(expand(&path)),
        Location::Files(path) => Location::Files(expand(&path)),
        Location::Memory => Location::Memory,
        Location::Postgres(url) => Location::Postgres(url),
    })
}

/// Tells whether there is a store already.
pub fn is_there(location: &Location) -> bool {
    match location {
        Location::Sqlite(path) | Location::Files(path) => path.exists(),
        Location::Memory | Location::Postgres(_) => true,
    }
}

/// Says on standard error what is odd about the configuration.
pub fn warn(config: &Config) {
    for warning in &config.warnings {
        out::warning(warning);
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

/// The variable that holds the key of an endpoint which the command line names.
pub const API_KEY: &str = "SEGUE_API_KEY";

/// Variables that are no settings: those of the project's own tests, and a key.
const NO_SETTINGS: [&str; 3] = ["SEGUE_CASES", "SEGUE_CRASHES", API_KEY];

fn variables() -> impl Iterator<Item = (String, String)> {
    let text = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        Some((name.into_string().ok()?, value.into_string().ok()?))
    };
    std::env::vars_os().filter_map(text).filter(|(name, _)| !NO_SETTINGS.contains(&name.as_str()))
}

fn home() -> Option<PathBuf> {
    std::env::var_os("HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}

pub fn config_folder() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_CONFIG_HOME").filter(|folder| !folder.is_empty());
    xdg.map(PathBuf::from).or_else(|| home().map(|home| home.join(".config")))
}

pub fn expand(path: &Path) -> PathBuf {
    match (path.strip_prefix("~"), home()) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

/// Returns the folder in which programs keep what is the user's.
pub fn data_folder() -> Option<PathBuf> {
    let xdg = std::env::var_os("XDG_DATA_HOME").filter(|folder| !folder.is_empty());
    xdg.map(PathBuf::from).or_else(|| home().map(|home| home.join(".local").join("share")))
}

/// Returns where the lines that were typed in `segue chat` are kept.
pub fn history_file() -> Option<PathBuf> {
    data_folder().map(|folder| folder.join("segue").join("history"))
}

/// Returns a variable, if it is there and is text.
pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the name of who sits here.
pub fn user() -> String {
    std::env::var("USER").ok().filter(|user| !user.is_empty()).unwrap_or_else(|| "me".to_owned())
}

/// Finds the key of a model by the name of its environment variable.
pub fn key(variable: &str) -> Option<String> {
    std::env::var(variable).ok().filter(|key| !key.trim().is_empty())
}
