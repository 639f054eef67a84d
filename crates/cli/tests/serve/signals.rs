//! Signals, the first line, and what is logged.

use crate::process::{Place, ask, get};
use serde_json::{Value, json};

fn say(address: &str, text: &str) -> (u16, String) {
    ask(
        address,
        "POST",
        "/api/v1/messages",
        &json!({ "scope": "agent:main:cli:direct:heron", "text": text }).to_string(),
    )
}

#[test]
fn the_first_line_says_where_it_listens_and_sigterm_ends_it_with_0() {
    let place = Place::new("");
    let daemon = place.start(&[]);
    assert_eq!(daemon.first_line, format!("listening on http://{}\n", daemon.address));
    assert_eq!(say(&daemon.address, "hello").0, 200);
    daemon.signal("TERM");
    let (status, rest) = daemon.ended();
    assert_eq!((status.code(), rest.as_str()), (Some(0), ""));

    let daemon = place.start(&["--json"]);
    let line: Value = serde_json::from_str(&daemon.first_line).unwrap();
    assert_eq!(line, json!({ "listening": format!("http://{}", daemon.address) }));
    daemon.signal("INT");
    assert_eq!(daemon.ended().0.code(), Some(0));
}

#[test]
fn another_address_without_tokens_is_refused() {
    let place = Place::new("");
    let ended = place.command("0.0.0.0:0").output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert!(!ended.status.success() && ended.stdout.is_empty() && said.contains("token"), "{said}");
}

/// A configuration is taken over as a whole, or not at all.
#[test]
fn sighup_takes_a_configuration_over_or_refuses_it_as_a_whole() {
    let model = "[models.first]\nbase_url = \"http://127.0.0.1:9/v1\"\nmodel = \"m\"\n";
    let place = Place::new(&format!("[serve]\nbody_bytes_max = 2048\n{model}"));
    let daemon = place.start(&[]);
    let models = || -> Vec<String> {
        let listed = get(&daemon.address, "/v1/models");
        listed["data"].as_array().unwrap().iter().map(|m| m["id"].as_str().unwrap().to_owned()).collect()
    };
    let is_told = |word: &str| {
        while !place.log().contains(word) {
            std::thread::yield_now();
        }
    };
    assert_eq!((models(), say(&daemon.address, &"x".repeat(3000)).0), (vec!["first".to_owned()], 413));

    // One wrong setting: the model beside it is not taken over either.
    place.configure(&format!("[serve]\nbody_bytes_max = \"many\"\n{}", model.replace("first", "second")));
    daemon.signal("HUP");
    is_told("was not taken");
    assert_eq!((models(), say(&daemon.address, &"x".repeat(3000)).0), (vec!["first".to_owned()], 413));

    place.configure(&format!("[serve]\nbody_bytes_max = 65536\n{}", model.replace("first", "second")));
    daemon.signal("HUP");
    is_told("was read anew");
    assert_eq!((models(), say(&daemon.address, &"x".repeat(3000)).0), (vec!["second".to_owned()], 200));
    daemon.signal("TERM");
    assert_eq!(daemon.ended().0.code(), Some(0));
}

/// Every line of the log is JSON, and none holds a word of a message, a scope or a token.
#[test]
fn logs_are_json_without_anybodys_words() {
    let place = Place::new("[serve]\nbody_bytes_max = 2048\n");
    let daemon = place.start(&["--log", "debug"]);
    let scope = "/api/v1/scopes/agent:main:cli:direct:heron";
    say(&daemon.address, "the secret word is kingfisher");
    say(&daemon.address, "/new kingfisher");
    say(&daemon.address, "/nonsense kingfisher");
    for (method, path, body) in [
        ("GET", format!("{scope}/sessions"), String::new()),
        (
            "POST",
            format!("{scope}/recall"),
            json!({ "query": "kingfisher", "why": "kingfisher" }).to_string(),
        ),
        ("POST", "/api/v1/messages".to_owned(), "{\"kingfisher".to_owned()),
        ("POST", "/api/v1/messages".to_owned(), "kingfisher".repeat(1000)),
        ("POST", "/api/v1/replies".to_owned(), json!({ "scope": "heron", "text": "kingfisher" }).to_string()),
        (
            "POST",
            "/v1/chat/completions".to_owned(),
            json!({ "model": "kingfisher", "messages": [{ "role": "user", "content": "kingfisher" }] })
                .to_string(),
        ),
        ("GET", "/api/v1/scopes/kingfisher/sessions/heron".to_owned(), String::new()),
    ] {
        ask(&daemon.address, method, &path, &body);
    }
    daemon.signal("TERM");
    assert_eq!(daemon.ended().0.code(), Some(0));
    let log = place.log();
    assert!(log.lines().count() >= 8, "{log}");
    for line in log.lines() {
        let read: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("no JSON: {line}"));
        assert!(read["level"].is_string() && read["timestamp"].is_string(), "{line}");
    }
    for word in ["kingfisher", "heron", "sgt_"] {
        assert!(!log.contains(word), "{word}: {log}");
    }
}
