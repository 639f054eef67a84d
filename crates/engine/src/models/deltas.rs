//! An answer that comes piece by piece.

use super::failure::{Failure, Flaw};
use super::sse::Decoder;
use super::types::Usage;
use super::wire;
use reqwest::Response;
use std::collections::VecDeque;
use std::fmt;

/// The longest answer, all around the text included.
const STREAM_BYTES_MAX: usize = 16 * 1024 * 1024;

/// An answer that comes piece by piece. To drop it ends the answer.
pub struct Deltas {
    response: Response,
    decoder: Decoder,
    waiting: VecDeque<String>,
    state: State,
    bytes: usize,
    usage: Usage,
    /// An answer that comes at once, as one JSON object, although it was asked for piece by piece.
    whole: Option<Vec<u8>>,
    said: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// No event has come yet.
    New,
    /// There is more to come.
    Speaking,
    /// The model has said that it is done.
    Said,
    /// Nothing follows.
    Over,
}

impl Deltas {
    pub(super) fn new(response: Response) -> Self {
        let (decoder, waiting) = (Decoder::default(), VecDeque::new());
        let (usage, whole, said) = (Usage::default(), None, None);
        Self { response, decoder, waiting, state: State::New, bytes: 0, usage, whole, said }
    }

    /// What the endpoint says about the failure that it reported in the midst of the answer. It is for whoever asked,
    /// and for no record.
    pub fn said(&self) -> Option<&str> {
        self.said.as_deref()
    }

    /// Waits for the next piece of text. Nothing more comes after `None` or a failure.
    pub async fn next(&mut self) -> Option<Result<String, Failure>> {
        let next = self.next_piece().await.transpose();
        if !matches!(next, Some(Ok(_))) {
            self.state = State::Over;
        }
        next
    }

    /// Tells what the answer took, if the endpoint said so.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    async fn next_piece(&mut self) -> Result<Option<String>, Failure> {
        while self.state != State::Over {
            while let Some(data) = self.waiting.pop_front() {
                if data.trim() == "[DONE]" {
                    return Ok(None);
                }
                let piece = wire::piece(&data).inspect_err(|_| self.said = wire::refusal(data.as_bytes()))?;
                self.usage = piece.usage.unwrap_or(self.usage);
                self.state = match self.state {
                    State::Said => State::Said,
                    _ if piece.is_last => State::Said,
                    _ => State::Speaking,
                };
                if !piece.text.is_empty() {
                    return Ok(Some(piece.text));
                }
            }
            if !self.read().await? {
                return match self.state {
                    State::New => Err(Failure::Malformed(Flaw::NotACompletion)),
                    State::Speaking => Err(Failure::BrokenOff),
                    State::Said | State::Over => Ok(None),
                };
            }
        }
        Ok(None)
    }

    /// Reads on. Returns whether there was anything.
    async fn read(&mut self) -> Result<bool, Failure> {
        let Some(chunk) = self.response.chunk().await? else {
            if let Some(whole) = self.whole.take() {
                return self.read_whole(&whole);
            }
            let last = self.decoder.finish();
            let any = last.is_some();
            self.waiting.extend(last);
            return Ok(any);
        };
        self.bytes += chunk.len();
        if self.bytes > STREAM_BYTES_MAX {
            return Err(Failure::TooLong);
        }
        // No stream of events begins with a brace.
        let begins = self.bytes == chunk.len() && chunk.trim_ascii_start().starts_with(b"{");
        if begins || self.whole.is_some() {
            self.whole.get_or_insert_default().extend_from_slice(&chunk);
            return Ok(true);
        }
        self.waiting.extend(self.decoder.push(&chunk)?);
        Ok(true)
    }

    fn read_whole(&mut self, bytes: &[u8]) -> Result<bool, Failure> {
        let completion = wire::completion(bytes).map_err(|failure| {
            self.said = wire::refusal(bytes);
            if self.said.is_some() { Failure::Malformed(Flaw::Error) } else { failure }
        })?;
        self.usage = completion.usage;
        // The rest goes the way of all answers: one piece, and the end.
        let delta = serde_json::json!({ "choices": [{ "delta": { "content": completion.text }, "finish_reason": "stop" }] });
        self.waiting.extend([delta.to_string()]);
        Ok(true)
    }
}

impl fmt::Debug for Deltas {
    /// Shows nothing of the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deltas").field("state", &self.state).finish_non_exhaustive()
    }
}
