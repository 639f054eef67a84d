//! Which scope a request of an OpenAI-compatible client belongs to.

use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::own::{Id, NewAddress};
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
    let id = |name: &str| Ok::<_, Problem>(header(headers, name)?.map(Id::Text));
    let address = NewAddress {
        channel: id("x-segue-channel")?,
        account: id("x-segue-account")?,
        peer: id("x-segue-peer")?,
        group: id("x-segue-group")?,
        thread: id("x-segue-thread")?,
        agent: id("x-segue-agent")?,
    };
    if address.peer.is_some() || address.group.is_some() {
        let (address, _) = address.read();
        let scope = app.scope_of(&Target::Address(address));
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
    Ok(Some(decoded(text.trim())).filter(|text| !text.is_empty()))
}

/// Reads what is not ASCII and came percent-encoded. Escapes of ASCII stay: keys of scopes have escapes of their own.
fn decoded(text: &str) -> String {
    let mut read = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, more)) = rest.split_first() {
        let escaped = rest.get(1..3).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match escaped.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|byte| !byte.is_ascii()) {
            Some(byte) => {
                read.push(byte);
                rest = rest.get(3..).unwrap_or_default();
            }
            None => {
                read.push(*first);
                rest = more;
            }
        }
    }
    let is_odd = |text: &String| text.chars().any(|c| !c.is_ascii() && (c.is_whitespace() || c.is_control()));
    String::from_utf8(read).ok().filter(|read| !is_odd(read)).unwrap_or_else(|| text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn escapes_of_ascii_stay_and_others_are_read() {
        for (given, read) in [
            ("plain", "plain"),
            ("%E6%9D%8E%E9%9B%B7", "李雷"),
            ("人:%e6%9d%8e", "人:李"),
            ("a%20b%232", "a%20b%232"),
            ("50%", "50%"),
            ("%ff", "%ff"),
            // White space that is not ASCII stands escaped in a key.
            ("a%e3%80%80b", "a%e3%80%80b"),
        ] {
            assert_eq!(decoded(given), read, "{given}");
        }
    }
}
