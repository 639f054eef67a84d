//! Slash commands: deterministic, and never seen by a model.

mod answers;
mod parse;

pub use parse::{Parsed, Slash, parse};

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
        Slash::Delete(index) => Request::Delete(Pick::Listed(*index)),
        Slash::Answer(answer) => Request::Answer(*answer),
        Slash::Control(model) => Request::Control(Pick::Latest, model.clone()),
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
        Request::Delete(_) => words::Command::SessionDelete,
        _ => words::Command::SessionShow,
    }
}
