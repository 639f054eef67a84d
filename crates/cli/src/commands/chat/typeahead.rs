//! What a person types while nobody reads: it is taken line by line, shown, and answered in order.
//!
//! The terminal stays as it is for output and for Ctrl-C; only its own echo and its line buffer are off, so that a reply
//! is not torn apart by what is typed into it.

#[cfg(unix)]
pub use unix::TypeAhead;

#[cfg(not(unix))]
pub use elsewhere::TypeAhead;

/// What a person has typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Typed {
    /// A line.
    Line(String),
    /// Ctrl-D: there is no more to come.
    End,
}

/// Bytes that were typed, on their way to lines. What is pasted is one line, however many it has.
#[derive(Debug, Default)]
pub struct Lines {
    bytes: Vec<u8>,
    is_pasting: bool,
    whole: Vec<Typed>,
}

const PASTE_BEGINS: &[u8] = b"\x1b[200~";
const PASTE_ENDS: &[u8] = b"\x1b[201~";

impl Lines {
    /// Takes what was typed, and returns the lines that are whole by now.
    pub fn push(&mut self, typed: &[u8]) -> Vec<Typed> {
        for byte in typed {
            self.take(*byte);
        }
        std::mem::take(&mut self.whole)
    }

    /// Returns what was typed of a line that is not whole.
    pub fn rest(&mut self) -> String {
        text(&std::mem::take(&mut self.bytes))
    }

    /// Tells whether more is sure to come at once: the rest of a paste, or of the mark that begins one. Who reads on
    /// elsewhere now would cut it in two.
    pub fn is_torn(&self) -> bool {
        let begins = |n: &usize| PASTE_BEGINS.get(..*n).is_some_and(|mark| self.bytes.ends_with(mark));
        self.is_pasting || (1..PASTE_BEGINS.len()).any(|n| begins(&n))
    }

    fn take(&mut self, byte: u8) {
        self.bytes.push(byte);
        for (mark, begins) in [(PASTE_BEGINS, true), (PASTE_ENDS, false)] {
            if self.bytes.ends_with(mark) {
                self.bytes.truncate(self.bytes.len() - mark.len());
                self.is_pasting = begins;
                return;
            }
        }
        if self.is_pasting {
            return;
        }
        match byte {
            b'\n' | b'\r' => {
                self.bytes.pop();
                let line = text(&std::mem::take(&mut self.bytes));
                if !line.trim().is_empty() {
                    self.whole.push(Typed::Line(line));
                }
            }
            // Backspace: the last character, which may be several bytes.
            0x7f | 0x08 => {
                self.bytes.pop();
                let kept = text(&self.bytes);
                let end = kept.char_indices().next_back().map_or(0, |(at, _)| at);
                self.bytes.truncate(end);
            }
            // Ctrl-D ends where a line could begin, and does nothing in the midst of one.
            0x04 => {
                self.bytes.pop();
                if self.bytes.is_empty() {
                    self.whole.push(Typed::End);
                }
            }
            // Ctrl-U: the whole line.
            0x15 => self.bytes.clear(),
            _ => {}
        }
    }
}

/// Reads bytes as text, without what moves the cursor: arrows and the like edit nothing here.
fn text(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n").replace('\r', "\n");
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => {
                if chars.next_if(|next| matches!(next, '[' | 'O')).is_some() {
                    while chars.next().is_some_and(|c| !c.is_ascii_alphabetic() && c != '~') {}
                }
            }
            '\n' | '\t' => out.push(c),
            c if c.is_control() => {}
            c => out.push(c),
        }
    }
    out
}

#[cfg(unix)]
mod unix {
    use super::{Lines, Typed};
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
    use std::io::{Write as _, stdin, stdout};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread::JoinHandle;

    /// How long the thread waits before it looks whether it is still wanted.
    const WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 40_000_000 };

    /// How often it waits for the rest of a paste that does not come.
    const WAITS_MAX: usize = 75;

    /// A terminal that is being listened to.
    pub struct TypeAhead {
        before: Option<Termios>,
        is_over: Arc<AtomicBool>,
        thread: Option<JoinHandle<(Vec<Typed>, String)>>,
    }

    impl TypeAhead {
        /// Begins to listen; `queued` is told about each line.
        pub fn listen(queued: impl Fn(&str) + Send + 'static) -> Self {
            let before = tcgetattr(stdin()).ok();
            if let Some(before) = &before {
                let mut quiet = before.clone();
                quiet.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
                // Ctrl-C stops the reply and throws nothing away that was typed before it.
                quiet.local_modes |= LocalModes::NOFLSH;
                _ = tcsetattr(stdin(), OptionalActions::Now, &quiet);
                // What is pasted is to be told from what is typed.
                _ = stdout().write_all(b"\x1b[?2004h").and_then(|()| stdout().flush());
            }
            let is_over = Arc::new(AtomicBool::new(false));
            let over = Arc::clone(&is_over);
            let thread = std::thread::spawn(move || {
                let (mut lines, mut all, mut buffer) = (Lines::default(), Vec::new(), [0; 4096]);
                let mut waits = 0;
                while !over.load(Ordering::Acquire) || (lines.is_torn() && waits < WAITS_MAX) {
                    let input = stdin();
                    let mut ready = [PollFd::new(&input, PollFlags::IN)];
                    if !poll(&mut ready, Some(&WAIT)).is_ok_and(|n| n > 0) {
                        waits += 1;
                        continue;
                    }
                    waits = 0;
                    let Ok(n @ 1..) = rustix::io::read(&input, &mut buffer) else { break };
                    for typed in lines.push(buffer.get(..n).unwrap_or_default()) {
                        if let Typed::Line(line) = &typed {
                            queued(line);
                        }
                        all.push(typed);
                    }
                }
                (all, lines.rest())
            });
            Self { before, is_over, thread: Some(thread) }
        }

        /// Stops listening. Returns the lines that were typed, and what was typed of the next one.
        pub fn stop(mut self) -> (Vec<Typed>, String) {
            self.is_over.store(true, Ordering::Release);
            self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_default()
        }
    }

    impl Drop for TypeAhead {
        fn drop(&mut self) {
            self.is_over.store(true, Ordering::Release);
            if let Some(before) = &self.before {
                _ = tcsetattr(stdin(), OptionalActions::Now, before);
                _ = stdout().write_all(b"\x1b[?2004l").and_then(|()| stdout().flush());
            }
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// Here the terminal itself keeps what is typed.
    pub struct TypeAhead;

    impl TypeAhead {
        /// Does nothing.
        pub fn listen(_queued: impl Fn(&str) + Send + 'static) -> Self {
            Self
        }

        /// Returns nothing.
        pub fn stop(self) -> (Vec<super::Typed>, String) {
            (Vec::new(), String::new())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_typed_becomes_lines_and_what_is_pasted_becomes_one() {
        let mut lines = Lines::default();
        let line = |text: &str| Typed::Line(text.to_owned());
        assert_eq!(lines.push(b"one\ntw"), [line("one")]);
        assert_eq!(lines.push("o\r面包\x7f\n\n".as_bytes()), [line("two"), line("面")]);
        assert!(lines.push(b"\x1b[200~a\r\nb\n").is_empty());
        assert_eq!(lines.push(b"c\x1b[201~ d\n"), [line("a\nb\nc d")]);
        assert_eq!(lines.push(b"wrong\x15right\x1b[D\n"), [line("right")]);
        assert!(lines.push(b"half").is_empty());
        assert_eq!((lines.rest(), lines.rest()), ("half".to_owned(), String::new()));
    }
    #[test]
    fn ctrl_d_ends_at_the_beginning_of_a_line_only() {
        let mut lines = Lines::default();
        assert_eq!(lines.push(b"a\n\x04"), [Typed::Line("a".to_owned()), Typed::End]);
        assert_eq!(lines.push(b"b\x04c\n"), [Typed::Line("bc".to_owned())]);
        assert!(lines.push(b"\x1b[200~\x04\x1b[201~").is_empty(), "it was pasted");
    }

    #[test]
    fn a_paste_that_is_on_its_way_is_waited_for() {
        let mut lines = Lines::default();
        for (typed, is_torn) in [
            (&b"typed"[..], false),
            (b"\x1b", true),
            (b"[20", true),
            (b"0~first\nsec", true),
            (b"ond\x1b[201", true),
            (b"~", false),
        ] {
            assert!(lines.push(typed).is_empty());
            assert_eq!(lines.is_torn(), is_torn, "{typed:?}");
        }
        assert_eq!(lines.rest(), "typedfirst\nsecond");
    }
}
