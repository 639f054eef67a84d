//! Commands amid a client's history. They and Segue's answers to them are no part of the conversation: what was said after a
//! command that moved to another session was said there.

use super::history::{Known, compare_from_start};
use super::request_message::RequestMessage;
use crate::app::App;
use crate::problem::Problem;
use segue_core::entry::{Body, CommandBy, Record};
use segue_core::message::Role;
use segue_core::session::Number;
use segue_core::span::Spans;
use segue_core::state::State;
use segue_engine::commands::{self, Parsed, Slash};
use segue_store::{Filter, Reading, Take};

/// How many commands of a scope are looked through, the newest first.
const COMMANDS_MAX: usize = 256;

/// How many entries behind a command its decision is looked for.
const DECISION_BEHIND_MAX: usize = 24;

/// A client's history without commands, and without Segue's answers to them.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Conversation {
    /// What people, models and tools said.
    pub(crate) said: Vec<RequestMessage>,
    moves: Vec<Move>,
}

/// A command that moves to another session.
#[derive(Debug, PartialEq)]
struct Move {
    /// As it was typed.
    text: String,
    /// How many messages of the conversation come before it.
    before: usize,
    noted: Noted,
}

/// How the log tells of a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Noted {
    /// By an entry of its own.
    Command,
    /// By the message behind it, which begins a session: `/new TEXT`.
    FirstMessage,
}

/// Tells whether a message is a command for Segue.
pub(crate) fn is_command(said: &RequestMessage) -> bool {
    matches!(parsed(said), Parsed::Slash(_) | Parsed::Usage(_))
}

fn parsed(said: &RequestMessage) -> Parsed {
    match said.role == Role::User && said.content.is_none() {
        true => commands::parse(&said.message.text),
        false => Parsed::Message,
    }
}

fn moves(slash: &Slash) -> bool {
    matches!(
        slash,
        Slash::New(_)
            | Slash::Undo
            | Slash::Redo
            | Slash::Resume(_)
            | Slash::Move(_)
            | Slash::Fork(_)
            | Slash::Split(_)
            | Slash::Answer(_)
    )
}

impl Conversation {
    /// Reads a history.
    pub(crate) fn of(history: Vec<RequestMessage>) -> Self {
        let mut conversation = Self::default();
        let mut is_answer = false;
        for mut said in history {
            // What Segue answers stands between a command and the next message of somebody else.
            if is_answer && said.role == Role::Assistant {
                continue;
            }
            is_answer = false;
            match parsed(&said) {
                Parsed::Message | Parsed::Unknown => conversation.said.push(said),
                Parsed::Usage(_) => is_answer = true,
                Parsed::Slash(slash) => {
                    if moves(&slash) {
                        let noted = match slash {
                            Slash::New(Some(_)) => Noted::FirstMessage,
                            _ => Noted::Command,
                        };
                        let (text, before) = (said.message.text.trim().to_owned(), conversation.said.len());
                        conversation.moves.push(Move { text, before, noted });
                    }
                    match slash {
                        // What stands behind `/new` is a message, and a model has answered it.
                        Slash::New(Some(first)) => {
                            said.message.text = first;
                            conversation.said.push(said);
                        }
                        _ => is_answer = true,
                    }
                }
            }
        }
        conversation
    }
}

impl App {
    /// Finds what is known of a conversation behind the last command in it that moved to another session. Nothing if there is
    /// none that the log knows of.
    pub(crate) async fn recognise_behind_command(
        &self,
        state: &State,
        conversation: &Conversation,
    ) -> Result<Option<Known>, Problem> {
        if conversation.moves.is_empty() {
            return Ok(None);
        }
        let views = state.all().map(|(number, _)| state.view(number));
        let view = views.fold(Spans::default(), |all, view| all.union(&view));
        let reading = Reading { view, filter: Filter::Commands, take: Take::Newest(COMMANDS_MAX) };
        let typed = self.engine.store().read(&state.scope, &reading).await?;
        for moved in conversation.moves.iter().rev() {
            let behind = conversation.said.get(moved.before..).unwrap_or_default();
            let known = match moved.noted {
                Noted::FirstMessage => self.recognise(state, behind).await?,
                Noted::Command => self.recognise_behind(state, &typed, &moved.text, behind).await?,
            };
            if let Some(mut known) = known {
                known.new.iter_mut().for_each(|at| *at += moved.before);
                known.held.iter_mut().for_each(|(at, _)| *at += moved.before);
                return Ok(Some(known));
            }
        }
        Ok(None)
    }

    /// Finds what is known of what was said behind a command. The same may have been typed more than once: the place counts
    /// that knows most of it, or else the newest.
    async fn recognise_behind(
        &self,
        state: &State,
        typed: &[Record],
        text: &str,
        behind: &[RequestMessage],
    ) -> Result<Option<Known>, Problem> {
        let mut best: Option<(Known, usize)> = None;
        for record in typed.iter().rev().filter(|record| says(record, text)) {
            let Some(session) = self.moved_to(state, record).await? else { continue };
            let stored = self.stored(state, &state.view(session)).await?;
            let (earlier, later): (Vec<_>, Vec<_>) =
                stored.into_iter().partition(|stored| stored.seq < record.seq);
            let (mut known, length) = compare_from_start(session, &later, behind);
            known.last = known.last.or(earlier.last().map(|stored| stored.seq));
            if best.as_ref().is_none_or(|(_, longest)| length > *longest) {
                best = Some((known, length));
            }
        }
        Ok(best.map(|(known, _)| known))
    }

    /// Finds the session that a command led to.
    async fn moved_to(&self, state: &State, record: &Record) -> Result<Option<Number>, Problem> {
        let behind = self.engine.store().tail(&state.scope, record.seq, DECISION_BEHIND_MAX).await?;
        let decided = behind.iter().find_map(|behind| match behind.body() {
            Ok(Body::Decision(decision)) if decision.about == record.seq => Some(decision),
            _ => None,
        });
        let moved = decided.filter(|decision| decision.action.is_boundary());
        Ok(moved.map(|decision| decision.session).filter(|session| state.live(*session).is_some()))
    }
}

/// Tells whether an entry is a command that a person typed so.
fn says(record: &Record, text: &str) -> bool {
    match record.body() {
        Ok(Body::Command(spoken)) => spoken.by == CommandBy::Person && spoken.text.trim() == text,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_core::message::Message;

    fn history(lines: &[&str]) -> Vec<RequestMessage> {
        let said = |line: &&str| {
            let (role, text) = line.split_once(' ').unwrap();
            let message = Message::text(text);
            RequestMessage { place: 0, role: Role::named(role).unwrap(), message, content: None }
        };
        lines.iter().map(said).collect()
    }

    #[test]
    fn s2_commands_and_their_answers_are_left_out() {
        let conversation = Conversation::of(history(&[
            "user a",
            "assistant b",
            "user /status",
            "assistant Session #1",
            "user c",
            "assistant d",
            "user /new",
            "assistant Started #2",
            "user e",
            "assistant f",
            "user /new g",
            "assistant h",
            "user /session resume",
            "assistant Usage",
            "user /usr/bin is a path",
        ]));
        let expected = ["user a", "assistant b", "user c", "assistant d", "user e", "assistant f"];
        let expected = [expected.as_slice(), &["user g", "assistant h", "user /usr/bin is a path"]].concat();
        assert_eq!(conversation.said, history(&expected));
        let moved = |text: &str, before, noted| Move { text: text.to_owned(), before, noted };
        let moves = [moved("/new", 4, Noted::Command), moved("/new g", 6, Noted::FirstMessage)];
        assert_eq!(conversation.moves, moves);
    }
}
