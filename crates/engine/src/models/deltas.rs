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
        Self { response, decoder, waiting, state: State::New, bytes: 0, usage: Usage::default() }
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
                let piece = wire::piece(&data)?;
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
            let last = self.decoder.finish();
            let any = last.is_some();
            self.waiting.extend(last);
            return Ok(any);
        };
        self.bytes += chunk.len();
        if self.bytes > STREAM_BYTES_MAX {
            return Err(Failure::TooLong);
        }
        self.waiting.extend(self.decoder.push(&chunk)?);
        Ok(true)
    }
}

impl fmt::Debug for Deltas {
    /// Shows nothing of the answer.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deltas").field("state", &self.state).finish_non_exhaustive()
    }
}
