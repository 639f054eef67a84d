//! Load for `segue serve`, from a second process on loopback. `SEGUE` names the program to start.
//!
//!     cargo run -p segue-server --example load -- turns [SECONDS]
//!     cargo run -p segue-server --example load -- streams [COUNT]
//!     cargo run -p segue-server --example load -- hang
//!     cargo run -p segue-server --example load -- kill [TIMES]
//!     cargo run -p segue-server --example load -- scopes [COUNT]

mod client;
mod daemon;
mod hang;
mod kill;
mod scopes;
mod streams;
mod turns;

use std::process::ExitCode;

/// Whatever goes wrong ends the run.
type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let what = words.next().unwrap_or_default();
    let number = words.next().map(|word| word.parse::<u64>());
    let number = match number.transpose() {
        Ok(number) => number,
        Err(_) => return usage(),
    };
    let done = match what.as_str() {
        "turns" => turns::run(number.unwrap_or(5)).await,
        "streams" => streams::run(number.unwrap_or(10_000)).await,
        "hang" => hang::run().await,
        "kill" => kill::s7_killed_under_load(number.unwrap_or(10)).await,
        "scopes" => scopes::run(number.unwrap_or(100_000)).await,
        _ => return usage(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("failed: {error}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> ExitCode {
    eprintln!("turns [SECONDS] | streams [COUNT] | hang | kill [TIMES] | scopes [COUNT]");
    ExitCode::from(2)
}

/// Fails unless it is so.
fn check(is_so: bool, what: impl FnOnce() -> String) -> Result<()> {
    if is_so { Ok(()) } else { Err(what().into()) }
}
