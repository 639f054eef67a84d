//! Sessions that go by themselves, through the real binary.

use crate::world::{DURABLE, ME, World};

const TALK: &str = r#"{"at":"2026-03-01T10:00:00Z","scope":"agent:main:cli:direct:me","text":"I'm allergic to nuts. Which cake can I take?"}
{"at":"2026-03-01T10:03:00Z","scope":"agent:main:cli:direct:me","text":"/new"}
{"at":"2026-03-01T10:04:00Z","scope":"agent:main:cli:direct:me","text":"How do I whiten grout?"}
{"at":"2026-03-01T10:05:00Z","scope":"agent:main:cli:direct:me","text":"/new"}
{"at":"2026-03-01T10:06:00Z","scope":"agent:main:cli:direct:me","text":"Plan a trip to Graz."}
"#;

/// X-1: announced, told with the next message, kept on request, and gone when its time is over.
#[test]
fn x1_retention_from_end_to_end() {
    for store in DURABLE {
        let world = World::new();
        world.file("talk.jsonl", TALK);
        let settings = |more: &str| {
            format!("store.url = \"{store}\"\nlifecycle.auto_route = \"never\"\n[retention]\n{more}")
        };
        world.file("segue.toml", settings("age = \"never\""));
        world.run(&["replay", "talk.jsonl", "--store", store]).expect_code(0);
        let off = world.run(&["retention", "work"]).expect_code(0);
        assert_eq!(off.out, "Nothing is past what is kept.\n");

        world.file("segue.toml", settings("count = 1\ngrace = \"1ms\""));
        let dry = world.run(&["retention", "work", "--dry-run", "--json"]).expect_code(0).json();
        assert_eq!(dry[0]["announced"].as_array().unwrap().len(), 2, "{dry}");
        assert_eq!(world.run(&["retention", "list"]).out, "Nothing was announced to go.\n");
        let said = world.run(&["retention", "work"]).expect_code(0).out;
        assert!(
            said.contains("#2 \"How do I whiten grout?\", 1 message, ")
                && said.contains(": announced to go on")
                && said.contains("(past its count)"),
            "{said}"
        );
        let listed = world.run(&["retention", "list", ME, "--json"]).json();
        assert_eq!(listed[0]["session"], ME);
        assert_eq!(listed[1]["past"], "count");

        // The person is told, and keeps one.
        let chat = world.run_with(&["chat", "--scope", ME, "--json"], b"How far is it?\n").expect_code(0);
        let told: serde_json::Value = serde_json::from_str(chat.out.lines().next().unwrap()).unwrap();
        let notice = told["notice"].as_str().unwrap();
        assert!(notice.contains("2 old sessions will be deleted from"), "{notice}");
        let kept = world.run(&["sessions", "keep", ME]).expect_code(0).out;
        let off = "`segue sessions keep KEY --off`";
        assert_eq!(
            kept,
            format!("#1 \"I'm allergic to nuts\" is kept, however old it gets. {off} undoes that.\n")
        );

        let gone = world.run(&["retention", "work", "--json"]).expect_code(0).json();
        assert_eq!(gone[0]["gone"][0]["session"], format!("{ME}#2"), "{gone}");
        let left = world.run(&["sessions", "list", ME, "--json"]).json();
        let first = left.as_array().unwrap().last().unwrap().clone();
        assert_eq!((&first["key"], &first["kept"]), (&ME.into(), &true.into()), "{left}");
        assert!(left.as_array().unwrap().iter().all(|session| session["key"] != format!("{ME}#2")));
        world.run(&["verify"]).expect_code(0);
        world.run(&["sessions", "keep", &format!("{ME}#2")]).expect_code(1);
    }
}
