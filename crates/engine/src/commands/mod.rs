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
        Slash::Resume(index) => Request::Resume(Pick::Listed(*index)),
        Slash::Rename(pick, title) => Request::Rename(*pick, title.clone()),
        Slash::Fork(at) => Request::Fork(Pick::Latest, *at),
        Slash::Split(at) => Request::Split(*at),
        Slash::Keep(index, wish) => Request::Wish(Pick::Listed(*index), *wish),
        Slash::Delete(index) => Request::Delete(Pick::Listed(*index)),
        Slash::Answer(answer) => Request::Answer(*answer),
        Slash::Control(model) => Request::Control(Pick::Latest, model.clone()),
        Slash::AgentUse(name) => Request::Pin(Pick::Latest, Repin::Agent(name.clone())),
        Slash::ReloadSkills => Request::Pin(Pick::Latest, Repin::Skills),
        Slash::ReloadPersona => Request::Pin(Pick::Latest, Repin::Persona),
        Slash::Model(Some(name)) => Request::Pin(Pick::Latest, Repin::Model(name.clone())),
        Slash::Agents | Slash::Agent(_) | Slash::Skills | Slash::Skill(_) | Slash::Model(None) => {
            return None;
        }
        Slash::List | Slash::Show(_) | Slash::Recall(_) | Slash::Status | Slash::Why(_) | Slash::Help => {
            return None;
        }
    })
}

/// Says why a request was not done.
pub(crate) fn refused(language: Language, state: &State, request: &Request, refused: &Refused) -> String {
    match refused {
        Refused::Rule(refusal) => words::refusal(language, &state.scope, refusal),
        Refused::NotListed { count, .. } => words::out_of_range(language, typed(request), *count),
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

/// Names the slash command that asks for a request.
fn typed(request: &Request) -> words::Command {
    match request {
        Request::Resume(_) => words::Command::SessionResume,
        Request::Rename(..) => words::Command::SessionRename,
        Request::Fork(..) => words::Command::SessionFork,
        Request::Wish(..) => words::Command::SessionKeep,
        Request::Delete(_) => words::Command::SessionDelete,
        _ => words::Command::SessionShow,
    }
}
