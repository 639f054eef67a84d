//! The model that answers in a chat.

use crate::args::Chat;
use crate::setup;
use anyhow::{Context as _, bail};
use jiff::SignedDuration;
use segue_core::message as kept;
use segue_core::pins;
use segue_engine::config::{Config, Model, Wire};
use segue_engine::models::{Client, Failure, Flaw, Message, Trouble};
use std::future::pending;
use std::io;
use std::pin::pin;

/// What is written behind a reply that was cut off.
pub const CUT_OFF: &str = "[interrupted]";

/// How long an answer may take that does not come piece by piece. Here all do.
const TIMEOUT: SignedDuration = SignedDuration::from_secs(60);

/// A model that answers.
#[derive(Debug)]
pub struct Speaker {
    /// What it is called here.
    pub name: String,
    client: Client,
    source: Source,
}

/// Where a model is described.
#[derive(Debug, Clone, PartialEq)]
enum Source {
    /// In the configuration.
    Configuration,
    /// On the command line, and there for all sessions.
    CommandLine,
}

/// What a model said.
#[derive(Debug)]
pub struct ModelReply {
    /// The text, with a mark behind it if it was cut off.
    pub text: String,
    end: End,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum End {
    Whole,
    Stopped,
    Failed(Trouble),
}

impl ModelReply {
    /// Tells whether there would have been more.
    pub fn is_cut_off(&self) -> bool {
        self.end != End::Whole
    }

    /// Returns what is kept of it. Where nothing came, that is kept.
    pub fn message(&self) -> kept::Message {
        match self.end {
            End::Whole => kept::Message::text(self.text.as_str()),
            End::Stopped | End::Failed(_) if self.text.is_empty() => kept::Message::failed(),
            End::Stopped | End::Failed(_) => {
                kept::Message { end: kept::ReplyEnd::CutOff, ..kept::Message::text(self.text.as_str()) }
            }
        }
    }

    /// Tells what went wrong, if anything did.
    pub fn trouble(&self) -> Option<&Trouble> {
        match &self.end {
            End::Failed(trouble) => Some(trouble),
            End::Whole | End::Stopped => None,
        }
    }

    fn new(text: String, end: End) -> Self {
        match end {
            End::Whole if text.trim().is_empty() => {
                Self { text: String::new(), end: End::Failed(Failure::Malformed(Flaw::NoText).into()) }
            }
            End::Whole => Self { text, end },
            End::Stopped | End::Failed(_) if text.trim().is_empty() => Self { text: String::new(), end },
            End::Stopped | End::Failed(_) => Self { text: format!("{} {CUT_OFF}", text.trim_end()), end },
        }
    }
}

impl Speaker {
    /// Finds the model that the command line names, if it names one.
    pub fn of(chat: &Chat, config: &Config) -> anyhow::Result<Option<Self>> {
        match (&chat.model, &chat.model_url, &chat.model_name) {
            (Some(name), _, _) => Self::new(name, named(config, name)?, Source::Configuration).map(Some),
            (None, Some(url), Some(name)) => {
                Self::new(name, &unnamed(url, name)?, Source::CommandLine).map(Some)
            }
            (None, _, _) => Ok(None),
        }
    }

    fn new(name: &str, model: &Model, source: Source) -> anyhow::Result<Self> {
        let client =
            Client::with_keys(model, &setup::variable).with_context(|| match &model.api_key_env {
                Some(variable) => format!("{name} cannot answer (its key is looked for in {variable})"),
                None => format!("{name} cannot answer"),
            })?;
        Ok(Self { name: name.to_owned(), client, source })
    }

    /// Finds the model that a session is pinned to, if that is another one than this, or is to answer differently.
    pub fn as_pinned(&self, pin: &pins::Model, config: &Config) -> anyhow::Result<Option<Self>> {
        let Some(id) = pin.id.as_ref().filter(|_| self.source == Source::Configuration) else {
            return Ok(None);
        };
        let Some(model) = config.models.get(&pin.name) else {
            bail!(
                "{} answers in this session and is gone from the configuration: /model NAME lets another one answer",
                pin.name
            );
        };
        let pins::Model { temperature, thinking, verbosity, .. } = *pin;
        let held = Model { model: id.clone(), temperature, thinking, verbosity, ..model.clone() };
        if pin.name == self.name && held == *model {
            return Ok(None);
        }
        Self::new(&pin.name, &held, Source::Configuration).map(Some)
    }

    /// Asks for an answer of so many bytes at most. `heard` takes each piece as it comes; Ctrl-C ends it.
    pub async fn speak(
        &self,
        messages: &[Message],
        bytes_max: usize,
        mut heard: impl FnMut(&str) -> io::Result<()>,
    ) -> io::Result<ModelReply> {
        let mut text = String::new();
        let mut stopped = pin!(interrupted());
        let asked = tokio::select! {
            biased;
            () = &mut stopped => return Ok(ModelReply::new(text, End::Stopped)),
            asked = self.client.ask(messages) => asked,
        };
        let mut deltas = match asked {
            Ok(deltas) => deltas,
            Err(trouble) => return Ok(ModelReply::new(text, End::Failed(trouble))),
        };
        loop {
            let next = tokio::select! {
                biased;
                () = &mut stopped => return Ok(ModelReply::new(text, End::Stopped)),
                next = deltas.next() => next,
            };
            match next {
                // What is shown is kept, so nothing is shown that could not be.
                Some(Ok(piece)) if text.len() + piece.len() + CUT_OFF.len() + 1 > bytes_max => {
                    return Ok(ModelReply::new(text, End::Failed(Failure::TooLong.into())));
                }
                Some(Ok(piece)) => {
                    heard(&piece)?;
                    text.push_str(&piece);
                }
                Some(Err(failure)) => {
                    let trouble = Trouble { failure, said: deltas.said().map(str::to_owned) };
                    return Ok(ModelReply::new(text, End::Failed(trouble)));
                }
                None => return Ok(ModelReply::new(text, End::Whole)),
            }
        }
    }
}

/// Waits for Ctrl-C. Where it cannot be listened to, it ends the program as ever.
pub async fn interrupted() {
    if tokio::signal::ctrl_c().await.is_err() {
        pending::<()>().await;
    }
}

fn named<'a>(config: &'a Config, name: &str) -> anyhow::Result<&'a Model> {
    if let Some(model) = config.models.get(name) {
        return Ok(model);
    }
    let known: Vec<&str> = config.models.keys().map(String::as_str).collect();
    if known.is_empty() {
        bail!(
            "there is no model {name}: add [models.{name}] to the configuration, or use --model-url and --model-name"
        );
    }
    bail!("there is no model {name}: the configuration has {}", known.join(", "))
}

/// Describes a model that stands in no configuration.
fn unnamed(url: &str, name: &str) -> anyhow::Result<Model> {
    if !url.starts_with("http://") && !url.starts_with("https://") {
        let url = segue_store::redacted(url);
        bail!("--model-url is an address such as http://localhost:11434/v1, not '{url}'");
    }
    let api_key_env = setup::variable(setup::API_KEY).map(|_| setup::API_KEY.to_owned());
    let (base_url, model) = (url.to_owned(), name.to_owned());
    Ok(Model {
        base_url,
        model,
        api_key_env,
        wire: Wire::default(),
        timeout: TIMEOUT,
        price_in: None,
        price_out: None,
        temperature: None,
        thinking: None,
        verbosity: None,
    })
}
