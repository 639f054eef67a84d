//! The control model, against a scripted endpoint.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod chain;
mod consult;
mod endpoint;
mod injected;
mod road;
mod stream;
mod titles;

use endpoint::Endpoint;
use jiff::tz::TimeZone;
use segue_core::Timestamp;
use segue_core::message::Role;
use segue_engine::config::{Config, Layer, Origin};
use segue_engine::control::{Case, Chain, Consulted, Control, RecentMessage};

/// Reads a configuration.
fn config(text: &str) -> Config {
    let layer = Layer::toml(Origin::Workspace("segue.toml".into()), text);
    Config::load(vec![layer], &TimeZone::UTC).unwrap()
}

/// Names a model after an endpoint, with more settings if need be.
fn model(name: &str, base_url: &str, more: &str) -> String {
    // Long enough for a busy machine: nothing here waits for it but those that say so.
    let timeout = if more.contains("timeout") { "" } else { "timeout = '30s'" };
    format!("[models.{name}]\nbase_url = '{base_url}'\nmodel = '{name}-1'\n{timeout}\n{more}\n")
}

/// One model, `small`, that the defaults name.
fn small(endpoint: &Endpoint, more: &str) -> Config {
    let defaults = "agents.defaults.control_model = 'small'\n";
    config(&format!("{defaults}{}", model("small", &endpoint.base_url(), more)))
}

fn at(ms: i64) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + ms).unwrap()
}

const RECENT: &[RecentMessage<'_>] = &[
    RecentMessage { role: Role::User, text: "How do I bake bread?" },
    RecentMessage { role: Role::Assistant, text: "Mix flour, water, salt and yeast." },
];

fn case(message: &str) -> Case<'_> {
    Case { summary: "Baking bread.", recent: RECENT, message }
}

fn chain_of(config: &Config) -> Chain {
    Chain::resolve(None, None, &config.agents, &config.models)
}

/// Asks about an everyday message.
async fn ask(config: &Config) -> Consulted {
    let control = Control::new(config, &|_| None);
    control.consult(&chain_of(config), &case("And how long in the oven?"), at(0)).await
}
