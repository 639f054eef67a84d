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

/// Parameters of an address whose values are nobody's business.
const SECRETS: [&str; 6] = ["key", "token", "secret", "password", "sig", "auth"];

/// Masks passwords and keys inside addresses.
fn redacted(value: &str) -> String {
    let Some((scheme, rest)) = value.split_once("://") else { return value.to_owned() };
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (host, path) = rest.split_at(end);
    let host = match host.rsplit_once('@') {
        Some((_, host)) => format!("***@{host}"),
        None => host.to_owned(),
    };
    let Some((path, query)) = path.split_once('?') else { return format!("{scheme}://{host}{path}") };
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if SECRETS.iter().any(|secret| name.to_lowercase().contains(secret)) => {
            // The value may be the last thing before the quote that ends the text.
            let quote = if value.ends_with('"') { "\"" } else { "" };
            format!("{name}=***{quote}")
        }
        _ => parameter.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(parameter).collect();
    format!("{scheme}://{host}{path}?{}", query.join("&"))
}

fn show(common: &Common, origin: bool) -> anyhow::Result<Exit> {
    let config = setup::config(common, &[])?;
    setup::warn(&config);
    if common.json {
        let setting = |setting: &Setting| {
            let Setting { key, value, place } = setting;
            json!({ "key": key, "value": redacted(value), "origin": place.to_string() })
        };
        json::print(&config.origins().iter().map(setting).collect::<Vec<Value>>())?;
        return Ok(Exit::Done);
    }
    let width = config.origins().iter().map(|s| s.key.len() + s.value.len() + 3).max().unwrap_or(0).min(70);
    for setting in config.origins() {
        let line = format!("{} = {}", setting.key, redacted(&setting.value));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_inside_addresses_are_masked() {
        for (value, shown) in [
            ("\"http://h/v1?api-version=2&api_key=sk-1\"", "\"http://h/v1?api-version=2&api_key=***\""),
            ("\"postgres://ann:pass@h/db\"", "\"postgres://***@h/db\""),
            ("\"https://h/v1?token=a&x=1\"", "\"https://h/v1?token=***&x=1\""),
            ("\"sqlite:~/segue.db\"", "\"sqlite:~/segue.db\""),
            ("20", "20"),
        ] {
            assert_eq!(redacted(value), shown);
        }
    }
}
