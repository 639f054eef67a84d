//! Very many scopes by one token: as many as the setting says, and not one more.

use crate::client::Client;
use crate::daemon::Place;
use crate::{Result, check};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

/// How many connections speak at the same time.
const CONNECTIONS: u64 = 64;

fn hello(scope: &str) -> String {
    json!({ "scope": scope, "text": "Which hotel is quieter?" }).to_string()
}

/// Begins so many scopes.
pub async fn run(count: u64) -> Result<()> {
    let place = Place::new(&format!("[serve]\nscopes_per_token_max = {count}\n"))?;
    let secret = place.token()?;
    let daemon = place.start()?;
    let (next, begun) = (Arc::new(AtomicU64::new(0)), Instant::now());
    let before = daemon.memory()?;
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..CONNECTIONS {
        let (next, address, secret) = (Arc::clone(&next), daemon.address.clone(), secret.clone());
        tasks.spawn(async move {
            let mut client = Client::connect(&address).await?.with_token(&secret);
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                if number >= count {
                    return Ok::<_, Box<dyn std::error::Error + Send + Sync>>(());
                }
                client.json("POST", "/api/v1/messages", &hello(&format!("s:{number}"))).await?;
            }
        });
    }
    while let Some(task) = tasks.join_next().await {
        task??;
    }
    let (seconds, after) = (begun.elapsed().as_secs_f64(), daemon.memory()?);
    println!(
        "{count} scopes by one token in {seconds:.1} s ({} MB before, {} MB after)",
        before >> 20,
        after >> 20
    );
    let mut client = Client::connect(&daemon.address).await?.with_token(&secret);
    let (status, body) = client.call("POST", "/api/v1/messages", &hello("one:more")).await?;
    check(status == 409, || format!("one more: {status} {}", String::from_utf8_lossy(&body)))?;
    client.json("POST", "/api/v1/messages", &hello("s:0")).await?;
    let (mut listed, mut cursor, paging) = (0, String::new(), Instant::now());
    loop {
        let page = client.json("GET", &format!("/api/v1/scopes?limit=500{cursor}"), "").await?;
        listed += page.get("items").and_then(|items| items.as_array()).map_or(0, Vec::len);
        match page.get("next").and_then(|next| next.as_str()) {
            Some(next) => cursor = format!("&cursor={next}"),
            None => break,
        }
    }
    println!(
        "listed page by page in {:.1} s; one more is refused, those that are there go on",
        paging.elapsed().as_secs_f64()
    );
    check(listed as u64 == count, || format!("{listed} of {count} scopes are listed"))
}
