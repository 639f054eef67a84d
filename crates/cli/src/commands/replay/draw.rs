//! A conversation drawn so that a person sees its boundaries at a glance.

use super::line::Line;
use crate::paint;
use segue_core::decision::Action;
use segue_core::message::Role;
use segue_core::scope;
use segue_core::session::Number;
use segue_engine::Outcome;
use std::collections::BTreeMap;
use unicode_width::UnicodeWidthStr;

/// How wide a boundary is drawn.
const WIDTH: usize = 78;

/// What has been drawn so far.
#[derive(Default)]
pub struct Drawing {
    scope: Option<scope::Key>,
    /// The session in which each scope was last drawn.
    sessions: BTreeMap<scope::Key, Number>,
    day: Option<jiff::civil::Date>,
    boundaries: usize,
    messages: usize,
}

impl Drawing {
    /// Draws a line of the conversation and what came of it.
    pub fn draw(&mut self, line: &Line, outcome: &Outcome) {
        if self.scope.as_ref() != Some(&outcome.scope) {
            if self.scope.is_some() {
                println!();
            }
            println!("{}", paint::strong(&outcome.scope));
            self.scope = Some(outcome.scope.clone());
            self.day = None;
        }
        let is_command = outcome.reply.is_some();
        // A command is said in the session that it leaves; a message in the one that it opens.
        if is_command {
            self.say(line, outcome);
            self.rule(outcome);
        } else {
            self.rule(outcome);
            self.say(line, outcome);
        }
    }

    fn rule(&mut self, outcome: &Outcome) {
        let before = self.sessions.insert(outcome.scope.clone(), outcome.session);
        if before == Some(outcome.session) {
            return;
        }
        let why = match (before, outcome.action) {
            (None, _) => String::new(),
            (_, Action::Continue) => " (late reply)".to_owned(),
            (_, action) => format!(" ({action}, by {})", outcome.cause),
        };
        self.boundaries += usize::from(before.is_some());
        let title = format!("━━ session {}{why} ", outcome.session);
        let fill = "━".repeat(WIDTH.saturating_sub(title.width()));
        println!("{}", paint::boundary(format!("{title}{fill}")));
        if let Some(notice) = outcome.notice.as_ref().filter(|_| outcome.reply.is_none()) {
            println!("       {}", paint::engine(notice));
        }
    }

    fn say(&mut self, line: &Line, outcome: &Outcome) {
        let at = line.inbound.at.to_zoned(jiff::tz::TimeZone::UTC);
        if self.day.replace(at.date()) != Some(at.date()) {
            println!("{}", paint::dim(at.strftime("%a %-d %b %Y")));
        }
        self.messages += 1;
        let role = line.inbound.role;
        let name = format!("{:9}", role.name());
        let name = if role == Role::User { paint::user(name) } else { paint::dim(name) };
        let time = paint::dim(at.strftime("%H:%M"));
        let mut texts = line.inbound.message.text.lines();
        println!("{time}  {name}  {}", texts.next().unwrap_or_default());
        for more in texts {
            println!("                  {more}");
        }
        for more in outcome.reply.iter().flat_map(|reply| reply.lines()) {
            println!("                  {}", paint::engine(more));
        }
    }

    /// Draws the end.
    pub fn finish(&self) {
        let (messages, boundaries) = (self.messages, self.boundaries);
        let scopes = self.sessions.len();
        let many = |n: usize, one: &str, more: &str| format!("{n} {}", if n == 1 { one } else { more });
        let summary = [
            many(messages, "line", "lines"),
            many(boundaries, "boundary", "boundaries"),
            many(scopes, "scope", "scopes"),
        ]
        .join(", ");
        println!("{}", paint::dim(summary));
    }
}
