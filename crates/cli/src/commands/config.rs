//! `segue config`: every setting, and what is wrong with them.

use crate::Exit;
use crate::args::{Common, Config as Verb};
use crate::{json, out, paint, setup};
use segue_engine::config::{Problems, Setting};
use serde_json::{Value, json};

pub fn run(common: &Common, verb: &Verb) -> anyhow::Result<Exit> {
    match verb {
        Verb::Show { origin } => show(common, *origin),
        Verb::Check => check(common),
    }
}

fn show(common: &Common, origin: bool) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    setup::warn(&config);
    if common.json {
        let setting = |setting: &Setting| {
            let Setting { key, value, place } = setting;
            json!({ "key": key, "value": value, "origin": place.to_string() })
        };
        json::print(&config.origins().iter().map(setting).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    let width = config.origins().iter().map(|s| s.key.len() + s.value.len() + 3).max().unwrap_or(0).min(70);
    for setting in config.origins() {
        let line = format!("{} = {}", setting.key, setting.value);
        if origin {
            out::line(format!("{line:width$}  {}", paint::dim(format!("# {}", setting.place))))?;
        } else {
            out::line(line)?;
        }
    }
    Ok(Exit::Done)
}

fn check(common: &Common) -> anyhow::Result<Exit> {
    let checked = setup::config(common, &[]);
    let (problems, warnings) = match &checked {
        Ok(config) => (Vec::new(), config.warnings.iter().map(ToString::to_string).collect()),
        Err(error) => match error.downcast_ref::<Problems>() {
            Some(problems) => (problems.0.iter().map(ToString::to_string).collect(), Vec::new()),
            None => (vec![crate::sentence(error)], Vec::new()),
        },
    };
    if common.json {
        json::print(&json!({ "ok": problems.is_empty(), "problems": problems, "warnings": warnings }))?;
    } else {
        for problem in &problems {
            out::line(problem)?;
        }
        for warning in &warnings {
            out::line(format!("warning: {warning}"))?;
        }
        if problems.is_empty() {
            out::line("The configuration is sound.")?;
        }
    }
    Ok(if problems.is_empty() { Exit::Done } else { Exit::No })
}
