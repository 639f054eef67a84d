//! The suite.

pub use super::searching::*;
pub use super::services::*;

use super::Bench;
use super::operations::{Operation, Pair};
use super::world::{World, said};
use crate::{Error, Page, Store};
use segue_core::decide::Command;
use segue_core::entry::{Bytes, Kind, Seq};
use segue_core::message::{Message, MessageId, Role};
use segue_core::policy::Backlog;
use segue_core::policy::Excess;
use segue_core::session::Number;
use std::sync::Arc;

/// Makes the tests of a store.
#[macro_export]
macro_rules! conformance_tests {
    // Without the random ones.
    (@written $bench:expr) => {
        $crate::conformance_tests!(@each $bench;
            nothing_is_there_at_first,
            what_was_said_is_read_in_order,
            m_d3_a_sealed_segment_is_refused,
            c15_an_append_on_an_old_head_conflicts,
            x7_a_second_delivery_is_refused_as_a_duplicate,
            x7_a_second_delivery_is_known_after_its_session_was_dropped,
            x12_many_appends_are_written_up_to_the_first_that_cannot_be,
            x12_of_a_chain_that_somebody_else_came_before_nothing_is_written,
            p8_dropped_content_goes_and_the_proof_stays,
            an_erased_body_leaves_its_hash,
            a_new_session_is_there_after_a_restart,
            scopes_are_listed_newest_first_page_by_page,
            scopes_do_not_see_each_other,
            concurrent_appends_to_one_scope_lose_nothing,
            odd_texts_come_back_as_they_were,
            a_sweep_changes_nothing_that_is_folded,
            m_d2_a_search_finds_what_was_said_and_nothing_that_is_gone,
            m_d2_a_search_never_crosses_a_scope,
            x11_a_search_finds_chinese_words,
            n2_an_append_that_is_sent_again_is_written_once,
            s5_commits_are_watched_without_gaps,
            n4_a_lease_has_one_holder,
            values_are_kept_beside_the_log,
            p8_nothing_is_made_of_what_is_being_deleted,
            a_chain_of_forks_is_read_back_and_taken_apart,
        );
    };
    (@each $bench:expr; $($test:ident,)*) => {$(
        #[test]
        fn $test() {
            let bench = $bench;
            $crate::conformance::Bench::runtime(&bench).block_on($crate::conformance::suite::$test(&bench));
        }
    )*};
    ($bench:expr) => {
        $crate::conformance_tests!(@written $bench);

        #[test]
        fn random_operations_do_what_the_naive_model_says() {
            $crate::conformance::suite::random_operations($crate::conformance::suite::CASES, &|| Box::new($bench));
        }

        #[test]
        fn c7_c8_random_work_on_tasks_folds_to_what_is_stored() {
            $crate::conformance::suite::random_work_on_tasks($crate::conformance::suite::CASES, &|| Box::new($bench));
        }
    };
}

/// How many random sequences each store runs; `SEGUE_CASES` says otherwise.
pub const CASES: u32 = 2_000;

fn asked_cases(usual: u32) -> u32 {
    std::env::var("SEGUE_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

pub fn random_operations(cases: u32, make: &dyn Fn() -> Box<dyn Bench>) {
    let cases = asked_cases(cases);
    let config = proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Default::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let excess = proptest::sample::select(vec![Excess::Archive, Excess::Delete]);
    let operations = (excess, super::operations::any_operations());
    let result = runner.run(&operations, |(excess, operations): (Excess, Vec<Operation>)| {
        let bench = make();
        runtime.block_on(async {
            let mut pair = Pair::new(bench.as_ref(), excess);
            for operation in &operations {
                pair.step(operation).await;
                pair.check().await;
            }
            pair.search().await;
            pair.verify().await;
        });
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

/// Random work on tasks; a quarter as many sequences, because each is longer.
pub fn random_work_on_tasks(cases: u32, make: &dyn Fn() -> Box<dyn Bench>) {
    let cases = asked_cases(cases) / 4;
    let config = proptest::test_runner::Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..Default::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let result = runner.run(&super::tasks::any_steps(), |steps| {
        let bench = make();
        runtime.block_on(async {
            let mut fixture = super::tasks::Fixture::new(bench.as_ref());
            for step in &steps {
                fixture.step(step).await;
                fixture.check().await;
            }
            fixture.verify().await;
        });
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}

pub async fn nothing_is_there_at_first(bench: &dyn Bench) {
    let world = World::new(bench.open());
    assert!(world.store.load(&world.scope).await.unwrap().is_none());
    assert!(world.whole_log().await.is_empty());
    assert!(world.store.scopes(&Page::first(10)).await.unwrap().rows.is_empty());
    assert!(world.store.get(&world.scope, Seq(1)).await.unwrap().is_none());
    world.verify().await;
}

pub async fn what_was_said_is_read_in_order(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    for text in ["one", "two", "three"] {
        world.say(text).await;
    }
    assert_eq!(world.texts(Number(1)).await, ["one", "two", "three"]);
    world.verify().await;
}

pub async fn m_d3_a_sealed_segment_is_refused(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    let open = world.state().await;
    world.say("one").await;
    let before = world.state().await;
    world.run(&Command::New { first: None }).await.unwrap();
    // A writer that bypasses the rules: the old segment, the right head.
    let (mut append, _) = world.append_of(before, &said("a forged message")).unwrap();
    append.prior = world.state().await;
    let refused = world.store.append(append).await;
    assert!(matches!(refused, Err(Error::Sealed { .. })), "{refused:?}");
    assert_eq!(world.texts(Number(1)).await, ["one"]);
    assert_eq!(open.head, Seq::ZERO);
    world.verify().await;
}

pub async fn c15_an_append_on_an_old_head_conflicts(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say("one").await;
    let old = world.state().await;
    world.say("two").await;
    let (append, _) = world.append_of(old.clone(), &said("decided on what was")).unwrap();
    match world.store.append(append).await {
        Err(Error::Conflict { expected, found }) => {
            assert_eq!((expected, found), (old.head, world.state().await.head));
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(world.texts(Number(1)).await, ["one", "two"]);
}

pub async fn x7_a_second_delivery_is_refused_as_a_duplicate(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say_as("hello", "77").await.unwrap();
    let seq = world.store.seen(&world.scope, &MessageId("77".into())).await.unwrap().unwrap();
    match world.say_as("hello", "77").await {
        Err(Error::Duplicate { seq: first }) => assert_eq!(first, seq),
        other => panic!("{other:?}"),
    }
    assert_eq!(world.texts(Number(1)).await, ["hello"]);
    // The same id in another scope is another message.
    let mut other = World::at(world.store.clone(), "agent:main:cli:direct:you");
    other.say_as("hello", "77").await.unwrap();
    world.verify().await;
}

/// Each is all or none, up to the first that cannot be; those behind it were decided on it.
pub async fn x12_many_appends_are_written_up_to_the_first_that_cannot_be(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say("hello").await;
    let chain = async |world: &mut World, ids: &[&str]| {
        let (mut state, mut appends) = (world.state().await, Vec::new());
        for id in ids {
            let message = Message { message_id: Some(MessageId((*id).into())), ..Message::text(*id) };
            let command = Command::Say { role: Role::User, message };
            let (append, _) = world.append_of(state, &command).unwrap();
            state = append.next.clone();
            appends.push(append);
        }
        world.store.append_many(appends).await
    };
    assert!(matches!(chain(&mut world, &[]).await, (0, Ok(()))));
    assert!(matches!(chain(&mut world, &["a", "b", "c"]).await, (3, Ok(()))));
    match chain(&mut world, &["d", "e", "b", "f"]).await {
        (2, Err(Error::Duplicate { seq })) => {
            let first = world.store.seen(&world.scope, &MessageId("b".into())).await.unwrap();
            assert_eq!(Some(seq), first);
        }
        other => panic!("{other:?}"),
    }
    // Somebody else was faster.
    let (append, _) = world.append_of(world.state().await, &said("late")).unwrap();
    world.say("first").await;
    assert!(matches!(world.store.append_many(vec![append]).await, (0, Err(Error::Conflict { .. }))));
    assert_eq!(world.texts(Number(1)).await, ["hello", "a", "b", "c", "d", "e", "first"]);
    world.verify().await;
    reopen(bench, &mut world);
    world.verify().await;
}

/// Somebody else writes as many entries as the first of a chain would have: the second finds the head that it expects,
/// and is not written either.
pub async fn x12_of_a_chain_that_somebody_else_came_before_nothing_is_written(bench: &dyn Bench) {
    for others in 1..4 {
        let mut world = World::at(bench.open(), &format!("agent:main:cli:direct:me{others}"));
        world.say("hello").await;
        let (mut state, mut appends) = (world.state().await, Vec::new());
        for text in ["a", "b", "c"] {
            let (append, _) = world.append_of(state, &said(text)).unwrap();
            state = append.next.clone();
            appends.push(append);
        }
        for other in 0..others {
            world.say(&format!("other {other}")).await;
        }
        let before = world.whole_log().await;
        assert!(matches!(world.store.append_many(appends).await, (0, Err(Error::Conflict { .. }))));
        assert_eq!(world.whole_log().await, before);
        world.verify().await;
        reopen(bench, &mut world);
        if bench.is_durable() {
            assert_eq!(world.whole_log().await, before);
        }
        world.verify().await;
    }
}

pub async fn x7_a_second_delivery_is_known_after_its_session_was_dropped(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say_as("hello", "77").await.unwrap();
    world.run(&Command::New { first: None }).await.unwrap();
    world.run(&Command::Delete { session: Number(1) }).await.unwrap();
    assert_eq!(world.store.sweep().await.unwrap(), 1);
    assert!(matches!(world.say_as("hello", "77").await, Err(Error::Duplicate { .. })));
    reopen(bench, &mut world);
    if bench.is_durable() {
        assert!(matches!(world.say_as("hello", "77").await, Err(Error::Duplicate { .. })));
    }
}

pub async fn p8_dropped_content_goes_and_the_proof_stays(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say("a secret").await;
    world.run(&Command::New { first: None }).await.unwrap();
    let shared = world.say("kept").await.about.unwrap();
    let cut = world.cut(Number(2), shared).await;
    world.run(&Command::Fork { session: Number(2), at: Some(cut) }).await.unwrap();
    let pruned = world.run(&Command::Prune { keep: Backlog::new(1).unwrap() }).await.unwrap();
    assert_eq!(pruned.dropped().collect::<Vec<_>>(), [Number(1), Number(2)]);
    let swept = world.store.sweep().await.unwrap();
    assert_eq!(swept, 1, "the segment that the fork sees stays");
    assert_eq!(world.store.sweep().await.unwrap(), 0);
    let log = world.whole_log().await;
    let holds = |word: &str| log.iter().any(|r| matches!(&r.bytes, Bytes::Kept(t) if t.contains(word)));
    assert!(!holds("a secret") && holds("kept"));
    assert_eq!(world.texts(Number(3)).await, ["kept"]);
    world.verify().await;
}

pub async fn an_erased_body_leaves_its_hash(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    let seq = world.say("my address").await.about.unwrap();
    world.say("something else").await;
    world.run(&Command::New { first: None }).await.unwrap();
    let before = world.store.get(&world.scope, seq).await.unwrap().unwrap();
    world.run(&Command::Erase { entries: vec![seq], along: Vec::new() }).await.unwrap();
    let after = world.store.get(&world.scope, seq).await.unwrap().unwrap();
    assert_eq!(after.bytes, Bytes::Erased(before.body_hash()));
    assert_eq!(world.texts(Number(1)).await, ["(erased)", "something else"]);
    world.verify().await;
    reopen(bench, &mut world);
    if bench.is_durable() {
        assert_eq!(world.texts(Number(1)).await, ["(erased)", "something else"]);
        world.verify().await;
    }
}

pub async fn a_new_session_is_there_after_a_restart(bench: &dyn Bench) {
    if !bench.is_durable() {
        return;
    }
    let mut world = World::new(bench.open());
    world.say("one").await;
    world.run(&Command::New { first: None }).await.unwrap();
    let state = world.state().await;
    reopen(bench, &mut world);
    assert_eq!(world.state().await, state);
    world.say("two").await;
    assert_eq!(world.texts(Number(2)).await, ["two"]);
    world.verify().await;
}

pub async fn scopes_are_listed_newest_first_page_by_page(bench: &dyn Bench) {
    let store = bench.open();
    for n in 0..7 {
        let mut world = World::at(store.clone(), &format!("agent:main:cli:direct:p{n}"));
        world.now += jiff::SignedDuration::from_secs(n * 37 % 5);
        world.say("hello").await;
        world.run(&Command::New { first: None }).await.unwrap();
    }
    let all = store.scopes(&Page::first(100)).await.unwrap().rows;
    assert_eq!(all.len(), 7);
    assert!(all.is_sorted_by_key(|row| (std::cmp::Reverse(row.updated_at), row.scope.clone())));
    assert!(all.iter().all(|r| (r.sessions, r.messages, r.active) == (2, 1, Some(Number(2)))));
    let mut paged = Vec::new();
    let mut page = Page::first(2);
    loop {
        let found = store.scopes(&page).await.unwrap();
        paged.extend(found.rows);
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    assert_eq!(paged, all);
    // By key none is missed, whatever is written between two pages.
    let (mut keys, mut page) = (Vec::new(), Page::by_key(2));
    loop {
        let found = store.scopes(&page).await.unwrap();
        keys.extend(found.rows.into_iter().map(|row| row.scope.as_str().to_owned()));
        for n in 0..7 {
            World::at(store.clone(), &format!("agent:main:cli:direct:p{n}")).say("again").await;
        }
        page.after = found.next;
        if page.after.is_none() {
            break;
        }
    }
    assert!(keys.len() == 7 && keys.is_sorted(), "{keys:?}");
}

pub async fn scopes_do_not_see_each_other(bench: &dyn Bench) {
    let store = bench.open();
    let mut a = World::at(store.clone(), "agent:main:cli:direct:a");
    let mut b = World::at(store.clone(), "agent:main:cli:direct:b");
    for n in 0..5 {
        a.say(&format!("a{n}")).await;
        b.say(&format!("b{n}")).await;
        b.run(&Command::New { first: None }).await.unwrap();
    }
    assert_eq!(a.texts(Number(1)).await, ["a0", "a1", "a2", "a3", "a4"]);
    assert_eq!(b.texts(Number(3)).await, ["b2"]);
    a.verify().await;
    b.verify().await;
}

/// Eight writers that know nothing of each other: each tries again on a conflict.
pub async fn concurrent_appends_to_one_scope_lose_nothing(bench: &dyn Bench) {
    let store = bench.open();
    let mut writers = tokio::task::JoinSet::new();
    for writer in 0..8 {
        let mut world = World::new(store.clone());
        writers.spawn(async move {
            for n in 0..10 {
                loop {
                    let state = world.state().await;
                    let (append, _) = world.append_of(state, &said(&format!("{writer}.{n}"))).unwrap();
                    match world.store.append(append).await {
                        Ok(()) => break,
                        Err(Error::Conflict { .. }) => tokio::task::yield_now().await,
                        Err(other) => panic!("{other}"),
                    }
                }
            }
        });
    }
    while let Some(done) = writers.join_next().await {
        done.unwrap();
    }
    let world = World::new(store);
    let mut texts = world.texts(Number(1)).await;
    for writer in 0..8 {
        let own: Vec<_> = texts.iter().filter(|t| t.starts_with(&format!("{writer}."))).cloned().collect();
        assert_eq!(own, (0..10).map(|n| format!("{writer}.{n}")).collect::<Vec<_>>());
    }
    texts.sort();
    texts.dedup();
    assert_eq!(texts.len(), 80);
    world.verify().await;
}

pub async fn odd_texts_come_back_as_they_were(bench: &dyn Bench) {
    let mut world = World::at(bench.open(), "agent:main:电报:direct:..%2fx");
    let long = "长".repeat(300_000);
    let odd = ["", "\n\r\t\0", "\"quoted\\\"", "👩‍👩‍👧‍👦 \u{202e}rtl\u{200b}", "{\"json\":1}", long.as_str()];
    for text in odd {
        world.say(text).await;
    }
    assert_eq!(world.texts(Number(1)).await, odd);
    reopen(bench, &mut world);
    if bench.is_durable() {
        assert_eq!(world.texts(Number(1)).await, odd);
    }
    world.verify().await;
    assert!(world.whole_log().await.iter().any(|r| r.kind == Kind::Decision));
}

pub fn reopen(bench: &dyn Bench, world: &mut World) {
    if bench.is_durable() {
        // The old one is dropped first: some stores allow one owner only.
        let nothing: Arc<dyn Store> = Arc::new(crate::memory::Memory::default());
        world.store = nothing;
        world.store = bench.open();
    }
}

/// Issue 16, row 18: forks of forks share what they see, also on disk. Whatever goes of the chain, the rest stays whole.
pub async fn a_chain_of_forks_is_read_back_and_taken_apart(bench: &dyn Bench) {
    use Operation::*;
    let mut pair = Pair::new(bench, Excess::Archive);
    pair.step(&Say(0)).await;
    // Each fork is of the latest one, which has the highest number.
    for n in 0..60u8 {
        pair.step(&Fork(n, None)).await;
        pair.step(&Say(0)).await;
    }
    let sharing = [
        Reopen,
        Undo,
        Redo,
        Delete(0),
        Delete(20),
        Prune(4),
        Sweep,
        Reopen,
        Undo,
        Undo,
        Say(0),
        Merge(0, 1),
        Fork(0, Some(30)),
    ];
    for operation in sharing {
        pair.step(&operation).await;
        pair.check().await;
        pair.verify().await;
    }
}

/// What a session knows of itself does not hang on content that was dropped later.
pub async fn a_sweep_changes_nothing_that_is_folded(bench: &dyn Bench) {
    use Operation::*;
    let mut pair = Pair::new(bench, Excess::Delete);
    for operation in [Say(0), New, Resume(0), Say(0), Resume(1), Undo, Undo, New, Delete(1), Sweep] {
        pair.step(&operation).await;
        pair.check().await;
    }
    pair.verify().await;
}
