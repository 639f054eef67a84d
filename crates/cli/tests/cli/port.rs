//! Export and import: round trips, second imports, bad files (X-8).

use crate::world::{DURABLE, ME, World, check};
use serde_json::json;

#[test]
fn every_format() {
    check!(World::with_talk("sqlite:log.db").script(
        "export agent:main:cli:direct:me
         export agent:main:cli:direct:me --format openai
         export agent:main:cli:direct:me --format markdown
         export agent:main:cli:direct:me#9
         export agent:main:cli:direct:nobody"
    ));
}

/// Own format: from any store to any store, and a second import changes nothing.
#[test]
fn a_round_trip_keeps_every_message() {
    for (from, to) in [(0, 1), (1, 0), (0, 0)] {
        let source = World::with_talk(DURABLE[from]);
        let exported = source.run(&["export", ME]).expect_code(0).out;
        let target = World::new().variable("SEGUE_STORE_URL", DURABLE[to]);
        target.file("talk.segue", &exported);
        let first = target.run(&["import", "talk.segue", "--json"]).expect_code(0).json();
        let came_to = |read: &serde_json::Value| {
            ["session", "taken", "known", "bad", "format"].map(|field| read[field].clone())
        };
        assert_eq!(came_to(&first), [json!(ME), json!(4), json!(0), json!([]), json!("segue")]);
        let messages = |world: &World| {
            let shown = world.run(&["sessions", "show", ME, "--json"]).expect_code(0).json();
            let list = shown["conversation_state"].as_array().unwrap().clone();
            list.into_iter()
                .map(|mut message| {
                    message.as_object_mut().unwrap().remove("seq");
                    message
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(messages(&target), messages(&source));
        let before = target.run(&["export", ME]).out;
        let second = target.run(&["import", "talk.segue", "--json"]).expect_code(0).json();
        assert_eq!(came_to(&second), [json!(null), json!(0), json!(4), json!([]), json!("segue")]);
        assert_eq!(target.run(&["export", ME]).out, before);
        assert_eq!(target.run(&["sessions", "list", ME, "--json"]).json().as_array().unwrap().len(), 1);
        target.run(&["verify"]).expect_code(0);
    }
}

/// Where it came from, an export is known, also the messages that no channel gave an id.
#[test]
fn an_import_where_it_came_from_changes_nothing() {
    for store in DURABLE {
        let world = World::with_talk(store);
        for key in [ME.to_owned(), format!("{ME}#2")] {
            let exported = world.run(&["export", &key]).expect_code(0).out;
            world.file("talk.segue", exported);
            let imported = world.run(&["import", "talk.segue", "--json"]).expect_code(0).json();
            assert_eq!((&imported["session"], &imported["taken"]), (&json!(null), &json!(0)), "{imported}");
        }
        assert_eq!(world.run(&["sessions", "list", ME, "--json"]).json().as_array().unwrap().len(), 2);
    }
}

/// Two chats number their messages alike; an import from one into the other must lose none.
#[test]
fn ids_of_another_scope_do_not_collide() {
    let world = World::with_talk("sqlite:log.db");
    let you = "agent:main:cli:direct:you";
    world.file("you.jsonl", crate::world::TALK.trim_start().replace(ME, you));
    world.run(&["replay", "you.jsonl", "--store", "sqlite:log.db"]).expect_code(0);
    world.file("talk.segue", world.run(&["export", you]).expect_code(0).out);
    let import = ["import", "talk.segue", "--scope", ME, "--json"];
    let first = world.run(&import).expect_code(0).json();
    assert_eq!((&first["taken"], &first["known"]), (&json!(4), &json!(0)));
    let second = world.run(&import).expect_code(0).json();
    assert_eq!((&second["taken"], &second["known"]), (&json!(0), &json!(4)));
}

#[test]
fn openai_messages_in_every_shape() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let messages = r#"[{"role":"developer","content":"Be brief."},{"role":"user","content":[{"type":"text","text":"Hello"},{"type":"image_url","image_url":{"url":"x"}}]},{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":"4"}]"#;
    world.file("object.json", format!("{{\n\"messages\":\n{messages}\n}}"));
    world.file("list.json", messages);
    world.file("lines.jsonl", "{\"role\":\"user\",\"content\":\"one\"}\n{broken\n{\"role\":\"wizard\",\"content\":\"x\"}\n{\"role\":\"user\",\"content\":\"\"}\n{\"role\":\"assistant\",\"content\":\"two\"}\n");
    check!(world.script(
        "import object.json --format openai --scope a
         export a --format openai
         import object.json --format openai --scope a
         import list.json --format openai --scope a
         import list.json --format openai --scope b --json
         import lines.jsonl --format openai --scope c
         export c --format openai
         import lines.jsonl --format openai --scope c --json"
    ));
}

#[test]
fn bad_files() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let header = r#"{"segue":1,"scope":"s","title":"Notes"}"#;
    let good = r#"{"at":"2026-03-01T10:00:00Z","role":"user","text":"hello"}"#;
    world.file("empty", "");
    world.file("chat.json", r#"{"messages":[{"role":"user","content":"hi"}]}"#);
    world.file("newer.segue", r#"{"segue":2,"scope":"s"}"#);
    world.file("header-only.segue", header);
    world.file("nothing.json", "{}");
    let mut broken = format!("{header}\n{good}\n{{broken\n").into_bytes();
    broken.extend(b"{\"at\":\"2026-03-01T10:00:00Z\",\"role\":\"user\",\"text\":\"\xff\"}\n");
    broken.extend(br#"{"role":"user","text":"no time"}"#);
    broken.extend(b"\n{\"at\":\"2026-03-01T10:00:00Z\",\"role\":\"user\",\"text\":\"  \"}\n");
    let long = "x".repeat((1 << 20) + 1);
    broken.extend(format!(r#"{{"at":"2026-03-01T10:00:00Z","role":"user","text":"{long}"}}"#).bytes());
    world.file("broken.segue", broken);
    check!(world.script(
        "import missing.segue
         import empty
         import chat.json
         import chat.json --format openai
         import newer.segue
         import header-only.segue
         import nothing.json --format openai --scope s
         import broken.segue
         sessions show s
         verify"
    ));
}
