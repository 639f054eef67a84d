//! Bad input to `segue task`: each is refused in a sentence that says what to do, and nothing is written.

use crate::world::{ME, World, check};

/// A world with a task.
fn with_task() -> World {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    world.file("src/net.rs", "fn connect() {}\n");
    world.run(&["task", "start", ME, "Add retry logic"]).expect_code(0);
    world
}

fn log(world: &World) -> String {
    world.run(&["task", "log", ME, "--json"]).expect_code(0).out
}

#[test]
fn c1_transitions_out_of_order() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let mut seen = world.script(&format!(
        "task finish {ME} done\n\
         task start {ME} 'Add retry logic'\n\
         task incorporate {ME}\n\
         task finish {ME} done\n\
         task ask {ME} why?"
    ));
    world.run(&["task", "abort", ME, "enough"]).expect_code(0);
    seen += &world.script(&format!("task finish {ME} done\ntask ask {ME} why?\ntask abort {ME} again"));
    check!(seen);
}

#[test]
fn c6_observations_without_a_task() {
    let world = World::with_talk("sqlite:log.db");
    world.file("a.rs", "");
    check!(world.script(&format!(
        "task note {ME} hello\n\
         task plan {ME} hello\n\
         task file {ME} a.rs\n\
         task command {ME} ls --exit 0 --output a.rs\n\
         task relate {ME} message:1 mentions file:a.rs\n\
         task flush {ME}"
    )));
}

#[test]
fn c6_relations_to_nodes_that_do_not_exist() {
    let world = with_task();
    let before = log(&world);
    check!(world.script(&format!(
        "task relate {ME} note:999 mentions file:src/net.rs\n\
         task relate {ME} session:7 mentions file:src/net.rs\n\
         task relate {ME} note:zz mentions file:src/net.rs\n\
         task relate {ME} thing:1 mentions file:src/net.rs\n\
         task relate {ME} file:src/net.rs likes file:src/net.rs\n\
         task relate {ME} file:src/net.rs mentions file:../x\n\
         task relate {ME} file:src/net.rs mentions file:a.rs --weight 7"
    )));
    assert_eq!(log(&world), before);
}

#[test]
fn c6_files_outside_of_the_workspace_or_with_odd_bytes() {
    let world = with_task();
    let before = log(&world);
    std::os::unix::fs::symlink("/etc/hostname", world.path("link.txt")).unwrap();
    let shown = world.script(&format!(
        "task file {ME} ../etc/passwd\n\
         task file {ME} /etc/passwd\n\
         task file {ME} src/../../x\n\
         task file {ME} link.txt\n\
         task file {ME} src\n\
         task file {ME} missing.rs"
    ));
    check!(shown);
    let odd = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"a\xffb");
    let ran = crate::world::Ran::of(world.command().args(["task", "file", ME]).arg(odd).output().unwrap());
    assert!(ran.expect_code(2).err.contains("is not UTF-8: rename the file, or note it in words"));
    assert_eq!(log(&world), before);
    // Odd bytes in a file are no reason to refuse it.
    world.file("odd.bin", b"\xff\xfe\0\x1b[31m");
    world.run(&["task", "file", ME, "odd.bin"]).expect_code(0);
    assert!(log(&world).contains("odd.bin (8 bytes)"));
}

#[test]
fn c6_fifty_megabytes_of_output() {
    let world = with_task();
    let output = vec![b'x'; 50 << 20];
    world.run_with(&["task", "command", ME, "yes", "--exit", "137"], &output).expect_code(0);
    let size = std::fs::metadata(world.path("log.db")).unwrap().len();
    assert!(size < 2 << 20, "{size} bytes on disk");
    world.run(&["verify"]).expect_code(0);
    assert!(log(&world).contains("yes (exit 137)"));
}

#[test]
fn c1_descriptions_of_nothing_one_character_and_one_megabyte() {
    let world = World::new().variable("SEGUE_STORE_URL", "sqlite:log.db");
    let start = |text: &[u8]| world.run_with(&["task", "start", ME, "-"], text);
    let nothing = start(b" \n ").expect_code(2);
    assert!(nothing.err.contains("say what is to be done"), "{}", nothing.err);
    let too_long = start(&vec![b'y'; (1 << 20) + 1]).expect_code(2);
    assert!(too_long.err.contains("put the rest in a file or a message"), "{}", too_long.err);
    start(b"\xff").expect_code(2);
    world.run(&["task", "start", ME, "x"]).expect_code(0);
    world.run(&["task", "note", ME, "n"]).expect_code(0);
    start(&vec![b'y'; 1 << 20]).expect_code(0);
    // What people are shown of it is short.
    let status = world.run(&["task", "status", ME]).expect_code(0);
    assert!(status.out.contains("running") && status.out.len() < 4000, "{}", status.out.len());
    world.run(&["verify"]).expect_code(0);
}
