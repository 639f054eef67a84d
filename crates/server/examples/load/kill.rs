//! Killed under load, again and again: no acknowledged turn is lost, none is there twice, the log is whole, and streams
//! of events resume without loss.

use crate::client::Client;
use crate::daemon::Place;
use crate::{Result, check};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::sync::watch;

/// How many connections speak at the same time.
const CONNECTIONS: u64 = 16;

/// Everything that was acknowledged: the ids of a scope's messages, in order.
type Acknowledged = BTreeMap<String, Vec<String>>;

/// S-7: kills the daemon so many times.
pub async fn s7_killed_under_load(times: u64) -> Result<()> {
    let place = Place::new("")?;
    let mut daemon = place.start()?;
    let (address, told) = watch::channel(daemon.address.clone());
    let (stop, stopped) = watch::channel(false);
    let count = Arc::new(AtomicU64::new(0));
    let speakers: Vec<_> = (0..CONNECTIONS)
        .map(|number| tokio::spawn(speak(number, told.clone(), stopped.clone(), Arc::clone(&count))))
        .collect();
    let follower = tokio::spawn(follow(told.clone(), stopped.clone()));
    for number in 0..times {
        // Killed after a different number of turns each time.
        let from = count.load(Ordering::Relaxed);
        let turns = 20 + (number * 37) % 180;
        while count.load(Ordering::Relaxed) < from + turns {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        daemon.kill()?;
        daemon = place.start()?;
        address.send_replace(daemon.address.clone());
        if (number + 1) % 10 == 0 {
            println!("killed {} times, {} turns acknowledged", number + 1, count.load(Ordering::Relaxed));
        }
    }
    stop.send_replace(true);
    let mut acknowledged = Acknowledged::new();
    for speaker in speakers {
        let (scope, ids) = speaker.await??;
        acknowledged.insert(scope, ids);
    }
    let events = follower.await??;
    let mut client = Client::connect(&daemon.address).await?;
    for (scope, ids) in &acknowledged {
        let stored = stored(&mut client, scope).await?;
        check(stored == *ids, || {
            format!("{scope}: {} messages were acknowledged, {} are stored", ids.len(), stored.len())
        })?;
        let report = client.json("GET", &format!("/api/v1/scopes/{scope}/verify"), "").await?;
        check(report.get("ok") == Some(&true.into()), || format!("{scope}: {report}"))?;
    }
    let total: usize = acknowledged.values().map(Vec::len).sum();
    let seen = events.len();
    check(seen == total, || format!("{total} messages, {seen} events of them"))?;
    println!(
        "killed {times} times: {total} turns acknowledged, each stored once and told once; all verified"
    );
    Ok(())
}

/// Says one thing after the other, each until it is acknowledged, and returns the ids in order.
async fn speak(
    number: u64,
    mut address: watch::Receiver<String>,
    stopped: watch::Receiver<bool>,
    count: Arc<AtomicU64>,
) -> Result<(String, Vec<String>)> {
    let scope = format!("agent:main:load:direct:{number}");
    let mut ids: Vec<String> = Vec::new();
    let mut client = None;
    while !*stopped.borrow() {
        let id = format!("{number}-{}", ids.len());
        let text = format!("Which hotel is quieter, number {} or the other one?", ids.len());
        let body = json!({ "scope": scope, "text": text, "message_id": id }).to_string();
        loop {
            let sent = match &mut client {
                Some(client) => Client::call(client, "POST", "/api/v1/messages", &body).await,
                None => Err("not connected".into()),
            };
            match sent {
                Ok((200, _)) => break,
                Ok((status, bytes)) => {
                    return Err(format!("{status}: {}", String::from_utf8_lossy(&bytes)).into());
                }
                // It was killed: the same message goes to the next one.
                Err(_) => client = again(&mut address).await,
            }
        }
        ids.push(id);
        count.fetch_add(1, Ordering::Relaxed);
    }
    Ok((scope, ids))
}

/// Connects to the daemon that is there now.
async fn again(address: &mut watch::Receiver<String>) -> Option<Client> {
    let now = address.borrow_and_update().clone();
    match Client::connect(&now).await {
        Ok(client) => Some(client),
        Err(_) => {
            let _ = tokio::time::timeout(Duration::from_millis(100), address.changed()).await;
            None
        }
    }
}

/// Follows the events of all scopes across the deaths of the daemon; each message has to come exactly once.
async fn follow(
    mut address: watch::Receiver<String>,
    mut stopped: watch::Receiver<bool>,
) -> Result<BTreeSet<(String, u64)>> {
    let mut seen = BTreeSet::new();
    let mut last = Some("0".to_owned());
    let mut is_last_round = false;
    loop {
        let Some(mut client) = again(&mut address).await else { continue };
        if client.watch("/api/v1/events", last.as_deref()).await.is_err() {
            continue;
        }
        loop {
            // At the end nothing more comes: a pause ends the stream.
            let next = tokio::select! {
                next = client.event() => Some(next),
                () = tokio::time::sleep(Duration::from_secs(2)), if is_last_round => return Ok(seen),
                _ = stopped.wait_for(|stop| *stop), if !is_last_round => None,
            };
            let Some(next) = next else {
                // An event may be cut by the choice above: begin anew behind the last whole one.
                is_last_round = true;
                break;
            };
            let Ok((id, data)) = next else { break };
            last = Some(id);
            if data.get("role").is_some() {
                let scope = data.get("scope").and_then(|scope| scope.as_str()).unwrap_or_default().to_owned();
                let seq = data.get("seq").and_then(serde_json::Value::as_u64).unwrap_or_default();
                check(seen.insert((scope.clone(), seq)), || format!("{scope} {seq} was told twice"))?;
            }
        }
    }
}

/// Reads the ids of a scope's messages, over all of its sessions.
async fn stored(client: &mut Client, scope: &str) -> Result<Vec<String>> {
    let sessions =
        client.json("GET", &format!("/api/v1/scopes/{scope}/sessions?archived=true&limit=500"), "").await?;
    let mut found = BTreeMap::new();
    for session in sessions.get("items").and_then(|items| items.as_array()).into_iter().flatten() {
        let number = session.get("index").cloned().unwrap_or_default();
        let mut cursor = String::new();
        loop {
            let path = format!("/api/v1/scopes/{scope}/sessions/{number}/messages?limit=500{cursor}");
            let page = client.json("GET", &path, "").await?;
            for message in page.get("items").and_then(|items| items.as_array()).into_iter().flatten() {
                let seq = message.get("seq").and_then(serde_json::Value::as_u64).unwrap_or_default();
                if let Some(id) = message.get("message_id").and_then(|id| id.as_str()) {
                    found.insert(seq, id.to_owned());
                }
            }
            match page.get("next").and_then(|next| next.as_str()) {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
    }
    Ok(found.into_values().collect())
}
