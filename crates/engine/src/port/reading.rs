//! Reading a file from its beginning to its end, in parts: a file may be larger than memory.

use super::account::{Account, Verdict};
use super::transcript::{End, FileContext, Format, Line, Taken, Transcript, Unreadable};
use super::{claude_code, codex, goose, hermes, openai, openclaw, own, picoclaw};
use segue_core::Timestamp;
use serde_json::{Deserializer, Value};

/// How many bytes of text a part has, about.
const PART_BYTES: usize = 8 << 20;

/// How many bytes a file may have that is one JSON value, unless it is said.
const VALUE_BYTES_MAX: usize = 64 << 20;

/// Where the lines of a file come from. Files are read twice: first to see what is in them, then to take it.
pub trait Source {
    /// Returns the next line; nothing at the end.
    fn next(&mut self) -> std::io::Result<Option<Line>>;
    /// Goes back to the first line.
    fn rewind(&mut self) -> std::io::Result<()>;
    /// How many bytes a file may have that is one JSON value: all of it is in memory at once.
    fn value_bytes_max(&self) -> usize {
        VALUE_BYTES_MAX
    }
}

/// Lines that are in memory.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    lines: Vec<Line>,
    at: usize,
}

impl From<Vec<Line>> for InMemory {
    fn from(lines: Vec<Line>) -> Self {
        Self { lines, at: 0 }
    }
}

impl Source for InMemory {
    fn next(&mut self) -> std::io::Result<Option<Line>> {
        let line = self.lines.get(self.at).cloned();
        self.at += 1;
        Ok(line)
    }

    fn rewind(&mut self) -> std::io::Result<()> {
        self.at = 0;
        Ok(())
    }
}

/// Where a record stands: its line, and how many records come before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place {
    pub line: usize,
    pub record: usize,
}

/// Reads the records of a form.
pub(super) trait Reader: Send {
    /// Sees a record before any is taken.
    fn survey(&mut self, _place: Place, _value: &Value) {}
    /// Has seen all records.
    fn surveyed(&mut self) -> Result<(), Unreadable> {
        Ok(())
    }
    /// Takes a record.
    fn take(&mut self, place: Place, value: &Value) -> Verdict;
    /// The conversations so far, one after the other: only the last one grows.
    fn talks(&mut self) -> &mut Vec<Transcript>;
    /// Has taken all records. Conversations on the side come now: messages of two must not take turns in the log.
    fn finish(&mut self) -> Result<(), Unreadable> {
        Ok(())
    }
}

/// Messages of one conversation of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Part {
    /// Which conversation of the file.
    pub talk: usize,
    /// The next messages of it.
    pub messages: Vec<Taken>,
}

/// A file that is being read.
pub struct Reading {
    records: Records,
    reader: Box<dyn Reader>,
    account: Account,
    now: Timestamp,
    record: usize,
    /// The parts that were read and not handed out, newest first.
    ready: Vec<Part>,
    end: End,
    /// The conversation that is being handed out.
    talk: usize,
}

enum Records {
    Lines(Box<dyn Source + Send>),
    /// One JSON value over the whole file, and how many of its records stand in front of the list.
    Whole(Vec<Value>, usize),
}

impl std::fmt::Debug for Reading {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reading").field("account", &self.account).finish_non_exhaustive()
    }
}

impl Reading {
    /// Looks through a file. What cannot be read of it is noted, line by line; where nothing can be, it is an error.
    pub fn open(
        format: Format,
        mut source: Box<dyn Source + Send>,
        context: &FileContext,
        now: Timestamp,
    ) -> Result<Self, Unreadable> {
        let whole = whole(format, source.as_mut())?;
        let mut records = match whole {
            Some((values, in_front)) => Records::Whole(values, in_front),
            None => Records::Lines(source),
        };
        let mut reader: Box<dyn Reader> = match format {
            Format::Segue => Box::new(own::Own::new()),
            Format::Openai => Box::new(openai::Openai::new(now)),
            Format::Picoclaw => Box::new(picoclaw::Picoclaw::new(context)),
            Format::Openclaw => Box::new(openclaw::Openclaw::new(context)),
            Format::ClaudeCode => Box::new(claude_code::ClaudeCode::new(context)),
            Format::Codex => Box::new(codex::Codex::new(context)),
            Format::Goose => Box::new(goose::Goose::new(context)),
            Format::Hermes => Box::new(hermes::Hermes::new(context)),
        };
        let mut record = 0;
        records.rewind()?;
        while let Some((line, values)) = records.next(record)? {
            for value in values {
                if let Ok(value) = value {
                    reader.survey(Place { line, record }, &value);
                }
                record += 1;
            }
        }
        reader.surveyed()?;
        records.rewind()?;
        let account = Account::default();
        Ok(Self { records, reader, account, now, record: 0, ready: Vec::new(), end: End::Ahead, talk: 0 })
    }

    /// Returns what is known about a conversation; its messages come in parts.
    pub fn about(&mut self, talk: usize) -> Option<&mut Transcript> {
        self.reader.talks().get_mut(talk)
    }

    /// What became of the records so far.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// Reads on, and returns the next messages of a conversation; nothing at the end of the file.
    pub fn part(&mut self) -> Result<Option<Part>, Unreadable> {
        loop {
            if let Some(part) = self.ready.pop() {
                return Ok(Some(part));
            }
            if self.end == End::Reached {
                return Ok(None);
            }
            self.read_on()?;
        }
    }

    fn read_on(&mut self) -> Result<(), Unreadable> {
        let mut bytes = 0;
        while bytes < PART_BYTES {
            let Some((line, values)) = self.records.next(self.record)? else {
                self.end = End::Reached;
                break;
            };
            for value in values {
                let place = Place { line, record: self.record };
                self.record += 1;
                let verdict = match value {
                    Ok(value) => {
                        bytes += 256 + rough_bytes(&value);
                        self.reader.take(place, &value)
                    }
                    Err(why) => Verdict::Bad(why),
                };
                self.account.enter(line, verdict);
            }
        }
        if self.end == End::Reached {
            self.reader.finish()?;
        }
        let (end, now) = (self.end, self.now);
        let mut parts = Vec::new();
        let talks = self.reader.talks();
        let last = talks.len().saturating_sub(1);
        for (at, talk) in talks.iter_mut().enumerate().skip(self.talk) {
            let is_over = end == End::Reached || at < last;
            let mut messages = talk.drain(if is_over { End::Reached } else { End::Ahead });
            // Where a file names no time at all, it is taken over when it is taken over.
            for taken in messages.iter_mut().filter(|taken| taken.at == Timestamp::UNIX_EPOCH) {
                taken.at = now;
            }
            if is_over {
                self.talk = at + 1;
            }
            if !messages.is_empty() {
                parts.push(Part { talk: at, messages });
            }
        }
        parts.reverse();
        self.ready = parts;
        Ok(())
    }
}

/// About how much text a value holds.
fn rough_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len(),
        Value::Array(list) => list.iter().map(rough_bytes).sum(),
        Value::Object(fields) => fields.values().map(rough_bytes).sum(),
        _ => 8,
    }
}

type Values = Vec<Result<Value, String>>;

impl Records {
    fn rewind(&mut self) -> Result<(), Unreadable> {
        match self {
            Self::Lines(source) => source.rewind().map_err(unreadable),
            Self::Whole(..) => Ok(()),
        }
    }

    /// Returns the records of the next line that has any. Two programs that write at once may leave two on a line.
    fn next(&mut self, record: usize) -> Result<Option<(usize, Values)>, Unreadable> {
        let source = match self {
            Self::Whole(values, in_front) => {
                let line = (record + 1).saturating_sub(*in_front);
                return Ok(values.get(record).map(|value| (line, vec![Ok(value.clone())])));
            }
            Self::Lines(source) => source,
        };
        while let Some(line) = source.next().map_err(unreadable)? {
            let text = match line.text {
                Ok(text) if text.trim().is_empty() => continue,
                Ok(text) => text,
                Err(why) => return Ok(Some((line.number, vec![Err(why)]))),
            };
            return Ok(Some((line.number, parse(&text))));
        }
        Ok(None)
    }
}

/// Reads all values of a line. What is none at its end is one bad record.
fn parse(text: &str) -> Values {
    let mut values: Values = Vec::new();
    for value in Deserializer::from_str(text).into_iter::<Value>() {
        match value {
            Ok(value) => values.push(Ok(value)),
            Err(_) => {
                values.push(Err("it is not JSON".to_owned()));
                break;
            }
        }
    }
    // Words without quotes in front of an object are no list of values.
    if values.len() > 1 && values.iter().flatten().any(|value| !value.is_object()) {
        return vec![Err("it is not JSON".to_owned())];
    }
    values
}

fn unreadable(error: std::io::Error) -> Unreadable {
    Unreadable(error.to_string())
}

/// Reads a file that is one JSON value as the list of its records; nothing where each line is a record.
fn whole(format: Format, source: &mut dyn Source) -> Result<Option<(Vec<Value>, usize)>, Unreadable> {
    if !matches!(format, Format::Openai | Format::Picoclaw | Format::Codex) {
        return Ok(None);
    }
    let Some(first) = first_line(source)? else { return Ok(None) };
    let is_record = |value: &Value| {
        let is_list = value.get("messages").is_some() || value.get("items").is_some();
        value.is_object() && !is_list
    };
    let is_first_of_many = serde_json::from_str(&first).is_ok_and(|value| is_record(&value));
    if is_first_of_many {
        return Ok(None);
    }
    source.rewind().map_err(unreadable)?;
    let bytes_max = source.value_bytes_max();
    let mut text = String::new();
    while let Some(line) = source.next().map_err(unreadable)? {
        match line.text {
            Ok(line) if text.len() + line.len() > bytes_max => {
                return Err(Unreadable(format!(
                    "it is one JSON value of more than {bytes_max} bytes, and all of it would be in memory at once: \
                     limits.import_bytes_max sets how much may be"
                )));
            }
            Ok(line) => text.push_str(&line),
            Err(_) => return Ok(None),
        }
        text.push('\n');
    }
    let value = serde_json::from_str::<Value>(&text);
    let Ok(value) = value else {
        let is_torn = format == Format::Picoclaw && picoclaw::begins_as_one(&text);
        let why = "it is not whole: a session of PicoClaw is one JSON object";
        return if is_torn { Err(Unreadable::new(why)) } else { Ok(None) };
    };
    drop(text);
    if format == Format::Picoclaw && value.get("messages").is_some_and(|list| !list.is_array()) {
        return Err(Unreadable::new("its \"messages\" are not a list"));
    }
    Ok(Some(records_of(format, value)))
}

fn first_line(source: &mut dyn Source) -> Result<Option<String>, Unreadable> {
    source.rewind().map_err(unreadable)?;
    while let Some(line) = source.next().map_err(unreadable)? {
        match line.text {
            Ok(text) if text.trim().is_empty() => continue,
            Ok(text) => return Ok(Some(text)),
            Err(_) => return Ok(None),
        }
    }
    Ok(None)
}

/// The records of one value: of PicoClaw and of old rollouts what is said about the whole comes first.
fn records_of(format: Format, mut value: Value) -> (Vec<Value>, usize) {
    let mut list = |name: &str| match value.get_mut(name).map(Value::take) {
        Some(Value::Array(list)) => Some(list),
        Some(other) => Some(vec![other]),
        None => None,
    };
    let list = list("messages").or_else(|| list("items"));
    match (format, list, value) {
        (Format::Openai, Some(list), _) | (_, None, Value::Array(list)) => (list, 0),
        (_, Some(list), about) => (std::iter::once(about).chain(list).collect(), 1),
        (_, None, about) => (vec![about], 0),
    }
}
