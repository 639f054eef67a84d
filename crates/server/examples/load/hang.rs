//! A model that hangs stops no other turn.

use crate::client::Client;
use crate::daemon::Place;
use crate::{Result, check};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::net::TcpListener;

/// How many requests hang.
const HANGING: usize = 500;

/// How many turns are made meanwhile.
const TURNS: usize = 200;

/// Lets requests hang, and makes turns.
pub async fn run() -> Result<()> {
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let settings = format!(
        "[models.main]\nbase_url = \"http://{}/v1\"\nmodel = \"silent\"\nwire = \"chat\"\n",
        silent.local_addr()?
    );
    let place = Place::new(&settings)?;
    let daemon = place.start()?;
    let mut hanging = tokio::task::JoinSet::new();
    for number in 0..HANGING {
        let address = daemon.address.clone();
        hanging.spawn(async move {
            let body = json!({ "model": "main", "user": format!("h{number}"),
                "messages": [{ "role": "user", "content": "Are you there?" }] });
            Client::connect(&address).await?.call("POST", "/v1/chat/completions", &body.to_string()).await
        });
    }
    // The model takes the connections, and says nothing.
    let mut taken = Vec::new();
    while taken.len() < HANGING {
        taken.push(silent.accept().await?);
    }
    let mut client = Client::connect(&daemon.address).await?;
    let mut slowest = Duration::ZERO;
    for number in 0..TURNS {
        let body = json!({ "scope": format!("s{}", number % 8), "text": "Which hotel is quieter?" });
        let begun = Instant::now();
        client.json("POST", "/api/v1/messages", &body.to_string()).await?;
        slowest = slowest.max(begun.elapsed());
    }
    println!(
        "beside {HANGING} requests that hang: slowest of {TURNS} turns {:.0} ms",
        slowest.as_secs_f64() * 1e3
    );
    check(slowest < Duration::from_secs(10), || "a model that hangs holds turns up".to_owned())
}
