//! P-9: the files are the truth, and the index follows them.

use super::{Desk, ME, cut, folder};
use crate::files::sweep::sweep;
use segue_core::decide::Command;
use segue_core::session::{Number, Title};
use std::fs::{self, OpenOptions};
use std::io::Write;

fn three_sessions(desk: &mut Desk) {
    desk.say("one");
    desk.new_session();
    desk.say("two");
    desk.new_session();
    desk.say("three");
}

#[test]
fn p9_a_corrupt_index_is_kept_aside_and_rebuilt() {
    for junk in ["{", "", "[]", r#"{"version":"x"}"#, "\0\0\0"] {
        let dir = folder();
        let mut desk = Desk::new(dir.path());
        three_sessions(&mut desk);
        let before = desk.index();
        desk.close();
        fs::write(desk.path("index.json"), junk).unwrap();
        desk.reopen();
        assert_eq!(desk.index()["scopes"][ME]["ordered_sessions"], before["scopes"][ME]["ordered_sessions"]);
        assert_eq!(fs::read_to_string(desk.path("index.json.corrupt-1")).unwrap(), junk);
        desk.close();
        fs::write(desk.path("index.json"), junk).unwrap();
        desk.reopen();
        assert!(desk.path("index.json.corrupt-2").exists());
        desk.check();
    }
}

#[test]
fn p3_p9_no_number_is_used_again_after_a_corrupt_index() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    desk.run(&Command::Resume { session: Number(1) });
    desk.run(&Command::Delete { session: Number(3) });
    sweep(desk.inner()).unwrap();
    desk.close();
    fs::write(desk.path("index.json"), "junk").unwrap();
    desk.reopen();
    desk.new_session();
    assert_eq!(desk.indexed(), [format!("{ME}#4"), format!("{ME}#2"), ME.into()]);
    desk.check();
}

#[test]
fn p9_a_missing_or_stale_index_is_made_anew_at_the_opening() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    let stale = fs::read(desk.path("index.json")).unwrap();
    desk.new_session();
    let newest = desk.indexed();
    for old in [None, Some(stale)] {
        desk.close();
        match old {
            Some(stale) => fs::write(desk.path("index.json"), stale).unwrap(),
            None => fs::remove_file(desk.path("index.json")).unwrap(),
        }
        desk.reopen();
        assert_eq!(desk.indexed(), newest);
        desk.check();
    }
}

#[test]
fn p9_a_session_whose_file_is_missing_is_not_listed_until_it_is_back() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    desk.close();
    let (path, aside) = (desk.scope_path("000002.jsonl"), dir.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    desk.reopen();
    assert_eq!(desk.listed(), [3, 1]);
    assert_eq!(desk.indexed(), [format!("{ME}#3"), ME.into()]);
    let problems = desk.problems().join("\n");
    assert!(
        problems.contains("000002.jsonl is missing") && problems.contains("#2 is not listed"),
        "{problems}"
    );
    desk.expected.state = Some(desk.state());
    desk.say("more");
    desk.new_session();
    desk.run(&Command::Undo);
    desk.run(&Command::Delete { session: Number(1) });
    assert_eq!(desk.listed(), [3]);
    desk.reopen();
    assert_eq!(desk.load().unwrap(), desk.expected.state, "what is hidden stays hidden");
    sweep(desk.inner()).unwrap();
    desk.close();
    fs::rename(&aside, &path).unwrap();
    desk.reopen();
    assert_eq!(desk.listed(), [3, 2]);
    assert_eq!(desk.texts(2), ["two"]);
    assert_eq!(desk.problems(), Vec::<String>::new());
}

#[test]
fn p9_the_latest_session_goes_on_without_its_file() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    desk.close();
    fs::remove_file(desk.scope_path("000003.jsonl")).unwrap();
    desk.reopen();
    assert_eq!(desk.listed(), [3, 2, 1]);
    assert_eq!(desk.texts(3), Vec::<String>::new());
    assert!(!desk.problems().is_empty());
    desk.expected.state = Some(desk.state());
    desk.say("again");
    desk.reopen();
    assert_eq!(desk.load().unwrap(), desk.expected.state);
    assert_eq!(desk.texts(3), ["again"]);
    assert!(desk.problems()[0].contains("are missing"), "{:?}", desk.problems());
    desk.new_session();
    assert_eq!(desk.listed(), [4, 3, 2, 1]);
}

#[test]
fn p9_counts_fit_each_other_after_a_file_was_lost() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.say("two");
    desk.run(&Command::Rename { session: Number(1), title: Title::new("t").unwrap() });
    desk.close();
    fs::remove_file(desk.scope_path("000001.jsonl")).unwrap();
    desk.reopen();
    desk.expected.state = Some(desk.state());
    desk.say("three");
    desk.say("four");
    let at = cut(&desk, 1, "three");
    desk.run(&Command::Split { at });
    desk.reopen();
    assert_eq!(desk.load().unwrap(), desk.expected.state);
    assert_eq!(desk.texts(2), ["three", "four"]);
    assert_eq!(desk.state().messages_of(Number(2)), 2);
}

#[test]
fn p9_a_scope_whose_folder_is_missing_is_not_listed() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.close();
    fs::remove_dir_all(desk.scope_path("")).unwrap();
    desk.reopen();
    assert_eq!(desk.scopes(), Vec::<String>::new());
    assert_eq!(desk.indexed(), Vec::<String>::new());
    assert!(desk.problems().join("").contains("its folder is missing"));
    assert!(desk.load().unwrap().is_none());
}

#[test]
fn p9_an_orphan_folder_is_recovered() {
    let (one, other) = (folder(), folder());
    let mut desk = Desk::new(one.path());
    desk.say("one");
    desk.new_session();
    desk.close();
    let mut elsewhere = Desk::new(other.path());
    elsewhere.close();
    fs::rename(desk.scope_path(""), elsewhere.scope_path("")).unwrap();
    elsewhere.expected = desk.expected.clone();
    elsewhere.reopen();
    assert_eq!(elsewhere.indexed(), [format!("{ME}#2"), ME.into()]);
    elsewhere.check();
}

#[test]
fn p9_a_damaged_journal_is_named_and_stops_its_scope_only() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    let well = desk.expected.clone();
    desk.expected = Default::default();
    desk.scope = "agent:main:cli:direct:other".parse().unwrap();
    desk.say("hello");
    desk.scope = ME.parse().unwrap();
    desk.expected = well;
    for (file, line) in [("journal.jsonl", 2), ("journal.jsonl", 3)] {
        desk.close();
        let path = desk.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[line - 1] = "{\"seq\":1,";
        let damaged = lines.join("\n") + "\n";
        fs::write(&path, &damaged).unwrap();
        // The index is made anew too, and must not mind.
        fs::remove_file(desk.path("index.json")).unwrap();
        desk.reopen();
        assert_eq!(desk.state().latest(), None);
        let problems = desk.problems().join("\n");
        assert!(problems.contains(&format!("{file}, line {line},")), "{problems}");
        assert_eq!(desk.scopes(), ["agent:main:cli:direct:other"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "its bytes are as they were");
        desk.close();
        fs::write(&path, whole).unwrap();
        desk.reopen();
    }
    desk.check();
}

#[test]
fn p9_a_torn_line_is_moved_aside() {
    let dir = folder();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let mut desk = Desk::new(dir.path());
        desk.scope = format!("agent:main:cli:direct:{}", file.len()).parse().unwrap();
        desk.say("one");
        desk.close();
        let mut open = OpenOptions::new().append(true).open(desk.scope_path(file)).unwrap();
        open.write_all(b"{\"seq\":9,\"segm").unwrap();
        desk.reopen();
        desk.check();
        let torn = desk.scope_path(&format!("{file}.torn"));
        assert!(!torn.exists(), "who only looks changes nothing");
        desk.say("two");
        assert_eq!(fs::read_to_string(torn).unwrap(), "{\"seq\":9,\"segm\n");
        desk.check();
    }
}

#[test]
fn a_line_that_lost_its_end_is_ended() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    desk.say("one");
    desk.close();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let path = desk.scope_path(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.trim_end()).unwrap();
    }
    desk.reopen();
    desk.say("two");
    desk.check();
}

#[test]
fn m_d3_any_change_to_a_file_is_found() {
    let dir = folder();
    let mut desk = Desk::new(dir.path());
    three_sessions(&mut desk);
    desk.close();
    for (file, from, to) in [
        ("000003.jsonl", "\"text\":\"three\"", "\"text\":\"thrEe\""),
        ("000001.jsonl", "\"batch\":[1,", "\"batch\":[0,"),
        ("000001.jsonl", ",\"nth\"", ", \"nth\""),
        ("journal.jsonl", "\"bones\":1", "\"bones\": 1"),
        ("000001.jsonl", "{\"len\"", "\n{\"len\""),
    ] {
        let path = desk.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from}");
        fs::write(&path, changed).unwrap();
        desk.reopen();
        assert_ne!(desk.problems(), Vec::<String>::new(), "{from}");
        desk.close();
        fs::write(&path, whole).unwrap();
    }
    // A whole line that is not there any more.
    let path = desk.scope_path("000003.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let cut: String = whole.split_inclusive('\n').skip(1).collect();
    fs::write(&path, cut).unwrap();
    desk.reopen();
    assert!(desk.problems().join("\n").contains("missing"), "{:?}", desk.problems());
}
