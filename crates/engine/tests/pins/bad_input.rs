//! What people put into the folders by mistake: it is said, and the conversation goes on.

use crate::home::{Home, SETTINGS, everywhere};

#[tokio::test]
async fn l2_a_broken_or_looping_skill_is_a_diagnostic_of_the_session() {
    let mut home = Home::new("memory:", SETTINGS).await;
    home.file("skills/broken/SKILL.md", "---\nname: [\n---\n");
    std::os::unix::fs::symlink(home.folder.path().join("skills"), home.folder.path().join("skills/loop"))
        .unwrap();
    std::os::unix::fs::symlink("itself", home.folder.path().join("skills/itself")).unwrap();
    home.say("hello").await;
    let reply = home.reply("/skills").await;
    assert!(
        reply.starts_with("tides  Reads tide tables (workspace:tides/SKILL.md)\n! skill broken"),
        "{reply}"
    );
    assert_eq!(reply.matches("it is a link that leads back to itself").count(), 2, "{reply}");
    assert!(home.reply("/status").await.contains("! 3 of the skills have a problem"));
}

#[tokio::test]
async fn l4_a_persona_that_is_too_large_refuses_no_message_and_a_reload_says_by_how_much() {
    everywhere(async |home| {
        home.file("SOUL.md", &"kind ".repeat(300_000));
        home.say("hello").await;
        assert_eq!(home.pinned(1).await.persona.parts, []);
        let status = home.reply("/status").await;
        let said =
            "the persona has 1500020 bytes, 451444 more than the 1048576 that are taken; shorten SOUL.md";
        assert!(status.contains(said), "{status}");
        home.file("SOUL.md", "Be kind.");
        home.say("/reload_persona").await;
        home.file("SOUL.md", &"kind ".repeat(300_000));
        let outcome = home.say("/reload_persona").await;
        assert_eq!(outcome.action.name(), "refused");
        assert_eq!(outcome.reply, Some(format!("Nothing was changed: {said}.")));
        assert!(home.front().await.contains("Be kind."), "the session keeps what it has");
    })
    .await;
}

#[tokio::test]
async fn m_d1_a_persona_of_a_megabyte_is_pinned_and_a_smaller_window_says_by_how_much() {
    everywhere(async |home| {
        home.remove("AGENTS.md");
        home.file("SOUL.md", &"kind ".repeat(1024 * 1024 / 5));
        home.say("hello").await;
        assert_eq!(home.pinned(1).await.persona.parts[0].text.len(), 1024 * 1024 / 5 * 5);
        let error = home.engine.context(&home.scope).await.unwrap_err().to_string();
        assert!(error.contains("for the persona") && error.contains("more than"), "{error}");
    })
    .await;
}

#[tokio::test]
async fn l4_an_engine_without_a_host_changes_nothing_on_a_reload() {
    let mut home = Home::new("sqlite:log.db", SETTINGS).await;
    home.say("hello").await;
    let before = home.fields(1).await;
    let plain = segue_engine::Engine::open(home.store().clone(), home.engine.config().clone()).await.unwrap();
    for command in ["/reload_skills", "/reload_persona"] {
        home.now += jiff::SignedDuration::from_secs(60);
        let inbound = segue_engine::Inbound::user(home.scope.clone(), home.now, command);
        let outcome = plain.receive(inbound).await.unwrap();
        assert_eq!(outcome.action.name(), "refused", "{command}");
    }
    assert_eq!(home.fields(1).await, before);
    assert_eq!(plain.drift(&*home.state().await, segue_core::session::Number(1)).await.unwrap(), []);
}

#[tokio::test]
async fn l6_commands_in_chinese() {
    let mut home = Home::new("memory:", &format!("language = 'zh'\n{SETTINGS}")).await;
    home.say("你好").await;
    assert_eq!(home.reply("/model fast").await, "#1 现在由 fast（tiny，思考 low，详细程度 high） 回答。");
    assert_eq!(home.reply("/agent use 没有").await, "没有助手 没有。现有：main、play、work。");
    home.file("SOUL.md", "变了");
    assert!(home.reply("/status").await.contains("SOUL.md 在磁盘上改动了；/reload_persona 可以采用"));
}
