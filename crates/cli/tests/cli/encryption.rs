//! Encryption at rest through the real binary: the same configuration for the command line and the daemon, no word in any file,
//! rotation, copies from plain to encrypted and back, and keys that are wrong.

use crate::world::{DURABLE, ME, TALK, World};
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

const MARK: &str = "zanzibarquokka";

/// A world whose store is encrypted from the first message on.
fn encrypted(store: &str) -> World {
    let world = World::new().variable("SEGUE_STORE_URL", store).variable("SEGUE_STORE_KEY_FILE", "store.key");
    world.run(&["keys", "new", "store.key"]).expect_code(0);
    world
}

fn files_below(path: &Path) -> Vec<PathBuf> {
    match fs::read_dir(path) {
        Ok(entries) => entries.flat_map(|entry| files_below(&entry.unwrap().path())).collect(),
        Err(_) => vec![path.to_owned()],
    }
}

/// The files of a store in which some words stand, in whatever case.
fn holding(world: &World, words: &str) -> Vec<PathBuf> {
    let stores = fs::read_dir(world.path("")).unwrap().map(|entry| entry.unwrap().path());
    let stores = stores.filter(|path| path.file_name().unwrap().to_string_lossy().starts_with("log"));
    let holds = |path: &PathBuf| {
        let bytes = fs::read(path).unwrap().to_ascii_lowercase();
        bytes.windows(words.len()).any(|part| part == words.as_bytes())
    };
    stores.flat_map(|path| files_below(&path)).filter(holds).collect()
}

fn post(address: &str, path: &str, key: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    let head = format!(
        "POST {path} HTTP/1.1\r\nhost: {address}\r\ncontent-type: application/json\r\nconnection: close\r\n\
         idempotency-key: {key}\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).unwrap();
    stream.write_all(body.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

/// Messages, tool calls and results, titles, tasks, notes, what is remembered, the index, and answers kept by the daemon.
#[test]
fn no_word_is_in_any_byte_of_the_store() {
    for store in DURABLE {
        let world = encrypted(store);
        let talk = TALK.replace("Lisbon", MARK).replace("Santa Clara", MARK).replace("lasagne", MARK);
        let kept = format!(
            r#"{{"at":"2026-03-01T10:01:00Z","scope":"{ME}","text":"Remember that my name is {MARK}, I prefer {MARK}."}}"#
        );
        let talk = talk.trim_start().lines().flat_map(|line| {
            let before = line.contains("/new").then_some(kept.as_str());
            before.into_iter().chain([line])
        });
        world.file("talk.jsonl", talk.map(|line| format!("{line}\n")).collect::<String>());
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        world.run(&["sessions", "rename", ME, MARK]).expect_code(0);
        world.run(&["task", "start", ME, &format!("Book {MARK}")]).expect_code(0);
        world.run(&["task", "note", ME, &format!("{MARK} is cheap")]).expect_code(0);
        world.run(&["memory", "work"]).expect_code(0);
        assert!(world.run(&["memory", "list", ME]).expect_code(0).out.contains(MARK));
        assert!(world.run(&["recall", ME, MARK, "--why", "a test"]).expect_code(0).out.contains(MARK));
        // The daemon, with the same configuration, keeps an answer that repeats what was said.
        let mut serve = world.command();
        serve.args(["serve", "--addr", "127.0.0.1:0", "--json", "--log", "error"]);
        let mut daemon = serve.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(daemon.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let listening: serde_json::Value = serde_json::from_str(&line).unwrap();
        let address = listening["listening"].as_str().unwrap().trim_start_matches("http://").to_owned();
        let body = format!(r#"{{"scope":"{ME}","text":"/session rename {MARK} again"}}"#);
        let [first, second] = [1, 2].map(|_| post(&address, "/api/v1/messages", "the-key", &body));
        daemon.kill().unwrap();
        daemon.wait().unwrap();
        assert!(first.starts_with("HTTP/1.1 200"), "{first}");
        let said = |answer: &str| answer.split_once("\r\n\r\n").unwrap().1.to_owned();
        assert_eq!(said(&first), said(&second), "it was kept");
        assert_eq!(holding(&world, MARK), Vec::<PathBuf>::new(), "{store}");
        assert!(!holding(&world, "direct").is_empty(), "{store}: the search finds what is there");
        world.run(&["verify"]).expect_code(0);
        assert!(world.run(&["sessions", "show", ME]).expect_code(0).out.contains(MARK));
        let doctor = world.run(&["doctor"]).expect_code(0).out;
        assert!(doctor.contains("encryption: on, master key "), "{doctor}");
    }
}

/// The steps of docs/encryption.md.
#[test]
fn keys_are_rotated_with_a_new_line_in_the_key_file() {
    for store in DURABLE {
        let world = encrypted(store);
        world.file("talk.jsonl", TALK.trim_start());
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        let before = world.run(&["sessions", "show", ME]).expect_code(0).out;
        let old = fs::read_to_string(world.path("store.key")).unwrap();
        world.run(&["keys", "new", "store.key"]).expect_code(0);
        let both = fs::read_to_string(world.path("store.key")).unwrap();
        assert!(both.ends_with(&old) && both.len() == 2 * old.len());
        // Between the two steps the store is as usable as before.
        assert_eq!(world.run(&["sessions", "show", ME]).expect_code(0).out, before);
        let rotated = world.run(&["keys", "rotate", "--json"]).expect_code(0).json();
        assert_eq!((&rotated["encrypted"], &rotated["data_keys"]), (&true.into(), &2.into()));
        world.file("store.key", both.strip_suffix(&old).unwrap());
        assert_eq!(world.run(&["sessions", "show", ME]).expect_code(0).out, before);
        world.run(&["verify"]).expect_code(0);
        world.file("store.key", &old);
        let refused = world.run(&["sessions", "show", ME]).expect_code(2).err;
        let new = rotated["master_key"].as_str().unwrap();
        assert!(refused.contains("is encrypted") && refused.contains(new), "{refused}");
    }
}

/// From plain to encrypted and back, from each kind of store to the other.
#[test]
fn a_backup_and_a_restore_convert_everything() {
    for (store, other) in [("sqlite:log.db", "files:log2"), ("files:log", "sqlite:log2.db")] {
        let plain = World::with_talk(store);
        let shown = plain.run(&["sessions", "show", ME]).expect_code(0).out;
        let digest = |world: &World| world.run(&["verify", "--json"]).expect_code(0).out;
        let proof = digest(&plain);
        plain.run(&["keys", "new", "store.key"]).expect_code(0);
        assert_eq!(plain.run(&["keys", "show", "--json"]).expect_code(0).json()["encrypted"], false);
        // Into a new store that is encrypted.
        let keyed = plain.variable("SEGUE_STORE_URL", other);
        keyed.file("segue.toml", "store.key_file = \"store.key\"");
        keyed.run(&["restore", store]).expect_code(0);
        assert_eq!(keyed.run(&["keys", "show", "--json"]).expect_code(0).json()["encrypted"], true);
        assert_eq!(keyed.run(&["sessions", "show", ME]).expect_code(0).out, shown);
        assert_eq!(digest(&keyed), proof, "the same is proved");
        // A copy is encrypted too, unless it is to be plain.
        keyed.run(&["backup", "sqlite:copy.db"]).expect_code(0);
        keyed.run(&["backup", "sqlite:plain.db", "--plain"]).expect_code(0);
        let lisbon =
            |name: &str| fs::read(keyed.path(name)).unwrap().windows(6).any(|part| part == b"Lisbon");
        assert!(!lisbon("copy.db") && lisbon("plain.db"));
        keyed.file("segue.toml", "");
        let back = keyed.variable("SEGUE_STORE_URL", "sqlite:plain.db");
        assert_eq!(back.run(&["sessions", "show", ME]).expect_code(0).out, shown);
        assert_eq!(digest(&back), proof);
        // The plain one that the restore came from is as it was.
        let source = back.variable("SEGUE_STORE_URL", store);
        assert_eq!(source.run(&["keys", "show", "--json"]).expect_code(0).json()["encrypted"], false);
    }
}

#[test]
fn wrong_keys_are_said_with_what_to_do_and_never_shown() {
    let secret = "5ec2e7".repeat(10) + "5ec2";
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let world = world
        .variable("SEGUE_MASTER_KEY", &secret)
        .variable("SHORT", "5ec2e7")
        .variable("WORDS", "not a key");
    let right = "store.key_env = \"SEGUE_MASTER_KEY\"";
    world.file("segue.toml", right);
    world.file("talk.jsonl", TALK.trim_start());
    world.run(&["replay", "talk.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    for args in
        [vec!["config", "show", "--origin"], vec!["doctor"], vec!["keys", "show"], vec!["config", "check"]]
    {
        let ran = world.run(&args).expect_code(0);
        assert!(!ran.seen().contains("5ec2e7"), "{args:?}: {}", ran.seen());
    }
    world.file("empty.key", "# nothing\n");
    let cases = [
        ("store.key_env = \"SHORT\"", "the key has 3 bytes"),
        ("store.key_env = \"WORDS\"", "a key is 32 bytes"),
        ("store.key_file = \"empty.key\"", "there is no key"),
        ("store.key_file = \"there.is.none\"", "`segue keys new there.is.none` makes one"),
        ("store.key_env = \"NO_SUCH_VARIABLE\"", "NO_SUCH_VARIABLE (store.key_env) is not set"),
        ("", "none was given: name it with store.key_file or store.key_env"),
        ("[store]\nkey_env = \"SHORT\"\nkey_file = \"empty.key\"", "both set"),
    ];
    for (config, expected) in cases {
        world.file("segue.toml", config);
        for args in [vec!["sessions", "show", ME], vec!["verify"]] {
            let ran = world.run(&args).expect_code(2);
            assert!(ran.err.contains(expected) && !ran.err.contains("5ec2e7"), "{config}: {}", ran.seen());
        }
        assert_eq!(world.run(&["doctor"]).code, Some(1), "{config}");
        world.file("segue.toml", right);
        world.run(&["verify"]).expect_code(0);
    }
    // A file that is no file of keys is left alone.
    let ran = world.run(&["keys", "new", "talk.jsonl"]).expect_code(2);
    assert!(ran.err.contains("is no file of keys"), "{}", ran.seen());
}

/// A kill at any moment of a rotation: the key file with both keys always opens the store, and exactly one of the two alone does.
#[test]
fn a_kill_in_the_middle_of_a_rotation_loses_nothing() {
    for store in DURABLE {
        let world = encrypted(store);
        world.file("talk.jsonl", TALK.trim_start());
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        let shown = world.run(&["sessions", "show", ME]).expect_code(0).out;
        let mut opened_by = [0, 0];
        for round in 0..12 {
            let old = fs::read_to_string(world.path("store.key")).unwrap();
            world.run(&["keys", "new", "store.key"]).expect_code(0);
            let both = fs::read_to_string(world.path("store.key")).unwrap();
            let new = both.strip_suffix(old.as_str()).unwrap();
            let mut rotation = world.command();
            let mut rotation = rotation
                .args(["keys", "rotate"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Later in each round: before, in the middle of, and after the write.
            let begun = std::time::Instant::now();
            while begun.elapsed().as_micros() < round * 1_500 && rotation.try_wait().unwrap().is_none() {
                std::thread::yield_now();
            }
            rotation.kill().unwrap();
            rotation.wait().unwrap();
            assert_eq!(world.run(&["sessions", "show", ME]).expect_code(0).out, shown, "both keys");
            let alone = [old.as_str(), new].map(|keys| {
                world.file("store.key", keys);
                world.run(&["sessions", "show", ME]).code == Some(0)
            });
            assert_ne!(alone[0], alone[1], "exactly one of the two keys is used");
            opened_by[usize::from(alone[1])] += 1;
            world.file("store.key", if alone[0] { old.as_str() } else { new });
            world.run(&["verify"]).expect_code(0);
        }
        assert_eq!(opened_by[0] + opened_by[1], 12);
    }
}
