//! Server-sent events of an upstream: from bytes, cut anywhere, to events.

/// The longest event.
const EVENT_BYTES_MAX: usize = 16 << 20;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Event {
    /// Its name, if it has one.
    pub(crate) name: Option<String>,
    /// Its data.
    pub(crate) data: String,
}

/// Why bytes are no events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Garbage {
    /// They are no text.
    #[error("the model's endpoint sent bytes that are no UTF-8")]
    NotText,
    /// An event has no end.
    #[error("the model's endpoint sent an event without end")]
    TooLong,
}

/// Puts events together.
#[derive(Debug, Default)]
pub(crate) struct Decoder {
    line: Vec<u8>,
    event: Event,
    has_data: bool,
    after_cr: bool,
    begun: bool,
}

impl Decoder {
    /// Takes the next bytes, and returns the events that they complete.
    pub(crate) fn push(&mut self, bytes: &[u8]) -> Result<Vec<Event>, Garbage> {
        let mut events = Vec::new();
        for &byte in bytes {
            let after_cr = std::mem::replace(&mut self.after_cr, byte == b'\r');
            match byte {
                b'\n' if after_cr => {}
                b'\n' | b'\r' => events.extend(self.end_line()?),
                byte => self.line.push(byte),
            }
            if self.line.len() + self.event.data.len() > EVENT_BYTES_MAX {
                return Err(Garbage::TooLong);
            }
        }
        Ok(events)
    }

    /// Returns the event that the end of the stream completes: not every server ends with an empty line. Half a line of
    /// JSON is found by who reads the data.
    pub(crate) fn finish(&mut self) -> Result<Option<Event>, Garbage> {
        let ended = self.end_line()?;
        Ok(ended.or_else(|| self.take()))
    }

    fn take(&mut self) -> Option<Event> {
        let event = std::mem::take(&mut self.event);
        std::mem::take(&mut self.has_data).then_some(event)
    }

    fn end_line(&mut self) -> Result<Option<Event>, Garbage> {
        let line = String::from_utf8(std::mem::take(&mut self.line)).map_err(|_| Garbage::NotText)?;
        let line = if self.begun { line.as_str() } else { line.strip_prefix('\u{feff}').unwrap_or(&line) };
        self.begun = true;
        if line.is_empty() {
            return Ok(self.take());
        }
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "event" => self.event.name = Some(value.to_owned()),
            _ => {}
        }
        Ok(None)
    }
}

/// Writes an event.
pub(crate) fn written(name: Option<&str>, data: &str) -> String {
    let mut text = String::with_capacity(data.len() + 32);
    if let Some(name) = name {
        text += "event: ";
        text += name;
        text.push('\n');
    }
    for line in data.split('\n') {
        text += "data: ";
        text += line;
        text.push('\n');
    }
    text.push('\n');
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_put_together_wherever_they_are_cut() {
        let stream =
            "\u{feff}: hi\r\nevent: a\r\ndata: {\"x\":1}\r\n\r\ndata: two\ndata: lines\n\ndata: [DONE]";
        for cut in 0..stream.len() {
            let (mut decoder, bytes) = (Decoder::default(), stream.as_bytes());
            let mut events = decoder.push(&bytes[..cut]).unwrap();
            events.extend(decoder.push(&bytes[cut..]).unwrap());
            events.extend(decoder.finish().unwrap());
            let data: Vec<&str> = events.iter().map(|event| event.data.as_str()).collect();
            assert_eq!(data, ["{\"x\":1}", "two\nlines", "[DONE]"], "cut at {cut}");
            assert_eq!(events[0].name.as_deref(), Some("a"));
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_garbage() {
        assert_eq!(Decoder::default().push(b"data: \xff\xfe\n"), Err(Garbage::NotText));
    }
}
