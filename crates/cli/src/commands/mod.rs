//! One file per verb.

mod backup;
pub mod chat;
mod completions;
mod config;
mod context;
mod doctor;
mod erase;
mod eval;
mod export;
mod import;
mod keys;
mod memory;
mod move_store;
mod recall;
pub mod replay;
mod retention;
mod scopes;
pub mod serve;
mod sessions;
mod task;
mod token;
mod transfer;
mod trust;
mod verify;
mod why;

use crate::Exit;
use crate::args::{Args, Command};

/// Runs a command.
pub async fn run(args: Args) -> anyhow::Result<Exit> {
    let common = args.common;
    match args.command {
        Command::Chat(chat) => Box::pin(chat::run(&common, &chat)).await,
        Command::Replay(replay) => Box::pin(replay::run(&common, &replay)).await,
        Command::Scopes { limit } => scopes::run(&common, limit).await,
        Command::Sessions(verb) => sessions::run(&common, verb).await,
        Command::Task(task) => task::run(&common, task).await,
        Command::Context { scope, window, shape } => {
            context::run(&common, scope.as_ref(), window, shape).await
        }
        Command::Recall(options) => recall::run(&common, &options).await,
        Command::Search { query, limit } => recall::search(&common, &query, limit).await,
        Command::Memory(verb) => Box::pin(memory::run(&common, verb)).await,
        Command::Retention(verb) => Box::pin(retention::run(&common, verb)).await,
        Command::Why { scope, last } => why::run(&common, scope.as_ref(), last).await,
        Command::Doctor => doctor::run(&common).await,
        Command::Verify { scope } => verify::run(&common, scope).await,
        Command::Erase(what) => erase::run(&common, what).await,
        Command::Export { key, format } => export::run(&common, key.as_ref(), format).await,
        Command::Import { path, format, scope } => {
            import::run(&common, &path, format.map(Into::into), scope).await
        }
        Command::Serve(serve) => Box::pin(serve::run(&common, &serve)).await,
        Command::Token(verb) => token::run(&common, verb).await,
        Command::Keys(verb) => keys::run(&common, verb).await,
        Command::Backup { to, plain } => {
            let form = if plain { backup::Form::Plain } else { backup::Form::Same };
            backup::backup(&common, &to, form).await
        }
        Command::Restore { from } => backup::restore(&common, &from).await,
        Command::Move(options) => Box::pin(move_store::run(&common, &options)).await,
        Command::Config(verb) => config::run(&common, &verb),
        Command::Trust { folder, off } => trust::run(&common, &folder, off),
        Command::Eval(options) => eval::run(&common, &options),
        Command::Completions { shell } => completions::run(shell),
        Command::Manual { folder } => completions::manual(&folder),
    }
}
