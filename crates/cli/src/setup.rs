//! What a command begins with: the configuration, the store, the engine.

use crate::args::Common;
use crate::sessions_args::SessionArg;
use crate::{Missing, input, out, trust};
use anyhow::{Context as _, bail};
use jiff::tz::TimeZone;
use segue_core::scope;
use segue_core::session::Key;
use segue_engine::Engine;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::pins::Folders;
use segue_engine::skills::{Roots, Surroundings};
use segue_store::encryption::MasterKeys;
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
    let mut config = Config::load(layers, &TimeZone::try_system().unwrap_or(TimeZone::UTC))?;
    let expanded = |dir: String| expand(Path::new(&dir)).to_string_lossy().into_owned();
    config.memory_dir = config.memory_dir.map(expanded);
    Ok(config)
}

/// Reads the configuration of the folder that we are in. Unless the folder is trusted, it decides only what is harmless.
fn workspace() -> anyhow::Result<Option<Layer>> {
    let (path, is_trusted) = (Path::new("segue.toml"), trust::is_trusted(Path::new("."))?);
    // What came with a folder must not have us read what else is on the machine.
    if !is_trusted && let (Ok(here), Ok(file)) = (Path::new(".").canonicalize(), path.canonicalize()) {
        anyhow::ensure!(
            file.starts_with(here),
            "segue.toml of this folder is a link that leaves it, and is not followed: remove it, or say `segue trust .`"
        );
    }
    let Some(layer) = file(path, Origin::Workspace)? else { return Ok(None) };
    Ok(Some(if is_trusted { layer } else { layer.untrusted() }))
}

/// What becomes of a store that is not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    /// It is made.
    Make,
    /// It counts as empty: who mistypes a path and looks at it must not leave a database there.
    Empty,
}

/// Opens the engine to read the store that the configuration names. It changes nothing there: what is unfinished is
/// finished by a command that writes.
pub fn reader(common: &Common) -> anyhow::Result<Engine> {
    let config = config(common, &[])?;
    warn(&config);
    let store = store(&config, Absent::Empty)?;
    let host = host(&config);
    Ok(Engine::open_to_read(store, config).with_keys(&key).with_host(host))
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
    let store = store(&config, absent)?;
    let host = host(&config);
    Ok(Engine::open(store, config).await?.with_keys(&key).with_host(host))
}

fn store(config: &Config, absent: Absent) -> anyhow::Result<Arc<dyn Store>> {
    let location = locate(&config.store_url)?;
    if absent == Absent::Empty && !is_there(&location) {
        out::warning(format!("there is no store at {location}; --store URL names another one"));
        return Ok(Location::Memory.open()?);
    }
    open(config)
}

/// Returns the scope that was named, else the one of the configuration, else the one that was written last.
pub async fn scope_or_last(engine: &Engine, scope: Option<&scope::Key>) -> anyhow::Result<scope::Key> {
    match scope.or(engine.config().scope.as_ref()) {
        Some(scope) => Ok(scope.clone()),
        None => Ok(written_last(engine, 1).await?.0),
    }
}

/// Whether somebody has said that whatever is meant may be deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    Given,
    Missing,
}

impl Consent {
    pub fn of(yes: bool) -> Self {
        if yes { Self::Given } else { Self::Missing }
    }
}

/// The same for what deletes: where several people talk, the one who has just written must not decide whose words go.
pub async fn scope_to_delete_in(
    engine: &Engine,
    scope: Option<&scope::Key>,
    consent: Consent,
) -> anyhow::Result<scope::Key> {
    if let Some(scope) = scope.or(engine.config().scope.as_ref()) {
        return Ok(scope.clone());
    }
    match written_last(engine, 2).await? {
        (last, Others::There) if consent == Consent::Missing => bail!(
            "it is not said which scope is meant: {last} was written last, and there are others. Name it, set session.scope, \
             or add --yes for this one"
        ),
        (last, _) => Ok(last),
    }
}

/// Whether there are scopes besides one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Others {
    There,
    None,
}

async fn written_last(engine: &Engine, look_at: usize) -> anyhow::Result<(scope::Key, Others)> {
    let mut rows = engine.store().scopes(&Page::first(look_at)).await?.rows.into_iter();
    let missing = || {
        Missing(
            "the store is empty: `segue chat` begins a conversation, `segue import` takes one over"
                .to_owned(),
        )
    };
    let last = rows.next().ok_or_else(missing)?.scope;
    Ok((last, if rows.next().is_some() { Others::There } else { Others::None }))
}

/// Returns a session that is to be deleted.
pub async fn session_to_delete(
    engine: &Engine,
    session: &SessionArg,
    consent: Consent,
) -> anyhow::Result<Key> {
    match session {
        SessionArg::Key(key) => Ok(key.clone()),
        SessionArg::Numbered(number) => {
            Ok(Key::new(scope_to_delete_in(engine, None, consent).await?, *number))
        }
    }
}

/// Returns the session that was named, else the latest one of the scope that is meant where none is named.
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

/// Opens the store that the configuration names, with its key.
pub fn open(config: &Config) -> anyhow::Result<Arc<dyn Store>> {
    open_at(locate(&config.store_url)?, master_keys(config)?.as_ref())
}

/// Opens a store with a key, or without one.
pub fn open_at(location: Location, keys: Option<&MasterKeys>) -> anyhow::Result<Arc<dyn Store>> {
    location.open_with(keys).map_err(|why| Unopened { location, why }.into())
}

/// Opens a store that may be encrypted or not: the key is used for one that is encrypted, and a plain one stays plain.
pub fn open_as_it_is(location: &Location, config: &Config) -> anyhow::Result<Arc<dyn Store>> {
    match location.open() {
        Ok(store) => Ok(store),
        Err(segue_store::Error::Locked { .. }) => open_at(location.clone(), master_keys(config)?.as_ref()),
        Err(why) => Err(Unopened { location: location.clone(), why }.into()),
    }
}

/// Reads the master keys of the store; nothing if the configuration names none. No message shows them.
pub fn master_keys(config: &Config) -> anyhow::Result<Option<MasterKeys>> {
    let (text, place) = match (&config.store_key_file, &config.store_key_env) {
        (None, None) => return Ok(None),
        (Some(_), Some(_)) => {
            bail!("store.key_file and store.key_env are both set: the key comes from one of them")
        }
        (Some(file), None) => {
            let path = expand(Path::new(file));
            let read = input::bounded_of_any_kind(&path, KEY_BYTES_MAX);
            let place = format!("{} (store.key_file)", path.display());
            let read = read.with_context(|| {
                format!("the key file {place} cannot be read; `segue keys new {file}` makes one")
            });
            (read?, place)
        }
        (None, Some(name)) => {
            let place = format!("the variable {name} (store.key_env)");
            (variable(name).with_context(|| format!("{place} is not set, or is no text"))?, place)
        }
    };
    text.parse().map(Some).with_context(|| format!("{place} does not hold a key"))
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

/// How large a file of configuration may be, and one with a key.
const CONFIG_BYTES_MAX: u64 = 1 << 20;
const KEY_BYTES_MAX: u64 = 64 << 10;

fn file(path: &Path, origin: fn(PathBuf) -> Origin) -> anyhow::Result<Option<Layer>> {
    let read = match origin(PathBuf::new()) {
        // The person names it: it may be a pipe.
        Origin::File(_) => input::bounded_of_any_kind(path, CONFIG_BYTES_MAX),
        _ => input::bounded(path, CONFIG_BYTES_MAX),
    };
    match read {
        Ok(text) => Ok(Some(Layer::toml(origin(path.to_owned()), text))),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => {
            Err(error).with_context(|| format!("the configuration file {} cannot be read", path.display()))
        }
    }
}

/// The variable that holds the key of an endpoint which the command line names.
pub const API_KEY: &str = "SEGUE_API_KEY";

/// The variable that holds the master key of the store in the guides.
pub const MASTER_KEY: &str = "SEGUE_MASTER_KEY";

/// Variables that are no settings: those of the project's own tests, and keys.
const NO_SETTINGS: [&str; 4] = ["SEGUE_CASES", "SEGUE_CRASHES", API_KEY, MASTER_KEY];

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
