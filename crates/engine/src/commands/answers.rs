//! The commands that only read: what they answer.

use super::{Slash, refused};
use crate::engine::{Engine, Turn};
use crate::error::Error;
use crate::history::{Listed, StoredMessage};
use crate::recall::Recall;
use crate::request::pick_session;
use crate::words::{self, Language};
use segue_core::state::State;
use std::sync::Arc;

/// How many messages `/session show` shows.
const SHOWN_MAX: usize = 10;

/// Why something is recalled by a command.
const ASKED: &str = "the user asked";

impl Engine {
    /// Answers a command that changes nothing.
    pub(crate) async fn read_only(&self, turn: &Turn, slash: &Slash) -> Result<String, Error> {
        let state = self.find_state(&turn.scope).await?;
        let state = state.unwrap_or_else(|| Arc::new(State::empty(turn.scope.clone())));
        let now = state.effective(turn.at);
        match slash {
            Slash::Help => Ok(words::help(turn.language)),
            _ if state.latest().is_none() => Ok(words::nothing_said(turn.language)),
            Slash::List | Slash::ListAll => {
                let all = *slash == Slash::ListAll;
                let list = if all { self.list_all(&state).await? } else { self.list(&state).await? };
                let line = |session: &Listed| words::listed(turn.language, session, now);
                let mut lines: Vec<String> = list.iter().map(line).collect();
                let archived = if all { 0 } else { state.archived() };
                lines.extend((archived > 0).then(|| words::archived(turn.language, archived)));
                Ok(lines.join("\n"))
            }
            Slash::Show(pick) => match pick_session(&state, *pick) {
                Ok(number) => {
                    let stored = self.messages(&state, number, SHOWN_MAX).await?;
                    Ok(show(turn.language, &self.describe(&state, number).await?, &stored, now))
                }
                Err(why) => Ok(refused(turn.language, &state, None, &why)),
            },
            Slash::Why(count) => {
                let decisions = self.why(&state, *count).await?;
                let stored =
                    decisions.iter().map(|explained| words::explained(turn.language, explained, now));
                let stored: Vec<String> = stored.collect();
                Ok(if stored.is_empty() { words::nothing_said(turn.language) } else { stored.join("\n") })
            }
            Slash::Recall(query) => {
                let recall = Recall::new(query, ASKED);
                let recalled = self.recall(&turn.scope, &recall).await?;
                Ok(words::recall::found(turn.language, &recalled, now))
            }
            // What is left changes something and does not come here, so a status does no harm.
            Slash::Status
            | Slash::New(_)
            | Slash::Undo
            | Slash::Redo
            | Slash::Restore(_)
            | Slash::Move(_)
            | Slash::Resume(_)
            | Slash::Rename(..)
            | Slash::Fork(_)
            | Slash::Split(_)
            | Slash::Answer(_)
            | Slash::Control(_)
            | Slash::Delete(_)
            | Slash::Keep(..)
            | Slash::Agents
            | Slash::Agent(_)
            | Slash::AgentUse(_)
            | Slash::Skills
            | Slash::Skill(_)
            | Slash::ReloadSkills
            | Slash::ReloadPersona
            | Slash::Model(_) => {
                let number = state.latest().unwrap_or(segue_core::session::Number::FIRST);
                if let Some(answer) = Box::pin(self.about_pins(turn, &state, number, slash)).await? {
                    return Ok(answer);
                }
                let session = self.describe(&state, number).await?;
                let status = words::status(turn.language, &session, &state, turn.policy.name(), now);
                let mut lines = vec![status, Box::pin(self.pins_status(turn, &state, number)).await?];
                let aside = match self.store.quarantine() {
                    Some(quarantine) => quarantine.problems(&turn.scope).await?.len(),
                    None => 0,
                };
                lines.extend((aside > 0).then(|| words::set_aside(turn.language, aside)));
                Ok(lines.join("\n"))
            }
        }
    }
}

fn show(
    language: Language,
    session: &Listed,
    stored: &[StoredMessage],
    now: segue_core::Timestamp,
) -> String {
    let mut lines = vec![words::listed(language, session, now)];
    lines.extend(
        stored.iter().map(|stored| format!("{:>4}  {}: {}", stored.seq, stored.role, one_line(&stored.text))),
    );
    lines.join("\n")
}

/// How much of a message `/session show` shows, in characters.
const LINE_CHARS_MAX: usize = 200;

fn one_line(text: &str) -> String {
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(LINE_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}
