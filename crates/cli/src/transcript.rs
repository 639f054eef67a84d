//! Messages as people read them: the day, then the time, who speaks and what is said, with hanging lines.

use crate::{layout, out, paint};
use jiff::Zoned;
use segue_core::entry::Seq;
use segue_core::message::{Message, ReplyEnd, Role};
use std::io;
use unicode_width::UnicodeWidthStr;

/// How wide the name of a speaker is.
const NAME_WIDTH: usize = 9;

/// What is written before a text: time and name, and before them perhaps a number.
const MARGIN: usize = 5 + 2 + NAME_WIDTH + 2;
const NUMBER_WIDTH: usize = 5;

/// Messages one below the other.
pub struct Transcript {
    width: usize,
    day: Option<jiff::civil::Date>,
}

/// A message to be written.
pub struct PrintedMessage<'a> {
    /// Its number, where people need it to name the message.
    pub seq: Option<Seq>,
    /// When, in the reader's time zone.
    pub at: Zoned,
    /// Who.
    pub role: Role,
    /// What; nothing if it was erased.
    pub message: Option<&'a Message>,
    /// What there is to say about it.
    pub remark: Option<String>,
}

impl Transcript {
    /// Begins a transcript as wide as the terminal.
    pub fn new() -> Self {
        Self { width: layout::width(), day: None }
    }

    /// Returns how wide it is.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Names the day again before the next message.
    pub fn forget_day(&mut self) {
        self.day = None;
    }

    /// Writes a message.
    pub fn say(&mut self, said: &PrintedMessage<'_>) -> io::Result<()> {
        let at = &said.at;
        if self.day.replace(at.date()) != Some(at.date()) {
            out::line(paint::dim(at.strftime("%a %-d %b %Y")))?;
        }
        let margin = MARGIN + said.seq.map_or(0, |_| NUMBER_WIDTH + 2);
        let mut lines = lines(said, self.width - margin);
        if let Some(remark) = &said.remark {
            let remark = format!("({remark})");
            let fits = |last: &&mut String| last.width() + 2 + remark.width() <= self.width - margin;
            match lines.last_mut().filter(fits) {
                Some(last) => *last = format!("{last}  {}", paint::dim(remark)),
                None => lines.push(paint::dim(remark)),
            }
        }
        let mut lines = lines.into_iter();
        let first = lines.next().unwrap_or_default();
        let time = paint::dim(at.strftime("%H:%M"));
        let number = said.seq.map(|seq| paint::dim(format!("{:>NUMBER_WIDTH$}  ", seq.0)));
        let number = number.unwrap_or_default();
        out::line(format!("{number}{time}  {}  {first}", name(said)).trim_end())?;
        lines.try_for_each(|line| below(margin, &line))
    }

    /// Writes a text below a message, in the engine's colour.
    pub fn answer(&self, text: &str) -> io::Result<()> {
        let width = self.width - MARGIN;
        let wrapped = text.lines().flat_map(|line| layout::wrap_hanging(line, width));
        let mut lines = wrapped.collect::<Vec<_>>().into_iter();
        lines.try_for_each(|line| below(MARGIN, &paint::engine(line)))
    }
}

fn below(margin: usize, line: &str) -> io::Result<()> {
    out::line(format!("{}{line}", " ".repeat(margin)).trim_end())
}

fn lines(said: &PrintedMessage<'_>, width: usize) -> Vec<String> {
    let width = if said.role == Role::Tool { width - 2 } else { width };
    let Some(message) = said.message else { return vec![paint::dim("(erased)")] };
    if message.end == ReplyEnd::Failed {
        return vec![paint::dim("(the model gave no answer)")];
    }
    let mut lines = Vec::new();
    if !message.text.trim().is_empty() {
        lines = layout::wrap(&message.text, width);
    }
    for call in &message.tool_calls {
        let text = format!("{} {}", call.name, call.arguments);
        let wrapped = layout::wrap(&text, width - 2).into_iter().enumerate();
        lines.extend(wrapped.map(|(at, line)| format!("{} {line}", if at == 0 { '→' } else { ' ' })));
    }
    if said.role == Role::Tool
        && let Some(first) = lines.first_mut()
    {
        *first = format!("← {first}");
        lines.iter_mut().skip(1).for_each(|line| *line = format!("  {line}"));
    }
    lines
}

/// Writes who speaks: in a group by their own name.
fn name(said: &PrintedMessage<'_>) -> String {
    let sender = said.message.and_then(|message| message.sender.as_deref());
    match (said.role, sender) {
        (Role::User, Some(sender)) => {
            let sender = layout::printable(sender).replace('\n', " ");
            paint::user(layout::padded(&layout::cut(&sender, NAME_WIDTH), NAME_WIDTH))
        }
        (Role::User, None) => paint::user(layout::padded("user", NAME_WIDTH)),
        (role, _) => paint::dim(layout::padded(role.name(), NAME_WIDTH)),
    }
}
