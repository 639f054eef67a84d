//! `segue token`: who may ask the daemon.

use crate::args::Common;
use crate::serve_args::{Rights, Token};
use crate::setup::{self, Absent};
use crate::{Exit, Missing, json, layout, out, paint};
use anyhow::Context as _;
use segue_core::Timestamp;
use segue_server::Server;
use segue_server::auth::{self, Right, TokenError};
use serde_json::{Value, json};
use std::sync::Arc;

pub async fn run(common: &Common, verb: Token) -> anyhow::Result<Exit> {
    let engine = Arc::new(setup::engine(common, Absent::Make).await?);
    let tokens = Server::tokens(&engine);
    let now = engine.now();
    match verb {
        Token::Add { name, scopes, rights, expires } => {
            let expires = expires.map(|text| when(&text, now)).transpose()?;
            let made = tokens.add(&name, scopes, right(rights), expires, now).await?;
            if common.json {
                let mut shown = shown(&made.token);
                if let Value::Object(fields) = &mut shown {
                    fields.insert("token".into(), made.secret.into());
                }
                json::print(&shown)?;
            } else {
                out::line(&made.secret)?;
                out::warning("this is the only time that the secret is shown");
            }
        }
        Token::List => {
            let all = tokens.list(now).await?;
            if common.json {
                json::print(&all.iter().map(shown).collect::<Vec<Value>>())?;
                return Ok(Exit::Done);
            }
            for token in &all {
                let scopes: Vec<&str> =
                    token.scopes.iter().map(|scope| if scope.is_empty() { "*" } else { scope }).collect();
                let state = match (token.revoked_at, token.expires_at) {
                    (Some(at), _) => format!("revoked {at}"),
                    (None, Some(at)) if at <= now => format!("expired {at}"),
                    (None, Some(at)) => format!("until {at}"),
                    (None, None) => String::new(),
                };
                let line = format!("{}  {}  {}  {state}", token.name, token.rights.name(), scopes.join(" "));
                out::line(layout::printable(line.trim_end()))?;
            }
            if all.is_empty() {
                out::line(paint::dim("There is no token: loopback is open, no other address is served."))?;
            }
        }
        Token::Revoke { name } => {
            let token = match tokens.revoke(&name, now).await {
                Err(missing @ TokenError::NoToken(_)) => return Err(Missing(missing.to_string()).into()),
                other => other?,
            };
            match common.json {
                true => json::print(&shown(&token))?,
                false => out::line(format!("revoked {}", layout::printable(&token.name)))?,
            }
        }
    }
    Ok(Exit::Done)
}

fn right(rights: Rights) -> Right {
    match rights {
        Rights::Read => Right::Read,
        Rights::Write => Right::Write,
        Rights::Admin => Right::Admin,
    }
}

fn shown(token: &auth::Token) -> Value {
    json!({
        "name": token.name,
        "scopes": token.scopes,
        "rights": token.rights,
        "created_at": token.created_at.to_string(),
        "expires_at": token.expires_at.map(|at| at.to_string()),
        "revoked_at": token.revoked_at.map(|at| at.to_string()),
    })
}

/// Reads when a token ends: a length of time from now, or a time stamp.
fn when(text: &str, now: Timestamp) -> anyhow::Result<Timestamp> {
    if let Ok(at) = text.parse() {
        return Ok(at);
    }
    // The end of a day is where the next one begins.
    if let Ok(day) = text.parse::<jiff::civil::Date>() {
        return Ok(day.tomorrow()?.to_zoned(jiff::tz::TimeZone::UTC)?.timestamp());
    }
    let span: jiff::Span = text.parse().with_context(|| {
        format!("'{text}' is no time: write a length such as 90d, a day such as 2027-01-01, or 2027-01-01T00:00:00Z")
    })?;
    let duration = span.to_duration(jiff::SpanRelativeTo::days_are_24_hours())?;
    Ok(now.checked_add(duration)?)
}
