//! Small checks that the validators share.

use serde_json::{Map, Value};

/// Wants an object that has all of `required`, maybe some of `optional`, and nothing else.
pub(crate) fn object<'a>(
    value: &'a Value,
    required: &[&str],
    optional: &[&str],
) -> Result<&'a Map<String, Value>, String> {
    let object = value.as_object().ok_or_else(|| format!("not an object: {value}"))?;
    if let Some(field) = required.iter().find(|field| !object.contains_key(**field)) {
        return Err(format!("{field} is missing: {value}"));
    }
    let known = |field: &&String| required.contains(&field.as_str()) || optional.contains(&field.as_str());
    match object.keys().find(|field| !known(field)) {
        Some(field) => Err(format!("{field} is not known: {value}")),
        None => Ok(object),
    }
}

/// Wants a list with something in it.
pub(crate) fn list(value: &Value) -> Result<&[Value], String> {
    let list = value.as_array().ok_or_else(|| format!("not a list: {value}"))?;
    if list.is_empty() { Err("the list is empty".to_owned()) } else { Ok(list) }
}

pub(crate) fn string(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("not a string: {value}"))
}

/// Wants a text with more than white space.
pub(crate) fn text(value: &Value) -> Result<&str, String> {
    let text = string(value)?;
    if text.trim().is_empty() { Err("the text is blank".to_owned()) } else { Ok(text) }
}

/// Wants `^[a-zA-Z0-9_-]{1,max}$`.
pub(crate) fn word(value: &Value, max: usize) -> Result<&str, String> {
    let word = string(value)?;
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if plain && !word.is_empty() && word.len() <= max {
        Ok(word)
    } else {
        Err(format!("not a word: {word:?}"))
    }
}

/// Wants a string that holds a JSON object.
pub(crate) fn arguments(value: &Value) -> Result<(), String> {
    let arguments: Value = serde_json::from_str(string(value)?).map_err(|error| error.to_string())?;
    if arguments.is_object() { Ok(()) } else { Err(format!("not an object: {arguments}")) }
}

/// Wants a value that was not there before.
pub(crate) fn new<'a>(
    seen: &mut std::collections::BTreeSet<&'a str>,
    id: &'a str,
) -> Result<&'a str, String> {
    if seen.insert(id) { Ok(id) } else { Err(format!("{id} is there twice")) }
}
