//! Golden replays: twenty stories in two languages. What is drawn of each is read by people and kept; the same
//! story gives the same answers on every store and every time.

use crate::world::World;
use std::fs;
use std::path::PathBuf;

/// The stories of each language. A Chinese reader lives in China.
const FOLDERS: [(&str, &str); 2] = [("en", "UTC"), ("zh", "Asia/Shanghai")];

fn folder(language: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(language)
}

fn names(language: &str) -> Vec<String> {
    let files = fs::read_dir(folder(language)).unwrap().map(|file| file.unwrap().file_name());
    let mut names: Vec<String> = files.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// A world with a story in it, and settings that depend on no machine.
fn world(language: &str, zone: &str, name: &str) -> World {
    let world = World::new();
    world.file("story.jsonl", fs::read(folder(language).join(name)).unwrap());
    world.file("golden.toml", format!("timezone = '{zone}'\nlanguage = 'auto'\n"));
    world
}

/// What a replay says, without what is made up anew each time: ids and what is computed from them.
fn replayed(world: &World, more: &[&str]) -> String {
    let args = [&["replay", "story.jsonl", "--config", "golden.toml"], more].concat();
    let ran = world.run(&args).expect_code(0);
    assert_eq!(ran.err, "");
    blurred(&ran.out)
}

/// The shortest run of hexadecimal digits that is an id or a digest: `/status` shows twelve.
const HEX_MIN: usize = 12;

fn blurred(text: &str) -> String {
    let is_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c) || c == '-';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(begin) = rest.find(is_hex) {
        let (before, found) = rest.split_at(begin);
        let end = found.find(|c| !is_hex(c)).unwrap_or(found.len());
        let (run, after) = found.split_at(end);
        out += before;
        out += if run.len() >= HEX_MIN { "ID" } else { run };
        rest = after;
    }
    out + rest
}

macro_rules! stories {
    ($($test:ident: $language:literal $zone:literal $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                let world = world($language, $zone, concat!($name, ".jsonl"));
                insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
                    insta::assert_snapshot!(concat!("golden_", $language, "_", $name), replayed(&world, &[]));
                });
            }
        )*

        /// No story lies about without being told.
        #[test]
        fn every_story_is_told() {
            for (language, _) in FOLDERS {
                let told = [$(($language, concat!($name, ".jsonl"))),*];
                let told: Vec<&str> = told.iter().filter(|(of, _)| *of == language).map(|(_, n)| *n).collect();
                assert_eq!(names(language), told);
            }
        }
    };
}

stories! {
    en_01_lunch_break: "en" "UTC" "01-lunch-break",
    en_02_overnight: "en" "UTC" "02-overnight",
    en_03_topic_jump: "en" "UTC" "03-topic-jump",
    en_04_asked_and_answered: "en" "UTC" "04-asked-and-answered",
    en_05_asked_and_ignored: "en" "UTC" "05-asked-and-ignored",
    en_06_explicit_new: "en" "UTC" "06-explicit-new",
    en_07_return_to_earlier: "en" "UTC" "07-return-to-earlier",
    en_08_stuck: "en" "UTC" "08-stuck",
    en_09_commands: "en" "UTC" "09-commands",
    en_10_two_people: "en" "UTC" "10-two-people",
    zh_01_lunch_break: "zh" "Asia/Shanghai" "01-lunch-break",
    zh_02_overnight: "zh" "Asia/Shanghai" "02-overnight",
    zh_03_topic_jump: "zh" "Asia/Shanghai" "03-topic-jump",
    zh_04_asked_and_answered: "zh" "Asia/Shanghai" "04-asked-and-answered",
    zh_05_asked_and_ignored: "zh" "Asia/Shanghai" "05-asked-and-ignored",
    zh_06_explicit_new: "zh" "Asia/Shanghai" "06-explicit-new",
    zh_07_return_to_earlier: "zh" "Asia/Shanghai" "07-return-to-earlier",
    zh_08_stuck: "zh" "Asia/Shanghai" "08-stuck",
    zh_09_commands: "zh" "Asia/Shanghai" "09-commands",
    zh_10_two_people: "zh" "Asia/Shanghai" "10-two-people",
}

/// Nothing drifts: the same file gives the same bytes apart from ids, however often and on every store.
#[test]
fn the_same_story_gives_the_same_answers_everywhere() {
    for (language, zone) in FOLDERS {
        for name in names(language) {
            let world = world(language, zone, &name);
            let first = replayed(&world, &["--json"]);
            for store in ["memory:", "sqlite:story.db", "files:story"] {
                let again = replayed(&world, &["--json", "--store", store]);
                assert!(again == first, "{language}/{name} on {store}:\n{again}\ninstead of\n{first}");
            }
        }
    }
}
