//! Which scope a request of an OpenAI-compatible client belongs to.

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::own::NewAddress;
use crate::problem::Problem;
use axum::http::HeaderMap;
use segue_core::scope::{self, KEY_BYTES_MAX};
use segue_engine::Target;
use serde_json::Value;

/// Finds the scope that a request names as such: by a header, or in its metadata.
pub(crate) fn explicit(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    fields: &Value,
) -> Result<Option<scope::Key>, Problem> {
    if let Some(scope) = header(headers, "x-segue-scope")? {
        return body::scope(caller, &scope).map(Some);
    }
    let address = NewAddress {
        channel: header(headers, "x-segue-channel")?,
        account: header(headers, "x-segue-account")?,
        peer: header(headers, "x-segue-peer")?,
        group: header(headers, "x-segue-group")?,
        thread: header(headers, "x-segue-thread")?,
        agent: header(headers, "x-segue-agent")?,
    };
    if address.peer.is_some() || address.group.is_some() {
        let scope = app.scope_of(&Target::Address(address.read()?));
        caller.check(&scope)?;
        return Ok(Some(scope));
    }
    if let Some(scope) = fields.pointer("/metadata/segue_scope").and_then(Value::as_str) {
        return body::scope(caller, scope).map(Some);
    }
    Ok(None)
}

/// Finds the scope that a request names: as such, by its cache key or its user. None: it is passed through, and nothing
/// is stored.
pub(crate) fn of_request(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    fields: &Value,
) -> Result<Option<scope::Key>, Problem> {
    if let Some(scope) = explicit(app, caller, headers, fields)? {
        return Ok(Some(scope));
    }
    let names = ["prompt_cache_key", "user", "safety_identifier"];
    let named =
        names.iter().find_map(|name| fields.get(*name)?.as_str().filter(|text| !text.trim().is_empty()));
    named.map(|text| derived(caller, text)).transpose()
}

/// Makes a scope of a name that the client did not choose as one. It lies where the caller's own scopes are.
pub(crate) fn derived(caller: &Caller, name: &str) -> Result<scope::Key, Problem> {
    let home = caller.home();
    let fits = |text: &str| text.parse::<scope::Key>().is_ok() && caller.sees(text);
    let key = match fits(name) {
        true => name.to_owned(),
        false => {
            let colon = if home.is_empty() || home.ends_with(':') { "" } else { ":" };
            format!("{home}{colon}{}", safe(name))
        }
    };
    let key: scope::Key = match key.parse() {
        Ok(key) => key,
        Err(error) => {
            let error: scope::KeyError = error;
            return Err(Problem::wrong(format!("{name:?} makes no scope: {error}")));
        }
    };
    caller.check(&key)?;
    Ok(key)
}

/// Escapes what a key cannot hold; what is too long becomes its beginning and a digest.
fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.trim().chars() {
        match c == '#' || c == '%' || c.is_whitespace() || c.is_control() {
            true => c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| safe += &format!("%{byte:02x}")),
            false => safe.push(c),
        }
    }
    if safe.len() > KEY_BYTES_MAX / 2 {
        let digest = blake3::hash(safe.as_bytes()).to_hex();
        safe.truncate(safe.floor_char_boundary(64));
        safe = format!("{safe}~{}", digest.get(..32).unwrap_or_default());
    }
    safe
}

/// Reads a header. What is not ASCII comes percent-encoded.
pub(crate) fn header(headers: &HeaderMap, name: &str) -> Result<Option<String>, Problem> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    // Two of them are read differently by who stands in between.
    if values.next().is_some() {
        return Err(Problem::malformed(format!("the header {name} is there more than once")));
    }
    let text = std::str::from_utf8(value.as_bytes())
        .map_err(|_| Problem::wrong(format!("the header {name} is no UTF-8")))?;
    Ok(Some(text.trim().to_owned()).filter(|text| !text.is_empty()))
}
