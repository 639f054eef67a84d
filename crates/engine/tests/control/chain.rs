//! M-C1 to M-C5: who is asked, and in which order.

use super::config;
use segue_engine::config::Config;
use segue_engine::control::{Chain, NamedBy};

const MODELS: &str = "
    [models.a]
    base_url = 'http://a/v1'
    model = 'a'
    [models.b]
    base_url = 'http://b/v1'
    model = 'b'
    [models.c]
    base_url = 'http://c/v1'
    model = 'c'
";

fn with(text: &str) -> Config {
    config(&format!("{text}\n{MODELS}"))
}

/// Writes a chain as `model<source`.
fn links(chain: &Chain) -> Vec<String> {
    let name = |source: NamedBy| serde_json::to_value(source).unwrap().as_str().unwrap().to_owned();
    chain.links().map(|link| format!("{}<{}", link.model.name(), name(link.source))).collect()
}

fn resolve(config: &Config, session: Option<&str>, agent: Option<&str>) -> Vec<String> {
    links(&Chain::resolve(session, agent, &config.agents, &config.models))
}

/// M-C1.
#[test]
fn control_model_defaults_precedence() {
    assert_eq!(resolve(&with(""), None, None), ["builtin<defaults"]);
    let config = with("agents.defaults.control_model = 'a'");
    assert_eq!(resolve(&config, None, None), ["a<defaults", "builtin<builtin"]);
    assert_eq!(resolve(&config, None, Some("work")), ["a<defaults", "builtin<builtin"]);
    let config = with("agents.defaults.control_model = 'a'\nagents.work.control_model = 'b'");
    assert_eq!(resolve(&config, None, Some("work")), ["b<agent", "a<defaults", "builtin<builtin"]);
    assert_eq!(resolve(&config, None, Some("main")), ["a<defaults", "builtin<builtin"]);
    let scope = |key: &str| links(&Chain::for_scope(None, &key.parse().unwrap(), &config));
    assert_eq!(scope("agent:work:cli:direct:me"), ["b<agent", "a<defaults", "builtin<builtin"]);
    assert_eq!(scope("agent:main:cli:direct:me"), ["a<defaults", "builtin<builtin"]);
}

/// M-C2.
#[test]
fn control_model_session_override_precedence() {
    let config = with("agents.defaults.control_model = 'a'\nagents.work.control_model = 'b'");
    let all = ["c<session", "b<agent", "a<defaults", "builtin<builtin"];
    assert_eq!(resolve(&config, Some("c"), Some("work")), all);
    assert_eq!(resolve(&config, Some(" c "), Some("work")), all);
    assert_eq!(resolve(&config, Some("builtin"), Some("work")), ["builtin<session"]);
    assert_eq!(resolve(&config, Some(""), None), ["a<defaults", "builtin<builtin"]);
    assert_eq!(
        resolve(&with("agents.work.control_model = 'builtin'"), None, Some("work")),
        ["builtin<agent"]
    );
}

/// M-C3: the same settings make the same chain, without repetitions, and it always ends in the built-in one.
#[test]
fn control_model_fallback_deterministic() {
    let config = with(
        "agents.defaults.control_model = 'a'\nagents.defaults.control_fallback = ['c', 'a', 'b', 'c', 'builtin', 'x']",
    );
    let expected = ["a<defaults", "c<fallback", "b<fallback", "builtin<fallback"];
    for _ in 0..3 {
        assert_eq!(resolve(&config, None, None), expected);
    }
    assert_eq!(
        resolve(&config, Some("b"), None),
        ["b<session", "a<defaults", "c<fallback", "builtin<fallback"]
    );
    // What stands after the built-in one is never reached, so it is no reason to warn at run time.
    assert!(Chain::resolve(None, None, &config.agents, &config.models).warnings.is_empty());
    let ended = with("agents.defaults.control_model = 'builtin'\nagents.defaults.control_fallback = ['c']");
    assert_eq!(resolve(&ended, None, None), ["builtin<defaults"]);
}

/// M-C4: no chain is ever derived from the model that answers.
#[test]
fn m_c4_a_reply_model_switch_changes_nothing() {
    for control in ["", "agents.defaults.control_model = 'a'", "agents.work.control_model = 'b'"] {
        let chain = |reply: &str| {
            let config = with(&format!("{control}\nagents.defaults.model = '{reply}'"));
            Chain::resolve(None, Some("work"), &config.agents, &config.models)
        };
        assert_eq!(chain("a"), chain("b"));
        assert_eq!(chain("a"), chain("c"));
    }
}

/// M-C5.
#[test]
fn m_c5_an_unknown_override_falls_to_the_next_link_with_a_warning() {
    let config = with(
        "agents.defaults.control_model = 'a'\nagents.defaults.control_fallback = ['lost', 'b']\n\
         agents.work.control_model = 'gone'",
    );
    // At the check of the configuration they are warnings, not errors.
    assert_eq!(config.warnings.len(), 2);
    let chain = Chain::resolve(Some("typo"), Some("work"), &config.agents, &config.models);
    assert_eq!(links(&chain), ["a<defaults", "b<fallback", "builtin<builtin"]);
    let warnings: Vec<String> = chain.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "the session names the model `typo`, which is not there: the next one is asked",
            "the agent's control_model names the model `gone`, which is not there: the next one is asked",
            "agents.defaults.control_fallback names the model `lost`, which is not there: the next one is asked",
        ]
    );
}
