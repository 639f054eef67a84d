//! Transcripts of other programs (X-12). The samples are our own, in the forms that those programs write.

use crate::world::{DURABLE, World, check};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

pub const FORMS: [&str; 4] = ["claude-code", "codex", "openclaw", "picoclaw"];

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let to = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &to),
            false => drop(std::fs::copy(entry.path(), to).unwrap()),
        }
    }
}

/// What an import of the samples of a form exits with: PicoClaw's have a file that is torn.
pub fn code_of(form: &str) -> i32 {
    i32::from(form == "picoclaw")
}

/// A world with the samples of a form in a folder of that name.
pub fn with_samples(form: &str, store: &str) -> World {
    let world = World::new().variable("SEGUE_STORE_URL", store);
    copy(&sample(form), &world.path(form));
    world
}

/// A world with one file.
pub fn world_with(path: &str, text: &str) -> World {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    world.file(path, text);
    world
}

/// All scopes and sessions of a world.
pub fn sessions(world: &World) -> Vec<String> {
    let mut keys = Vec::new();
    for scope in world.run(&["scopes", "--json"]).expect_code(0).json().as_array().unwrap() {
        let scope = scope["scope"].as_str().unwrap();
        let listed = world.run(&["sessions", "list", scope, "--json"]).expect_code(0).json();
        keys.extend(listed.as_array().unwrap().iter().map(|row| row["key"].as_str().unwrap().to_owned()));
    }
    keys.sort();
    keys
}

/// What each form comes to: every file, every bad line by its number, every message, title and time.
#[test]
fn x12_each_form_is_read() {
    for form in FORMS {
        let world = with_samples(form, "sqlite:log.db");
        let mut seen = world.script(&format!("import {form}"));
        for key in sessions(&world) {
            seen.push_str(&world.script(&format!("export {key}")));
        }
        insta::with_settings!({ filters => crate::world::DIFFERS, omit_expression => true }, {
            insta::assert_snapshot!(format!("x12_{form}"), seen);
        });
    }
}

#[test]
fn x12_a_second_import_changes_nothing() {
    for form in FORMS {
        for store in DURABLE {
            let world = with_samples(form, store);
            let taken = |ran: Value| -> Vec<(u64, u64)> {
                let number = |value: &Value| value.as_u64().unwrap_or(0);
                ran.as_array().unwrap().iter().map(|t| (number(&t["taken"]), number(&t["known"]))).collect()
            };
            let first = taken(world.run(&["import", form, "--json"]).expect_code(code_of(form)).json());
            assert!(first.iter().map(|(taken, _)| taken).sum::<u64>() > 4, "{form}: {first:?}");
            let before: Vec<String> =
                sessions(&world).iter().map(|key| world.run(&["export", key]).out).collect();
            let second = taken(world.run(&["import", form, "--json"]).expect_code(code_of(form)).json());
            assert_eq!(
                second,
                first.iter().map(|(taken, known)| (0, taken + known)).collect::<Vec<_>>(),
                "{form}"
            );
            let after: Vec<String> =
                sessions(&world).iter().map(|key| world.run(&["export", key]).out).collect();
            assert_eq!(after, before);
            world.run(&["verify"]).expect_code(0);
        }
    }
}

/// The transcript of a session that still goes on: what is new is taken over, into the session where the rest is.
#[test]
fn x12_what_is_new_in_a_file_is_taken_over() {
    for (form, file) in [
        ("claude-code", "projects/-home-ann-shop/5b0f3a52-1f0a-4a53-9a5b-000000000001.jsonl"),
        (
            "codex",
            "sessions/2026/03/02/rollout-2026-03-02T11-00-00-019a2d7a-0000-7000-8000-00000000c0de.jsonl",
        ),
        ("openclaw", "agents/main/sessions/7c1d2e3f-0000-4000-8000-000000000abc.jsonl"),
        ("picoclaw", "workspace/sessions/telegram_4711.jsonl"),
    ] {
        let whole = std::fs::read_to_string(sample(form).join(file)).unwrap();
        let world = with_samples(form, "sqlite:log.db");
        let path = format!("{form}/{file}");
        let half: Vec<&str> = whole.lines().collect();
        // Between a message and the next one, and never between the blocks of one.
        let cut = half.len() - 3;
        world.file(&path, half[..cut].join("\n"));
        let first = world.run(&["import", &path, "--json"]).expect_code(0).json();
        world.file(&path, &whole);
        let then = world.run(&["import", &path, "--json"]).expect_code(0).json();
        assert_eq!(then["known"], first["taken"], "{form}: {then}");
        assert!(then["taken"].as_u64().unwrap() > 0, "{form}: {then}");
        assert_eq!(then["session"], first["session"], "{form}");
        let fresh = with_samples(form, "sqlite:log.db");
        fresh.run(&["import", &path]).expect_code(0);
        let key = first["session"].as_str().unwrap();
        let chat = |world: &World| world.run(&["export", key, "--format", "openai"]).expect_code(0).out;
        assert_eq!(chat(&world), chat(&fresh), "{form}");
    }
}

/// A file that is imported while its last answer is being written: what that says later is taken over too, once.
#[test]
fn x12_an_answer_that_grows_is_taken_over_whole() {
    let line = |uuid: &str, parent: &str, role: &str, id: Option<&str>, content: Value| {
        json!({
            "type": role, "uuid": uuid, "parentUuid": parent, "isSidechain": false, "sessionId": "s1", "cwd": "/w",
            "timestamp": "2026-03-01T10:00:00.000Z", "message": { "id": id, "role": role, "model": "m", "content": content },
        })
        .to_string()
    };
    let text = |text: &str| json!([{ "type": "text", "text": text }]);
    let call = json!([{ "type": "tool_use", "id": "t1", "name": "ls", "input": {} }]);
    let lines = [
        line("u1", "", "user", None, json!("look")),
        line("u2", "u1", "assistant", Some("m1"), text("Let me look.")),
        line("u3", "u2", "assistant", Some("m1"), call),
        line(
            "u4",
            "u3",
            "user",
            None,
            json!([{ "type": "tool_result", "tool_use_id": "t1", "content": "a.txt" }]),
        ),
        line("u5", "u4", "assistant", Some("m2"), text("One file.")),
    ];
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let mut taken = 0;
    for end in 1..=lines.len() {
        world.file("talk.jsonl", lines[..end].join("\n"));
        for times in 0..2 {
            let done = world.run(&["import", "talk.jsonl", "--json"]).expect_code(0).json();
            taken += done["taken"].as_u64().unwrap();
            assert!(times == 0 || done["taken"] == 0, "a second import changes nothing: {done}");
        }
    }
    assert_eq!(taken, 5);
    let key = sessions(&world).remove(0);
    let chat = world.run(&["export", &key, "--format", "openai"]).expect_code(0).json();
    let said: Vec<String> =
        chat["messages"].as_array().unwrap().iter().map(|m| m["content"].to_string()).collect();
    assert_eq!(said, ["\"look\"", "\"Let me look.\"", "null", "\"a.txt\"", "\"One file.\""], "{chat}");
}

/// A single file tells what became of each record, as a folder does.
#[test]
fn x12_a_single_file_names_its_reasons() {
    let world = with_samples("claude-code", "sqlite:log.db");
    let file = "claude-code/projects/-home-ann-shop/5b0f3a52-1f0a-4a53-9a5b-000000000001.jsonl";
    let told = world.run(&["import", file]).expect_code(0).out;
    let records = told.lines().last().unwrap();
    assert!(records.contains(" records: ") && records.contains("; no messages: "), "{told}");
    let json = world.run(&["import", file, "--json"]).expect_code(0).json();
    assert!(records.starts_with(&format!("{} records: ", json["records"]["all"])), "{told}\n{json}");
}

/// A worktree that lies beside its repository is the repository's, as long as it can be seen here.
#[test]
fn x12_a_worktree_belongs_to_its_repository() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    world.file("shop/.git/HEAD", "ref: refs/heads/main\n");
    let main = world.path("shop").canonicalize().unwrap();
    world.file("shop-fix/.git", format!("gitdir: {}/.git/worktrees/shop-fix\n", main.display()));
    let mut keys = BTreeSet::new();
    for (n, folder) in
        [&main, &main.with_file_name("shop-fix"), &main.with_file_name("shop-gone")].iter().enumerate()
    {
        let line = json!({
            "parentUuid": null, "sessionId": format!("s{n}"), "cwd": folder, "type": "user", "uuid": format!("u{n}"),
            "timestamp": "2026-03-01T10:00:00Z", "message": { "role": "user", "content": "go" },
        });
        world.file("talk.jsonl", line.to_string());
        let done = world.run(&["import", "talk.jsonl", "--json"]).expect_code(0).json();
        keys.insert(done["session"].as_str().unwrap().split('#').next().unwrap().to_owned());
    }
    assert_eq!(keys.len(), 2, "{keys:?}");
    assert!(keys.iter().all(|key| key.ends_with("-shop") || key.ends_with("-shop-gone")), "{keys:?}");
}

/// What was taken over from a worktree stays where it is when the worktree is gone: nothing is taken twice, and what is new
/// comes to it.
#[test]
fn x12_a_worktree_that_is_gone_is_its_repository_s() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    world.file("shop/.git/HEAD", "ref: refs/heads/main\n");
    let main = world.path("shop").canonicalize().unwrap();
    world.file("shop-fix/.git", format!("gitdir: {}/.git/worktrees/shop-fix\n", main.display()));
    let line = |uuid: &str| {
        json!({
            "parentUuid": null, "sessionId": "s", "cwd": main.with_file_name("shop-fix"), "type": "user", "uuid": uuid,
            "timestamp": "2026-03-01T10:00:00Z", "message": { "role": "user", "content": uuid },
        })
    };
    let import = |lines: &[Value]| {
        world.file("talk.jsonl", lines.iter().map(|line| format!("{line}\n")).collect::<String>());
        world.run(&["import", "talk.jsonl", "--json"]).expect_code(0).json()
    };
    assert_eq!(import(&[line("u1")])["taken"], 1);
    std::fs::remove_dir_all(world.path("shop-fix")).unwrap();
    let again = import(&[line("u1")]);
    assert_eq!((&again["taken"], &again["known"]), (&json!(0), &json!(1)), "a second import changes nothing");
    let other = import(&[line("u2")]);
    assert!(other["session"].as_str().unwrap().contains("-shop#"), "{other}");
}

/// Who imports into a chat goes on where they were.
#[test]
fn x12_an_import_leaves_the_chat_where_it_was() {
    let world = World::with_talk("sqlite:log.db");
    world.file(
        "old.json",
        r#"{"messages":[{"role":"user","content":"from elsewhere"},{"role":"assistant","content":"yes"}]}"#,
    );
    world.run(&["import", "old.json", "--scope", crate::world::ME]).expect_code(0);
    let listed = world.run(&["sessions", "list", crate::world::ME, "--json"]).expect_code(0).json();
    let active = listed.as_array().unwrap().iter().find(|row| row["active"] == true).unwrap();
    assert_eq!((&active["index"], listed.as_array().unwrap().len()), (&json!(2), 3), "{listed}");
}

/// Every call has its result behind it, and every result its call before it.
#[test]
fn x12_calls_are_paired_with_their_results() {
    for form in FORMS {
        let world = with_samples(form, "sqlite:log.db");
        world.run(&["import", form]).expect_code(code_of(form));
        let mut calls = 0;
        for key in sessions(&world) {
            let chat = world.run(&["export", &key, "--format", "openai"]).expect_code(0).json();
            let mut open = BTreeSet::new();
            for message in chat["messages"].as_array().unwrap() {
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    open.insert(call["id"].as_str().unwrap().to_owned());
                    calls += 1;
                }
                if let Some(id) = message["tool_call_id"].as_str() {
                    assert!(open.remove(id), "{key}: {id} was not called");
                }
            }
            assert!(open.is_empty(), "{key}: {open:?} have no result");
        }
        assert!(calls > 0, "{form}");
    }
}

/// X-12: of a message that was edited and sent again, and of an answer that was made anew, the branch is taken over that
/// the conversation went on in; what was given up is counted.
#[test]
fn x12_branches_that_were_given_up_are_left_out() {
    let line = |kind: &str, id: &str, parent: &str, message: Value| {
        let parent = if parent.is_empty() { Value::Null } else { parent.into() };
        json!({
            "type": kind, "uuid": id, "parentUuid": parent, "isSidechain": false, "sessionId": "s1",
            "cwd": "/home/ann/shop", "timestamp": "2026-03-01T10:00:00.000Z", "message": message,
        })
        .to_string()
    };
    let user = |id: &str, parent: &str, text: &str| {
        line("user", id, parent, json!({ "role": "user", "content": text }))
    };
    let agent = |id: &str, parent: &str, of: &str, text: &str| {
        let content = json!([{ "type": "text", "text": text }]);
        line(
            "assistant",
            id,
            parent,
            json!({ "id": of, "role": "assistant", "model": "m", "content": content }),
        )
    };
    let claude = [
        user("u1", "", "Why does the cart forget its items?"),
        agent("u2", "u1", "m1", "Which cart?"),
        user("u3", "u2", "The old one"),
        agent("u4", "u3", "m2", "That is gone."),
        user("u5", "u2", "The new one"),
        agent("u6", "u5", "m3", "A first answer"),
        agent("u7", "u5", "m4", "A better answer"),
        user("u8", "u7", "Thanks"),
    ]
    .join("\n");
    let entry = |id: &str, parent: &str, role: &str, text: &str| {
        let message = json!({ "role": role, "content": text });
        json!({ "type": "message", "id": id, "parentId": parent, "timestamp": "2026-03-03T12:00:00.000Z", "message": message })
            .to_string()
    };
    let header = r#"{"type":"session","version":3,"id":"s2","timestamp":"2026-03-03T12:00:00.000Z"}"#;
    let openclaw = [
        header.to_owned(),
        entry("a1", "", "user", "Is the heating on?"),
        entry("a2", "a1", "assistant", "No."),
        entry("a3", "a1", "assistant", "Yes: 21 degrees."),
        entry("a4", "a3", "user", "thanks"),
    ]
    .join("\n");
    for (form, text, given_up, said) in [
        (
            "claude-code",
            &claude,
            3,
            &[
                "Why does the cart forget its items?",
                "Which cart?",
                "The new one",
                "A better answer",
                "Thanks",
            ][..],
        ),
        ("openclaw", &openclaw, 1, &["Is the heating on?", "Yes: 21 degrees.", "thanks"]),
    ] {
        let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
        world.file("talk.jsonl", text);
        let done = world.run(&["import", "talk.jsonl", "--format", form, "--json"]).expect_code(0).json();
        assert_eq!((&done["given_up"], &done["taken"]), (&json!(given_up), &json!(said.len())), "{done}");
        let key = done["session"].as_str().unwrap();
        let shown = world.run(&["sessions", "show", key, "--json"]).expect_code(0).json();
        let shown: Vec<&str> = shown["conversation_state"]
            .as_array()
            .unwrap()
            .iter()
            .map(|m| m["content"].as_str().unwrap())
            .collect();
        assert_eq!(shown, said, "{form}");
        let again = world.run(&["import", "talk.jsonl", "--format", form]).expect_code(0).out;
        assert!(again.contains("nothing was changed") && again.contains("given up"), "{again}");
    }
}

/// X-12, L-7: what the model thought is taken over with its signature and its model.
#[test]
fn x12_reasoning_is_taken_over() {
    for (form, expected) in [
        (
            "claude-code",
            r#"[{"form":"thinking","text":"Look at the store.","signature":"c2ln","model":"a-model"}]"#,
        ),
        ("codex", r#"[{"form":"item","signature":"b3BhcXVl","model":"a-model"}]"#),
    ] {
        let world = with_samples(form, "sqlite:log.db");
        world.run(&["import", form]).expect_code(code_of(form));
        let found = |world: &World| {
            let shown = sessions(world).into_iter().flat_map(|key| {
                let shown = world.run(&["sessions", "show", &key, "--json"]).expect_code(0).json();
                shown["conversation_state"].as_array().unwrap().clone()
            });
            shown.filter_map(|said| said.get("reasoning").map(ToString::to_string)).collect::<Vec<_>>()
        };
        assert_eq!(found(&world), [expected], "{form}");
        // It comes back from an export.
        let key = sessions(&world)
            .into_iter()
            .find(|key| world.run(&["export", key]).out.contains("\"reasoning\""));
        let other = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
        other.file("talk.segue", world.run(&["export", &key.unwrap()]).out);
        other.run(&["import", "talk.segue"]).expect_code(0);
        assert_eq!(found(&other), [expected], "{form}");
    }
}

#[test]
fn x12_forms_are_told_apart() {
    let world = World::with_talk("sqlite:log.db");
    world.file("talk.segue", world.run(&["export", crate::world::ME]).out);
    world.file("chat.json", world.run(&["export", crate::world::ME, "--format", "openai"]).out);
    world.file(
        "lines.jsonl",
        "{\"role\":\"user\",\"content\":\"hi\"}\n{\"role\":\"assistant\",\"content\":\"hello\"}\n",
    );
    let told = |path: &str| {
        let args = ["import", path, "--scope", "s", "--json"];
        world.run(&args).expect_code(0).json()["format"].as_str().unwrap().to_owned()
    };
    assert_eq!(told("talk.segue"), "segue");
    assert_eq!(told("chat.json"), "openai");
    assert_eq!(told("lines.jsonl"), "openai");
    for form in FORMS {
        copy(&sample(form), &world.path(form));
        let all = world.run(&["import", form, "--json"]).expect_code(code_of(form)).json();
        for read in all.as_array().unwrap() {
            assert_eq!(read["format"], json!(form), "{read}");
        }
        // A form that is named is the only one that is read.
        let other = if form == "codex" { "openclaw" } else { "codex" };
        let none = world.run(&["import", form, "--format", other]).expect_code(2);
        assert!(none.err.contains("there is no transcript below"), "{}", none.err);
    }
    let said = world.run(&["import", "lines.jsonl", "--scope", "t"]).expect_code(0);
    assert!(said.out.contains("It was read as openai.\n"), "{}", said.out);
}

#[test]
fn x12_what_is_no_transcript_is_said_to_be_none() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    world.file("notes.txt", "hello\n");
    world.file("empty.jsonl", "");
    world.file("numbers.json", "[1,2,3]");
    world.file("folder/settings.json", "{\"theme\":\"dark\"}");
    world.file("torn.json", "{\"key\":\"telegram:9\",\"messages\":[{\"role\":\"us");
    check!(world.script(
        "import notes.txt
         import empty.jsonl
         import numbers.json --scope s
         import folder
         import nowhere
         import torn.json
         import notes.txt --format claude-code
         import notes.txt --format kodex"
    ));
    assert!(!world.path("log.db").exists() || sessions(&world).is_empty());
}
