//! The same file on every store gives the same answer.

use crate::world::{DURABLE, TALK, World};

/// Removes the ids of sessions, which are new each time.
fn without_ids(output: &str) -> String {
    let line = |line: &str| {
        let mut value: serde_json::Value = serde_json::from_str(line).unwrap();
        value.as_object_mut().unwrap().remove("session_id");
        value.to_string()
    };
    output.lines().map(line).collect::<Vec<_>>().join("\n")
}

fn same_everywhere(text: &str) {
    let stores = ["memory:", "sqlite:a.db", "sqlite:b.db", "files:a", "files:b"];
    let mut outputs = Vec::new();
    for store in stores {
        let world = World::new();
        world.file("talk.jsonl", text);
        let json = world.run(&["replay", "talk.jsonl", "--store", store, "--json"]).expect_code(0);
        outputs.push((store, without_ids(&json.out)));
        if store != "memory:" {
            // Again into the same store: what carries an id is known, and nothing is damaged.
            world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
            world.run(&["verify", "--store", store]).expect_code(0);
        }
    }
    for (store, output) in &outputs {
        assert_eq!(*output, outputs[0].1, "{store}");
    }
}

#[test]
fn a_talk_is_the_same_on_every_store() {
    same_everywhere(TALK.trim_start());
}

#[test]
fn the_examples_are_the_same_on_every_store() {
    for name in ["lisbon", "office", "kitchen-zh"] {
        let path = format!("{}/../../examples/{name}.jsonl", env!("CARGO_MANIFEST_DIR"));
        same_everywhere(&std::fs::read_to_string(path).unwrap());
    }
}

/// What one process wrote, the next one reads.
#[test]
fn the_stores_show_the_same_afterwards() {
    let commands = [
        vec!["scopes"],
        vec!["sessions", "list", crate::world::ME],
        vec!["sessions", "show", crate::world::ME],
        vec!["context", crate::world::ME],
        vec!["why", crate::world::ME, "--last", "5"],
        vec!["export", crate::world::ME, "--format", "openai"],
    ];
    let worlds = DURABLE.map(World::with_talk);
    for args in commands {
        let [sqlite, files] = worlds.each_ref().map(|world| world.run(&args).expect_code(0).out);
        let scrub = |text: &str| {
            let id = text.lines().filter(|line| !line.starts_with("id "));
            id.collect::<Vec<_>>().join("\n")
        };
        assert_eq!(scrub(&sqlite), scrub(&files), "{args:?}");
    }
}

/// X-3: a `/new` that was the last thing before a restart holds after it; numbers are not used again.
#[test]
fn x3_new_survives_a_restart() {
    for store in DURABLE {
        let world = World::with_talk(store);
        let say = |text: &str| {
            let line =
                format!(r#"{{"at":"2026-03-01T10:06:00Z","scope":"{}","text":"{text}"}}"#, crate::world::ME);
            let ran = world.run_with(&["replay", "-", "--json", "--store", store], line.as_bytes());
            ran.expect_code(0).json_lines()[0]["session"].as_str().unwrap().to_owned()
        };
        assert!(say("/new").ends_with("#3"));
        assert!(say("after the restart").ends_with("#3"));
        assert!(say("/undo").ends_with("#2"));
        assert!(say("/new").ends_with("#4"), "{store}");
    }
}

/// First contact, row 22: a backup from any store to any store, verified, with nothing lost on the way back.
#[test]
fn a_backup_goes_from_any_store_to_any_store() {
    for from in crate::world::DURABLE {
        for (to, name) in [("sqlite:copy.db", "copy.db"), ("files:copy", "files:copy")] {
            let world = World::with_talk(from);
            world.run(&["erase", crate::world::ME, "2"]).expect_code(0);
            world.run(&["sessions", "delete", crate::world::ME]).expect_code(0);
            world.run(&["sessions", "new", crate::world::ME]).expect_code(0);
            let told = world.run(&["backup", name]).expect_code(0);
            assert!(told.out.contains("all of it was verified"), "{}", told.seen());
            assert!(world.run(&["backup", name]).expect_code(2).err.contains("never written over"));
            world.run(&["restore", name, "--store", "sqlite:back.db"]).expect_code(0);
            world.run(&["verify", "--store", "sqlite:back.db"]).expect_code(0);
            for args in
                [&["scopes", "--json"][..], &["sessions", "show", "agent:main:cli:direct:me#2", "--json"]]
            {
                let of = |store: &str| world.run(&[args, &["--store", store]].concat()).expect_code(0).out;
                assert_eq!(of(to), of(from), "{from} to {to}");
                assert_eq!(of("sqlite:back.db"), of(from), "{from} to {to} and back");
            }
            // A second restore changes nothing.
            let again = world.run(&["restore", name, "--store", "sqlite:back.db"]).expect_code(0);
            assert!(again.out.contains("0 entries"), "{}", again.out);
        }
    }
}
