//! Reading: from merged settings to typed ones, collecting all that is wrong on the way.

use super::layer::Settings;
use super::origin::{Origin, Place};
use super::problem::{Problem, Warning};
use super::schema::Path;
use super::values::{self, ControlModel, Language};
use super::{Agent, Agents, Limits, Model, Overrides, Wire};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use segue_core::observed::Share;
use segue_core::pins::{Temperature, Thinking, Verbosity};
use segue_core::policy::{Backlog, Excess, Mode, Rule};
use segue_core::scope;
use std::collections::BTreeMap;
use toml::Value;

/// How long a question to a model may take, unless it is said.
const TIMEOUT: SignedDuration = SignedDuration::from_secs(3);

/// A person waits for the answer: longer than this is a mistake.
const TIMEOUT_MAX: SignedDuration = SignedDuration::from_secs(60);

/// How much of a wrong value is shown.
const SHOWN_CHARS_MAX: usize = 60;

/// Settings of which the first must not be more than the second.
const RISING: &[(&str, &str)] = &[
    ("lifecycle.adaptive.reinject_from", "lifecycle.adaptive.ask_from"),
    ("lifecycle.adaptive.ask_from", "lifecycle.adaptive.new_after"),
    ("lifecycle.task.idle_timeout", "lifecycle.task.stale_timeout"),
    ("lifecycle.question.threshold", "lifecycle.shift.threshold"),
];

const MODES: &[(&str, Mode)] = &[("segmented", Mode::Segmented), ("legacy", Mode::Legacy)];

pub(super) struct Reader<'a> {
    pub settings: &'a Settings,
    pub local: &'a TimeZone,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
}

impl Reader<'_> {
    /// Reads the settings that a scope, a person or everyone can have.
    pub fn overrides(&mut self, above: &Path) -> Overrides {
        Overrides {
            time_zone: self.time_zone(&above.with("timezone")),
            language: self.choice(&above.with("language"), Language::ALL),
            mode: self.choice(&below(above, "lifecycle.mode"), MODES),
            rule: self.choice(&below(above, "lifecycle.policy"), Rule::ALL),
            auto_route: self.choice(&below(above, "lifecycle.auto_route"), values::AUTO_ROUTES),
            active_window: self.duration(&below(above, "lifecycle.segmented.active_window")),
            day_boundary: self.value(
                &below(above, "lifecycle.segmented.day_boundary"),
                "write a time of day from \"00:00\" to \"23:59\"",
                values::time_of_day,
            ),
            backlog: self.backlog(&below(above, "session.backlog_limit")),
            excess: self.choice(&below(above, "session.backlog"), Excess::ALL),
            reinject_from: self.duration(&below(above, "lifecycle.adaptive.reinject_from")),
            ask_from: self.duration(&below(above, "lifecycle.adaptive.ask_from")),
            new_after: self.duration(&below(above, "lifecycle.adaptive.new_after")),
            idle_timeout: self.duration(&below(above, "lifecycle.task.idle_timeout")),
            stale_timeout: self.duration(&below(above, "lifecycle.task.stale_timeout")),
            shift_threshold: self.share(&below(above, "lifecycle.shift.threshold")),
            question_threshold: self.share(&below(above, "lifecycle.question.threshold")),
            shift_cooldown: self.duration(&below(above, "lifecycle.shift.cooldown")),
            question_cooldown: self.duration(&below(above, "lifecycle.question.cooldown")),
            question_manner: self.choice(&below(above, "lifecycle.question.manner"), values::MANNERS),
            memory: self.choice(&below(above, "memory.keep"), values::KEEPS),
            retention_age: self.value(
                &below(above, "retention.age"),
                "write \"never\", or a length of time such as \"90d\"",
                values::age,
            ),
            retention_count: self.bound(&below(above, "retention.count")),
            retention_bytes: self.bound(&below(above, "retention.bytes")),
            retention_grace: self.duration(&below(above, "retention.grace")),
            context_window: self.value(
                &below(above, "context.window"),
                "write how many tokens fit, from 1000 to 100000000",
                |value| {
                    let tokens = value.as_integer().and_then(|tokens| u64::try_from(tokens).ok());
                    tokens.filter(|tokens| (1_000..=100_000_000).contains(tokens))
                },
            ),
        }
    }

    pub fn limits(&mut self) -> Limits {
        let mut limit = |name: &str, max: u32| {
            let allowed = format!("write a whole number from 1 to {max}");
            let range = 1..=i64::from(max);
            let read = |value: &Value| value.as_integer().filter(|n| range.contains(n));
            let number = self.value(&Path::dotted(&format!("limits.{name}")), &allowed, read);
            number.and_then(|n| usize::try_from(n).ok()).unwrap_or(1)
        };
        Limits {
            message_bytes_max: limit("message_bytes_max", 1 << 30),
            message_id_bytes_max: limit("message_id_bytes_max", 1 << 16),
            scopes_cached_max: limit("scopes_cached_max", 1 << 24),
            import_bytes_max: limit("import_bytes_max", u32::MAX),
        }
    }

    pub fn model(&mut self, name: &str, place: &Place) -> Model {
        let path = |key: &str| Path(vec!["models".to_owned(), name.to_owned(), key.to_owned()]);
        for key in ["base_url", "model"] {
            let key = path(key);
            if !self.settings.values.contains_key(&key) {
                let because = format!("the model `{name}` needs it");
                self.problems.push(Problem::Missing { key: key.to_string(), because, place: place.clone() });
            }
        }
        let is_url = |text: &&str| text.starts_with("http://") || text.starts_with("https://");
        let url = |value: &Value| value.as_str().map(str::trim).filter(is_url).map(str::to_owned);
        Model {
            base_url: self
                .value(&path("base_url"), "write a URL that begins with http:// or https://", url)
                .unwrap_or_default(),
            model: self.text(&path("model")),
            api_key_env: self.variable_name(&path("api_key_env")),
            wire: self.choice(&path("wire"), Wire::ALL).unwrap_or_default(),
            timeout: self
                .value(&path("timeout"), "write a length of time up to \"60s\", such as \"3s\"", |value| {
                    values::duration(value).filter(|timeout| *timeout <= TIMEOUT_MAX)
                })
                .unwrap_or(TIMEOUT),
            price_in: self.price(&path("price_in")),
            price_out: self.price(&path("price_out")),
            temperature: self.value(
                &path("temperature"),
                "write a number from 0 to 2, such as 0.7",
                |value| number(value).and_then(Temperature::new),
            ),
            thinking: self.choice(&path("thinking"), Thinking::ALL),
            verbosity: self.choice(&path("verbosity"), Verbosity::ALL),
        }
    }

    fn price(&mut self, path: &Path) -> Option<f64> {
        self.value(path, "write the price of a million tokens, such as 0.15", |value| {
            number(value).filter(|price| price.is_finite() && *price >= 0.0)
        })
    }

    /// Reads which models agents use.
    pub fn agents(&mut self) -> Agents {
        let defaults = Path::dotted("agents.defaults");
        let fallback = defaults.with("control_fallback");
        let names =
            self.texts(&fallback, "write a list of names such as [\"small\", \"large\"]").unwrap_or_default();
        let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
        for name in &names {
            self.expect_model(&fallback, name);
        }
        let mut named = BTreeMap::new();
        for (name, _) in self.settings.names(&["agents"]) {
            if name != "defaults" {
                let path = Path::dotted("agents").with(&name);
                let agent = Agent {
                    control_model: self.control_model(&path.with("control_model")),
                    model: Some(self.model_name(&path.with("model"))).filter(|name| !name.is_empty()),
                    description: self.said(&path.with("description")),
                    instructions: self.said(&path.with("instructions")),
                };
                named.insert(name, agent);
            }
        }
        Agents {
            control_model: self.control_model(&defaults.with("control_model")),
            control_fallback: names.iter().map(|name| ControlModel::of(name)).collect(),
            model: self.model_name(&defaults.with("model")),
            instructions: self.said(&defaults.with("instructions")),
            named,
        }
    }

    fn control_model(&mut self, path: &Path) -> ControlModel {
        ControlModel::of(&self.model_name(path))
    }

    fn model_name(&mut self, path: &Path) -> String {
        let name = self.text(path);
        self.expect_model(path, &name);
        name
    }

    /// A model that is not there is no error, because the next link of the chain answers instead (M-C5),
    /// but somebody has made a mistake.
    fn expect_model(&mut self, path: &Path, name: &str) {
        let there =
            name == "builtin" || self.settings.names(&["models"]).iter().any(|(model, _)| *model == name);
        if let Some((_, place)) = self.settings.values.get(path)
            && !there
            && place.origin != Origin::Defaults
        {
            let (key, place) = (path.to_string(), place.clone());
            self.warnings.push(Warning::Model { key, place, name: name.to_owned() });
        }
    }

    /// Reads a text that is not empty.
    pub fn text(&mut self, path: &Path) -> String {
        let read = |value: &Value| value.as_str().map(str::trim).filter(|t| !t.is_empty()).map(str::to_owned);
        self.value(path, "write a text in quotes that is not empty", read).unwrap_or_default()
    }

    /// Reads a text that need not be there.
    fn said(&mut self, path: &Path) -> Option<String> {
        Some(self.text(path)).filter(|text| !text.is_empty())
    }

    /// Reads the key of a scope that need not be there.
    pub fn scope(&mut self, path: &Path) -> Option<scope::Key> {
        let allowed = "write the key of a scope, such as \"agent:main:cli:direct:me\"";
        self.value(path, allowed, |value| value.as_str()?.parse().ok())
    }

    /// Reads a list of texts.
    pub fn texts(&mut self, path: &Path, allowed: &str) -> Option<Vec<String>> {
        self.value(path, allowed, |value| {
            value.as_array()?.iter().map(|item| item.as_str().map(str::to_owned)).collect()
        })
    }

    pub fn duration(&mut self, path: &Path) -> Option<SignedDuration> {
        let allowed = "write a length of time longer than nothing, such as \"12h\", \"90m\" or \"7d\"";
        self.value(path, allowed, values::duration)
    }

    fn bound(&mut self, path: &Path) -> Option<u64> {
        self.value(path, "write a whole number, 0 for no bound", |value| {
            value.as_integer().and_then(|number| u64::try_from(number).ok())
        })
    }

    fn share(&mut self, path: &Path) -> Option<Share> {
        self.value(path, "write a number above 0 and below 1, such as 0.6", share)
    }

    /// Finds settings that cannot both be, for everyone or where `above` overrides one of them.
    pub(crate) fn contradictions(&mut self, above: &Path) {
        for (shorter, longer) in RISING {
            let place = |key: &str| {
                let own = below(above, key);
                let own = self.settings.values.get(&own).map(|found| (own, found));
                let usual = Path::dotted(key);
                own.or_else(|| self.settings.values.get(&usual).map(|found| (usual, found)))
            };
            let (Some((key, (value, at))), Some((other, (other_value, other_at)))) =
                (place(shorter), place(longer))
            else {
                continue;
            };
            let overridden = key.0.starts_with(&above.0) || other.0.starts_with(&above.0);
            let durations = values::duration(value).zip(values::duration(other_value));
            let shares = share(value).zip(share(other_value));
            let falls = durations.is_some_and(|(short, long)| short > long)
                || shares.is_some_and(|(low, high)| low > high);
            if overridden && falls {
                let place = if at.origin == Origin::Defaults { other_at } else { at };
                self.problems.push(Problem::Contradiction {
                    key: key.to_string(),
                    value: shown(value),
                    place: place.clone(),
                    other: other.to_string(),
                    other_value: shown(other_value),
                    rule: "the first must not be more than the second".to_owned(),
                });
            }
        }
    }

    /// Reads one of a few words.
    pub fn choice<T: Copy>(&mut self, path: &Path, choices: &[(&str, T)]) -> Option<T> {
        let words: Vec<String> = choices.iter().map(|(word, _)| format!("{word:?}")).collect();
        let allowed = match words.split_last() {
            Some((last, [])) => format!("write {last}"),
            Some((last, others)) => format!("write {} or {last}", others.join(", ")),
            None => String::new(),
        };
        self.value(path, &allowed, |value| {
            let word = value.as_str()?;
            choices.iter().find(|(known, _)| *known == word).map(|(_, choice)| *choice)
        })
    }

    /// P-8: what is no limit falls back to the default with a warning. One beyond counting is a limit that
    /// is never reached: to fall back from it would prune what its owner wants to keep.
    fn backlog(&mut self, path: &Path) -> Option<Backlog> {
        let (value, place) = self.settings.values.get(path)?;
        let number = value.as_integer().filter(|number| *number > 0);
        let limit = number.and_then(|number| Backlog::new(u32::try_from(number).unwrap_or(u32::MAX)));
        if limit.is_none() {
            let (key, place, given) = (path.to_string(), place.clone(), shown(value));
            self.warnings.push(Warning::Backlog { key, place, given });
        }
        Some(limit.unwrap_or_default())
    }

    fn time_zone(&mut self, path: &Path) -> Option<TimeZone> {
        let (value, place) = self.settings.values.get(path)?;
        let read = |name: &str| match name.trim() {
            "local" => Some(self.local.clone()),
            name => values::time_zone(name),
        };
        let zone = value.as_str().and_then(read);
        if zone.is_none() {
            let (key, place, given) = (path.to_string(), place.clone(), shown(value));
            let allowed = "write \"local\" or an IANA name such as \"Asia/Shanghai\"".to_owned();
            self.problems.push(match value.as_str().and_then(values::near_time_zone) {
                Some(near) => Problem::TimeZone { key, place, given, near },
                None => Problem::Value { key, place, given, allowed },
            });
        }
        zone
    }

    /// Reads the name of an environment variable. What is not one is probably the secret itself, and is
    /// not shown.
    pub(crate) fn variable_name(&mut self, path: &Path) -> Option<String> {
        let (value, place) = self.settings.values.get(path)?;
        let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let begins = |name: &str| name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        let name = value.as_str().filter(|name| name.chars().all(fits) && begins(name));
        if name.is_none() {
            self.problems.push(Problem::Value {
                key: path.to_string(),
                place: place.clone(),
                given: "that text (not shown, it may be a secret)".to_owned(),
                allowed: "write the name of the environment variable that holds the key".to_owned(),
            });
        }
        name.map(str::to_owned)
    }

    pub fn value<T>(
        &mut self,
        path: &Path,
        allowed: &str,
        read: impl FnOnce(&Value) -> Option<T>,
    ) -> Option<T> {
        let (value, place) = self.settings.values.get(path)?;
        let result = read(value);
        if result.is_none() {
            self.problems.push(Problem::Value {
                key: path.to_string(),
                place: place.clone(),
                given: shown(value),
                allowed: allowed.to_owned(),
            });
        }
        result
    }
}

fn number(value: &Value) -> Option<f64> {
    value.as_float().or_else(|| value.as_integer().map(|number| number as f64))
}

fn share(value: &Value) -> Option<Share> {
    value.as_float().filter(|number| *number > 0.0 && *number < 1.0).map(Share::new)
}

fn below(above: &Path, dotted: &str) -> Path {
    dotted.split('.').fold(above.clone(), |path, part| path.with(part))
}

fn shown(value: &Value) -> String {
    let text = super::masked(value).to_string();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= SHOWN_CHARS_MAX {
        return text;
    }
    text.chars().take(SHOWN_CHARS_MAX).chain(['…']).collect()
}
