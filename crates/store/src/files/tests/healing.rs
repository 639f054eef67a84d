//! P-9: the files are the truth, and the index follows them.

use super::{Fixture, ME, cut, folder};
use crate::files::sweep::sweep;
use segue_core::decide::Command;
use segue_core::session::{Number, Title};
use std::fs::{self, OpenOptions};
use std::io::Write;

fn three_sessions(fixture: &mut Fixture) {
    fixture.say("one");
    fixture.new_session();
    fixture.say("two");
    fixture.new_session();
    fixture.say("three");
}

#[test]
fn p9_a_corrupt_index_is_kept_aside_and_rebuilt() {
    for junk in ["{", "", "[]", r#"{"version":"x"}"#, "\0\0\0"] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        three_sessions(&mut fixture);
        let before = fixture.index();
        fixture.close();
        fs::write(fixture.path("index.json"), junk).unwrap();
        fixture.reopen();
        assert_eq!(
            fixture.index()["scopes"][ME]["ordered_sessions"],
            before["scopes"][ME]["ordered_sessions"]
        );
        assert_eq!(fs::read_to_string(fixture.path("index.json.corrupt-1")).unwrap(), junk);
        fixture.close();
        fs::write(fixture.path("index.json"), junk).unwrap();
        fixture.reopen();
        fixture.new_session();
        assert!(fixture.path("index.json.corrupt-2").exists());
        fixture.check();
    }
}

/// Issue 16, row 11: who only reads goes on from an index in memory, and leaves every byte as it is.
#[test]
fn p9_who_only_reads_leaves_a_corrupt_index_as_it_is() {
    for junk in [Some("{"), Some(""), Some(r#"{"version":1,"scopes":{}}"#), None] {
        let dir = folder();
        let mut fixture = Fixture::new(dir.path());
        three_sessions(&mut fixture);
        fixture.close();
        match junk {
            Some(junk) => fs::write(fixture.path("index.json"), junk).unwrap(),
            None => fs::remove_file(fixture.path("index.json")).unwrap(),
        }
        let before = super::layout::all_files(dir.path());
        fixture.reopen();
        assert_eq!((fixture.listed(), fixture.scopes()), (vec![3, 2, 1], vec![ME.to_owned()]));
        let problems = fixture.problems();
        let is_told = junk.is_some_and(|junk| junk.len() < 2);
        assert_eq!(!problems.is_empty(), is_told, "{problems:?}");
        fixture.close();
        assert_eq!(super::layout::all_files(dir.path()), before, "{junk:?}");
        fixture.reopen();
        fixture.new_session();
        fixture.close();
        let index = fs::read_to_string(fixture.path("index.json")).unwrap();
        assert!(index.contains(&format!("{ME}#4")), "{index}");
        fixture.reopen();
        fixture.check();
    }
}

#[test]
fn p3_p9_no_number_is_used_again_after_a_corrupt_index() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.run(&Command::Resume { session: Number(1) });
    fixture.run(&Command::Delete { session: Number(3) });
    sweep(fixture.inner()).unwrap();
    fixture.close();
    fs::write(fixture.path("index.json"), "junk").unwrap();
    fixture.reopen();
    fixture.new_session();
    assert_eq!(fixture.indexed(), [format!("{ME}#4"), format!("{ME}#2"), ME.into()]);
    fixture.check();
}

#[test]
fn p9_a_missing_or_stale_index_is_made_anew_at_the_opening() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    let stale = fs::read(fixture.path("index.json")).unwrap();
    fixture.new_session();
    let newest = fixture.indexed();
    for old in [None, Some(stale)] {
        fixture.close();
        match old {
            Some(stale) => fs::write(fixture.path("index.json"), stale).unwrap(),
            None => fs::remove_file(fixture.path("index.json")).unwrap(),
        }
        fixture.reopen();
        assert_eq!(fixture.indexed(), newest);
        fixture.check();
    }
}

#[test]
fn p9_a_session_whose_file_is_missing_is_not_listed_until_it_is_back() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    let (path, aside) = (fixture.scope_path("000002.jsonl"), dir.path().join("aside"));
    fs::rename(&path, &aside).unwrap();
    fixture.reopen();
    assert_eq!(fixture.listed(), [3, 1]);
    assert_eq!(fixture.indexed(), [format!("{ME}#3"), ME.into()]);
    let problems = fixture.problems().join("\n");
    assert!(
        problems.contains("000002.jsonl is missing") && problems.contains("#2 is not listed"),
        "{problems}"
    );
    fixture.expected.state = Some(fixture.state());
    fixture.say("more");
    fixture.new_session();
    fixture.run(&Command::Undo);
    fixture.run(&Command::Delete { session: Number(1) });
    assert_eq!(fixture.listed(), [3]);
    fixture.reopen();
    assert_eq!(fixture.load().unwrap(), fixture.expected.state, "what is hidden stays hidden");
    sweep(fixture.inner()).unwrap();
    fixture.close();
    fs::rename(&aside, &path).unwrap();
    fixture.reopen();
    assert_eq!(fixture.listed(), [3, 2]);
    assert_eq!(fixture.texts(2), ["two"]);
    assert_eq!(fixture.problems(), Vec::<String>::new());
}

#[test]
fn p9_the_latest_session_goes_on_without_its_file() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    fs::remove_file(fixture.scope_path("000003.jsonl")).unwrap();
    fixture.reopen();
    assert_eq!(fixture.listed(), [3, 2, 1]);
    assert_eq!(fixture.texts(3), Vec::<String>::new());
    assert!(!fixture.problems().is_empty());
    fixture.expected.state = Some(fixture.state());
    fixture.say("again");
    fixture.reopen();
    assert_eq!(fixture.load().unwrap(), fixture.expected.state);
    assert_eq!(fixture.texts(3), ["again"]);
    assert!(fixture.problems()[0].contains("are missing"), "{:?}", fixture.problems());
    fixture.new_session();
    assert_eq!(fixture.listed(), [4, 3, 2, 1]);
}

#[test]
fn p9_counts_fit_each_other_after_a_file_was_lost() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.say("two");
    fixture.run(&Command::Rename { session: Number(1), title: Title::new("t").unwrap() });
    fixture.close();
    fs::remove_file(fixture.scope_path("000001.jsonl")).unwrap();
    fixture.reopen();
    fixture.expected.state = Some(fixture.state());
    fixture.say("three");
    fixture.say("four");
    let at = cut(&fixture, 1, "three");
    fixture.run(&Command::Split { at });
    fixture.reopen();
    assert_eq!(fixture.load().unwrap(), fixture.expected.state);
    assert_eq!(fixture.texts(2), ["three", "four"]);
    assert_eq!(fixture.state().messages_of(Number(2)), 2);
}

#[test]
fn p9_a_scope_whose_folder_is_missing_is_not_listed() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.close();
    fs::remove_dir_all(fixture.scope_path("")).unwrap();
    fixture.reopen();
    assert_eq!(fixture.scopes(), Vec::<String>::new());
    assert_eq!(fixture.indexed(), Vec::<String>::new());
    assert!(fixture.problems().join("").contains("its folder is missing"));
    assert!(fixture.load().unwrap().is_none());
}

#[test]
fn p9_an_orphan_folder_is_recovered() {
    let (one, other) = (folder(), folder());
    let mut fixture = Fixture::new(one.path());
    fixture.say("one");
    fixture.new_session();
    fixture.close();
    let mut elsewhere = Fixture::new(other.path());
    elsewhere.close();
    fs::rename(fixture.scope_path(""), elsewhere.scope_path("")).unwrap();
    elsewhere.expected = fixture.expected.clone();
    elsewhere.reopen();
    assert_eq!(elsewhere.indexed(), [format!("{ME}#2"), ME.into()]);
    elsewhere.check();
}

#[test]
fn p9_a_damaged_journal_is_named_and_stops_its_scope_only() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    let well = fixture.expected.clone();
    fixture.expected = Default::default();
    fixture.scope = "agent:main:cli:direct:other".parse().unwrap();
    fixture.say("hello");
    fixture.scope = ME.parse().unwrap();
    fixture.expected = well;
    for (file, line) in [("journal.jsonl", 2), ("journal.jsonl", 3)] {
        fixture.close();
        let path = fixture.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = whole.lines().collect();
        lines[line - 1] = "{\"seq\":1,";
        let damaged = lines.join("\n") + "\n";
        fs::write(&path, &damaged).unwrap();
        // The index is made anew too, and must not mind. Who only reads does not write it.
        if fixture.path("index.json").exists() {
            fs::remove_file(fixture.path("index.json")).unwrap();
        }
        fixture.reopen();
        assert_eq!(fixture.state().latest(), None);
        let problems = fixture.problems().join("\n");
        assert!(problems.contains(&format!("{file}, line {line},")), "{problems}");
        assert_eq!(fixture.scopes(), ["agent:main:cli:direct:other"]);
        assert_eq!(fs::read_to_string(&path).unwrap(), damaged, "its bytes are as they were");
        fixture.close();
        fs::write(&path, whole).unwrap();
        fixture.reopen();
    }
    fixture.check();
}

#[test]
fn p9_a_torn_line_is_moved_aside() {
    let dir = folder();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let mut fixture = Fixture::new(dir.path());
        fixture.scope = format!("agent:main:cli:direct:{}", file.len()).parse().unwrap();
        fixture.say("one");
        fixture.close();
        let mut open = OpenOptions::new().append(true).open(fixture.scope_path(file)).unwrap();
        open.write_all(b"{\"seq\":9,\"segm").unwrap();
        fixture.reopen();
        fixture.check();
        let torn = fixture.scope_path(&format!("{file}.torn"));
        assert!(!torn.exists(), "who only looks changes nothing");
        fixture.say("two");
        assert_eq!(fs::read_to_string(torn).unwrap(), "{\"seq\":9,\"segm\n");
        fixture.check();
    }
}

#[test]
fn a_line_that_lost_its_end_is_ended() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    fixture.say("one");
    fixture.close();
    for file in ["000001.jsonl", "journal.jsonl"] {
        let path = fixture.scope_path(file);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.trim_end()).unwrap();
    }
    fixture.reopen();
    fixture.say("two");
    fixture.check();
}

#[test]
fn m_d3_any_change_to_a_file_is_found() {
    let dir = folder();
    let mut fixture = Fixture::new(dir.path());
    three_sessions(&mut fixture);
    fixture.close();
    for (file, from, to) in [
        ("000003.jsonl", "\"text\":\"three\"", "\"text\":\"thrEe\""),
        ("000001.jsonl", "\"batch\":[1,", "\"batch\":[0,"),
        ("000001.jsonl", ",\"nth\"", ", \"nth\""),
        ("journal.jsonl", "\"bones\":1", "\"bones\": 1"),
        ("000001.jsonl", "{\"len\"", "\n{\"len\""),
    ] {
        let path = fixture.scope_path(file);
        let whole = fs::read_to_string(&path).unwrap();
        let changed = whole.replacen(from, to, 1);
        assert_ne!(changed, whole, "{from}");
        fs::write(&path, changed).unwrap();
        fixture.reopen();
        assert_ne!(fixture.problems(), Vec::<String>::new(), "{from}");
        fixture.close();
        fs::write(&path, whole).unwrap();
    }
    // A whole line that is not there any more.
    let path = fixture.scope_path("000003.jsonl");
    let whole = fs::read_to_string(&path).unwrap();
    let cut: String = whole.split_inclusive('\n').skip(1).collect();
    fs::write(&path, cut).unwrap();
    fixture.reopen();
    assert!(fixture.problems().join("\n").contains("missing"), "{:?}", fixture.problems());
}
