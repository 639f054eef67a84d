//! A conversation drawn so that a person sees its boundaries at a glance.

use super::against::Other;
use super::line::Line;
use crate::transcript::{PrintedMessage, Transcript};
use crate::{out, paint};
use jiff::tz::TimeZone;
use segue_core::decision::{Action, Cause, Reason};
use segue_core::notice::Notice;
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::{Delivery, Outcome};
use std::collections::BTreeMap;
use std::io;
use unicode_width::UnicodeWidthStr;

/// What has been drawn so far.
pub struct Drawing {
    transcript: Transcript,
    scope: Option<scope::Key>,
    /// The session in which each scope was last drawn.
    sessions: BTreeMap<scope::Key, Number>,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    messages: usize,
    commands: usize,
    boundaries: usize,
    again: usize,
    differences: usize,
}

impl Drawing {
    /// Begins a drawing.
    pub fn new() -> Self {
        Self {
            transcript: Transcript::new(),
            scope: None,
            sessions: BTreeMap::new(),
            counts: Counts::default(),
        }
    }

    /// Draws a line of the conversation and what came of it, in the time zone of its scope.
    pub fn draw(&mut self, line: &Line, outcome: &Outcome, zone: TimeZone) -> io::Result<()> {
        self.head(&outcome.scope)?;
        let at = line.inbound.at.to_zoned(zone);
        if outcome.delivery == Delivery::Again {
            self.counts.again += 1;
            return self.say(line, at, Some("delivered again".to_owned()));
        }
        let is_late = line.inbound.session.is_some()
            && self.sessions.get(&outcome.scope).is_some_and(|drawn| *drawn != outcome.session);
        if is_late && outcome.reply.is_none() {
            self.counts.messages += 1;
            return self.say(line, at, Some(format!("late reply, kept in session #{}", outcome.session)));
        }
        // A command is said in the session that it leaves, and so is an answer to a question of ours; a
        // message in the one that it opens.
        let answered = outcome.because.iter().any(|reason| matches!(reason, Reason::Answered { .. }));
        match outcome.say().filter(|_| outcome.reply.is_some() || answered) {
            Some(reply) => {
                self.counts.commands += 1;
                self.say(line, at, None)?;
                self.transcript.answer(&reply)?;
                self.rule(outcome, None)
            }
            None => {
                self.counts.messages += 1;
                let (notice, question) = match outcome.say() {
                    Some(question) if outcome.question().or(outcome.suggestion()).is_some() => {
                        (None, Some(question))
                    }
                    notice => (notice, None),
                };
                self.rule(outcome, notice.as_deref())?;
                self.say(line, at, None)?;
                match question {
                    Some(question) => self.transcript.answer(&question),
                    None => Ok(()),
                }
            }
        }
    }

    /// Draws what another policy did with the line, if that was something else.
    pub fn draw_other(&mut self, outcome: &Outcome, other: &Other) -> io::Result<()> {
        if !other.differs(outcome) {
            return Ok(());
        }
        self.counts.differences += 1;
        let cause = match other.cause {
            Cause::None => String::new(),
            cause => format!(" ({cause})"),
        };
        let (policy, session) = (&other.policy, other.session.number);
        self.transcript.answer(&format!("{policy} differs: {}{cause}, session #{session}", other.action))
    }

    /// Names the scope where it changes.
    fn head(&mut self, scope: &scope::Key) -> io::Result<()> {
        if self.scope.as_ref() == Some(scope) {
            return Ok(());
        }
        if self.scope.is_some() {
            out::line("")?;
        }
        let known = self.sessions.get(scope).map(|session| paint::dim(format!(", session #{session}")));
        out::line(format!("{}{}", paint::strong(scope), known.unwrap_or_default()))?;
        self.scope = Some(scope.clone());
        self.transcript.forget_day();
        Ok(())
    }

    fn rule(&mut self, outcome: &Outcome, notice: Option<&str>) -> io::Result<()> {
        // A command may be about another session than the one that is talked in: `/session rename 2 ...`.
        if outcome.session_id.is_none() || matches!(outcome.action, Action::Command | Action::Refused) {
            return Ok(());
        }
        let before = self.sessions.insert(outcome.scope.clone(), outcome.session);
        let cleared = outcome.action == Action::Clear;
        if before == Some(outcome.session) && !cleared {
            return Ok(());
        }
        let why = match before {
            None => String::new(),
            Some(_) => format!(" · {}", deed(outcome)),
        };
        self.counts.boundaries += usize::from(before.is_some());
        let title = format!("━━ session #{}{why} ", outcome.session);
        let fill = "━".repeat(self.transcript.width().saturating_sub(title.width()));
        out::line(paint::boundary(format!("{title}{fill}")))?;
        match notice {
            Some(notice) => self.transcript.answer(notice),
            None => Ok(()),
        }
    }

    fn say(&mut self, line: &Line, at: jiff::Zoned, remark: Option<String>) -> io::Result<()> {
        let inbound = &line.inbound;
        self.transcript.say(&PrintedMessage {
            seq: None,
            at,
            role: inbound.role,
            message: Some(&inbound.message),
            remark,
        })
    }

    /// Draws the end; `left_out` lines could not be taken.
    pub fn finish(&self, left_out: usize) -> io::Result<()> {
        let Counts { messages, commands, boundaries, again, differences } = self.counts;
        let scopes = self.sessions.len();
        let many = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        let mut parts = vec![many(messages, "message", "messages")];
        if commands > 0 {
            parts.push(many(commands, "command", "commands"));
        }
        parts.push(many(boundaries, "boundary", "boundaries"));
        parts.push(many(scopes, "scope", "scopes"));
        if again > 0 {
            parts.push(format!("{again} delivered again"));
        }
        if differences > 0 {
            parts.push(many(differences, "difference", "differences"));
        }
        if left_out > 0 {
            parts.push(format!("{} left out", many(left_out, "line", "lines")));
        }
        out::line(paint::dim(parts.join(", ")))
    }
}

/// Says in a few words what happened, and why.
fn deed(outcome: &Outcome) -> String {
    let deed = match (&outcome.announces, outcome.action) {
        (Some(Notice::Undone { .. }), _) => return "back, by undo".to_owned(),
        (_, Action::Resume) => "resumed",
        (_, Action::Fork) => "forked",
        (_, Action::Split) => "split off",
        (_, Action::Merge) => "merged",
        (_, Action::Clear) => "cleared",
        (_, Action::NewCarryOver) => "new, with a summary",
        (_, Action::New) => "new",
        _ => "goes on",
    };
    format!("{deed}{}", because(outcome.cause))
}

/// Says in a word why.
fn because(cause: Cause) -> &'static str {
    match cause {
        Cause::Command => ", by command",
        Cause::Intent => ", asked for in words",
        Cause::Temporal => ", after a pause",
        Cause::Semantic => ", another topic",
        Cause::Context => ", the context is full",
        Cause::Health => ", it was stuck",
        Cause::Task => ", by its task",
        Cause::None => "",
    }
}
