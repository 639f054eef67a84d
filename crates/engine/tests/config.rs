//! Configurations as data: each sample in `config/` has its expected reading beside it.
//!
//! To accept a new reading, run the test with `UPDATE_EXPECT=1` and look at the difference.

#![allow(clippy::unwrap_used, reason = "helpers of tests may unwrap as tests do")]

use jiff::tz::TimeZone;
use proptest::prelude::*;
use rstest::rstest;
use segue_core::policy::{AutoRoute, Backlog, Mode};
use segue_engine::config::{Config, Language, Layer, Origin, Problems};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn samples(kind: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/config").join(kind);
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<PathBuf> =
        files.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    assert!(!files.is_empty());
    files
}

fn load(layers: Vec<Layer>) -> Result<Config, Problems> {
    Config::load(layers, &TimeZone::UTC)
}

fn file(text: &str) -> Layer {
    Layer::toml(Origin::Workspace("segue.toml".into()), text)
}

/// Tells what was read, as a person would want to see it: what is set, and what is odd or wrong.
fn reading(text: &str) -> String {
    let mut out = String::new();
    match load(vec![file(text)]) {
        Ok(config) => {
            for setting in config.origins().iter().filter(|s| s.place.origin != Origin::Defaults) {
                writeln!(out, "{} = {}  # {}", setting.key, setting.value, setting.place).unwrap();
            }
            for warning in &config.warnings {
                writeln!(out, "warning: {warning}").unwrap();
            }
        }
        Err(problems) => writeln!(out, "{problems}").unwrap(),
    }
    out
}

fn check(sample: &Path) {
    let reading = reading(&std::fs::read_to_string(sample).unwrap());
    let beside = sample.with_extension("expected");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&beside, &reading).unwrap();
    }
    let expected = std::fs::read_to_string(&beside).unwrap_or_default();
    assert_eq!(reading, expected, "{}", sample.display());
}

#[test]
fn valid_samples_are_read() {
    for sample in samples("valid") {
        assert!(load(vec![file(&std::fs::read_to_string(&sample).unwrap())]).is_ok(), "{}", sample.display());
        check(&sample);
    }
}

#[test]
fn invalid_samples_are_refused_with_all_that_is_wrong() {
    for sample in samples("invalid") {
        assert!(
            load(vec![file(&std::fs::read_to_string(&sample).unwrap())]).is_err(),
            "{}",
            sample.display()
        );
        check(&sample);
    }
}

/// The built-in defaults stand on their own, and say what the design says.
#[test]
fn the_defaults_are_those_of_the_design() {
    let config = load(Vec::new()).unwrap();
    let policy = config.policy_for(&"agent:main:main".parse().unwrap(), None);
    assert_eq!(policy, segue_core::policy::Policy::default());
    assert_eq!(config.limits.message_bytes_max, 1024 * 1024);
    assert_eq!(config.routing, segue_engine::route::Routing::default());
    assert!(config.warnings.is_empty());
    assert!(config.origins().iter().all(|setting| setting.place.origin == Origin::Defaults));
}

/// P-8: default 20, minimum 1, invalid falls back with a warning.
#[rstest]
#[case("20", 20, 0)]
#[case("1", 1, 0)]
#[case("7", 7, 0)]
#[case("0", 20, 1)]
#[case("-1", 20, 1)]
#[case("'x'", 20, 1)]
#[case("true", 20, 1)]
#[case("99999999999999999999", u32::MAX, 0)]
fn p8_backlog_limit_falls_back_with_a_warning(
    #[case] given: &str,
    #[case] limit: u32,
    #[case] warnings: usize,
) {
    let config = load(vec![file(&format!("session.backlog_limit = {given}"))]).unwrap();
    let policy = config.policy_for(&"agent:main:main".parse().unwrap(), None);
    assert_eq!(Some(policy.backlog), Backlog::new(limit));
    assert_eq!(config.warnings.len(), warnings);
}

/// Each layer counts before those below it, in whatever order they are handed in.
#[test]
fn later_layers_win_and_every_key_knows_its_origin() {
    let system = Origin::System("/etc/segue.toml".into());
    let user = Origin::User("user.toml".into());
    let named = Origin::File("named.toml".into());
    let config = load(vec![
        Layer::options([("store.url", "memory:")]),
        Layer::toml(named, "store.url = 'files:a'\nlimits.message_id_bytes_max = 7"),
        Layer::environment([
            ("SEGUE_STORE_URL", "files:b"),
            ("SEGUE_LIFECYCLE_MODE", "legacy"),
            ("SEGUE_LIMITS_MESSAGE_ID_BYTES_MAX", "9"),
            ("SEGUE_SESSION_BACKLOG_LIMIT", "3"),
            ("SEGUE_SESSION_IDENTITY_LINKS_ANN", "['telegram:1']"),
            ("HOME", "/nowhere"),
        ]),
        file("language = 'zh'"),
        Layer::toml(user, "language = 'auto'\ntimezone = 'UTC'"),
        Layer::toml(system, "language = 'en'\ntimezone = 'Asia/Tokyo'\n\npersona.dir = 'p'"),
    ])
    .unwrap();
    let origin = |key: &str| {
        let setting = config.origins().iter().find(|setting| setting.key == key).unwrap();
        format!("{} from {}", setting.value, setting.place)
    };
    assert_eq!(origin("store.url"), "\"memory:\" from the command line");
    assert_eq!(origin("limits.message_id_bytes_max"), "7 from named.toml:2");
    assert_eq!(origin("lifecycle.mode"), "\"legacy\" from SEGUE_LIFECYCLE_MODE");
    assert_eq!(origin("session.backlog_limit"), "3 from SEGUE_SESSION_BACKLOG_LIMIT");
    assert_eq!(
        origin("session.identity_links.ann"),
        "[\"telegram:1\"] from SEGUE_SESSION_IDENTITY_LINKS_ANN"
    );
    assert_eq!(origin("language"), "\"zh\" from segue.toml:1");
    assert_eq!(origin("timezone"), "\"UTC\" from user.toml:2");
    assert_eq!(origin("persona.dir"), "\"p\" from /etc/segue.toml:4");
    assert_eq!(origin("skills.user"), "\"~/.config/segue/skills\" from the built-in defaults");
}

/// A mistyped variable is an error, a stranger's is a warning, and a model's own key is neither.
#[test]
fn variables_that_are_no_settings() {
    let near = load(vec![Layer::environment([("SEGUE_LIFECYLE_MODE", "legacy")])]).unwrap_err();
    assert_eq!(
        near.to_string(),
        "`SEGUE_LIFECYLE_MODE` (the environment) is not a setting: did you mean `SEGUE_LIFECYCLE_MODE`?"
    );
    let model = "[models.main]\nbase_url = 'http://x/v1'\nmodel = 'm'\napi_key_env = 'SEGUE_KEY'";
    let environment = Layer::environment([("SEGUE_KEY", "secret"), ("SEGUE_WEATHER", "fine")]);
    let warnings = load(vec![file(model), environment]).unwrap().warnings;
    let warnings: Vec<String> = warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        ["SEGUE_WEATHER is not a setting of Segue and does nothing: unset it, or see `segue config show`."]
    );
}

/// Options and variables are checked like files.
#[test]
fn options_are_checked_too() {
    let wrong = load(vec![
        Layer::options([("lifecycle.policy", "clever"), ("lifecycle.polcy", "x"), ("session", "x")]),
        Layer::environment([("SEGUE_LIMITS_MESSAGE_BYTES_MAX", "lots")]),
    ])
    .unwrap_err();
    let sentences: Vec<String> = wrong.0.iter().map(ToString::to_string).collect();
    assert_eq!(
        sentences,
        [
            "`limits.message_bytes_max` (SEGUE_LIMITS_MESSAGE_BYTES_MAX) cannot be \"lots\": \
             write a whole number from 1 to 1073741824.",
            "`lifecycle.polcy` (the command line) is not a setting: did you mean `lifecycle.policy`?",
            "`session` (the command line) is a table of settings: \
             write it as [session] with its settings below.",
            "`lifecycle.policy` (the command line) cannot be \"clever\": \
             write \"segmented\", \"adaptive\", \"task\" or \"layered\".",
        ]
    );
}

/// A scope's setting counts before a person's, and a person's before everyone's.
#[test]
fn a_scope_counts_before_a_person_and_a_person_before_everyone() {
    let config = load(vec![file(
        "language = 'zh'\nlifecycle.segmented.active_window = '1h'\ntimezone = 'local'\n\
         session.identity_links = { ann = ['telegram:111'] }\n\
         [users.'Telegram:111']\nlanguage = 'auto'\nlifecycle.mode = 'legacy'\nlifecycle.auto_route = 'never'\n\
         [scopes.'agent:main:direct:ann']\nlanguage = 'en'\ntimezone = 'Asia/Tokyo'",
    )])
    .unwrap();
    let (ours, other) = ("agent:main:direct:ann".parse().unwrap(), "agent:main:main".parse().unwrap());
    assert_eq!(config.language_for(&ours, Some("ann")), Language::En);
    assert_eq!(config.language_for(&other, Some("ann")), Language::Auto);
    assert_eq!(config.language_for(&other, Some("bob")), Language::Zh);
    assert_eq!(config.language_for(&other, None), Language::Zh);
    let policy = config.policy_for(&ours, Some("ann"));
    assert_eq!((policy.mode, policy.auto_route), (Mode::Legacy, AutoRoute::Never));
    assert_eq!(policy.segmented.active_window.as_hours(), 1);
    assert_eq!(policy.segmented.time_zone.iana_name(), Some("Asia/Tokyo"));
    assert_eq!(config.policy_for(&other, None).mode, Mode::Segmented);
    assert_eq!(config.time_zone_for(&other, None), TimeZone::UTC);
}

proptest! {
    /// Whatever stands in a file, in a variable or on the command line: a result or sentences, never a panic.
    #[test]
    fn anything_can_be_read(text in any_toml(), key in "[A-Z_]{0,30}", value in any::<String>()) {
        let name = format!("SEGUE_{key}");
        let layers = vec![
            file(&text),
            Layer::environment([(name, value.clone())]),
            Layer::options([("session.identity_links.ann", value.clone()), ("timezone", value)]),
        ];
        if let Err(problems) = load(layers) {
            prop_assert!(!problems.0.is_empty());
            for problem in problems.0 {
                prop_assert!(!problem.to_string().contains('\n'), "{}", problem);
            }
        }
    }
}

fn any_toml() -> impl Strategy<Value = String> {
    let keys =
        ["timezone", "session.backlog_limit", "session.identity_links.ann", "lifecycle", "users.'a:b'.x"];
    let values =
        ["1", "-1", "'x'", "[]", "[[1]]", "{}", "{ a = 1 }", "04:00", "1979-05-27", "nan", "true", "\"\\n\""];
    let line = (prop::sample::select(keys.to_vec()), prop::sample::select(values.to_vec()));
    let lines = prop::collection::vec(line.prop_map(|(key, value)| format!("{key} = {value}\n")), 0..3);
    prop_oneof![lines.prop_map(|lines| lines.concat()), any::<String>(), "[a-z.='\\[\\]{}\n ]{0,40}"]
}
