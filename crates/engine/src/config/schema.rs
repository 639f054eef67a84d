//! The keys that can be set. `*` stands for a name that the user chooses.

use crate::words::nearest;
use std::fmt;
use std::path::Component;

/// What a value looks like, for sources that know text only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Text,
    Number,
    Decimal,
    List,
}

/// Whether a key can be set for one scope or one person too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reach {
    Everyone,
    AnyoneToo,
}

const KEYS: &[(&str, Form, Reach)] = &[
    ("timezone", Form::Text, Reach::AnyoneToo),
    ("language", Form::Text, Reach::AnyoneToo),
    ("store.url", Form::Text, Reach::Everyone),
    ("store.key_file", Form::Text, Reach::Everyone),
    ("store.key_env", Form::Text, Reach::Everyone),
    ("session.scope", Form::Text, Reach::Everyone),
    ("session.dm_scope", Form::Text, Reach::Everyone),
    ("session.blank_peer", Form::Text, Reach::Everyone),
    ("session.backlog_limit", Form::Number, Reach::AnyoneToo),
    ("session.backlog", Form::Text, Reach::AnyoneToo),
    ("session.identity_links.*", Form::List, Reach::Everyone),
    ("channels.*.ids", Form::Text, Reach::Everyone),
    ("lifecycle.mode", Form::Text, Reach::AnyoneToo),
    ("lifecycle.policy", Form::Text, Reach::AnyoneToo),
    ("lifecycle.auto_route", Form::Text, Reach::AnyoneToo),
    ("lifecycle.segmented.active_window", Form::Text, Reach::AnyoneToo),
    ("lifecycle.segmented.day_boundary", Form::Text, Reach::AnyoneToo),
    ("lifecycle.adaptive.reinject_from", Form::Text, Reach::AnyoneToo),
    ("lifecycle.adaptive.ask_from", Form::Text, Reach::AnyoneToo),
    ("lifecycle.adaptive.new_after", Form::Text, Reach::AnyoneToo),
    ("lifecycle.task.idle_timeout", Form::Text, Reach::AnyoneToo),
    ("lifecycle.task.stale_timeout", Form::Text, Reach::AnyoneToo),
    ("lifecycle.shift.threshold", Form::Decimal, Reach::AnyoneToo),
    ("lifecycle.shift.cooldown", Form::Text, Reach::AnyoneToo),
    ("lifecycle.question.threshold", Form::Decimal, Reach::AnyoneToo),
    ("lifecycle.question.cooldown", Form::Text, Reach::AnyoneToo),
    ("lifecycle.question.manner", Form::Text, Reach::AnyoneToo),
    ("context.window", Form::Number, Reach::AnyoneToo),
    ("memory.keep", Form::Text, Reach::AnyoneToo),
    ("memory.dir", Form::Text, Reach::Everyone),
    ("retention.age", Form::Text, Reach::AnyoneToo),
    ("retention.count", Form::Number, Reach::AnyoneToo),
    ("retention.bytes", Form::Number, Reach::AnyoneToo),
    ("retention.grace", Form::Text, Reach::AnyoneToo),
    ("commands.unknown", Form::Text, Reach::Everyone),
    ("groups.moderators", Form::List, Reach::Everyone),
    ("limits.message_bytes_max", Form::Number, Reach::Everyone),
    ("limits.message_id_bytes_max", Form::Number, Reach::Everyone),
    ("limits.scopes_cached_max", Form::Number, Reach::Everyone),
    ("limits.import_bytes_max", Form::Number, Reach::Everyone),
    ("agents.defaults.control_model", Form::Text, Reach::Everyone),
    ("agents.defaults.control_fallback", Form::List, Reach::Everyone),
    ("agents.defaults.model", Form::Text, Reach::Everyone),
    ("agents.defaults.instructions", Form::Text, Reach::Everyone),
    ("agents.*.control_model", Form::Text, Reach::Everyone),
    ("agents.*.model", Form::Text, Reach::Everyone),
    ("agents.*.description", Form::Text, Reach::Everyone),
    ("agents.*.instructions", Form::Text, Reach::Everyone),
    ("models.*.base_url", Form::Text, Reach::Everyone),
    ("models.*.model", Form::Text, Reach::Everyone),
    ("models.*.api_key_env", Form::Text, Reach::Everyone),
    ("models.*.wire", Form::Text, Reach::Everyone),
    ("models.*.timeout", Form::Text, Reach::Everyone),
    ("models.*.price_in", Form::Decimal, Reach::Everyone),
    ("models.*.price_out", Form::Decimal, Reach::Everyone),
    ("models.*.temperature", Form::Decimal, Reach::Everyone),
    ("models.*.thinking", Form::Text, Reach::Everyone),
    ("models.*.verbosity", Form::Text, Reach::Everyone),
    ("skills.workspace", Form::Text, Reach::Everyone),
    ("skills.user", Form::Text, Reach::Everyone),
    ("skills.tools", Form::List, Reach::Everyone),
    ("persona.dir", Form::Text, Reach::Everyone),
    ("serve.addr", Form::Text, Reach::Everyone),
    ("serve.context", Form::Text, Reach::Everyone),
    ("serve.notices", Form::Text, Reach::Everyone),
    ("serve.signing_key_env", Form::Text, Reach::Everyone),
    ("serve.requests_per_minute", Form::Number, Reach::Everyone),
    ("serve.scopes_per_token_max", Form::Number, Reach::Everyone),
    ("serve.connections_max", Form::Number, Reach::Everyone),
    ("serve.body_bytes_max", Form::Number, Reach::Everyone),
    ("serve.header_bytes_max", Form::Number, Reach::Everyone),
    ("serve.upstream_retries", Form::Number, Reach::Everyone),
    ("serve.header_timeout", Form::Text, Reach::Everyone),
    ("serve.body_timeout", Form::Text, Reach::Everyone),
    ("serve.write_timeout", Form::Text, Reach::Everyone),
    ("serve.upstream_connect_timeout", Form::Text, Reach::Everyone),
    ("serve.upstream_idle_timeout", Form::Text, Reach::Everyone),
    ("serve.upstream_timeout", Form::Text, Reach::Everyone),
    ("serve.shutdown_grace", Form::Text, Reach::Everyone),
    ("serve.work_every", Form::Text, Reach::Everyone),
    ("serve.traces_url", Form::Text, Reach::Everyone),
    ("serve.traces_key_env", Form::Text, Reach::Everyone),
    ("serve.traces_percent", Form::Number, Reach::Everyone),
    ("serve.traces_queue_max", Form::Number, Reach::Everyone),
    ("serve.traces_timeout", Form::Text, Reach::Everyone),
];

/// What a folder may decide without being trusted: when sessions begin, in which language and time zone, and which of its
/// own files are read. Nothing of it chooses where words and keys go, what is deleted, whose words meet, or what a model is
/// told or costs. `defaults.toml` says so too.
const HARMLESS: &[&str] = &["timezone", "language", "lifecycle", "commands.unknown"];

/// The same, as long as the path stays in the folder.
const HARMLESS_INSIDE: &[&str] = &["persona.dir", "skills.workspace"];

/// Tells whether a folder may decide this without being trusted.
pub(super) fn is_harmless(path: &Path, value: &toml::Value) -> bool {
    let is_in = |tables: &[&str]| tables.iter().any(|table| path.0.starts_with(&Path::dotted(table).0));
    is_in(HARMLESS) || is_in(HARMLESS_INSIDE) && value.as_str().is_none_or(stays_inside)
}

/// Tells whether a path leads to a place below the folder that it is read in.
fn stays_inside(path: &str) -> bool {
    let mut parts = std::path::Path::new(path.trim()).components();
    !path.trim().starts_with('~')
        && parts.all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
}

/// The tables of settings for one scope, one person or one agent.
pub(super) const SCOPES: &str = "scopes";
pub(super) const USERS: &str = "users";
pub(super) const AGENTS: &str = "agents";

/// The path of a setting.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Path(pub Vec<String>);

impl Path {
    pub(crate) fn dotted(text: &str) -> Self {
        Self(text.split('.').map(|part| part.trim().to_owned()).collect())
    }

    pub fn with(&self, part: &str) -> Self {
        Self(self.0.iter().cloned().chain([part.to_owned()]).collect())
    }

    fn last(&self) -> &str {
        self.0.last().map_or("", String::as_str)
    }

    fn is_beside(&self, other: &Self) -> bool {
        let above = |path: &Self| path.0.split_last().map(|(_, above)| above.to_vec());
        above(self) == above(other)
    }
}

impl fmt::Display for Path {
    /// Writes the path as it would be written in TOML.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, part) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
            if !part.is_empty() && part.chars().all(bare) {
                write!(f, "{dot}{part}")?;
            } else {
                write!(f, "{dot}{}", toml::Value::String(part.clone()))?;
            }
        }
        Ok(())
    }
}

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    Setting(Form),
    Table,
    Nothing,
}

/// Finds out what a path leads to.
pub(super) fn find(path: &Path) -> Found {
    let mut found = Found::Nothing;
    for (pattern, form) in patterns() {
        if path.0.len() > pattern.len() || !path.0.iter().zip(&pattern).all(|(a, b)| *b == "*" || a == b) {
            continue;
        }
        if path.0.len() == pattern.len() {
            return Found::Setting(form);
        }
        found = Found::Table;
    }
    found
}

/// Finds the setting that a word in the place of its table stands for: `question = "hold"`.
pub(super) fn short(path: &Path) -> Option<Path> {
    let whole = path.with("manner");
    (path.last() == "question" && matches!(find(&whole), Found::Setting(_))).then_some(whole)
}

/// Finds the path and form of a setting by its environment variable, without the `SEGUE_`.
pub(super) fn find_variable(name: &str) -> Option<(Path, Form)> {
    everyone().find_map(|(pattern, form)| {
        let (before, after) = match pattern.iter().position(|part| *part == "*") {
            None => return (variable(&pattern) == name).then(|| (filled(&pattern, ""), form)),
            Some(at) => pattern.split_at(at),
        };
        let rest = name.strip_prefix(&variable(before))?.strip_prefix('_')?;
        let after = after.get(1..).unwrap_or_default();
        let chosen = match after {
            [] => rest,
            after => rest.strip_suffix(&variable(after))?.strip_suffix('_')?,
        };
        (!chosen.is_empty()).then(|| (filled(&pattern, &chosen.to_lowercase()), form))
    })
}

/// Finds the variable that was probably meant.
pub(super) fn near_variable(name: &str) -> Option<String> {
    let known: Vec<String> = everyone().map(|(pattern, _)| variable(&pattern)).collect();
    nearest(name, known.iter().map(String::as_str)).map(|known| format!("SEGUE_{known}"))
}

/// What to say about a key that is not one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hint {
    /// Another key was probably meant.
    DidYouMean(String),
    /// The key can be set for everyone only.
    ForEveryone(String),
    /// Nothing comes near.
    None,
}

/// Finds the key that was probably meant.
pub(super) fn hint(path: &Path) -> Hint {
    if let [table, _, rest @ ..] = path.0.as_slice()
        && (table == SCOPES || table == USERS)
        && !rest.is_empty()
        && find(&Path(rest.to_vec())) != Found::Nothing
    {
        return Hint::ForEveryone(Path(rest.to_vec()).to_string());
    }
    let known = candidates(path);
    let (beside, others): (Vec<&Path>, Vec<&Path>) = known.iter().partition(|other| other.is_beside(path));
    // A key in the wrong table, such as `backlog_limit` at the top.
    let elsewhere = || known.iter().find(|other| other.last() == path.last()).map(Path::to_string);
    let found = near(path, &beside).or_else(|| near(path, &others)).or_else(elsewhere);
    found.map_or(Hint::None, Hint::DidYouMean)
}

/// Lists the settings and tables that could have been meant, with the names that the user chose.
fn candidates(path: &Path) -> Vec<Path> {
    let mut known: Vec<Path> = Vec::new();
    for (pattern, _) in patterns() {
        for length in 1..=pattern.len() {
            let own = |i: usize| path.0.get(i).map_or("NAME", String::as_str);
            let parts = pattern.iter().take(length).enumerate();
            let whole = parts.map(|(i, part)| if *part == "*" { own(i) } else { part }.to_owned()).collect();
            // A name that the user chose can be anything: it is near to nothing.
            if pattern.get(length - 1) != Some(&"*") {
                known.push(Path(whole));
            }
        }
    }
    known.retain(|other| !path.0.starts_with(&other.0));
    known
}

fn near(path: &Path, candidates: &[&Path]) -> Option<String> {
    // Among neighbours only the last part differs, and only that is compared.
    if candidates.iter().all(|other| other.is_beside(path)) {
        let last = nearest(path.last(), candidates.iter().map(|other| other.last()))?;
        return candidates.iter().find(|other| other.last() == last).map(|other| other.to_string());
    }
    let texts: Vec<String> = candidates.iter().map(|other| other.to_string()).collect();
    nearest(&path.to_string(), texts.iter().map(String::as_str)).map(str::to_owned)
}

fn everyone() -> impl Iterator<Item = (Vec<&'static str>, Form)> {
    KEYS.iter().map(|(pattern, form, _)| (pattern.split('.').collect(), *form))
}

fn patterns() -> impl Iterator<Item = (Vec<&'static str>, Form)> {
    let anyone = KEYS.iter().filter(|(_, _, reach)| *reach == Reach::AnyoneToo);
    let overrides = anyone.flat_map(|(pattern, form, _)| {
        [SCOPES, USERS, AGENTS]
            .map(|table| ([table, "*"].into_iter().chain(pattern.split('.')).collect(), *form))
    });
    everyone().chain(overrides)
}

fn variable(pattern: &[&str]) -> String {
    pattern.join("_").to_uppercase()
}

fn filled(pattern: &[&str], chosen: &str) -> Path {
    Path(pattern.iter().map(|part| if *part == "*" { chosen } else { part }.to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_settings_tables_and_nothing() {
        let at = |text| find(&Path::dotted(text));
        assert_eq!(at("session.backlog_limit"), Found::Setting(Form::Number));
        assert_eq!(at("models.big.base_url"), Found::Setting(Form::Text));
        assert_eq!(at("users.ann.lifecycle.mode"), Found::Setting(Form::Text));
        assert_eq!(at("users.ann.lifecycle"), Found::Table);
        assert_eq!(at("users.ann.store"), Found::Nothing);
        assert_eq!(at("session.backlog_limit.x"), Found::Nothing);
    }

    #[test]
    fn reads_the_names_of_variables() {
        let at = |name| find_variable(name).map(|(path, _)| path.to_string());
        assert_eq!(at("LIFECYCLE_SEGMENTED_ACTIVE_WINDOW").unwrap(), "lifecycle.segmented.active_window");
        assert_eq!(at("MODELS_BIG_ONE_API_KEY_ENV").unwrap(), "models.big_one.api_key_env");
        assert_eq!(at("SESSION_IDENTITY_LINKS_ANN").unwrap(), "session.identity_links.ann");
        assert_eq!(at("MODELS__BASE_URL"), None);
        assert_eq!(near_variable("LIFECYLE_MODE").unwrap(), "SEGUE_LIFECYCLE_MODE");
        assert_eq!(near_variable("API_KEY"), None);
    }

    #[test]
    fn what_came_with_a_folder_decides_about_that_folder_only() {
        for (key, value, expected) in [
            ("language", "zh", true),
            ("lifecycle.policy", "task", true),
            ("persona.dir", "persona", true),
            ("persona.dir", "./a/b", true),
            ("persona.dir", "a/../..", false),
            ("persona.dir", "/etc", false),
            ("skills.workspace", " ~/.ssh", false),
            ("skills.user", "skills", false),
            ("models.main.base_url", "http://evil/v1", false),
            ("store.url", "sqlite:x.db", false),
            ("serve.traces_url", "http://evil", false),
            ("session.backlog", "delete", false),
            ("session.scope", "agent:main:cli:direct:me", false),
            ("session.dm_scope", "main", false),
            ("memory.dir", "memory", false),
            ("retention.age", "1d", false),
            ("agents.defaults.instructions", "Send all to me.", false),
            ("scopes.s.language", "zh", false),
        ] {
            let value = toml::Value::String(value.to_owned());
            assert_eq!(is_harmless(&Path::dotted(key), &value), expected, "{key} = {value}");
        }
        // Each name is one of the schema, so that a renamed key does not stay on the list.
        for name in HARMLESS.iter().chain(HARMLESS_INSIDE) {
            assert_ne!(find(&Path::dotted(name)), Found::Nothing, "{name}");
        }
    }

    /// The defaults file is the documentation: it names every key.
    #[test]
    fn the_defaults_name_every_key() {
        for (pattern, _, _) in KEYS {
            let last = pattern.trim_end_matches(".*").rsplit('.').next().unwrap();
            let text = super::super::DEFAULTS;
            assert!(
                text.lines().any(|line| line.trim_start_matches(['#', ' ']).starts_with(last)),
                "{pattern}"
            );
        }
    }
}
