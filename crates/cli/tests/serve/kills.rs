//! Killed under load.

use crate::process::{Place, ask, get, try_ask};
use serde_json::json;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const SPEAKERS: usize = 8;

/// How often the daemon is killed here; `scripts/check-load` does it more often (`SEGUE_KILLS=100`).
const KILLS: usize = 8;

/// S-7: a kill at any time loses no acknowledged turn and leaves none twice; the log is whole.
#[test]
fn s7_a_kill_at_any_time_loses_no_acknowledged_turn() {
    let place = Place::new("");
    let mut daemon = place.start(&[]);
    let address = Arc::new(Mutex::new(daemon.address.clone()));
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let speak = |number: usize| {
        let (address, stop, acknowledged) =
            (Arc::clone(&address), Arc::clone(&stop), Arc::clone(&acknowledged));
        std::thread::spawn(move || {
            let scope = format!("agent:main:load:direct:{number}");
            let mut count = 0;
            while !stop.load(Ordering::SeqCst) {
                let text = format!("Which hotel is quieter, number {count} or the other one?");
                let body =
                    json!({ "scope": scope, "text": text, "message_id": count.to_string() }).to_string();
                // The same message goes to the next daemon until one has acknowledged it.
                loop {
                    let now = address.lock().unwrap().clone();
                    match try_ask(&now, "POST", "/api/v1/messages", &body) {
                        Some((200, _)) => break,
                        Some((status, body)) => panic!("{status} {body}"),
                        None => std::thread::yield_now(),
                    }
                }
                count += 1;
                acknowledged.fetch_add(1, Ordering::SeqCst);
            }
            (scope, count)
        })
    };
    let speakers: Vec<_> = (0..SPEAKERS).map(speak).collect();
    for kill in 0..KILLS {
        // After another number of turns each time.
        let until = acknowledged.load(Ordering::SeqCst) + 10 + kill * 7;
        while acknowledged.load(Ordering::SeqCst) < until {
            std::thread::yield_now();
        }
        daemon.kill();
        daemon = place.start(&[]);
        daemon.address.clone_into(&mut address.lock().unwrap());
    }
    stop.store(true, Ordering::SeqCst);
    for speaker in speakers {
        let (scope, count) = speaker.join().unwrap();
        let path = format!("/api/v1/scopes/{scope}");
        let mut ids = Vec::new();
        for session in get(&daemon.address, &format!("{path}/sessions?archived=true&limit=500"))["items"]
            .as_array()
            .unwrap()
        {
            let messages = format!("{path}/sessions/{}/messages?limit=500", session["index"]);
            for message in get(&daemon.address, &messages)["items"].as_array().unwrap() {
                ids.push(message["message_id"].as_str().unwrap().parse::<usize>().unwrap());
            }
        }
        ids.sort_unstable();
        assert_eq!(ids, (0..count).collect::<Vec<_>>(), "{scope}: each acknowledged message once");
        assert_eq!(get(&daemon.address, &format!("{path}/verify"))["ok"], true, "{scope}");
    }
    assert_eq!(ask(&daemon.address, "GET", "/readyz", "").0, 200);
}
