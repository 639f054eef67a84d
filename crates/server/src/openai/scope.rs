//! Which scope a request of an OpenAI-compatible client belongs to.

use super::conversations;
use crate::app::App;
use crate::auth::Caller;
use crate::body;
use crate::own::{Id, NewAddress};
use crate::problem::Problem;
use axum::http::HeaderMap;
use segue_core::scope::{self, KEY_BYTES_MAX};
use segue_engine::Target;
use serde_json::Value;

/// Where a request belongs, and who speaks where the address does not tell: the same two that a message of Segue's own
/// interface has.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    /// The scope, or an address that leads to it.
    pub(crate) to: Target,
    /// Who speaks in a group.
    pub(crate) speaker: Option<String>,
    /// Whether it is an address of nobody: the agent's main scope.
    pub(crate) names_nobody: bool,
}

impl From<scope::Key> for Place {
    fn from(scope: scope::Key) -> Self {
        Self { to: Target::Scope(scope), speaker: None, names_nobody: false }
    }
}

/// Finds the scope that a request names as such: by headers, or in its metadata. Where the headers name a channel and nobody
/// there, the person is who the request names.
pub(crate) fn explicit(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    fields: &Value,
) -> Result<Option<Place>, Problem> {
    if let Some(scope) = header(headers, "x-segue-scope")? {
        return body::scope(caller, &scope).map(|scope| Some(scope.into()));
    }
    let id = |name: &str| Ok::<_, Problem>(header(headers, name)?.map(Id::Text));
    let mut address = NewAddress {
        channel: id("x-segue-channel")?,
        account: id("x-segue-account")?,
        peer: id("x-segue-peer")?,
        group: id("x-segue-group")?,
        thread: id("x-segue-thread")?,
        agent: id("x-segue-agent")?,
    };
    let in_metadata = in_metadata(caller, fields.get("metadata"))?;
    if !address.says_something() {
        return Ok(in_metadata.map(Place::from));
    }
    // What stands in front of many people names the channel alone: who speaks is told by the request.
    let mut names_nobody = address.peer.is_none() && address.group.is_none() && address.thread.is_none();
    if names_nobody {
        if let Some(scope) = in_metadata {
            return Ok(Some(scope.into()));
        }
        let person = conversations::name(fields)?.filter(|name| !name.trim().is_empty());
        address.peer = person.or_else(|| name_in(fields)).map(|name| Id::Text(name.to_owned()));
        names_nobody = address.peer.is_none();
    }
    let (address, speaker) = address.read();
    let to = Target::Address(address);
    caller.check(&app.scope_of(&to))?;
    Ok(Some(Place { to, speaker, names_nobody }))
}

/// Reads by which name a request keeps its conversation or its user apart.
fn name_in(fields: &Value) -> Option<&str> {
    let names = ["prompt_cache_key", "user", "safety_identifier"];
    names.iter().find_map(|name| fields.get(*name)?.as_str().filter(|text| !text.trim().is_empty()))
}

/// Finds the scope that metadata names.
pub(crate) fn in_metadata(caller: &Caller, metadata: Option<&Value>) -> Result<Option<scope::Key>, Problem> {
    match metadata.and_then(|metadata| metadata.get("segue_scope")) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(scope)) => body::scope(caller, scope).map(Some),
        Some(_) => Err(Problem::wrong("metadata.segue_scope is a text: the key of a scope")),
    }
}

/// Finds the scope that a request names: as such, by its cache key or its user. None: it is passed through, and nothing
/// is stored.
pub(crate) fn of_request(
    app: &App,
    caller: &Caller,
    headers: &HeaderMap,
    fields: &Value,
) -> Result<Option<Place>, Problem> {
    if let Some(place) = explicit(app, caller, headers, fields)? {
        return Ok(Some(place));
    }
    name_in(fields).map(|text| derived(caller, text).map(Place::from)).transpose()
}

/// Makes a scope of a name that the client chose for a conversation: one that it may see as such, or else one of its own.
pub(crate) fn chosen(caller: &Caller, name: &str) -> Result<scope::Key, Problem> {
    match name.parse::<scope::Key>() {
        Ok(key) if safe(name) == name && caller.sees(name) => Ok(key),
        _ => derived(caller, name),
    }
}

/// Makes a scope of a name that the client did not choose as one. It lies where the caller's own scopes are. No two names
/// make one scope.
pub(crate) fn derived(caller: &Caller, name: &str) -> Result<scope::Key, Problem> {
    let home = caller.home();
    let colon = if home.is_empty() || home.ends_with(':') { "" } else { ":" };
    let key = format!("{home}{colon}{}", safe(name));
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

/// Escapes what a key cannot hold, and what escapes are made of; what is too long becomes its beginning and a digest.
fn safe(name: &str) -> String {
    let mut safe = String::new();
    for c in name.chars() {
        match matches!(c, '#' | '%' | '~') || c.is_whitespace() || c.is_control() {
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
    use super::{decoded, safe};

    /// P-1: two names never meet.
    #[test]
    fn p1_names_are_made_safe_and_never_meet() {
        for (name, made) in [
            ("ann", "ann"),
            ("ann ", "ann%20"),
            ("a b", "a%20b"),
            ("a%20b", "a%2520b"),
            ("a#2", "a%232"),
            ("a~b", "a%7eb"),
            ("李雷", "李雷"),
            ("a\u{3000}b", "a%e3%80%80b"),
        ] {
            assert_eq!(safe(name), made);
        }
        let long = safe(&"x".repeat(2_000));
        assert!(long.len() < 100 && long.contains('~'), "{long}");
        assert_ne!(safe(&long), long, "a short name cannot pose as a long one");
        assert_ne!(safe(&"x".repeat(2_001)), long);
    }

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
