//! Layers: settings from one source, read into paths and values.

use super::origin::{Origin, Place, Spot};
use super::problem::{Problem, Warning};
use super::schema::{self, Form, Found, Path};
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};
use toml::{Spanned, Value};

/// The settings of one source.
#[derive(Debug, Clone, PartialEq)]
pub struct Layer {
    origin: Origin,
    content: Content,
    trust: Trust,
}

/// What a layer may decide.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// Everything.
    Full,
    /// What is harmless whoever wrote it ([`schema::is_harmless`]).
    Harmless,
}

#[derive(Debug, Clone, PartialEq)]
enum Content {
    Toml(String),
    Variables(Vec<(String, String)>),
    Options(Vec<(String, String)>),
}

impl Layer {
    /// Makes a layer of a file's text.
    pub fn toml(origin: Origin, text: impl Into<String>) -> Self {
        Self { origin, content: Content::Toml(text.into()), trust: Trust::Full }
    }

    /// The same layer, written by somebody else: it decides what is harmless, and the rest becomes a warning.
    ///
    /// ```
    /// use jiff::tz::TimeZone;
    /// use segue_engine::config::{Config, Layer, Origin};
    /// let layer = Layer::toml(Origin::Workspace("segue.toml".into()), "language = 'zh'\nstore.url = 'files:x'");
    /// let config = Config::load(vec![layer.untrusted()], &TimeZone::UTC)?;
    /// assert_eq!(config.store_url, "sqlite:~/.local/share/segue/segue.db");
    /// assert_eq!(config.warnings.len(), 1);
    /// # Ok::<(), segue_engine::config::Problems>(())
    /// ```
    pub fn untrusted(self) -> Self {
        Self { trust: Trust::Harmless, ..self }
    }

    /// Makes a layer of environment variables. Those that do not begin with `SEGUE_` are left alone, so
    /// the whole environment can be given.
    ///
    /// ```
    /// use jiff::tz::TimeZone;
    /// use segue_engine::config::{Config, Layer, UnknownCommand};
    /// let layer = Layer::environment([("SEGUE_COMMANDS_UNKNOWN", "pass"), ("PATH", "/bin")]);
    /// let config = Config::load(vec![layer], &TimeZone::UTC)?;
    /// assert_eq!(config.commands.unknown, UnknownCommand::Pass);
    /// # Ok::<(), segue_engine::config::Problems>(())
    /// ```
    pub fn environment<N: Into<String>, V: Into<String>>(
        variables: impl IntoIterator<Item = (N, V)>,
    ) -> Self {
        let ours = variables.into_iter().map(|(name, value)| (name.into(), value.into()));
        let ours = ours.filter(|(name, _)| name.starts_with(PREFIX)).collect();
        Self { origin: Origin::Environment, content: Content::Variables(ours), trust: Trust::Full }
    }

    /// Makes a layer of command line options: dotted keys and their values as text.
    pub fn options<K: Into<String>, V: Into<String>>(options: impl IntoIterator<Item = (K, V)>) -> Self {
        let options = options.into_iter().map(|(key, value)| (key.into(), value.into())).collect();
        Self { origin: Origin::CommandLine, content: Content::Options(options), trust: Trust::Full }
    }
}

const PREFIX: &str = "SEGUE_";

/// The settings of all layers, the last one of each path.
#[derive(Debug, Default)]
pub(super) struct Settings {
    pub values: BTreeMap<Path, (Value, Place)>,
    pub problems: Vec<Problem>,
    pub warnings: Vec<Warning>,
    /// Variables that are no settings, unless a model's key is in them.
    pub strangers: Vec<String>,
}

impl Settings {
    /// Lays layers over each other.
    pub fn merge(mut layers: Vec<Layer>) -> Self {
        layers.sort_by_key(|layer| layer.origin.rank());
        let mut settings = Self::default();
        for layer in layers {
            match layer.content {
                Content::Toml(text) => settings.add_toml(&layer.origin, &text, layer.trust),
                Content::Variables(variables) => settings.add_variables(&layer.origin, variables),
                Content::Options(options) => settings.add_options(&layer.origin, options),
            }
        }
        settings
    }

    /// Lists the names that were chosen below a table, each with the place of its first setting.
    pub fn names(&self, table: &[&str]) -> Vec<(String, Place)> {
        let mut names: BTreeMap<String, Place> = BTreeMap::new();
        for (path, (_, place)) in &self.values {
            let inside = path.0.len() > table.len() && path.0.iter().zip(table).all(|(a, b)| a == b);
            if let Some(name) = path.0.get(table.len()).filter(|_| inside) {
                names.entry(name.clone()).or_insert_with(|| place.clone());
            }
        }
        names.into_iter().collect()
    }

    fn add_toml(&mut self, origin: &Origin, text: &str, trust: Trust) {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        match DeTable::parse(text) {
            Ok(table) => {
                let mut refused = Vec::new();
                let source = Source { origin, text, trust };
                self.add_table(&source, &Path::default(), table.get_ref(), &mut refused);
                if !refused.is_empty() {
                    let place = Place { origin: origin.clone(), spot: Spot::Whole };
                    self.warnings.push(Warning::Untrusted { keys: refused, place });
                }
            }
            Err(error) => {
                let at = error.span().map_or(0, |span| span.start);
                let place = Source { origin, text, trust }.place(at);
                // The parser's message may have several lines; a problem is one sentence.
                let message = error.message().split_whitespace().collect::<Vec<_>>().join(" ");
                self.problems.push(Problem::Syntax { place, message });
            }
        }
    }

    fn add_table(
        &mut self,
        source: &Source<'_>,
        above: &Path,
        table: &DeTable<'_>,
        refused: &mut Vec<String>,
    ) {
        for (key, value) in table {
            let path = above.with(key.get_ref());
            let place = source.place(key.span().start);
            let setting = match (schema::find(&path), value.get_ref()) {
                (Found::Setting(_), _) => Some(path),
                (Found::Table, DeValue::Table(inner)) => {
                    self.add_table(source, &path, inner, refused);
                    continue;
                }
                (Found::Table, _) => {
                    let whole = schema::short(&path);
                    if whole.is_none() {
                        let (key, place) = (path.to_string(), place.clone());
                        self.problems.push(Problem::NotATable { key, place });
                    }
                    whole
                }
                (Found::Nothing, _) => {
                    self.unknown(&path, place.clone());
                    None
                }
            };
            let Some(setting) = setting else { continue };
            let value = plain(value.get_ref());
            match source.trust == Trust::Full || schema::is_harmless(&setting, &value) {
                true => self.put(setting, value, place),
                false => refused.push(setting.to_string()),
            }
        }
    }

    fn add_variables(&mut self, origin: &Origin, variables: Vec<(String, String)>) {
        for (name, text) in variables {
            let place = Place { origin: origin.clone(), spot: Spot::Variable(name.clone()) };
            let short = name.strip_prefix(PREFIX).unwrap_or(&name);
            match schema::find_variable(short) {
                Some((path, form)) => self.put(path, literal(form, &text), place),
                None => match schema::near_variable(short) {
                    Some(near) => self.problems.push(Problem::UnknownKey {
                        key: name,
                        place: Place { origin: origin.clone(), spot: Spot::Whole },
                        hint: schema::Hint::DidYouMean(near),
                    }),
                    None => self.strangers.push(name),
                },
            }
        }
    }

    fn add_options(&mut self, origin: &Origin, options: Vec<(String, String)>) {
        for (key, text) in options {
            let path = Path::dotted(&key);
            let place = Place { origin: origin.clone(), spot: Spot::Whole };
            match schema::find(&path) {
                Found::Setting(form) => self.put(path, literal(form, &text), place),
                Found::Table => match schema::short(&path) {
                    Some(whole) => self.put(whole, literal(Form::Text, &text), place),
                    None => self.problems.push(Problem::NotATable { key: path.to_string(), place }),
                },
                Found::Nothing => self.unknown(&path, place),
            }
        }
    }

    fn put(&mut self, path: Path, value: Value, place: Place) {
        self.values.insert(path, (value, place));
    }

    fn unknown(&mut self, path: &Path, place: Place) {
        let hint = schema::hint(path);
        self.problems.push(Problem::UnknownKey { key: path.to_string(), place, hint });
    }
}

struct Source<'a> {
    origin: &'a Origin,
    text: &'a str,
    trust: Trust,
}

impl Source<'_> {
    fn place(&self, at: usize) -> Place {
        let line = self.text.bytes().take(at).filter(|byte| *byte == b'\n').count() + 1;
        Place { origin: self.origin.clone(), spot: Spot::Line(line) }
    }
}

/// Reads a value from a source that knows text only. What does not fit is kept as text, and is refused
/// later with the key's own sentence.
fn literal(form: Form, text: &str) -> Value {
    let as_text = || Value::String(text.to_owned());
    match form {
        Form::Text => as_text(),
        Form::Number => text.trim().parse().map_or_else(|_| as_text(), Value::Integer),
        Form::Decimal => text.trim().parse().map_or_else(|_| as_text(), Value::Float),
        Form::List => DeValue::parse(text.trim()).map_or_else(|_| as_text(), |value| plain(value.get_ref())),
    }
}

fn plain(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Integer(number) => {
            // What does not fit is far beyond every limit, and stays so.
            let digits = number.as_str();
            let far = if digits.starts_with('-') { i64::MIN } else { i64::MAX };
            Value::Integer(i64::from_str_radix(digits, number.radix()).unwrap_or(far))
        }
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(yes) => Value::Boolean(*yes),
        DeValue::Datetime(at) => Value::Datetime(*at),
        DeValue::Array(items) => Value::Array(items.iter().map(Spanned::get_ref).map(plain).collect()),
        DeValue::Table(table) => {
            let inner = table.iter().map(|(key, value)| (key.get_ref().to_string(), plain(value.get_ref())));
            Value::Table(inner.collect())
        }
    }
}
