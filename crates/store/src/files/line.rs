//! A line: one entry as a person reads it in a file.
//!
//! ```json
//! {"len":196,"seq":5,"segment":2,"at":"2026-03-01T10:00:00.000000Z","kind":"user","nth":3,"batch":[5,6],"body":{"text":"hi"},"digest":"..."}
//! ```
//!
//! `len` is how long the line is, without its end. `digest` covers the entry and the digest of the line before it in the
//! same file, so that a line which was changed, taken out or put in is found. The body goes in as its hash: an erased
//! one leaves every digest as it was. Lines of format 1 have neither. In an encrypted store `sealed` stands in the place of
//! `body`, as base64; the digest is still that of the body.

use super::framed;
use super::name::LogFile;
use crate::encryption::{self, Bound, Vault};
use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use segue_core::Timestamp;
use segue_core::digest::Digest;
use segue_core::entry::{Bytes, Kind, Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::path::Path;

/// Which entries came with one append, so that half of one can be told after a crash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Batch {
    /// The first of them.
    pub first: Seq,
    /// The last of them.
    pub last: Seq,
    /// How many of them stand in the journal, which is written last.
    pub in_journal: usize,
}

/// An entry with what the files keep besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    /// The entry.
    pub record: Record,
    /// What it was appended with.
    pub batch: Batch,
    /// The channel's id of the message that came with the append, and the entry that stands for it.
    pub message: Option<(MessageId, Seq)>,
    /// What stands in the line for it and all lines before it; nothing in lines of format 1.
    pub digest: Option<Digest>,
    /// The encrypted body as it stands in the line; nothing if the body is plain.
    pub sealed: Option<String>,
}

/// The keys for the bodies of a scope, as far as it is known which one it is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bodies<'a> {
    pub vault: &'a Vault,
    pub scope: Option<&'a Key>,
}

impl<'a> Bodies<'a> {
    pub(super) fn of(vault: &'a Vault, scope: &'a Key) -> Self {
        Self { vault, scope: Some(scope) }
    }

    fn open(self, seq: Seq, sealed: &str) -> Result<String, Unread> {
        let Some(scope) = self.scope else {
            return Err("it is encrypted, and nobody knows of which scope it is".to_owned().into());
        };
        let bound = Bound::Entry(scope, seq);
        let bytes = STANDARD.decode(sealed).map_err(|error| error.to_string())?;
        match self.vault.unseal(bound, &bytes).and_then(encryption::text).map_err(|why| why.of(bound)) {
            Ok(body) => Ok(body),
            Err(Error::Locked { why, .. }) => Err(Unread::Locked { seq, why }),
            Err(error) => Err(error.to_string().into()),
        }
    }
}

/// Why a line cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Unread {
    /// It is not what was written.
    Damaged(String),
    /// It is an entry of a kind that a newer program has added.
    Newer {
        /// The entry.
        seq: Seq,
        /// Its kind.
        kind: String,
    },
    /// It is encrypted, and its key is not there.
    Locked {
        /// The entry.
        seq: Seq,
        /// Which key is missing.
        why: String,
    },
}

impl Unread {
    /// Says so of a line of a file.
    pub(super) fn of(self, path: &Path, number: usize) -> Error {
        let line = format!("{}, line {number},", path.display());
        match self {
            Self::Damaged(why) => Error::damaged(line, why),
            Self::Newer { seq, kind } => Error::NewerEntry { what: format!("{line} entry {seq}"), kind },
            Self::Locked { seq, why } => Error::Locked { what: format!("{line} entry {seq}"), why },
        }
    }
}

impl From<String> for Unread {
    fn from(why: String) -> Self {
        Self::Damaged(why)
    }
}

/// Tells whether a newer program may have named a kind so. A name that one flipped byte makes of one that is known is
/// damage; `segue_core` keeps all names further apart than that.
fn may_be_newer(kind: &str) -> bool {
    let is_word = !kind.is_empty() && kind.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let flipped = |known: &Kind| {
        let differ = known.name().bytes().zip(kind.bytes()).filter(|(a, b)| a != b).count();
        known.name().len() == kind.len() && differ == 1
    };
    is_word && !Kind::ALL.iter().any(flipped)
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wire<'a> {
    #[serde(default, skip_serializing)]
    len: Option<usize>,
    seq: Seq,
    segment: segment::Number,
    #[serde(borrow)]
    at: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    nth: u32,
    batch: [Seq; 2],
    #[serde(default, skip_serializing_if = "is_none_of_them")]
    #[serde(rename = "bones")]
    in_journal: usize,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_id: Option<MessageId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    message_seq: Option<Seq>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body: Option<&'a RawValue>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    body_text: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    sealed: Option<Cow<'a, str>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    erased: Option<Digest>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    digest: Option<Digest>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it")]
fn is_none_of_them(count: &usize) -> bool {
    *count == 0
}

/// Takes a body as JSON, if it can stand in a line without a byte of it being changed.
fn as_json(text: &str) -> Option<&RawValue> {
    let raw: &RawValue = serde_json::from_str(text).ok()?;
    let whole = raw.get().len() == text.len() && !text.contains(['\n', '\r']);
    // A field that is null reads as a field that is not there.
    (whole && text != "null").then_some(raw)
}

impl Line {
    /// Writes the line, its end included.
    pub(super) fn encode(&self) -> Result<String, serde_json::Error> {
        let record = &self.record;
        let at = match record.at.subsec_nanosecond() % 1000 {
            0 => format!("{:.6}", record.at),
            _ => format!("{:.9}", record.at),
        };
        let (mut body, mut body_text, mut sealed, mut erased) = (None, None, None, None);
        match (&record.bytes, &self.sealed) {
            (Bytes::Erased(hash), _) => erased = Some(*hash),
            (Bytes::Kept(_), Some(text)) => sealed = Some(Cow::from(text.as_str())),
            (Bytes::Kept(text), None) => match as_json(text) {
                Some(raw) => body = Some(raw),
                None => body_text = Some(Cow::from(text.as_str())),
            },
        }
        let message = self.message.as_ref();
        let mut line = serde_json::to_string(&Wire {
            len: None,
            seq: record.seq,
            segment: record.segment,
            at: at.into(),
            kind: record.kind.name().into(),
            nth: record.nth,
            batch: [self.batch.first, self.batch.last],
            in_journal: self.batch.in_journal,
            message_id: message.map(|(id, _)| id.clone()),
            message_seq: message.map(|(_, seq)| *seq).filter(|seq| *seq != record.seq),
            body,
            body_text,
            sealed,
            erased,
            digest: self.digest,
        })?;
        if self.digest.is_some() {
            line = with_len(&line);
        }
        line.push('\n');
        Ok(line)
    }

    /// Digests the line and the digest of the line before it.
    pub(super) fn link(&self, before: Digest) -> Digest {
        let Record { seq, segment, at, nth, kind, .. } = &self.record;
        let mut bytes = Vec::with_capacity(192);
        bytes.extend(before.0);
        bytes.extend(seq.0.to_le_bytes());
        bytes.extend(segment.0.to_le_bytes());
        bytes.extend(at.as_nanosecond().to_le_bytes());
        bytes.push(kind.code());
        bytes.extend(nth.to_le_bytes());
        bytes.extend(self.batch.first.0.to_le_bytes());
        bytes.extend(self.batch.last.0.to_le_bytes());
        bytes.extend((self.batch.in_journal as u64).to_le_bytes());
        bytes.extend(self.record.body_hash().0);
        if let Some((MessageId(id), seq)) = &self.message {
            bytes.extend(seq.0.to_le_bytes());
            bytes.extend(id.as_bytes());
        }
        Digest::of_body(&bytes)
    }

    /// Writes the line with its digest.
    pub(super) fn linked(mut self, before: Digest) -> Self {
        self.digest = Some(self.link(before));
        self
    }

    /// Encrypts the body, if there are keys.
    pub(super) fn sealed(mut self, bodies: Bodies<'_>) -> Result<Self, Error> {
        if let (Bytes::Kept(text), Some(scope)) = (&self.record.bytes, bodies.scope) {
            let sealed = bodies.vault.seal(Bound::Entry(scope, self.record.seq), text.as_bytes())?;
            self.sealed = sealed.map(|bytes| STANDARD.encode(bytes));
        }
        Ok(self)
    }

    /// Reads a line, without its end.
    pub(super) fn decode(text: &str, bodies: Bodies<'_>) -> Result<Self, Unread> {
        let wire: Wire<'_> = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let bytes = match (wire.body, wire.body_text, &wire.sealed, wire.erased) {
            (Some(raw), None, None, None) => Bytes::Kept(raw.get().to_owned()),
            (None, Some(text), None, None) => Bytes::Kept(text.into_owned()),
            (None, None, Some(sealed), None) => Bytes::Kept(bodies.open(wire.seq, sealed)?),
            (None, None, None, Some(hash)) => Bytes::Erased(hash),
            _ => return Err("an entry has a body, or its body was erased".to_owned().into()),
        };
        let at: Timestamp = wire.at.parse().map_err(|_| format!("'{}' is no time", wire.at))?;
        let [first, last] = wire.batch;
        if !(first..=last).contains(&wire.seq) {
            return Err(format!("entry {} does not belong to entries {first} to {last}", wire.seq).into());
        }
        // Asked when the rest is well-formed: what is not was written by nobody.
        let kind = match Kind::named(&wire.kind) {
            Some(kind) => kind,
            None if may_be_newer(&wire.kind) => {
                return Err(Unread::Newer { seq: wire.seq, kind: wire.kind.into_owned() });
            }
            None => return Err(format!("'{}' is no kind of entry", wire.kind).into()),
        };
        match (wire.len, wire.digest) {
            (None, None) => {}
            (Some(len), Some(_)) if len == text.len() => {}
            (Some(len), Some(_)) => {
                return Err(format!("it is {} bytes long and not {len}", text.len()).into());
            }
            _ => return Err("a line has a length and a digest, or neither".to_owned().into()),
        }
        Ok(Self {
            record: Record { seq: wire.seq, segment: wire.segment, at, nth: wire.nth, kind, bytes },
            batch: Batch { first, last, in_journal: wire.in_journal },
            message: wire.message_id.map(|id| (id, wire.message_seq.unwrap_or(wire.seq))),
            digest: wire.digest,
            sealed: wire.sealed.map(Cow::into_owned),
        })
    }
}

/// Returns what the digests of a file begin with.
pub(super) fn root(key: &Key, file: LogFile) -> Digest {
    let number = match file {
        LogFile::Journal => 0,
        LogFile::Segment(segment::Number(number)) => number,
    };
    let bytes = [b"segue file 1\0", key.as_str().as_bytes(), &number.to_le_bytes()].concat();
    Digest::of_body(&bytes)
}

/// Puts the length of a line in front of the rest of it.
fn with_len(line: &str) -> String {
    let len = framed::len_with_digits(line.len() + "\"len\":,".len());
    format!("{{\"len\":{len},{}", &line[1..])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(bytes: Bytes) -> Line {
        let at = "2026-03-01T10:00:00Z".parse().expect("a time");
        let segment = segment::Number(2);
        Line {
            record: Record { seq: Seq(5), segment, at, nth: 3, kind: Kind::User, bytes },
            batch: Batch { first: Seq(5), last: Seq(6), in_journal: 0 },
            message: None,
            digest: None,
            sealed: None,
        }
    }

    fn decode(text: &str) -> Result<Line, Unread> {
        Line::decode(text, Bodies { vault: &Vault::default(), scope: None })
    }

    #[test]
    fn a_line_can_be_read_and_grepped() {
        let text = line(Bytes::Kept(r#"{"text":"hi"}"#.into())).encode().expect("a line");
        let head =
            r#"{"seq":5,"segment":2,"at":"2026-03-01T10:00:00.000000Z","kind":"user","nth":3,"batch":[5,6],"#;
        assert_eq!(text, format!("{head}\"body\":{{\"text\":\"hi\"}}}}\n"));
    }

    #[test]
    fn a_line_says_how_long_it_is_and_what_came_before_it() {
        for len in [1, 3, 40, 700, 800, 850, 900, 9_800, 9_850, 9_900, 99_840] {
            let line =
                line(Bytes::Kept(format!("{{\"text\":\"{}\"}}", "x".repeat(len)))).linked(Digest::NONE);
            let text = line.encode().expect("a line");
            assert!(text.starts_with(&format!("{{\"len\":{},", text.len() - 1)));
            assert_eq!(decode(text.trim_end()), Ok(line.clone()));
            assert!(decode(&text.trim_end().replacen('x', "xx", 1)).is_err());
            assert_ne!(line.link(Digest::NONE), line.link(Digest::of_body(b"another")));
            let erased = Record { bytes: Bytes::Erased(line.record.body_hash()), ..line.record.clone() };
            let erased = Line { record: erased, ..line.clone() };
            assert_eq!(erased.link(Digest::NONE), line.link(Digest::NONE));
        }
    }

    #[test]
    fn every_byte_of_a_body_is_kept() {
        let odd =
            ["{\"a\": 1.0e5 ,\"b\":\"\\u00e9\"}", " {} ", "{\n}", "not json", "", "null", "\"\u{2028}\""];
        for body in odd {
            let line = line(Bytes::Kept(body.to_owned()));
            let text = line.encode().expect("a line");
            assert_eq!(text.find('\n'), Some(text.len() - 1));
            assert_eq!(decode(text.trim_end()), Ok(line), "{body:?}");
        }
    }

    #[test]
    fn what_stands_besides_comes_back() {
        let mut line = line(Bytes::Erased(Digest::of_body(b"x")));
        line.record.at = "2026-03-01T10:00:00.123456789Z".parse().expect("a time");
        line.batch.in_journal = 2;
        line.message = Some((MessageId("77".into()), Seq(6)));
        let text = line.encode().expect("a line");
        assert_eq!(decode(text.trim_end()), Ok(line));
    }

    #[test]
    fn nonsense_is_refused() {
        for text in ["", "{}", "[]", r#"{"seq":5}"#] {
            assert!(decode(text).is_err(), "{text}");
        }
        let text = line(Bytes::Kept("{}".into())).encode().expect("a line");
        for (from, to) in [("user", "usher"), ("\"seq\":5", "\"seq\":7"), ("T10", "X10"), ("body", "bodi")] {
            assert!(decode(text.replace(from, to).trim_end()).is_err(), "{to}");
        }
    }
}
