//! Power cuts: what was acknowledged is there, whatever part of the rest landed, in whatever order.

use super::power::{Recorder, Rng};
use super::{Expected, Fixture, folder, say_as};
use crate::error::Error;
use crate::files::sweep::sweep;
use segue_core::decide::Command;
use segue_core::entry::Seq;
use segue_core::message::{Message, Role};
use segue_core::policy::Backlog;
use segue_core::session::{Number, Title};
use std::path::Path;
use std::sync::Arc;

/// What was acknowledged, and how many steps of the disk it took until then.
type Acknowledged = Vec<(usize, Expected)>;

fn text(rng: &mut Rng) -> String {
    let len = [20, 300, 5_000, 20_000][rng.below(4)];
    // Words, so that a page of one text is not like another one.
    let mut text = String::with_capacity(len + 20);
    while text.len() < len {
        text.push_str(&format!("{:x} ", rng.next()));
    }
    text
}

fn any_command(rng: &mut Rng, fixture: &Fixture) -> Command {
    let session = Number(1 + rng.below(5) as u32);
    let messages: Vec<Seq> = fixture
        .expected
        .log
        .values()
        .filter(|record| record.kind.role().is_some())
        .map(|record| record.seq)
        .collect();
    match rng.below(16) {
        0..=5 => say_as(&text(rng), &format!("id {}", fixture.ids)),
        6 | 7 => Command::New { first: Some(Message::text(text(rng))) },
        8 => Command::Resume { session },
        9 => Command::Undo,
        10 => Command::Fork { session, at: None },
        11 => Command::Delete { session },
        12 => Command::Rename { session, title: Title::new(&format!("title {}", rng.below(100))).unwrap() },
        13 => Command::Prune { keep: Backlog::new(1 + rng.below(3) as u32).unwrap() },
        14 if !messages.is_empty() => {
            Command::Erase { entries: vec![messages[rng.below(messages.len())]], along: Vec::new() }
        }
        _ => Command::Reply { role: Role::Assistant, message: Message::text(text(rng)), session },
    }
}

/// Talks for a while; what the disk refuses because the process has died ends it. Returns what was under way then.
fn talk(
    fixture: &mut Fixture,
    disk: &Recorder,
    rng: &mut Rng,
    acknowledged: &mut Acknowledged,
) -> Option<Expected> {
    for n in 0..12 {
        let command = any_command(rng, fixture);
        let Ok(append) = fixture.decide(&command) else { continue };
        match fixture.try_append(append) {
            Ok(()) => acknowledged.push((disk.steps(), fixture.expected.clone())),
            Err((Error::Duplicate { .. } | Error::Sealed { .. }, _)) => {}
            Err((Error::Unavailable { .. }, attempted)) if disk.is_dead() => return Some(attempted),
            Err((error, _)) => panic!("{error}"),
        }
        if n % 5 == 4 {
            _ = sweep(fixture.inner());
        }
    }
    None
}

/// Cuts the power at a random step behind another one, and checks that nothing acknowledged is lost.
fn cut_and_check(disk: &Recorder, from: usize, acknowledged: &Acknowledged, seed: u64) {
    let mut rng = Rng(seed);
    let after = from + rng.below(disk.steps() - from + 1);
    let dir = folder();
    disk.power_cut(after, &mut rng, dir.path());
    let done = acknowledged.iter().take_while(|(steps, _)| *steps <= after).count();
    let mut fixture = Fixture::closed(dir.path());
    fixture.ids = 1_000;
    fixture.now = "2026-03-02T10:00:00Z".parse().unwrap();
    fixture.expected = done.checked_sub(1).map(|last| acknowledged[last].1.clone()).unwrap_or_default();
    fixture.reopen();
    super::crash::settle(&mut fixture, acknowledged.get(done).map(|(_, attempted)| attempted.clone()));
    fixture.say("and on it goes");
    fixture.new_session();
    fixture.check();
    let set_aside: Vec<_> = super::layout::all_files(dir.path())
        .into_iter()
        .map(|(path, _)| path)
        .filter(|path| path.to_string_lossy().contains("damaged"))
        .collect();
    assert_eq!(set_aside, Vec::<std::path::PathBuf>::new(), "seed {seed}");
    // No message is accepted twice.
    let ids = fixture.expected.log.values().filter_map(|record| match record.body() {
        Ok(segue_core::entry::Body::Message(_, message)) => message.message_id,
        _ => None,
    });
    for id in ids.collect::<Vec<_>>() {
        let again = fixture.try_run(&say_as("again", &id.0)).map_err(|(error, _)| error);
        assert!(matches!(again, Err(Error::Duplicate { .. })), "seed {seed}: {again:?}");
    }
}

fn start(dir: &Path) -> (Fixture, Arc<Recorder>) {
    let disk = Arc::new(Recorder::new(dir));
    let mut fixture = Fixture::closed(dir);
    fixture.open(disk.clone()).unwrap();
    (fixture, disk)
}

/// 1,500 states after a power cut.
#[test]
fn p9_a_power_cut_loses_nothing_that_was_acknowledged_whatever_order_pages_land_in() {
    for run in 0..50 {
        let dir = folder();
        let (mut fixture, disk) = start(dir.path());
        let (mut rng, mut acknowledged) = (Rng(run), Vec::new());
        assert!(talk(&mut fixture, &disk, &mut rng, &mut acknowledged).is_none());
        fixture.close();
        for state in 0..30 {
            cut_and_check(&disk, 0, &acknowledged, run * 1_000 + state);
        }
    }
}

/// 800 states: the process dies first, another one goes on with what is in the cache of the machine, and then the power
/// is cut. What was in the cache only must be durable before anything is built upon it.
#[test]
fn p9_what_a_dead_process_left_in_the_cache_is_durable_before_it_counts() {
    for run in 0..80 {
        let dir = folder();
        let (mut fixture, disk) = start(dir.path());
        let (mut rng, mut acknowledged) = (Rng(10_000 + run), Vec::new());
        disk.die_after(rng.below(60));
        let attempted = talk(&mut fixture, &disk, &mut rng, &mut acknowledged);
        fixture.close();
        disk.revive();
        fixture.open(disk.clone()).unwrap();
        let found = fixture.load().unwrap();
        if let Some(attempted) = attempted.filter(|attempted| attempted.state == found) {
            fixture.expected = attempted;
        }
        let restarted = disk.steps();
        assert!(talk(&mut fixture, &disk, &mut rng, &mut acknowledged).is_none());
        fixture.close();
        // The states before the restart are those of the test above.
        let first = acknowledged.iter().position(|(steps, _)| *steps > restarted);
        let Some(from) = first.map(|at| acknowledged[at].0) else { continue };
        for state in 0..10 {
            cut_and_check(&disk, from, &acknowledged, run * 1_000 + state);
        }
    }
}
