//! `segue doctor`: is everything in order? The configuration, the store, what was set aside, skills, persona, models.

use crate::args::Common;
use crate::setup;
use crate::{Exit, json, layout, out, paint};
use segue_engine::Engine;
use segue_engine::config::{Config, ControlModel};
use segue_engine::models::Client;
use segue_engine::pins::Host as _;
use segue_store::encryption::Status;
use segue_store::{Location, private};
use serde::Serialize;
use serde_json::json;
use std::path::Path;

/// How many files are named that others may read.
const RIGHTS_TOLD_MAX: usize = 5;

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
enum Verdict {
    /// As it should be.
    Ok,
    /// Worth knowing.
    Note,
    /// Something is to be done.
    Bad,
}

/// What was looked at, and what was found.
#[derive(Debug, Serialize)]
struct Check {
    what: &'static str,
    verdict: Verdict,
    told: Vec<String>,
}

impl Check {
    fn fine(what: &'static str, told: impl Into<String>) -> Self {
        Self { what, verdict: Verdict::Ok, told: vec![told.into()] }
    }

    /// Finds something wrong, or is fine.
    fn of(what: &'static str, verdict: Verdict, told: Vec<String>, fine: impl Into<String>) -> Self {
        if told.is_empty() { Self::fine(what, fine) } else { Self { what, verdict, told } }
    }
}

pub async fn run(common: &Common) -> anyhow::Result<Exit> {
    let mut checks = Vec::new();
    match setup::config(common, &[]) {
        Err(error) => {
            let told = crate::sentence(&error).lines().map(str::to_owned).collect();
            checks.push(Check { what: "configuration", verdict: Verdict::Bad, told });
        }
        Ok(config) => {
            let odd = config.warnings.iter().map(ToString::to_string).collect();
            checks.push(Check::of("configuration", Verdict::Note, odd, "it can be read"));
            checks.extend(store(&config).await);
            checks.extend(files(&config));
            checks.push(models(&config));
        }
    }
    let worst = checks.iter().map(|check| check.verdict).max().unwrap_or(Verdict::Ok);
    if common.json {
        json::print(&json!({ "ok": worst < Verdict::Bad, "checks": checks }))?;
    } else {
        for check in &checks {
            show(check)?;
        }
    }
    Ok(if worst < Verdict::Bad { Exit::Done } else { Exit::No })
}

/// Looks at the store. Every scope is opened and none is verified: `segue verify` does that.
async fn store(config: &Config) -> Vec<Check> {
    let what = "store";
    let bad = |told: String| vec![Check { what, verdict: Verdict::Bad, told: vec![told] }];
    let location = match setup::locate(&config.store_url) {
        Ok(location) => location,
        Err(error) => return bad(crate::sentence(&error)),
    };
    if !setup::is_there(&location) {
        let told = vec![format!("there is none at {location} yet; the first message makes it")];
        return vec![Check { what, verdict: Verdict::Note, told }];
    }
    let looked = async {
        let engine = Engine::open_to_read(setup::open(config)?, config.clone());
        let encryption = match engine.store().encryption() {
            Some(encryption) => Some(encryption.status().await?),
            None => None,
        };
        let problems = engine.store().audit(None).await?;
        let risks = engine.store().risks().await?;
        let scopes = engine.every_scope().await?;
        let mut aside = Vec::new();
        if let Some(quarantine) = engine.store().quarantine() {
            for scope in &scopes {
                aside.extend(quarantine.problems(scope).await?);
            }
        }
        anyhow::Ok((problems, risks, scopes.len(), aside, encryption))
    };
    match looked.await {
        Err(error) => bad(crate::sentence(&error)),
        Ok((problems, risks, scopes, aside, encryption)) => {
            let mut checks = vec![
                Check::of(what, Verdict::Bad, problems, format!("{location}, scopes: {scopes}")),
                Check::of("set aside", Verdict::Bad, aside, "nothing"),
            ];
            checks.extend((!risks.is_empty()).then_some(Check {
                what: "durability",
                verdict: Verdict::Note,
                told: risks,
            }));
            checks.extend(encryption.map(|status| Check::fine("encryption", encrypted(&status))));
            checks.extend(rights(config, &location));
            checks
        }
    }
}

fn encrypted(status: &Status) -> String {
    match status {
        Status::Off => "off".to_owned(),
        Status::On { master, data_keys } => format!("on, master key {master}, data keys: {data_keys}"),
    }
}

/// Looks for files that hold what people said and that other users of the machine may read.
fn rights(config: &Config, location: &Location) -> Option<Check> {
    let store = match location {
        Location::Sqlite(path) => Some(path.clone()),
        Location::Files(folder) => Some(folder.join("sessions")),
        Location::Memory | Location::Postgres(_) => None,
    };
    let memory = config.memory_dir.iter();
    let memory =
        memory.flat_map(|dir| ["MEMORY.md", ".segue-written.json"].map(|name| Path::new(dir).join(name)));
    let key = config.store_key_file.as_deref().map(|file| setup::expand(Path::new(file)));
    let places = store.into_iter().chain(memory).chain(setup::history_file()).chain(key);
    let wider = places.flat_map(|path| private::wider(&path, RIGHTS_TOLD_MAX));
    let told = wider.map(|(path, mode)| {
        format!("others may read or write {} (mode {mode:o}): `chmod go= {}`", path.display(), path.display())
    });
    let folder = match location {
        Location::Sqlite(path) => path.parent().filter(|folder| !folder.as_os_str().is_empty()),
        Location::Files(folder) => Some(folder.as_path()),
        Location::Memory | Location::Postgres(_) => None,
    };
    let replaced = folder.and_then(|folder| Some((folder.display(), private::open_to_others(folder)?)));
    let replaced = replaced.map(|(folder, mode)| {
        format!("others may put a file in the place of the store in {folder} (mode {mode:o}): `chmod go-w {folder}`")
    });
    let told: Vec<String> = told.take(RIGHTS_TOLD_MAX).chain(replaced).collect();
    (!told.is_empty()).then_some(Check { what: "rights", verdict: Verdict::Note, told })
}

/// Looks at the files that sessions are pinned to.
fn files(config: &Config) -> [Check; 2] {
    let host = setup::host(config);
    let loaded = host.skills().snapshot;
    let told = loaded.diagnostics.iter().map(ToString::to_string).collect();
    let skills = Check::of("skills", Verdict::Note, told, format!("{} loaded", loaded.skills.len()));
    let persona = match host.persona() {
        Ok(persona) => Check::fine("persona", format!("files: {}", persona.parts.len())),
        Err(error) => Check { what: "persona", verdict: Verdict::Bad, told: vec![error.to_string()] },
    };
    [skills, persona]
}

/// Looks at the models that are named: whether each is there and can be asked. Nothing is sent.
fn models(config: &Config) -> Check {
    let mut told = Vec::new();
    for (name, model) in &config.models {
        if let Err(failure) = Client::with_keys(model, &setup::key) {
            told.push(format!("{name}: {failure}"));
        }
    }
    let names = config.models.keys().map(String::as_str).collect::<Vec<_>>();
    let control = match &config.agents.control_model {
        ControlModel::Builtin => "the built-in judgement decides alone".to_owned(),
        ControlModel::Named(name) => format!("{name} helps to decide"),
    };
    let fine = match names.is_empty() {
        true => format!("none is configured; {control}"),
        false => format!("{}; {control}", names.join(", ")),
    };
    Check::of("models", Verdict::Bad, told, fine)
}

fn show(check: &Check) -> std::io::Result<()> {
    let mark = match check.verdict {
        Verdict::Ok => "ok  ",
        Verdict::Note => "note",
        Verdict::Bad => "BAD ",
    };
    for told in &check.told {
        let line = format!("{mark}  {}: {}", check.what, layout::printable(told));
        out::line(if check.verdict == Verdict::Bad { paint::strong(line) } else { line })?;
    }
    Ok(())
}
