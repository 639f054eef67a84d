//! Idle streams of events: what one costs, and that a turn and its event are as fast as before. A slow reader harms
//! nobody.

use crate::client::Client;
use crate::daemon::Place;
use crate::{Result, check};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::timeout;

/// How many scopes the streams are spread over.
const SCOPES: u64 = 100;

/// How many messages a slow reader leaves unread: more than the buffers of the connection hold.
const UNREAD: usize = 400;

fn scope(number: u64) -> String {
    format!("agent:main:load:direct:{number}")
}

async fn say(client: &mut Client, scope: &str, text: &str) -> Result<Duration> {
    let begun = Instant::now();
    client.json("POST", "/api/v1/messages", &json!({ "scope": scope, "text": text }).to_string()).await?;
    Ok(begun.elapsed())
}

/// Holds so many streams.
pub async fn run(count: u64) -> Result<()> {
    let place = Place::new("[limits]\nmessage_bytes_max = 1048576\n")?;
    let daemon = place.start()?;
    let mut client = Client::connect(&daemon.address).await?;
    for number in 0..SCOPES {
        say(&mut client, &scope(number), "Hello, this is about the trip to Lisbon.").await?;
    }
    let before = daemon.memory()?;
    let mut streams = Vec::new();
    for number in 0..count {
        let mut stream = Client::connect(&daemon.address).await?;
        stream.watch(&format!("/api/v1/scopes/{}/events", scope(number % SCOPES)), None).await?;
        streams.push(stream);
    }
    let after = daemon.memory()?;
    let each = after.saturating_sub(before) / count.max(1);
    println!(
        "{count} idle streams: {each} bytes each ({} MB before, {} MB after)",
        before >> 20,
        after >> 20
    );

    let took = say(&mut client, &scope(0), "Which hotel is quieter?").await?;
    let mut told = 0;
    for stream in streams.iter_mut().step_by(SCOPES as usize) {
        let (_, data) = timeout(Duration::from_secs(20), stream.event()).await??;
        told += u64::from(data.get("text").is_some());
    }
    println!("a turn among them: {:.1} ms, told to {told} streams", took.as_secs_f64() * 1e3);
    check(told == count.div_ceil(SCOPES), || format!("{told} of {} were told", count.div_ceil(SCOPES)))?;
    drop(streams);

    let mut slow = Client::connect(&daemon.address).await?;
    slow.watch(&format!("/api/v1/scopes/{}/events", scope(0)), Some("0")).await?;
    let (long, mut slowest) = ("word ".repeat(8_000), Duration::ZERO);
    for _ in 0..UNREAD {
        slowest = slowest.max(say(&mut client, &scope(0), &long).await?);
    }
    println!(
        "beside a reader that does not read: slowest of {UNREAD} turns {:.0} ms",
        slowest.as_secs_f64() * 1e3
    );
    check(slowest < Duration::from_secs(10), || "a slow reader holds turns up".to_owned())?;
    // It is told everything all the same, if it comes to read before it is cut off.
    let mut messages = 0;
    while messages < UNREAD {
        let (_, data) = timeout(Duration::from_secs(20), slow.event()).await??;
        messages += usize::from(data.get("text").and_then(|text| text.as_str()) == Some(&long));
    }
    Ok(())
}
