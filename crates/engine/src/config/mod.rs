//! Configuration, in layers.
//!
//! The built-in layer is a file with comments ([`DEFAULTS`]), which is also the documentation of every
//! key. The other layers are handed in as text: this library reads no file, no environment and no system
//! time zone. Everything that is wrong is found in one go, and said in one sentence each.

mod layer;
mod origin;
mod problem;
mod read;
mod schema;
mod serve;
mod values;

pub use layer::Layer;
pub use origin::{Origin, Place, Spot};
pub use problem::{Problem, Problems, Warning};
pub use schema::Hint;
pub use serve::{History, Notices, Serve, Wire};
pub use values::{ControlModel, Language, UnknownCommand};

use crate::memory::Keep;
use crate::retention::Retention;
use crate::route::safe::Case;
use crate::route::{self, BlankPeer, DmScope, Links, Routing};
use jiff::SignedDuration;
use jiff::civil::Time;
use jiff::tz::TimeZone;
use layer::Settings;
use read::Reader;
use schema::Path;
use segue_core::observed::Share;
use segue_core::pins::{Temperature, Thinking, Verbosity};
use segue_core::policy::{
    Adaptive, AutoRoute, Backlog, Excess, Mode, Policy, QuestionMode, QuestionPolicy, Rule, Segmented, Shift,
    Tasks,
};
use segue_core::scope;
use segue_store::redacted;
use std::collections::BTreeMap;
use toml::Value;
use values::Age;

/// The built-in layer.
pub(crate) const DEFAULTS: &str = include_str!("defaults.toml");

/// How many tokens fit into a context window, unless it is said.
const CONTEXT_WINDOW: u64 = 128_000;

/// How long before a session goes that is announced, unless it is said.
const RETENTION_GRACE: SignedDuration = SignedDuration::from_hours(7 * 24);

/// The settings, each of its own type.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Config {
    /// Where the log is kept, as a URL; a leading `~` of its path is the program's to expand.
    pub store_url: String,
    /// The file that holds the master key of the store. The library never reads it.
    pub store_key_file: Option<String>,
    /// The environment variable that holds it. The library never reads it.
    pub store_key_env: Option<String>,
    /// The scope that commands mean where none is named.
    pub scope: Option<scope::Key>,
    /// How addresses become scopes.
    pub routing: Routing,
    /// Slash commands.
    pub commands: Commands,
    /// What has a bound.
    pub limits: Limits,
    /// Who may delete sessions in a group: people, or `*` for every member.
    pub moderators: Vec<String>,
    /// Which models agents use.
    pub agents: Agents,
    /// The daemon.
    pub serve: Serve,
    /// The models, by name.
    pub models: BTreeMap<String, Model>,
    /// Where skills are looked for.
    pub skills: Skills,
    /// The folder of the persona's files.
    pub persona_dir: String,
    /// The folder of `MEMORY.md`, if there is to be one.
    pub memory_dir: Option<String>,
    /// What is odd, without being an error.
    pub warnings: Vec<Warning>,
    everyone: Overrides,
    scopes: BTreeMap<scope::Key, Overrides>,
    users: BTreeMap<String, Overrides>,
    agent_overrides: BTreeMap<String, Overrides>,
    origins: Vec<Setting>,
}

/// Settings of slash commands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Commands {
    /// What happens to one that is not known.
    pub unknown: UnknownCommand,
}

/// What has a bound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// The longest message, in bytes of its text.
    pub message_bytes_max: usize,
    /// The longest id of a message.
    pub message_id_bytes_max: usize,
    /// How many scopes' states are kept in memory.
    pub scopes_cached_max: usize,
    /// How many bytes of a file an import holds in memory at once.
    pub import_bytes_max: usize,
}

/// Which models agents use, unless they say otherwise.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agents {
    /// The one that helps to decide.
    pub control_model: ControlModel,
    /// Those that are asked, in this order, when that one does not answer.
    pub control_fallback: Vec<ControlModel>,
    /// The one that answers, by its name.
    pub model: String,
    /// What agents are told that say nothing else.
    pub instructions: Option<String>,
    /// What single agents say otherwise, by their names.
    pub named: BTreeMap<String, Agent>,
}

/// What one agent says otherwise.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Agent {
    /// The model that helps to decide.
    pub control_model: ControlModel,
    /// The model that answers, by its name.
    pub model: Option<String>,
    /// What it is for, in a line.
    pub description: Option<String>,
    /// What it is told.
    pub instructions: Option<String>,
}

/// An OpenAI-compatible endpoint.
#[derive(Debug, Clone, PartialEq)]
pub struct Model {
    /// Where it is.
    pub base_url: String,
    /// What it calls the model.
    pub model: String,
    /// The environment variable that holds its key.
    pub api_key_env: Option<String>,
    /// Which of OpenAI's interfaces it speaks.
    pub wire: Wire,
    /// How long one question about where a message belongs may take.
    pub timeout: SignedDuration,
    /// What a million tokens cost that it reads.
    pub price_in: Option<f64>,
    /// What a million tokens cost that it writes.
    pub price_out: Option<f64>,
    /// How freely it chooses its words.
    pub temperature: Option<Temperature>,
    /// How long it thinks.
    pub thinking: Option<Thinking>,
    /// How much it says.
    pub verbosity: Option<Verbosity>,
}

/// Where skills are looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skills {
    /// The workspace's folder.
    pub workspace: String,
    /// The user's folder.
    pub user: String,
    /// The tools that the agent can call, besides the programs of the machine.
    pub tools: Vec<String>,
}

/// A setting, and where its value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// The key, with dots.
    pub key: String,
    /// The value, as TOML; a password in a URL is masked.
    pub value: String,
    /// Where it comes from.
    pub place: Place,
}

/// The settings that a scope or a person can have too.
#[derive(Debug, Clone, PartialEq, Default)]
struct Overrides {
    time_zone: Option<TimeZone>,
    language: Option<Language>,
    mode: Option<Mode>,
    rule: Option<Rule>,
    auto_route: Option<AutoRoute>,
    active_window: Option<SignedDuration>,
    day_boundary: Option<Time>,
    backlog: Option<Backlog>,
    excess: Option<Excess>,
    reinject_from: Option<SignedDuration>,
    ask_from: Option<SignedDuration>,
    new_after: Option<SignedDuration>,
    idle_timeout: Option<SignedDuration>,
    stale_timeout: Option<SignedDuration>,
    shift_threshold: Option<Share>,
    shift_cooldown: Option<SignedDuration>,
    question_threshold: Option<Share>,
    question_cooldown: Option<SignedDuration>,
    question_manner: Option<QuestionMode>,
    context_window: Option<u64>,
    memory: Option<Keep>,
    retention_age: Option<Age>,
    retention_count: Option<u64>,
    retention_bytes: Option<u64>,
    retention_grace: Option<SignedDuration>,
}

impl Config {
    /// Lays the layers over the built-in one and reads them. `local` is what the time zone "local" means.
    ///
    /// ```
    /// use jiff::tz::TimeZone;
    /// use segue_engine::config::{Config, Layer, Origin};
    /// let file = Origin::Workspace("segue.toml".into());
    /// let config = Config::load(vec![Layer::toml(file.clone(), "language = 'zh'")], &TimeZone::UTC)?;
    /// assert_eq!(config.store_url, "sqlite:~/.local/share/segue/segue.db");
    ///
    /// let wrong = Config::load(vec![Layer::toml(file, "langauge = 'zh'")], &TimeZone::UTC).unwrap_err();
    /// let sentence = "`langauge` (segue.toml:1) is not a setting: did you mean `language`?";
    /// assert_eq!(wrong.to_string(), sentence);
    /// # Ok::<(), segue_engine::config::Problems>(())
    /// ```
    pub fn load(mut layers: Vec<Layer>, local: &TimeZone) -> Result<Self, Problems> {
        layers.insert(0, Layer::toml(Origin::Defaults, DEFAULTS));
        let mut settings = Settings::merge(layers);
        let (problems, warnings) =
            (std::mem::take(&mut settings.problems), std::mem::take(&mut settings.warnings));
        let mut reader = Reader { settings: &settings, local, problems, warnings };
        let at = Path::dotted;

        let everyone = reader.overrides(&Path::default());
        reader.contradictions(&Path::default());
        let dm_scope = reader.choice(&at("session.dm_scope"), &DmScope::ALL).unwrap_or_default();
        let blank_peer = reader.choice(&at("session.blank_peer"), &BlankPeer::ALL).unwrap_or_default();
        let links = links(&mut reader);
        let scopes = scopes(&mut reader);
        let users = users(&mut reader, &links);
        let agent_overrides = agent_overrides(&mut reader);
        let names = settings.names(&["models"]).into_iter();
        let models: BTreeMap<_, _> =
            names.map(|(name, place)| (name.clone(), reader.model(&name, &place))).collect();
        let config = Self {
            store_url: reader.text(&at("store.url")),
            store_key_file: Some(reader.text(&at("store.key_file"))).filter(|file| !file.is_empty()),
            store_key_env: reader.variable_name(&at("store.key_env")),
            scope: reader.scope(&at("session.scope")),
            routing: Routing { dm_scope, links, blank_peer },
            commands: Commands {
                unknown: reader.choice(&at("commands.unknown"), UnknownCommand::ALL).unwrap_or_default(),
            },
            moderators: reader
                .texts(&at("groups.moderators"), "write a list of people such as [\"telegram:111\", \"ann\"]")
                .unwrap_or_default(),
            limits: reader.limits(),
            agents: reader.agents(),
            serve: reader.serve(),
            skills: Skills {
                workspace: reader.text(&at("skills.workspace")),
                user: reader.text(&at("skills.user")),
                tools: reader
                    .texts(&at("skills.tools"), "write a list of names such as [\"browser\", \"calendar\"]")
                    .unwrap_or_default(),
            },
            persona_dir: reader.text(&at("persona.dir")),
            memory_dir: Some(reader.text(&at("memory.dir"))).filter(|dir| !dir.is_empty()),
            warnings: Vec::new(),
            origins: origins(&settings),
            models,
            everyone,
            scopes,
            users,
            agent_overrides,
        };
        let (problems, mut warnings) = (reader.problems, reader.warnings);
        let is_key =
            |name: &String| config.models.values().any(|model| model.api_key_env.as_ref() == Some(name));
        warnings.extend(settings.strangers.into_iter().filter(|name| !is_key(name)).map(Warning::Variable));
        if problems.is_empty() { Ok(Self { warnings, ..config }) } else { Err(Problems::new(problems)) }
    }

    /// Lists every setting with its value and where that comes from, in the order of the keys.
    pub fn origins(&self) -> &[Setting] {
        &self.origins
    }

    /// Returns the rules for a scope, in which a person speaks whom [`route::user`](crate::route::user)
    /// names. What is set for the scope counts first, then what is set for the person.
    pub fn policy_for(&self, scope: &scope::Key, user: Option<&str>) -> Policy {
        let usual = Policy::default();
        let (window, adaptive, tasks) = (usual.segmented, usual.adaptive, usual.tasks);
        macro_rules! pick {
            ($field:ident or $usual:expr) => {
                self.pick(scope, user, |o| o.$field).unwrap_or($usual)
            };
        }
        Policy {
            mode: pick!(mode or Mode::default()),
            auto_route: pick!(auto_route or AutoRoute::default()),
            rule: pick!(rule or Rule::default()),
            segmented: Segmented {
                active_window: pick!(active_window or window.active_window),
                day_boundary: pick!(day_boundary or window.day_boundary),
                time_zone: self.time_zone_for(scope, user),
            },
            adaptive: Adaptive {
                reinject_from: pick!(reinject_from or adaptive.reinject_from),
                ask_from: pick!(ask_from or adaptive.ask_from),
                new_after: pick!(new_after or adaptive.new_after),
            },
            tasks: Tasks {
                idle_timeout: pick!(idle_timeout or tasks.idle_timeout),
                stale_timeout: pick!(stale_timeout or tasks.stale_timeout),
            },
            shift: Shift {
                threshold: pick!(shift_threshold or usual.shift.threshold),
                cooldown: pick!(shift_cooldown or usual.shift.cooldown),
            },
            question: QuestionPolicy {
                threshold: pick!(question_threshold or usual.question.threshold),
                cooldown: pick!(question_cooldown or usual.question.cooldown),
                manner: pick!(question_manner or usual.question.manner),
            },
            backlog: pick!(backlog or usual.backlog),
            excess: pick!(excess or usual.excess),
        }
    }

    /// Returns the language of notices for a scope and a person.
    pub fn language_for(&self, scope: &scope::Key, user: Option<&str>) -> Language {
        self.pick(scope, user, |o| o.language).unwrap_or_default()
    }

    /// Returns the time zone of a scope and a person.
    pub fn time_zone_for(&self, scope: &scope::Key, user: Option<&str>) -> TimeZone {
        self.pick(scope, user, |o| o.time_zone.clone()).unwrap_or(TimeZone::UTC)
    }

    /// Returns how many tokens fit into the context window, for a scope and a person.
    pub fn context_window_for(&self, scope: &scope::Key, user: Option<&str>) -> u64 {
        self.pick(scope, user, |o| o.context_window).unwrap_or(CONTEXT_WINDOW)
    }

    /// Returns whose sessions are remembered, for a scope.
    pub(crate) fn memory_for(&self, scope: &scope::Key) -> Keep {
        self.pick(scope, None, |o| o.memory).unwrap_or_default()
    }

    /// Returns what is kept of a scope, and how long before it goes that is announced.
    pub(crate) fn retention_for(&self, scope: &scope::Key) -> (Retention, SignedDuration) {
        let age = self.pick(scope, None, |o| o.retention_age).unwrap_or_default();
        let bound = |get: fn(&Overrides) -> Option<u64>| self.pick(scope, None, get).filter(|max| *max > 0);
        let keep = Retention {
            count_max: bound(|o| o.retention_count).and_then(|max| usize::try_from(max).ok()),
            age_max: match age {
                Age::Never => None,
                Age::Past(age) => Some(age),
            },
            bytes_max: bound(|o| o.retention_bytes),
        };
        (keep, self.pick(scope, None, |o| o.retention_grace).unwrap_or(RETENTION_GRACE))
    }

    fn pick<T>(
        &self,
        scope: &scope::Key,
        user: Option<&str>,
        get: impl Fn(&Overrides) -> Option<T>,
    ) -> Option<T> {
        // Who names the scope instead of the address means the same person.
        let owner = || route::user_of(&self.routing, scope);
        let person = || {
            if self.users.is_empty() {
                return None;
            }
            let user = user.map(str::to_owned).or_else(owner)?;
            self.users.get(&user).and_then(&get)
        };
        let agent = || {
            if self.agent_overrides.is_empty() {
                return None;
            }
            self.agent_overrides.get(route::agent_of(scope)?).and_then(&get)
        };
        self.scopes.get(scope).and_then(&get).or_else(person).or_else(agent).or_else(|| get(&self.everyone))
    }
}

fn links(reader: &mut Reader<'_>) -> Links {
    let channels: Vec<String> =
        reader.settings.names(&["channels"]).into_iter().map(|(name, _)| name).collect();
    let is_cased = |name: &&String| {
        let path = Path::dotted("channels").with(name).with("ids");
        reader.choice(&path, &Case::ALL) == Some(Case::Kept)
    };
    let mut links = Links::with_cased(channels.iter().filter(is_cased));
    for (name, place) in reader.settings.names(&["session", "identity_links"]) {
        let path = Path::dotted("session.identity_links").with(&name);
        let allowed = "write a list of addresses such as [\"telegram:111\", \"discord:222\"]";
        let addresses = reader.texts(&path, allowed).unwrap_or_default();
        if let Err(why) = links.join(name, addresses) {
            reader.problems.push(Problem::Link { place, why });
        }
    }
    links
}

fn scopes(reader: &mut Reader<'_>) -> BTreeMap<scope::Key, Overrides> {
    let mut scopes = BTreeMap::new();
    for (name, place) in reader.settings.names(&[schema::SCOPES]) {
        let path = Path::default().with(schema::SCOPES).with(&name);
        let overrides = reader.overrides(&path);
        reader.contradictions(&path);
        match name.parse() {
            Ok(key) => _ = scopes.insert(key, overrides),
            Err(why) => reader.problems.push(Problem::Scope { key: path.to_string(), place, why }),
        }
    }
    scopes
}

fn agent_overrides(reader: &mut Reader<'_>) -> BTreeMap<String, Overrides> {
    let names = reader.settings.names(&[schema::AGENTS]);
    let named = names.into_iter().filter(|(name, _)| name != "defaults");
    let read = |(name, _): (String, Place)| {
        let path = Path::default().with(schema::AGENTS).with(&name);
        let overrides = reader.overrides(&path);
        reader.contradictions(&path);
        (name, overrides)
    };
    named.map(read).collect()
}

fn users(reader: &mut Reader<'_>, links: &Links) -> BTreeMap<String, Overrides> {
    let mut users: BTreeMap<String, (Path, Overrides)> = BTreeMap::new();
    for (name, place) in reader.settings.names(&[schema::USERS]) {
        let path = Path::default().with(schema::USERS).with(&name);
        let overrides = reader.overrides(&path);
        reader.contradictions(&path);
        let key = path.to_string();
        let Some(user) = links.canonical_user(&name) else {
            reader.problems.push(Problem::User { key, place });
            continue;
        };
        if let Some((other, _)) = users.get(&user) {
            let other = other.to_string();
            reader.problems.push(Problem::SameUser { key, place, other });
        } else {
            users.insert(user, (path, overrides));
        }
    }
    users.into_iter().map(|(user, (_, overrides))| (user, overrides)).collect()
}

fn origins(settings: &Settings) -> Vec<Setting> {
    let setting = |(path, (value, place)): (&Path, &(Value, Place))| Setting {
        key: path.to_string(),
        value: masked(value).to_string(),
        place: place.clone(),
    };
    settings.values.iter().map(setting).collect()
}

/// Masks what may be a secret, because people paste the output of `segue config show` into reports.
fn masked(value: &Value) -> Value {
    match value {
        Value::String(text) if text.contains("://") => Value::String(redacted(text)),
        Value::Array(items) => Value::Array(items.iter().map(masked).collect()),
        other => other.clone(),
    }
}
