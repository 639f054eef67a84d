//! `segue erase` where files cannot be read: what surely is theirs goes, what may be anybody's stays unless it is asked for.

use crate::world::{ME, World, check};
use std::fs;

/// Two groups and somebody's own scope, in files; the second group has a line that nobody can read.
fn groups() -> World {
    let world = World::new();
    let talk = r#"{"at":"2026-03-01T10:00:00Z","channel":"telegram","group":"-5","sender":"111","text":"MARKONE: Ann was here"}
{"at":"2026-03-01T10:01:00Z","channel":"telegram","group":"-6","sender":"222","text":"OTHER: somebody else"}
{"at":"2026-03-01T10:02:00Z","channel":"telegram","group":"-6","sender":"222","text":"OTHER: and again"}
{"at":"2026-03-01T10:03:00Z","channel":"discord","peer":"222","text":"MARKTWO: Ann again"}
"#;
    world.file("people.jsonl", talk);
    world.run(&["replay", "people.jsonl", "--store", "files:log"]).expect_code(0);
    let config = "[store]\nurl = \"files:log\"\n[session]\nidentity_links = { ann = ['telegram:111', 'discord:222'] }\n";
    world.file("segue.toml", config);
    spoil(&world, "agent_main_telegram_group_-6/000001.jsonl", "OTHER: somebody else\"");
    world
}

/// Leaves out the warnings that a file cannot be read; they are told elsewhere.
fn without_warnings(seen: &str) -> String {
    seen.lines().filter(|line| !line.starts_with("!  WARN")).map(|line| format!("{line}\n")).collect()
}

/// Takes away the last letter of a part of a file.
fn spoil(world: &World, file: &str, part: &str) {
    let path = world.path("log/sessions").join(file);
    let whole = fs::read_to_string(&path).unwrap();
    assert!(whole.contains(part), "{whole}");
    fs::write(&path, whole.replacen(part, &part[..part.len() - 1], 1)).unwrap();
}

/// Who mistypes a name loses nobody's words, and is told.
#[test]
fn x6_a_wrong_name_deletes_nothing_that_was_set_aside() {
    let world = groups();
    let copy = world.path("log/sessions/agent_main_telegram_group_-6/000001.jsonl");
    let before = fs::read(&copy).unwrap();
    check!(
        "erase_wrong_name",
        without_warnings(&world.script(
            "erase --person telegram:999 --dry-run
         erase --person telegram:999
         erase --person discord:999
         erase --person nobody"
        ))
    );
    assert_eq!(fs::read(&copy).unwrap(), before);
}

/// An address that is linked is the person; what only may hold their words goes when it is asked for.
#[test]
fn x6_a_linked_address_is_the_person_and_what_may_be_theirs_is_named() {
    let world = groups();
    let copy = world.path("log/sessions/agent_main_telegram_group_-6/000001.jsonl");
    let seen = world.script(
        "erase --person Telegram:111 --dry-run
         erase --person Telegram:111 --dry-run --json
         erase --person Telegram:111",
    );
    assert!(copy.exists());
    let log = world.path("log");
    let holds = |mark: &str| {
        let files = crate::reading::files(&log);
        files.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains(mark))
    };
    assert!(!holds("MARKONE") && !holds("MARKTWO") && holds("OTHER"));
    let asked = world.script(
        "erase --person ann --set-aside --dry-run
         erase --person ann --set-aside",
    );
    assert!(!copy.exists());
    check!("erase_linked", without_warnings(&(seen + &asked)));
}

/// A file that other sessions see, too, is not one session's to delete.
#[test]
fn x6_what_other_sessions_see_stays_when_a_session_is_erased() {
    let world = World::new().variable("SEGUE_STORE_URL", "files:log");
    let say = |minute: u32, text: &str| {
        let line = format!(r#"{{"at":"2026-03-01T10:{minute:02}:00Z","scope":"{ME}","text":"{text}"}}"#);
        world.file("talk.jsonl", line);
        world.run(&["replay", "talk.jsonl", "--store", "files:log"]).expect_code(0);
    };
    say(0, "shared by two");
    world.run(&["sessions", "fork", ME]).expect_code(0);
    say(1, "in the fork");
    world.run(&["sessions", "resume", ME, "1"]).expect_code(0);
    say(2, "in the first");
    say(3, "/new");
    say(4, "one's own");
    world.run(&["sessions", "resume", ME, "1"]).expect_code(0);
    world.run(&["sessions", "resume", ME, "3"]).expect_code(0);
    say(5, "more of one's own");
    let folder = world.path("log/sessions/agent_main_cli_direct_me");
    let file_of = |text: &str| {
        let files = crate::reading::files(&folder);
        let (path, _) =
            files.iter().find(|(_, bytes)| String::from_utf8_lossy(bytes).contains(text)).unwrap();
        path.clone()
    };
    let (shared, own) = (file_of("shared by two"), file_of("\"one's own"));
    for (path, part) in [(&shared, "shared by two\""), (&own, "one's own\"")] {
        let name = path.file_name().unwrap().to_str().unwrap();
        spoil(&world, &format!("agent_main_cli_direct_me/{name}"), part);
    }
    world.run(&["erase", ME, "--session", "3"]).expect_code(0);
    assert!(!own.exists() && shared.exists());
    let before = fs::read(&shared).unwrap();
    let ran = world.run(&["erase", ME, "--session", "1"]).expect_code(1);
    assert!(ran.err.contains("other sessions see it too; --set-aside deletes all of it"), "{}", ran.err);
    assert_eq!(fs::read(&shared).unwrap(), before);
    world.run(&["erase", ME, "--session", "1", "--set-aside"]);
    assert!(!shared.exists());
}

/// A scope that only a newer Segue can read keeps nobody from being erased elsewhere, and is named.
#[test]
fn x6_one_scope_that_cannot_be_read_does_not_stop_an_erasure() {
    let world = groups();
    let path = world.path("log/sessions/agent_main_telegram_group_-6/journal.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("\"kind\":\"opened\"", "\"kind\":\"kind_of_tomorrow\"", 1)).unwrap();
    let ran = world.run(&["erase", "--person", "ann"]).expect_code(1);
    assert!(ran.err.contains("refused: agent:main:telegram:group:-6: "), "{}", ran.err);
    let log = crate::reading::files(&world.path("log"));
    assert!(!log.iter().any(|(_, bytes)| String::from_utf8_lossy(bytes).contains("MARK")));
}

/// Titles and what is remembered stand elsewhere than what was said, and go with it all the same.
#[test]
fn x6_titles_and_memories_of_what_cannot_be_read_are_erased() {
    let world = World::new().variable("SEGUE_STORE_URL", "files:log");
    let talk = r#"{"at":"2026-03-01T10:00:00Z","channel":"telegram","peer":"111","text":"My name is Ann MARKONE."}
{"at":"2026-03-01T10:01:00Z","channel":"telegram","peer":"111","text":"/new"}
{"at":"2026-03-01T10:02:00Z","channel":"telegram","peer":"111","text":"two"}
"#;
    world.file("people.jsonl", talk);
    world.run(&["replay", "people.jsonl", "--store", "files:log"]).expect_code(0);
    world.run(&["sessions", "rename", "agent:main:telegram:direct:111", "MARKTITLE of one"]).expect_code(0);
    world.run(&["memory", "work"]).expect_code(0);
    spoil(&world, "agent_main_telegram_direct_111/000001.jsonl", "MARKONE.\"");
    let marks = || {
        let files = crate::reading::files(&world.path("log"));
        files.iter().map(|(_, bytes)| String::from_utf8_lossy(bytes).matches("MARK").count()).sum::<usize>()
    };
    assert!(marks() >= 3, "what was said, the title and what is remembered");
    world.run(&["erase", "--person", "telegram:111"]).expect_code(0);
    assert_eq!(marks(), 0);
    world.run(&["memory", "list", "agent:main:telegram:direct:111"]).expect_code(0);
    world.run(&["erase", "--person", "telegram:111"]).expect_code(1);
}
