//! Server-sent events: from bytes, cut anywhere, to the data of events.

use super::failure::Failure;

/// The longest event.
const EVENT_BYTES_MAX: usize = 1024 * 1024;

/// Puts events together.
#[derive(Debug, Default)]
pub(super) struct Decoder {
    line: Vec<u8>,
    data: Option<String>,
    /// A CR has ended the last line: an LF that follows belongs to it.
    after_cr: bool,
    begun: bool,
}

impl Decoder {
    /// Takes the next bytes, and returns the data of the events that they complete.
    pub fn push(&mut self, bytes: &[u8]) -> Result<Vec<String>, Failure> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_line()),
                byte => self.line.push(byte),
            }
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > EVENT_BYTES_MAX {
                return Err(Failure::TooLong);
            }
        }
        Ok(events)
    }

    /// Returns the event that the end of the stream completes: not every server ends with an empty line.
    pub fn finish(&mut self) -> Option<String> {
        self.end_line().or_else(|| self.data.take())
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = if self.begun { &line } else { line.strip_prefix('\u{feff}').unwrap_or(&line) };
        self.begun = true;
        if line.is_empty() {
            return self.data.take();
        }
        // A comment has an empty name. Other fields are of no use here.
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        if name == "data" {
            let value = value.strip_prefix(' ').unwrap_or(value);
            match &mut self.data {
                Some(data) => {
                    data.push('\n');
                    data.push_str(value);
                }
                None => self.data = Some(value.to_owned()),
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decode(chunks: &[&[u8]]) -> Vec<String> {
        let mut decoder = Decoder::default();
        let mut events: Vec<String> = chunks.iter().flat_map(|chunk| decoder.push(chunk).unwrap()).collect();
        events.extend(decoder.finish());
        events
    }

    const STREAM: &str = "\u{feff}: hello\r\ndata: {\"a\":1}\r\n\r\nevent: x\nid: 7\ndata:two\ndata: lines\n\n\
                          :\n\ndata: 重新\r\rdata\n\ndata: [DONE]";

    #[test]
    fn reads_comments_fields_and_every_line_end() {
        assert_eq!(decode(&[STREAM.as_bytes()]), ["{\"a\":1}", "two\nlines", "重新", "", "[DONE]"]);
    }

    #[test]
    fn an_event_has_a_bound() {
        let mut decoder = Decoder::default();
        let flood = vec![b'x'; EVENT_BYTES_MAX + 1];
        assert_eq!(decoder.push(&flood), Err(Failure::TooLong));
    }

    proptest! {
        /// Wherever the network cuts the stream, the events are the same.
        #[test]
        fn chunk_borders_change_nothing(cuts in prop::collection::vec(0..STREAM.len(), 0..12)) {
            let mut cuts = cuts;
            cuts.sort_unstable();
            let (mut chunks, mut from) = (Vec::new(), 0);
            for cut in cuts.into_iter().chain([STREAM.len()]) {
                chunks.push(&STREAM.as_bytes()[from..cut]);
                from = cut;
            }
            prop_assert_eq!(decode(&chunks), decode(&[STREAM.as_bytes()]));
        }
    }
}
