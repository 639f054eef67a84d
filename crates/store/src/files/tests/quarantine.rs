//! L-10: what is damaged is set aside with every byte before its scope is written to again, and the scope goes on.

use super::{Fixture, ME, folder, say};
use crate::files::quarantined;
use segue_core::decide::Command;
use segue_core::session::Number;
use std::fs;

fn three_sessions(fixture: &mut Fixture) {
    for text in ["one", "two", "three"] {
        fixture.say(text);
        fixture.say("and more");
        if text != "three" {
            fixture.new_session();
        }
    }
}

/// What a bad disk or a clumsy hand makes of a file.
fn damages(whole: &[u8]) -> Vec<Vec<u8>> {
    let middle = whole.len() / 2;
    let mut flipped = whole.to_vec();
    flipped[3] ^= 0x40;
    let mut zeroed = whole.to_vec();
    zeroed[..middle].fill(0);
    let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
    let swapped = [lines[1], lines[0], &lines[2..].concat()].concat();
    vec![whole[..whole.len() - 9].to_vec(), flipped, zeroed, swapped, b"\xff\xfe\n".to_vec()]
}

#[test]
fn l10_a_sealed_segment_that_cannot_be_read_is_set_aside_and_the_scope_goes_on() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    let well = fixture.expected.clone();
    fixture.close();
    let path = fixture.scope_path("000002.jsonl");
    let whole = fs::read(&path).unwrap();
    let journal = fs::read(fixture.scope_path("journal.jsonl")).unwrap();
    let latest = fs::read(fixture.scope_path("000003.jsonl")).unwrap();
    for damaged in damages(&whole) {
        fs::write(&path, &damaged).unwrap();
        fixture.reopen();
        assert_eq!(fixture.listed(), [3, 1]);
        assert_eq!(fixture.indexed(), [format!("{ME}#3"), ME.into()]);
        let problems = fixture.problems().join("\n");
        assert!(problems.contains("000002.jsonl") && problems.contains("it is set aside"), "{problems}");
        assert!(problems.contains("session agent:main:cli:direct:me#2 is not listed"), "{problems}");
        fixture.expected.state = Some(fixture.state());
        fixture.say("it goes on");
        fixture.new_session();
        fixture.run(&Command::Resume { session: Number(1) });
        fixture.run(&Command::Delete { session: Number(3) });
        crate::files::sweep::sweep(fixture.inner()).unwrap();
        fixture.reopen();
        assert_eq!(fixture.listed(), [4, 1]);
        assert_eq!(fixture.texts(1), ["one", "and more"]);
        assert_eq!(fs::read(&path).unwrap(), damaged, "its bytes are as they were");
        fixture.close();
        // It is mended, and all is there again.
        fs::write(&path, &whole).unwrap();
        fs::write(fixture.scope_path("journal.jsonl"), &journal).unwrap();
        fs::write(fixture.scope_path("000003.jsonl"), &latest).unwrap();
        for leftover in ["000004.jsonl", "000005.jsonl", "dropped.jsonl"] {
            _ = fs::remove_file(fixture.scope_path(leftover));
        }
        fs::remove_file(fixture.path("commits.jsonl")).unwrap();
        fixture.expected = well.clone();
        fixture.reopen();
        fixture.check();
        fixture.close();
    }
}

#[test]
fn l10_an_open_segment_that_cannot_be_read_is_moved_aside_and_its_session_goes_on() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.run(&super::say_as("once", "77"));
    let head = fixture.state().head;
    fixture.close();
    let path = fixture.scope_path("000003.jsonl");
    let mut damaged = fs::read(&path).unwrap();
    damaged[3] ^= 0x40;
    fs::write(&path, &damaged).unwrap();
    fixture.reopen();
    assert_eq!(fixture.listed(), [3, 2, 1]);
    assert_eq!(fixture.texts(3), Vec::<String>::new());
    assert!(
        fixture.problems().join("\n").contains("it is set aside with every byte"),
        "{:?}",
        fixture.problems()
    );
    fixture.expected.state = Some(fixture.state());
    assert!(fixture.state().head >= head, "no number is used again");
    assert!(matches!(
        fixture.try_run(&super::say_as("once", "77")),
        Err((crate::Error::Duplicate { .. }, _))
    ));
    fixture.say("it goes on");
    fixture.reopen();
    assert!(matches!(
        fixture.try_run(&super::say_as("once", "77")),
        Err((crate::Error::Duplicate { .. }, _))
    ));
    assert_eq!(fixture.texts(3), ["it goes on"]);
    let aside = fixture.scope_path("000003.jsonl.damaged-1");
    assert_eq!(fs::read(&aside).unwrap(), damaged, "every byte");
    let problems = fixture.problems().join("\n");
    assert!(problems.contains("000003.jsonl.damaged-1 was set aside"), "{problems}");
    assert_eq!(fixture.load().unwrap(), fixture.expected.state);
    fixture.new_session();
    fixture.run(&say("and on"));
    assert_eq!(fixture.listed(), [4, 3, 2, 1]);
}

/// P-3, X-7: a scope whose journal cannot be read goes on; no number is used again, no message is taken twice.
#[test]
fn l10_a_scope_whose_journal_cannot_be_read_is_set_aside_and_goes_on() {
    for line in [0, 1, 2, 5] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        three_sessions(&mut fixture);
        let id = segue_core::message::MessageId("77".into());
        let message = segue_core::message::Message { message_id: Some(id.clone()), ..say_text("once") };
        let once = Command::Say { role: segue_core::message::Role::User, message };
        fixture.run(&once);
        let head = fixture.state().head;
        fixture.close();
        let path = fixture.scope_path("journal.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[line] = "{\"seq\":1,";
        let damaged = lines.join("\n") + "\n";
        fs::write(&path, &damaged).unwrap();
        fixture.reopen();
        let found = fixture.state();
        assert!(path.exists(), "who only looks changes nothing");
        assert_eq!((found.latest(), found.list().count()), (None, 0), "line {line}");
        // Who has decided on what was there before is told to decide again.
        assert!(found.head > head, "line {line}: {}", found.head);
        assert!(found.next_session >= Number(4), "line {line}: {:?}", found.next_session);
        let aside = std::path::PathBuf::from(format!(
            "{}.damaged-1",
            fixture.scope_path("").display().to_string().trim_end_matches('/')
        ));
        assert!(fixture.problems().join("\n").contains("holds what could not be read"));
        // It goes on, also after a crash before the first entry, and after a restart.
        if line % 2 == 0 {
            fixture.inner().repair(&fixture.scope).unwrap();
            fixture.reopen();
            assert_eq!(*fixture.state(), *found);
        }
        fixture.expected = super::Expected { state: Some(fixture.state()), log: Default::default() };
        assert!(matches!(fixture.try_run(&once), Err((crate::Error::Duplicate { .. }, _))), "line {line}");
        fixture.run(&say("it goes on"));
        let number = fixture.state().latest().unwrap();
        assert_eq!(number, found.next_session);
        assert_eq!(fs::read_to_string(aside.join("journal.jsonl")).unwrap(), damaged, "every byte");
        fixture.reopen();
        assert!(fixture.problems().join("\n").contains(".damaged-1 holds what could not be read"));
        assert_eq!(fixture.texts(number.0), ["it goes on"]);
        assert_eq!(fixture.state(), fixture.expected.state.clone().unwrap());
        assert_eq!(fixture.scopes(), [ME]);
        fixture.new_session();
        assert!(fixture.state().latest().unwrap() > number);
    }
}

/// P-3: a journal that is gone as a whole does not give its numbers away.
#[test]
fn l10_a_scope_without_a_journal_uses_no_number_again() {
    for journal in [&b""[..], b"\0\0\0\0\0\0\0\0"] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        three_sessions(&mut fixture);
        fixture.close();
        fs::write(fixture.scope_path("journal.jsonl"), journal).unwrap();
        fixture.reopen();
        let found = fixture.inner().with(&fixture.scope, |scope| Ok(scope.state.clone())).unwrap().unwrap();
        assert!(found.next_session >= Number(4), "{:?}", found.next_session);
    }
}

/// what was set aside is deleted on request; what it used is never used again.
#[test]
fn x6_what_was_set_aside_can_be_deleted_and_its_numbers_stay() {
    for used in [false, true] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        three_sessions(&mut fixture);
        let id = segue_core::message::MessageId("77".into());
        let message = segue_core::message::Message { message_id: Some(id), ..say_text("once") };
        let once = Command::Say { role: segue_core::message::Role::User, message };
        fixture.run(&once);
        fixture.close();
        let path = fixture.scope_path("journal.jsonl");
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replacen("\"seq\"", "\"sqe\"", 1)).unwrap();
        fixture.reopen();
        let load = |fixture: &Fixture| {
            fixture.inner().with(&fixture.scope, |scope| Ok(scope.state.clone())).unwrap().unwrap()
        };
        let found = used.then(|| load(&fixture));
        let copies = crate::files::quarantined::list(fixture.inner(), None).unwrap().found;
        let [copy] = copies.as_slice() else { panic!("{copies:?}") };
        assert_eq!(copy.scope.as_ref(), Some(&fixture.scope), "by the name of its folder");
        // The journal holds nothing that people said.
        assert_eq!(copy.unreadable, 0);
        assert!(path.exists(), "who looks moves nothing");
        crate::files::quarantined::discard(fixture.inner(), copy).unwrap();
        for (file, bytes) in super::layout::all_files(dir.path()) {
            assert!(!String::from_utf8_lossy(&bytes).contains("once"), "{}", file.display());
        }
        assert_eq!(
            crate::files::quarantined::list(fixture.inner(), None).unwrap(),
            crate::Quarantined::default()
        );
        fixture.reopen();
        let after = load(&fixture);
        let found = found.unwrap_or_else(|| std::sync::Arc::clone(&after));
        assert_eq!((after.head, after.next_session), (found.head, found.next_session));
        assert!(after.next_session >= Number(4) && after.head.0 > 1_000_000);
        assert_eq!(fixture.problems(), Vec::<String>::new());
        fixture.expected = super::Expected { state: Some(after), log: Default::default() };
        assert!(matches!(fixture.try_run(&once), Err((crate::Error::Duplicate { .. }, _))));
        fixture.run(&say("it goes on"));
    }
}

/// files that were set aside inside a scope are known by their segment, and go alone.
#[test]
fn x6_segments_that_were_set_aside_are_known_with_who_speaks_in_them() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    let message = segue_core::message::Message { sender: Some("111".into()), ..say_text("to a group") };
    fixture.run(&Command::Say { role: segue_core::message::Role::User, message });
    fixture.say("and more");
    fixture.new_session();
    fixture.say("two");
    fixture.close();
    for (file, part) in [("000001.jsonl", "and more\""), ("000002.jsonl", "two\"")] {
        let path = fixture.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, whole.replacen(part, part.trim_end_matches('"'), 1)).unwrap();
    }
    fs::write(fixture.scope_path("000002.jsonl.torn"), "{\"seq\":99,").unwrap();
    fixture.reopen();
    let copies = crate::files::quarantined::list(fixture.inner(), Some(&fixture.scope)).unwrap().found;
    assert_eq!(crate::files::quarantined::list(fixture.inner(), None).unwrap().found, copies);
    let other = "agent:main:cli:direct:you".parse().unwrap();
    assert_eq!(
        crate::files::quarantined::list(fixture.inner(), Some(&other)).unwrap(),
        crate::Quarantined::default()
    );
    let told = |copy: &crate::QuarantinedFile| {
        let name = copy.place.file_name().unwrap().to_str().unwrap().to_owned();
        let sessions: Vec<u32> = copy.sessions.iter().map(|number| number.0).collect();
        (name, copy.segment.unwrap().0, sessions, copy.senders.len(), copy.unreadable)
    };
    assert_eq!(
        copies.iter().map(told).collect::<Vec<_>>(),
        [
            ("000001.jsonl".to_owned(), 1, vec![1], 1, 1),
            ("000002.jsonl".to_owned(), 2, vec![2], 0, 1),
            ("000002.jsonl.torn".to_owned(), 2, vec![2], 0, 1),
        ]
    );
    for copy in &copies {
        crate::files::quarantined::discard(fixture.inner(), copy).unwrap();
    }
    for (file, bytes) in super::layout::all_files(dir.path()) {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains("to a group") && !text.contains("two"), "{}", file.display());
    }
    fixture.reopen();
    fixture.expected.state = Some(fixture.state());
    fixture.say("it goes on");
    assert_eq!(fixture.texts(2), ["it goes on"]);
}

/// only what was listed is deleted, and not what was set aside earlier.
#[test]
fn x6_what_is_not_there_any_more_is_not_deleted_in_place_of_something_else() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    let path = fixture.scope_path("journal.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    fs::write(&path, whole.replacen("\"seq\"", "\"sqe\"", 1)).unwrap();
    fixture.reopen();
    let listed = crate::files::quarantined::list(fixture.inner(), None).unwrap().found;
    // Somebody writes to the scope, which is moved away for that.
    fixture.inner().repair(&fixture.scope).unwrap();
    fixture.load().unwrap();
    let before = super::layout::all_files(dir.path());
    let error = crate::files::quarantined::discard(fixture.inner(), &listed[0]).unwrap_err().to_string();
    assert!(error.contains("try again"), "{error}");
    assert_eq!(super::layout::all_files(dir.path()), before);
}

/// what cannot be looked into is named, and the rest is found. A folder that another scope lies in is nobody's.
#[test]
fn x6_one_scope_that_cannot_be_looked_into_hides_no_other() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    let mine = fixture.scope_path("");
    let copy_to = |name: &str, change: &dyn Fn(String) -> String| {
        let to = mine.parent().unwrap().join(name);
        fs::create_dir(&to).unwrap();
        for entry in fs::read_dir(&mine).unwrap() {
            let entry = entry.unwrap();
            fs::write(to.join(entry.file_name()), change(fs::read_to_string(entry.path()).unwrap())).unwrap();
        }
    };
    copy_to("agent_main_cli_direct_newer", &|text| {
        let text = text.replace("direct:me\"", "direct:newer\"");
        text.replacen("\"kind\":\"sealed\"", "\"kind\":\"kind_of_tomorrow\"", 1)
    });
    copy_to("agent_main_cli_direct_misplaced", &|text| text);
    let spoiled = fixture.scope_path("000001.jsonl");
    fs::write(&spoiled, fs::read_to_string(&spoiled).unwrap().replacen("and more\"", "and more", 1)).unwrap();
    fixture.reopen();
    let copies = crate::files::quarantined::list(fixture.inner(), None).unwrap();
    let [unseen] = copies.unseen.as_slice() else { panic!("{copies:?}") };
    assert!(unseen.starts_with("agent:main:cli:direct:newer: "), "{unseen}");
    let [copy, nobodys] = copies.found.as_slice() else { panic!("{copies:?}") };
    assert!(nobodys.place.ends_with("agent_main_cli_direct_misplaced") && nobodys.scope.is_none());
    assert_eq!((copy.place.as_path(), copy.scope.as_ref()), (spoiled.as_path(), Some(&fixture.scope)));
    assert_eq!(
        crate::files::quarantined::list(fixture.inner(), Some(&fixture.scope)).unwrap().found,
        std::slice::from_ref(copy)
    );
}

/// P-3: what says which numbers were used does not count as nothing when it cannot be read.
#[test]
fn x6_a_scope_stops_where_the_numbers_that_it_used_cannot_be_read() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    let path = fixture.scope_path("journal.jsonl");
    fs::write(&path, b"").unwrap();
    fixture.reopen();
    let listed = crate::files::quarantined::list(fixture.inner(), None).unwrap().found;
    crate::files::quarantined::discard(fixture.inner(), &listed[0]).unwrap();
    fixture.reopen();
    fixture.expected = super::Expected { state: Some(fixture.state()), log: Default::default() };
    fixture.say("it goes on");
    fixture.close();
    let sessions = dir.path().join("sessions");
    let found = super::layout::all_files(&sessions);
    let (left, whole) = found.iter().find(|(path, _)| path.ends_with("left.json")).unwrap();
    fs::write(left, "{").unwrap();
    fixture.reopen();
    let error = fixture.inner().with(&fixture.scope, |_| Ok(())).unwrap_err();
    assert!(matches!(&error, crate::Error::Unavailable { .. }), "{error}");
    assert!(path.exists(), "a scope that is well is not moved away for it");
    fs::write(left, whole).unwrap();
    fixture.reopen();
    assert_eq!(fixture.state(), fixture.expected.state.clone().unwrap());
}

/// a file that cannot be opened says nothing about what is in it, and the scope stays where it is.
#[test]
fn x5_a_scope_whose_files_cannot_be_opened_is_not_moved() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    let (path, away) = (fixture.scope_path("journal.jsonl"), dir.path().join("away"));
    fs::rename(&path, &away).unwrap();
    // A link to itself cannot be opened by anybody, whatever their rights are.
    std::os::unix::fs::symlink(&path, &path).unwrap();
    fixture.reopen();
    let found = fixture.load();
    assert!(matches!(&found, Err(crate::Error::Unavailable { .. })), "{found:?}");
    assert!(fixture.inner().repair(&fixture.scope).is_err());
    fs::remove_file(&path).unwrap();
    fs::rename(&away, &path).unwrap();
    fixture.reopen();
    assert_eq!(fixture.listed(), [3, 2, 1]);
    fixture.check();
}

fn say_text(text: &str) -> segue_core::message::Message {
    segue_core::message::Message::text(text)
}

/// A segment is damaged twice. In whichever order the copies are deleted, the one that is moved last is found behind the gap.
#[test]
fn x17_every_copy_of_a_segment_that_was_damaged_twice_is_deleted() {
    for is_newest_first in [true, false] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        let path = fixture.scope_path("000001.jsonl");
        for words in ["the first secret", "the second secret"] {
            fixture.say(words);
            fixture.say("and more");
            fixture.close();
            let mut bytes = fs::read(&path).unwrap();
            bytes[3] ^= 0x40;
            fs::write(&path, bytes).unwrap();
            fixture.reopen();
            fixture.expected.state = Some(fixture.state());
        }
        let mut found = quarantined::list(fixture.inner(), None).unwrap().found;
        let places = found.iter().map(|copy| copy.place.clone());
        assert!(places.eq([path.clone(), fixture.scope_path("000001.jsonl.damaged-1")]), "{found:?}");
        if !is_newest_first {
            found.reverse();
        }
        for copy in &found {
            quarantined::discard(fixture.inner(), copy).unwrap();
        }
        for file in fs::read_dir(fixture.scope_path("")).unwrap() {
            let file = file.unwrap().path();
            let text = String::from_utf8_lossy(&fs::read(&file).unwrap()).into_owned();
            assert!(!text.contains("secret"), "{}, newest first: {is_newest_first}", file.display());
        }
        fixture.expected.state = Some(fixture.state());
        fixture.say("it goes on");
        assert_eq!(fixture.texts(1), ["it goes on"]);
    }
}
