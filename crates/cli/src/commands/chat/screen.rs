//! The screen, which a reply, a spinner and what is typed meanwhile share.

use super::flow::WordWrap;
use crate::{layout, out, paint};
use indicatif::{ProgressBar, ProgressStyle};
use segue_engine::words::{self, Language};
use std::io::{self, IsTerminal as _};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// What is written at the end of a line that was cut, where it has more lines.
const MORE: &str = " ...";

/// The screen of a chat.
pub struct Screen {
    shown: Mutex<Shown>,
    writes: Writes,
}

/// Whether replies are written as they come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writes {
    Pieces,
    Nothing,
}

struct Shown {
    language: Language,
    reply: Reply,
}

/// How far a reply has come.
enum Reply {
    /// There is none.
    None,
    /// Nothing of it is there yet.
    Awaited(ProgressBar),
    /// It is being written.
    Begun(WordWrap),
}

impl Screen {
    pub fn new(language: Language, writes: Writes) -> Self {
        Self { shown: Mutex::new(Shown { language, reply: Reply::None }), writes }
    }

    pub fn language(&self) -> Language {
        self.shown().language
    }

    pub fn speak(&self, language: Language) {
        self.shown().language = language;
    }

    /// Shows that a model thinks, and for how long.
    pub fn wait(&self) {
        self.shown().reply = Reply::Awaited(match self.writes {
            Writes::Pieces if io::stderr().is_terminal() => spinner(),
            Writes::Pieces | Writes::Nothing => ProgressBar::hidden(),
        });
    }

    /// Writes a piece of the reply.
    pub fn write(&self, piece: &str) -> io::Result<()> {
        let mut shown = self.shown();
        if let Reply::Awaited(spinner) = &shown.reply {
            spinner.finish_and_clear();
            shown.reply = Reply::Begun(WordWrap::new(layout::width()));
        }
        let Reply::Begun(flow) = &mut shown.reply else { return Ok(()) };
        let text = flow.push(piece);
        self.put(&text)
    }

    /// Ends the reply, perhaps with a mark.
    pub fn end(&self, mark: Option<&str>) -> io::Result<()> {
        match std::mem::replace(&mut self.shown().reply, Reply::None) {
            Reply::None => Ok(()),
            Reply::Awaited(spinner) => {
                spinner.finish_and_clear();
                Ok(())
            }
            Reply::Begun(flow) => self.put(&flow.finish(mark)),
        }
    }

    /// Shows a line that was typed while a reply comes.
    pub fn queued(&self, typed: &str) {
        let mut shown = self.shown();
        let first = typed.lines().next().unwrap_or_default();
        let more = if typed.contains('\n') { MORE } else { "" };
        let line = words::chat::queued(shown.language, &format!("{first}{more}"));
        let line = paint::dim(format!("  {line}"));
        // A line that cannot be shown is queued all the same.
        _ = match &mut shown.reply {
            Reply::None => out::line(line),
            Reply::Awaited(spinner) => spinner.suspend(|| out::line(line)),
            Reply::Begun(flow) => {
                let broken = if flow.breaks_off() { "\n" } else { "" };
                out::line(format!("{broken}{line}"))
            }
        };
    }

    fn put(&self, text: &str) -> io::Result<()> {
        match self.writes {
            Writes::Pieces => out::text(text),
            Writes::Nothing => Ok(()),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn spinner() -> ProgressBar {
    let style = ProgressStyle::with_template("  {spinner} {elapsed}");
    let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style);
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}
