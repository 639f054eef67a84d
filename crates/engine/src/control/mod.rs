//! The control model: a second opinion on where a message belongs (M-C1 to M-C5).
//!
//! The caller asks when the built-in judgement is not sure and the policy allows it. Whatever goes wrong here
//! ends at the built-in judgement: a failure never blocks a message and never moves a session.

pub mod breaker;
pub mod chain;
mod consulted;
mod counters;
mod guard;
pub mod prompt;
pub mod title;
pub mod verdict;

pub use chain::{Chain, Link, NamedBy, Skipped};
pub use consulted::{Attempt, Consulted, Failure};
pub use counters::{Counters, Tally};
pub use prompt::{Case, Prompt, RecentMessage};
pub use verdict::Verdict;

use crate::config::{Config, Model};
use crate::models::{self, Client, Format, Options, Usage};
use breaker::{Admission, Breaker};
use segue_core::Timestamp;
use segue_core::session::Title;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often a model is asked about one message.
const TRIES: usize = 2;

/// A verdict is short, and so is a title. Some models need a few tokens more for the same JSON.
const TOKENS_MAX: u32 = 100;

/// Asks control models.
#[derive(Debug)]
pub struct Control {
    models: BTreeMap<String, Asked>,
    counters: Mutex<Counters>,
}

/// What a model is asked, and how its answer is read.
struct ModelQuery<'a, T> {
    messages: &'a [models::Message],
    /// The hash and the version of what is asked, where that goes on record.
    record: Option<(&'a str, u32)>,
    read: &'a (dyn Fn(&str) -> Result<T, Failure> + Sync),
    count: fn(&mut Tally, &T),
}

/// A model that can be asked.
#[derive(Debug)]
struct Asked {
    client: Result<Client, models::Failure>,
    breaker: Mutex<Breaker>,
    /// The endpoint refuses the usual options, and takes the question without them.
    is_plain: AtomicBool,
    price_in: Option<f64>,
    price_out: Option<f64>,
}

impl Control {
    /// Makes a client for every model of the configuration; `keys` looks up environment variables. A model
    /// that cannot be used is told when it is asked, so that it stops nothing else.
    pub fn new(config: &Config, keys: &dyn Fn(&str) -> Option<String>) -> Self {
        let models = config.models.iter().map(|(name, model)| (name.clone(), Asked::new(model, keys)));
        Self { models: models.collect(), counters: Mutex::default() }
    }

    /// Asks the models of a chain, one after the other, until one gives a verdict. `now` is what the
    /// circuit breakers go by.
    pub async fn consult(&self, chain: &Chain, case: &Case<'_>, now: Timestamp) -> Consulted {
        let mut consulted = Consulted::nobody(chain);
        for skipped in &chain.warnings {
            tracing::warn!("{skipped}");
            self.tally(&skipped.name, |tally| tally.fail(Failure::NotThere));
        }
        let Some(first) = chain.named().first() else { return consulted };
        let Some(prompt) = Prompt::of(case) else {
            self.note(&mut consulted, first.model.name(), Failure::SpeaksToJudge);
            return consulted;
        };
        let question = ModelQuery {
            messages: prompt.messages(),
            record: Some((prompt.hash(), prompt::VERSION)),
            read: &|text| Verdict::parse(text).map_err(Failure::Answer),
            count: |tally, verdict| {
                tally.verdicts += 1;
                tally.unsure += u64::from(*verdict == Verdict::Unsure);
            },
        };
        for link in chain.named() {
            if let Some(verdict) = self.ask(link.model.name(), &question, now, &mut consulted).await {
                consulted.belongs = verdict.belongs();
                consulted.answered_by = link.clone();
                break;
            }
        }
        consulted
    }

    /// Asks the models of a chain, one after the other, what a conversation is to be called. Nobody waits for it; what
    /// fails leaves the session with what its own words say.
    pub async fn name(
        &self,
        chain: &Chain,
        talk: &title::TitleInput<'_>,
        now: Timestamp,
    ) -> Option<(Title, String)> {
        let messages = talk.prompt()?;
        let mut consulted = Consulted::nobody(chain);
        let question = ModelQuery {
            messages: &messages,
            record: None,
            read: &|text| talk.read(text).map_err(Failure::Answer),
            count: |tally, _| tally.titles += 1,
        };
        for link in chain.named() {
            let name = link.model.name();
            if let Some(title) = self.ask(name, &question, now, &mut consulted).await {
                return Some((title, name.to_owned()));
            }
        }
        None
    }

    /// Returns what was counted so far.
    pub fn counters(&self) -> Counters {
        held(&self.counters).clone()
    }

    /// Asks one model, and once more if that may help.
    async fn ask<T>(
        &self,
        name: &str,
        question: &ModelQuery<'_, T>,
        now: Timestamp,
        consulted: &mut Consulted,
    ) -> Option<T> {
        let Some(model) = self.models.get(name) else {
            self.note(consulted, name, Failure::NotThere);
            return None;
        };
        let client = match &model.client {
            Ok(client) => client,
            Err(failure) => {
                self.note(consulted, name, Failure::Call(*failure));
                return None;
            }
        };
        let mut is_plain = model.is_plain.load(Ordering::Relaxed);
        for tried in 0..TRIES {
            match held(&model.breaker).admit(now) {
                Admission::Granted => {}
                // The failures that opened it just now are on record already.
                Admission::Refused if tried > 0 => return None,
                Admission::Refused => {
                    self.note(consulted, name, Failure::Resting);
                    return None;
                }
            }
            if let Some((hash, version)) = question.record {
                consulted.prompt_hash = Some(hash.to_owned());
                consulted.prompt_version = Some(version);
            }
            self.tally(name, |tally| tally.calls += 1);
            let answer = client.complete(question.messages, &options(is_plain)).await;
            let read = match answer {
                Ok(completion) => {
                    self.charge(name, model, completion.usage, consulted);
                    (question.read)(&completion.text)
                }
                Err(failure) => Err(Failure::Call(failure)),
            };
            match read {
                Ok(read) => {
                    held(&model.breaker).succeeded();
                    model.is_plain.store(is_plain, Ordering::Relaxed);
                    self.tally(name, |tally| (question.count)(tally, &read));
                    return Some(read);
                }
                Err(failure) => {
                    held(&model.breaker).failed(now);
                    self.note(consulted, name, failure);
                    let is_about_options = !is_plain && refuses_options(failure);
                    if !failure.is_passing() && !is_about_options {
                        return None;
                    }
                    is_plain |= is_about_options;
                }
            }
        }
        None
    }

    fn charge(&self, name: &str, model: &Asked, usage: Usage, consulted: &mut Consulted) {
        let cost = model.cost(usage);
        consulted.usage += usage;
        consulted.cost = match (consulted.cost, cost) {
            (Some(before), Some(now)) => Some(before + now),
            (before, now) => before.or(now),
        };
        self.tally(name, |tally| {
            tally.usage += usage;
            tally.cost += cost.unwrap_or(0.0);
        });
    }

    fn note(&self, consulted: &mut Consulted, name: &str, failure: Failure) {
        tracing::warn!(model = name, %failure, "the control model gave no answer that can be used");
        self.tally(name, |tally| tally.fail(failure));
        consulted.attempts.push(Attempt { model: name.to_owned(), failure });
    }

    fn tally(&self, name: &str, count: impl FnOnce(&mut Tally)) {
        let mut counters = held(&self.counters);
        // Names in sessions come from outside: only models that are there get a row each.
        if self.models.contains_key(name) {
            count(counters.models.entry(name.to_owned()).or_default());
        } else {
            counters.not_there += 1;
        }
    }
}

impl Asked {
    fn new(model: &Model, keys: &dyn Fn(&str) -> Option<String>) -> Self {
        Self {
            client: Client::with_keys(model, keys),
            breaker: Mutex::default(),
            is_plain: AtomicBool::new(false),
            price_in: model.price_in,
            price_out: model.price_out,
        }
    }

    /// Returns what tokens cost, when at least one price is known.
    fn cost(&self, usage: Usage) -> Option<f64> {
        if self.price_in.is_none() && self.price_out.is_none() {
            return None;
        }
        let of = |tokens: u64, price: Option<f64>| tokens as f64 * price.unwrap_or(0.0) / 1_000_000.0;
        Some(of(usage.tokens_in, self.price_in) + of(usage.tokens_out, self.price_out))
    }
}

/// Some endpoints refuse a temperature, a bound or a format instead of leaving it aside; they say so with
/// one of these.
fn refuses_options(failure: Failure) -> bool {
    matches!(failure, Failure::Call(models::Failure::Status(400 | 422)))
}

fn options(is_plain: bool) -> Options {
    if is_plain {
        return Options::default();
    }
    Options {
        temperature: Some(0.0),
        tokens_max: Some(TOKENS_MAX),
        format: Format::JsonObject,
        ..Options::default()
    }
}

/// What is counted is right even after a panic elsewhere.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
