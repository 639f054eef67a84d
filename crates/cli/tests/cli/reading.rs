//! The commands that look: scopes, context, why, verify; and erase, which they show.

use crate::world::{DURABLE, ME, World, check};
use serde_json::json;
use std::fs;
use std::path::Path;

#[test]
fn scopes_context_why_verify() {
    check!(World::with_talk("sqlite:log.db").script(
        "scopes
         context agent:main:cli:direct:me
         why agent:main:cli:direct:me
         why agent:main:cli:direct:me --last 3
         verify
         verify agent:main:cli:direct:me"
    ));
}

#[test]
fn scopes_context_why_verify_json() {
    check!(World::with_talk("sqlite:log.db").script(
        "scopes --json
         context agent:main:cli:direct:me --json
         why agent:main:cli:direct:me --last 2 --json
         verify --json"
    ));
}

#[test]
fn scopes_are_cut_at_the_limit() {
    let world = World::new();
    let line =
        |n: usize| format!(r#"{{"at":"2026-03-01T10:00:{n:02}Z","scope":"scope-{n}","text":"hello"}}"#);
    world.file("many.jsonl", (0..12).map(line).collect::<Vec<_>>().join("\n"));
    world.run(&["replay", "many.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    check!(world.script("scopes --limit 3 --store sqlite:log.db"));
}

/// A session and a person can be erased as a whole, everywhere, and the proof still holds.
#[test]
fn x6_a_session_or_a_person_is_erased_on_request() {
    for store in DURABLE {
        let world = World::new();
        let talk = r#"{"at":"2026-03-01T10:00:00Z","channel":"telegram","peer":"111","text":"MARKONE: my name is Ann."}
{"at":"2026-03-01T10:01:00Z","channel":"telegram","peer":"111","text":"/new"}
{"at":"2026-03-01T10:02:00Z","channel":"telegram","peer":"111","text":"MARKTWO is the second thing"}
{"at":"2026-03-01T10:03:00Z","channel":"telegram","group":"-5","sender":"111","text":"MARKTHREE in the group"}
{"at":"2026-03-01T10:04:00Z","channel":"telegram","group":"-5","sender":"222","text":"OTHER stays here"}
"#;
        world.file("people.jsonl", talk);
        world.run(&["replay", "people.jsonl", "--store", store]).expect_code(0);
        world.file("segue.toml", format!("[store]\nurl = \"{store}\"\n"));
        let seen = world.script(
            "memory work
             erase agent:main:telegram:direct:111 --session 1
             erase agent:main:telegram:direct:111 --session 9
             memory list
             erase --person telegram:111 --dry-run
             erase --person telegram:111
             erase --person telegram:111
             verify",
        );
        check!("erase_person", seen);
        let folder = world.path("");
        let holds = |mark: &str| {
            let files = files(&folder);
            files.iter().any(|(path, bytes)| {
                !path.ends_with("people.jsonl") && String::from_utf8_lossy(bytes).contains(mark)
            })
        };
        assert!(holds("OTHER"));
        for mark in ["MARKONE", "MARKTWO", "MARKTHREE"] {
            assert!(!holds(mark), "{mark} in {store}");
        }
    }
}

/// What was set aside because it cannot be read holds what people said, too.
#[test]
fn x6_a_person_is_erased_from_what_was_set_aside() {
    let world = World::new();
    let talk = r#"{"at":"2026-03-01T10:00:00Z","channel":"telegram","peer":"111","text":"MARKONE: my name is Ann."}
{"at":"2026-03-01T10:01:00Z","channel":"telegram","peer":"111","text":"/new"}
{"at":"2026-03-01T10:02:00Z","channel":"telegram","peer":"111","text":"MARKTWO is the second thing"}
{"at":"2026-03-01T10:03:00Z","channel":"telegram","group":"-5","sender":"111","text":"MARKTHREE in the group"}
{"at":"2026-03-01T10:04:00Z","channel":"telegram","group":"-6","sender":"222","text":"OTHER: in another group"}
{"at":"2026-03-01T10:05:00Z","channel":"telegram","peer":"333","text":"OTHER: somebody else"}
{"at":"2026-03-01T10:06:00Z","channel":"discord","group":"-7","sender":"444","text":"OTHER: elsewhere"}
"#;
    world.file("people.jsonl", talk);
    world.run(&["replay", "people.jsonl", "--store", "files:log"]).expect_code(0);
    world.file("segue.toml", "[store]\nurl = \"files:log\"\n");
    let sessions = world.path("log/sessions");
    let spoil = |file: &str, from: &str, to: &str| {
        let path = sessions.join(file);
        let whole = fs::read_to_string(&path).unwrap();
        assert!(whole.contains(from), "{whole}");
        fs::write(&path, whole.replacen(from, to, 1)).unwrap();
    };
    for folder in ["agent_main_telegram_direct_111", "agent_main_telegram_direct_333"] {
        spoil(&format!("{folder}/journal.jsonl"), "\"kind\":\"opened\"", "\"kind\":");
    }
    for folder in ["agent_main_telegram_group_-5", "agent_main_discord_group_-7"] {
        spoil(&format!("{folder}/000001.jsonl"), "\"kind\":\"decision\"", "\"kind\":");
    }
    // The warnings that the store cannot be read are told elsewhere.
    let told = |line: &str, code: i32| {
        let out = world.run(&line.split(' ').collect::<Vec<_>>()).expect_code(code).out;
        format!("$ segue {line}\n{out}")
    };
    let seen = [
        told("erase --person telegram:111 --dry-run", 0),
        told("erase --person telegram:111 --dry-run --json", 0),
        told("erase --person telegram:111", 0),
        told("erase --person telegram:111", 1),
        told("scopes", 0),
    ]
    .concat();
    check!("erase_set_aside", seen);
    let holds = |mark: &str| {
        let files = files(&world.path("log"));
        files.iter().filter(|(_, bytes)| String::from_utf8_lossy(bytes).contains(mark)).count()
    };
    assert_eq!(holds("OTHER"), 3);
    assert_eq!(holds("MARK"), 0);
}

/// An erased message is gone, everywhere, and the proof still holds.
#[test]
fn erase_and_what_is_seen_of_it() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let shown = world.run(&["sessions", "show", ME, "--json"]).json();
        let seq = shown["conversation_state"][0]["seq"].to_string();
        let seen = world.script(&format!(
            "erase agent:main:cli:direct:me {seq}
             erase agent:main:cli:direct:me {seq}
             erase agent:main:cli:direct:me 9999
             sessions show agent:main:cli:direct:me
             export agent:main:cli:direct:me --format markdown
             verify"
        ));
        check!("erase", seen);
        let folder = world.path("");
        assert!(!files(&folder).iter().any(|(path, bytes)| {
            !path.ends_with("talk.jsonl") && String::from_utf8_lossy(bytes).contains("quiet hotel")
        }));
    }
}

pub fn files(folder: &Path) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            found.push((path, bytes));
        }
    }
    found
}

/// M-D3: one changed letter on disk is found, by exit code 1.
#[test]
fn verify_finds_a_changed_letter() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let mut changed = 0;
        for (path, bytes) in files(&world.path("")) {
            let at = bytes.windows(11).position(|window| window == b"quiet hotel");
            if let Some(at) = at.filter(|_| !path.ends_with("talk.jsonl")) {
                let mut bytes = bytes;
                bytes[at] = b'Q';
                fs::write(path, bytes).unwrap();
                changed += 1;
            }
        }
        assert!(changed > 0, "{store}");
        let seen = world.script("verify\nverify --json");
        assert!(seen.contains("[exit 1]"), "{seen}");
        let verified = world.run(&["verify", "--json"]).expect_code(1).json();
        assert_eq!(verified["ok"], json!(false));
        assert!(!verified["problems"].as_array().unwrap().is_empty());
        // A store of files has a digest for each line, too.
        let kind = store.split(':').next().unwrap();
        check!(format!("a_changed_letter_{kind}"), seen);
    }
}
