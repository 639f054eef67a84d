//! A JSON object as a line with its length and a digest of the rest:
//!
//! ```json
//! {"len":113,"sum":"...","dropped":{...}}
//! ```

use segue_core::digest::Digest;
use std::borrow::Cow;

/// The bytes of `{"len":` and of `,"sum":"...",`, without the number.
const FRAME_BYTES: usize = r#"{"len":"#.len() + r#","sum":"","#.len() + 64;

/// Returns the length of a line that says how long it is, from what it is without that number.
pub(super) fn len_with_digits(bare: usize) -> usize {
    let digits = |number: usize| number.checked_ilog10().map_or(1, |log| log as usize + 1);
    let mut len = bare + 1;
    while len != bare + digits(len) {
        len = bare + digits(len);
    }
    len
}

/// Puts the length and the digest in front of an object.
pub(super) fn close(object: &str) -> String {
    let rest = &object[1..];
    let len = len_with_digits(FRAME_BYTES + rest.len());
    format!("{{\"len\":{len},\"sum\":\"{}\",{rest}", Digest::of_body(object.as_bytes()))
}

/// Returns the object of a line, or why it is not what was written. A line without a frame is the object.
pub(super) fn open(line: &str) -> Result<Cow<'_, str>, String> {
    let Some(framed) = line.strip_prefix("{\"len\":") else { return Ok(line.into()) };
    let parts = framed.split_once(",\"sum\":\"").and_then(|(len, rest)| Some((len, rest.split_once("\",")?)));
    let Some((len, (sum, rest))) = parts else { return Err("it has no digest".to_owned()) };
    let object = format!("{{{rest}");
    if len.parse() != Ok(line.len()) {
        return Err(format!("it is {} bytes long and not {len}", line.len()));
    }
    match Digest::of_body(object.as_bytes()).to_string() == sum {
        true => Ok(object.into()),
        false => Err("it was changed: its digest differs".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_comes_back_and_every_change_is_found() {
        for object in ["{\"a\":1}", "{\"skipped\":[1,2]}", &format!("{{\"b\":\"{}\"}}", "x".repeat(9_900))] {
            let line = close(object);
            assert_eq!(open(&line).as_deref(), Ok(object));
            assert_eq!(open(object).as_deref(), Ok(object));
            assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok());
            for at in 8..line.len().min(200) {
                let mut changed = line.clone().into_bytes();
                changed[at] ^= 1;
                assert!(open(&String::from_utf8(changed).expect("ascii")).is_err(), "{at}");
            }
        }
    }
}
