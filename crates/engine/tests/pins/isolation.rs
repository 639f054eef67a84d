//! L-8: sessions and scopes are isolated, also when they are busy at once.

use crate::home::{Home, SETTINGS};
use jiff::SignedDuration;
use segue_core::scope::Key;
use segue_core::session::Number;
use segue_engine::Inbound;
use std::sync::Arc;

fn scope(n: usize) -> Key {
    format!("agent:main:cli:direct:user{n}").parse().unwrap()
}

/// Each scope changes its own session, all at once, and none sees another one's change.
#[tokio::test(flavor = "multi_thread")]
async fn l8_scopes_that_change_at_once_do_not_touch_each_other() {
    let agents: String = (0..8)
        .map(|n| {
            format!(
                "[agents.a{n}]\ninstructions = 'mark{n}'\n[models.m{n}]\nbase_url = 'http://localhost:1/v1'\n\
                 model = 'id{n}'\n"
            )
        })
        .collect();
    for store in ["memory:", "sqlite:log.db", "files:log"] {
        let home = Home::new(store, &agents).await;
        let engine = Arc::clone(&home.engine);
        let begin = home.now;
        let tasks = (0..64).map(|n| {
            let engine = Arc::clone(&engine);
            tokio::spawn(async move {
                let texts = [
                    "hello".to_owned(),
                    format!("/agent use a{}", n % 8),
                    format!("/model m{}", (n + 3) % 8),
                    "/new".to_owned(),
                    format!("/agent use a{}", (n + 1) % 8),
                ];
                for (at, text) in texts.into_iter().enumerate() {
                    let at = begin + SignedDuration::from_secs(at as i64);
                    engine.receive(Inbound::user(scope(n), at, &text)).await.unwrap();
                }
            })
        });
        for task in tasks.collect::<Vec<_>>() {
            task.await.unwrap();
        }
        for n in 0..64 {
            let state = engine.state(&scope(n)).await.unwrap();
            let first = engine.pinned(&state, Number(1)).await.unwrap();
            let second = engine.pinned(&state, Number(2)).await.unwrap();
            assert_eq!(first.agent, format!("a{}", n % 8));
            assert_eq!(first.instructions.as_deref(), Some(format!("mark{}", n % 8).as_str()));
            assert_eq!(first.model.id, Some(format!("id{}", (n + 3) % 8)));
            assert_eq!(second.agent, format!("a{}", (n + 1) % 8));
            assert_eq!(second.model.id, None, "a new session has the usual model");
            let context = engine.context(&scope(n)).await.unwrap();
            let front: String = context.front.iter().map(|front| front.text.as_str()).collect();
            let marks: Vec<usize> = (0..8).filter(|m| front.contains(&format!("mark{m}"))).collect();
            assert_eq!(marks, [(n + 1) % 8]);
            let report = segue_store::verify::verify(home.store().as_ref(), &scope(n)).await.unwrap();
            assert_eq!(report.problems, Vec::<String>::new());
        }
    }
}

/// Two reloads and messages of one scope at once: every one of them is whole.
#[tokio::test(flavor = "multi_thread")]
async fn l8_changes_of_one_session_at_once_are_all_kept() {
    let home = Home::new("sqlite:log.db", SETTINGS).await;
    let engine = Arc::clone(&home.engine);
    let (begin, me) = (home.now, home.scope.clone());
    engine.receive(Inbound::user(me.clone(), begin, "hello")).await.unwrap();
    let commands = ["/reload_skills", "/agent use work", "/model fast", "/reload_persona", "a message"];
    let tasks: Vec<_> = (0..50)
        .map(|n| {
            let (engine, me) = (Arc::clone(&engine), me.clone());
            tokio::spawn(async move {
                engine.receive(Inbound::user(me, begin, commands[n % commands.len()])).await.unwrap();
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    let pinned = home.pinned(1).await;
    assert_eq!((pinned.agent.as_str(), pinned.model.name.as_str()), ("work", "fast"));
    assert_eq!(pinned.reloads, 30);
    home.verify().await;
}
