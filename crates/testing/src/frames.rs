//! The messages that a client sends to PostgreSQL, as far as it takes to count its round trips.

use std::collections::HashMap;

/// The number that a request for TLS has in the place of a version, and the one for GSSAPI.
const REQUESTS: [u32; 2] = [80_877_103, 80_877_104];

/// What begins a connection is no longer than this; TLS looks like more.
const STARTUP_MAX: usize = 10_000;

/// What one client sends.
#[derive(Debug, Default)]
pub(crate) struct Frames {
    rest: Vec<u8>,
    phase: Phase,
    statements: HashMap<Vec<u8>, String>,
    /// What the client does until it waits for an answer.
    pending: Vec<String>,
}

#[derive(Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Startup,
    Running,
    /// It is encrypted, or something else.
    Opaque,
}

impl Frames {
    /// Takes in bytes. Returns the round trips that end in them: at each `Sync` and `Query` the client waits for an answer. One that
    /// runs statements is told by their texts, one that only prepares them by `PREPARE` and the text.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Vec<String> {
        let mut round_trips = Vec::new();
        if self.phase == Phase::Opaque {
            return round_trips;
        }
        self.rest.extend_from_slice(bytes);
        while let Some(frame) = self.next() {
            let Some((kind, body)) = frame.split_first() else { continue };
            match kind {
                b'P' => {
                    let (name, rest) = string(body);
                    let text = String::from_utf8_lossy(string(rest).0).into_owned();
                    self.pending.push(format!("PREPARE {text}"));
                    self.statements.insert(name.to_vec(), text);
                }
                b'B' => {
                    let (_, rest) = string(body);
                    let text = self.statements.get(string(rest).0).cloned().unwrap_or_default();
                    self.pending.retain(|one| *one != format!("PREPARE {text}"));
                    self.pending.push(text);
                }
                // Nobody waits for the end of a statement.
                b'S' if !self.pending.is_empty() => {
                    round_trips.push(std::mem::take(&mut self.pending).join("; "));
                }
                b'Q' => round_trips.push(String::from_utf8_lossy(string(body).0).into_owned()),
                _ => {}
            }
        }
        round_trips
    }

    /// Takes the next whole message: its kind and its body.
    fn next(&mut self) -> Option<Vec<u8>> {
        let head = usize::from(self.phase == Phase::Running);
        let length: [u8; 4] = self.rest.get(head..head + 4)?.try_into().ok()?;
        let length = u32::from_be_bytes(length) as usize;
        if self.phase == Phase::Startup {
            if length > STARTUP_MAX {
                (self.phase, self.rest) = (Phase::Opaque, Vec::new());
                return None;
            }
            let code: [u8; 4] = self.rest.get(4..8)?.try_into().ok()?;
            if self.rest.len() < length {
                return None;
            }
            self.rest.drain(..length);
            if !REQUESTS.contains(&u32::from_be_bytes(code)) {
                self.phase = Phase::Running;
            }
            return Some(Vec::new());
        }
        if self.rest.len() < length + 1 {
            return None;
        }
        let mut frame: Vec<u8> = self.rest.drain(..=length).collect();
        frame.drain(1..5);
        Some(frame)
    }
}

/// Splits off a string that ends with a zero.
fn string(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    let (text, rest) = bytes.split_at(end);
    (text, rest.get(1..).unwrap_or_default())
}
