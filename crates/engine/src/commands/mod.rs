//! Slash commands: deterministic, and never seen by a model.

mod answers;
mod parse;
mod pins;

pub use parse::{Parsed, Slash, parse};

use crate::pins::Repin;
use crate::request::{Pick, Refused, Request};
use crate::words::{self, Language};
use segue_core::refusal::Refusal;
use segue_core::state::State;

/// Returns what a command asks of the scope, or nothing if it only reads.
pub(crate) fn request(slash: &Slash) -> Option<Request> {
    Some(match slash {
        Slash::New(_) => Request::New(None),
        Slash::Undo => Request::Undo,
        Slash::Resume(session) => Request::Resume(Pick::Numbered(*session)),
        Slash::Rename(pick, title) => Request::Rename(*pick, title.clone()),
        Slash::Fork(at) => Request::Fork(Pick::Latest, *at),
        Slash::Split(at) => Request::Split(*at),
        Slash::Keep(session, wish) => Request::KeepChoice(Pick::Numbered(*session), *wish),
        Slash::Delete(session) => Request::Delete(Pick::Numbered(*session)),
        Slash::Redo => Request::Redo,
        Slash::Restore(session) => Request::Restore(Pick::Numbered(*session)),
        Slash::Move(session) => Request::Move(Pick::Numbered(*session)),
        Slash::Answer(answer) => Request::Answer(*answer),
        Slash::Control(model) => Request::Control(Pick::Latest, model.clone()),
        Slash::AgentUse(name) => Request::Pin(Pick::Latest, Repin::Agent(name.clone())),
        Slash::ReloadSkills => Request::Pin(Pick::Latest, Repin::Skills),
        Slash::ReloadPersona => Request::Pin(Pick::Latest, Repin::Persona),
        Slash::Model(Some(name)) => Request::Pin(Pick::Latest, Repin::Model(name.clone())),
        Slash::Agents | Slash::Agent(_) | Slash::Skills | Slash::Skill(_) | Slash::Model(None) => {
            return None;
        }
        Slash::List
        | Slash::ListAll
        | Slash::Show(_)
        | Slash::Recall(_)
        | Slash::Status
        | Slash::Why(_)
        | Slash::Help => {
            return None;
        }
    })
}

/// Says why a request was not done.
pub(crate) fn refused(
    language: Language,
    state: &State,
    request: Option<&Request>,
    refused: &Refused,
) -> String {
    match refused {
        // P-7: a number that is none gives a usage line too.
        Refused::Rule(refusal @ Refusal::NoSession(_)) => {
            let usage = request.and_then(typed).map(|command| words::usage(language, command));
            let refusal = words::refusal(language, &state.scope, refusal);
            [Some(refusal), usage].into_iter().flatten().collect::<Vec<_>>().join(" ")
        }
        Refused::Rule(refusal) => words::refusal(language, &state.scope, refusal),
        Refused::Changed => words::changed(language),
        Refused::NotModerator => words::not_moderator(language),
        Refused::NoAgent { name, known } => {
            words::pins::not_configured(language, words::Command::AgentUse, name, known)
        }
        Refused::NoModel { name, known } => {
            words::pins::not_configured(language, words::Command::Model, name, known)
        }
        Refused::Persona(error) => words::pins::persona_refused(language, error),
        Refused::NoHost => words::pins::no_host(language),
        Refused::NoMessage { session, seq } => {
            let refusal = Refusal::NotInSession { session: *session, seq: *seq };
            words::refusal(language, &state.scope, &refusal)
        }
    }
}

/// Names the slash command that asks for a request about a session.
fn typed(request: &Request) -> Option<words::Command> {
    Some(match request {
        Request::Resume(_) => words::Command::SessionResume,
        Request::Restore(_) => words::Command::SessionRestore,
        Request::Move(_) => words::Command::SessionMove,
        Request::Rename(..) => words::Command::SessionRename,
        Request::KeepChoice(..) => words::Command::SessionKeep,
        Request::Delete(_) => words::Command::SessionDelete,
        _ => return None,
    })
}
