//! The narrative: what happened in a task, for people, day by day.

use crate::Timestamp;
use crate::entry::Seq;
use crate::task::observation::{NoteKind, Observation};
use crate::task::text::clip;
use jiff::civil::Date;
use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// The longest text of a line, in bytes. The whole is in the observation.
pub const LINE_BYTES_MAX: usize = 4 << 10;

words! {
    /// What a line tells of.
    NarrativeKind {
        /// The task was started.
        Started = "started",
        /// A note.
        Note = "note",
        /// A decision.
        Decision = "decision",
        /// Something that went wrong.
        Diagnostic = "diagnostic",
        /// A question of the agent.
        Question = "question",
        /// The person's answer.
        Response = "response",
        /// What the person said while the agent was working.
        Intervention = "intervention",
        /// What the person wants in addition.
        Request = "request",
        /// The person's word that the task is done.
        Confirmation = "confirmation",
        /// A file was read.
        FileRead = "file_read",
        /// A file was written.
        FileWrite = "file_write",
        /// A command was run.
        Command = "command",
        /// A plan.
        Plan = "plan",
        /// Relations.
        Relations = "relations",
        /// A work commit.
        Step = "step",
        /// Another state.
        State = "state",
        /// The canonical commit.
        Compacted = "compacted",
    }
}

impl From<NoteKind> for NarrativeKind {
    fn from(kind: NoteKind) -> Self {
        match kind {
            NoteKind::Note => Self::Note,
            NoteKind::Decision => Self::Decision,
            NoteKind::Diagnostic => Self::Diagnostic,
            NoteKind::Question => Self::Question,
            NoteKind::Response => Self::Response,
            NoteKind::Intervention => Self::Intervention,
            NoteKind::Request => Self::Request,
            NoteKind::Confirmation => Self::Confirmation,
        }
    }
}

/// A line of the narrative.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NarrativeLine {
    /// When.
    pub at: Timestamp,
    /// What it tells of.
    pub kind: NarrativeKind,
    /// What it tells; nothing where the message says it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The message that says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<Seq>,
}

impl NarrativeLine {
    /// Makes a line of a text.
    pub fn new(at: Timestamp, kind: NarrativeKind, text: &str) -> Self {
        Self { at, kind, text: clip(text, LINE_BYTES_MAX), message: None }
    }

    /// Makes the line of an observation.
    ///
    /// ```
    /// use segue_core::Timestamp;
    /// use segue_core::task::{blob::Blob, narrative::NarrativeLine, observation::Observation};
    /// let output = Blob::of(b"ok\n");
    /// let test = Observation::Command { command: "cargo test".into(), exit_code: Some(0), output };
    /// assert_eq!(NarrativeLine::of(Timestamp::UNIX_EPOCH, &test).text, "cargo test (exit 0)");
    /// ```
    pub fn of(at: Timestamp, observation: &Observation) -> Self {
        match observation {
            Observation::Note(note) => {
                Self { message: note.message, ..Self::new(at, note.kind.into(), &note.text) }
            }
            Observation::FileRead { path, content } => {
                Self::new(at, NarrativeKind::FileRead, &format!("{path} ({} bytes)", content.bytes))
            }
            Observation::FileWrite { path, content } => {
                Self::new(at, NarrativeKind::FileWrite, &format!("{path} ({} bytes)", content.bytes))
            }
            Observation::Command { command, exit_code, .. } => {
                let end = exit_code.map_or_else(|| "killed".to_owned(), |code| format!("exit {code}"));
                let room = LINE_BYTES_MAX - end.len() - 3;
                Self::new(at, NarrativeKind::Command, &format!("{} ({end})", clip(command, room)))
            }
            Observation::Plan { text } => Self::new(at, NarrativeKind::Plan, text),
            Observation::Relations { edges } => {
                let told =
                    edges.iter().take(20).map(|edge| format!("{} {} {}", edge.from, edge.label, edge.to));
                let mut told = told.collect::<Vec<_>>().join(", ");
                if edges.len() > 20 {
                    let _ = write!(told, " and {} more", edges.len() - 20);
                }
                Self::new(at, NarrativeKind::Relations, &told)
            }
        }
    }
}

/// Writes a narrative as Markdown, line by line, with a heading for each day.
///
/// It holds no line, so an export needs no more memory for a long task than for a short one.
#[derive(Debug)]
pub struct Markdown<W> {
    to: W,
    zone: TimeZone,
    day: Option<Date>,
}

impl<W: fmt::Write> Markdown<W> {
    /// Begins a page. Days begin where the time zone says.
    pub fn begin(mut to: W, title: &str, zone: TimeZone) -> Result<Self, fmt::Error> {
        let title = crate::task::text::headline(title, usize::MAX);
        writeln!(to, "# {}", escaped(&title))?;
        Ok(Self { to, zone, day: None })
    }

    /// Adds a line. What a message says is given by the caller, who can read it; it may be gone.
    pub fn line(&mut self, line: &NarrativeLine, said: Option<&str>) -> fmt::Result {
        let local = self.zone.to_datetime(line.at);
        if self.day != Some(local.date()) {
            write!(self.to, "\n## {}\n\n", local.date())?;
            self.day = Some(local.date());
        }
        let kind = line.kind.name().replace('_', " ");
        write!(self.to, "- {} **{kind}**", local.strftime("%H:%M:%S"))?;
        let said = said.unwrap_or_default();
        let text = if line.text.is_empty() { said } else { &line.text };
        if let (Some(message), true) = (line.message, text.is_empty()) {
            return writeln!(self.to, " message {message}");
        }
        let text: String =
            text.trim().chars().filter(|c| matches!(c, '\n' | '\t') || !c.is_control()).collect();
        if !text.contains('\n') {
            return writeln!(self.to, " {}", escaped(&text));
        }
        let fence = "`".repeat(longest_run(&text, '`').max(2) + 1);
        write!(self.to, "\n\n  {fence}text\n")?;
        for line in text.lines() {
            writeln!(self.to, "{}", format!("  {line}").trim_end())?;
        }
        writeln!(self.to, "  {fence}")
    }

    /// Ends the page and gives back what it was written to.
    pub fn finish(self) -> W {
        self.to
    }
}

/// Writes a narrative as one page of Markdown.
pub fn markdown<'a>(
    title: &str,
    lines: impl IntoIterator<Item = &'a NarrativeLine>,
    zone: TimeZone,
) -> String {
    // Writing to a string cannot fail.
    let written = Markdown::begin(String::new(), title, zone).and_then(|mut page| {
        lines.into_iter().try_for_each(|line| page.line(line, None))?;
        Ok(page.finish())
    });
    written.unwrap_or_default()
}

/// Keeps a text from being read as markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '<' | '[' | '&' | '~') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn longest_run(text: &str, of: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::task::blob::Blob;
    use crate::task::observation::Note;
    use crate::task::path::WorkPath;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn days_have_headings_and_text_stays_text() {
        let path = WorkPath::new("src/net.rs").unwrap();
        let write = Observation::FileWrite { path, content: Blob::of(b"x") };
        let lines = [
            NarrativeLine::new(
                at("2026-03-01T22:59:58Z"),
                NarrativeKind::Question,
                "Fixed or *exponential*?",
            ),
            NarrativeLine {
                text: String::new(),
                message: Some(Seq(8)),
                ..NarrativeLine::new(at("2026-03-01T23:30:00Z"), NarrativeKind::Response, "")
            },
            NarrativeLine::of(at("2026-03-02T08:00:00Z"), &write),
            NarrativeLine::new(
                at("2026-03-02T08:00:01Z"),
                NarrativeKind::Plan,
                "# not a heading\n```\n- a\n```\n",
            ),
        ];
        let zone = TimeZone::fixed(jiff::tz::offset(1));
        let page = "# Add retry\n\n## 2026-03-01\n\n\
             - 23:59:58 **question** Fixed or \\*exponential\\*?\n\n## 2026-03-02\n\n\
             - 00:30:00 **response** message 8\n\
             - 09:00:00 **file write** src/net.rs (1 bytes)\n\
             - 09:00:01 **plan**\n\n  ````text\n  # not a heading\n  ```\n  - a\n  ```\n  ````\n";
        assert_eq!(markdown("Add\nretry", &lines, zone.clone()), page);
        let mut said = Markdown::begin(String::new(), "t", zone).unwrap();
        said.line(&lines[1], Some("Option C")).unwrap();
        assert!(said.finish().ends_with("**response** Option C\n"));
    }

    #[test]
    fn a_long_note_is_clipped_and_a_command_keeps_its_end() {
        let note = Observation::Note(Note::text(NoteKind::Decision, "x".repeat(9000)));
        let line = NarrativeLine::of(Timestamp::UNIX_EPOCH, &note);
        assert_eq!((line.kind, line.text.len()), (NarrativeKind::Decision, LINE_BYTES_MAX));
        let output = Blob::of(b"");
        let command = Observation::Command { command: "y".repeat(9000), exit_code: None, output };
        assert!(NarrativeLine::of(Timestamp::UNIX_EPOCH, &command).text.ends_with("y… (killed)"));
    }
}
