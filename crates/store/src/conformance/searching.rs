//! What every store must find, and what none may find.

use super::Bench;
use super::suite::reopen;
use super::world::{World, text};
use crate::search::{Hit, Query, Reach, Visibility};
use segue_core::decide::Command;
use segue_core::session::Number;
use segue_core::state::State;
use std::sync::Arc;

/// Searches what the latest session does not see.
pub async fn search(world: &World, state: &State, words: &str) -> Vec<Hit> {
    search_as_far_as(world, state, words, Reach::Archived).await
}

async fn search_as_far_as(world: &World, state: &State, words: &str, reach: Reach) -> Vec<Hit> {
    let visibility = Arc::new(Visibility::of(state, reach));
    let query = Query { text: words.to_owned(), visibility, limit: 50 };
    crate::search::find(world.store.as_ref(), &world.scope, &query).await.unwrap()
}

async fn found(world: &World, words: &str) -> Vec<String> {
    search(world, &*world.state().await, words).await.iter().map(|hit| text(&hit.record)).collect()
}

async fn next_session(world: &mut World) {
    world.now += jiff::SignedDuration::from_mins(1);
    world.run(&Command::New { first: None }).await.unwrap();
}

pub async fn m_d2_a_search_finds_what_was_said_and_nothing_that_is_gone(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    assert!(found(&world, "harbour").await.is_empty(), "nothing was said yet");
    let secret = world.say("the harbour code is 4711").await.about.unwrap();
    world.say("we met near the harbour, by the old crane").await;
    next_session(&mut world).await;
    world.say("the train to Porto leaves at nine").await;
    next_session(&mut world).await;
    world.say("a harbour in the latest session").await;
    // The message that has more of the question comes first.
    let both = ["we met near the harbour, by the old crane", "the harbour code is 4711"];
    assert_eq!(found(&world, "which crane at the harbours?").await, both);
    assert_eq!(found(&world, "trains").await, ["the train to Porto leaves at nine"]);
    assert!(found(&world, "zeppelin").await.is_empty());
    let everything = search_as_far_as(&world, &*world.state().await, "harbour", Reach::Everything).await;
    assert_eq!(everything.len(), 3);
    // What is erased is gone at once, also from an index that was made before, and stays gone.
    world.run(&Command::Erase { entries: vec![secret], along: Vec::new() }).await.unwrap();
    assert!(found(&world, "4711").await.is_empty());
    assert_eq!(found(&world, "harbour").await, both[..1]);
    world.verify().await;
    reopen(bench, &mut world);
    if !bench.is_durable() {
        return;
    }
    assert_eq!(found(&world, "harbour").await, both[..1]);
    // What is dropped is not found before it is swept, nor after.
    world.run(&Command::Delete { session: Number(1) }).await.unwrap();
    assert!(found(&world, "harbour").await.is_empty());
    world.store.sweep().await.unwrap();
    assert!(found(&world, "harbour").await.is_empty());
    assert_eq!(found(&world, "Porto").await.len(), 1);
    world.verify().await;
}

pub async fn m_d2_a_search_never_crosses_a_scope(bench: &dyn Bench) {
    let store = bench.open();
    let mut worlds: Vec<World> =
        (0..8).map(|n| World::at(store.clone(), &format!("agent:main:cli:direct:p{n}"))).collect();
    for (n, world) in worlds.iter_mut().enumerate() {
        world.say(&format!("the mark of this one is mark{n}")).await;
        next_session(world).await;
    }
    for (n, world) in worlds.iter().enumerate() {
        assert!(found(world, "ark").await.is_empty(), "a part of a word is another word");
        for other in 0..8 {
            let expected = usize::from(other == n);
            assert_eq!(found(world, &format!("mark{other}")).await.len(), expected);
        }
        // Scores come from the own scope only: what others say makes no difference.
        let hits = search(world, &*world.state().await, "this mark").await;
        assert!(hits.iter().all(|hit| text(&hit.record).ends_with(&format!("mark{n}"))));
    }
}

pub async fn x11_a_search_finds_chinese_words(bench: &dyn Bench) {
    let mut world = World::new(bench.open());
    world.say("数据库每天凌晨三点备份一次").await;
    world.say("猫对鸡肉过敏，换成了鱼").await;
    next_session(&mut world).await;
    world.say("下周去大理，住在洱海边").await;
    next_session(&mut world).await;
    assert_eq!(found(&world, "备份").await, ["数据库每天凌晨三点备份一次"]);
    assert_eq!(found(&world, "上次说的过敏是什么？").await, ["猫对鸡肉过敏，换成了鱼"]);
    assert_eq!(found(&world, "猫").await, ["猫对鸡肉过敏，换成了鱼"]);
    assert_eq!(found(&world, "洱海").await, ["下周去大理，住在洱海边"]);
    assert!(found(&world, "火锅").await.is_empty());
}
