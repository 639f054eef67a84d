//! What a session is held to, and the only things that change it.

use crate::home::{Home, SETTINGS, everywhere};
use std::collections::BTreeMap;

/// Names the fields that differ.
fn differing(
    before: &BTreeMap<&'static str, String>,
    after: &BTreeMap<&'static str, String>,
) -> Vec<&'static str> {
    before.iter().filter(|(name, value)| after[*name] != **value).map(|(name, _)| *name).collect()
}

#[tokio::test]
async fn l1_a_session_takes_in_agent_skills_persona_and_model_when_it_opens() {
    everywhere(async |home| {
        home.skill("broken", "x", "y");
        home.file("skills/broken/SKILL.md", "no front matter");
        home.say("hello").await;
        let pinned = home.pinned(1).await;
        assert_eq!((pinned.agent.as_str(), pinned.instructions), ("main", None));
        assert_eq!(pinned.skills.skills[0].source.to_string(), "workspace:tides/SKILL.md");
        assert_eq!(pinned.skills.diagnostics[0].skill.as_deref(), Some("broken"));
        assert_eq!(pinned.persona.parts.len(), 2);
        let model = serde_json::to_string(&pinned.model).unwrap();
        assert_eq!(model, r#"{"name":"main","id":"qwen3","temperature":0.7}"#);
        assert_eq!(pinned.reloads, 0);
        home.say("/agent use work").await;
        home.say("/reload_skills").await;
        home.say("/status").await;
        assert_eq!(home.pinned(1).await.reloads, 2);
        let commands =
            home.engine.commands(&*home.state().await, segue_core::session::Number(1)).await.unwrap();
        let typed: Vec<&str> = commands.iter().map(|typed| typed.text.as_str()).collect();
        assert_eq!(typed, ["/agent use work", "/reload_skills"]);
    })
    .await;
}

#[tokio::test]
async fn l1_an_agent_of_its_own_brings_its_instructions_and_its_model() {
    let mut home = Home::new("memory:", SETTINGS).await;
    home.scope = "agent:work:cli:direct:me".parse().unwrap();
    home.say("hello").await;
    let pinned = home.pinned(1).await;
    assert_eq!((pinned.agent.as_str(), pinned.model.name.as_str()), ("work", "fast"));
    assert!(home.front().await.ends_with("You are a careful colleague."));
}

#[tokio::test]
async fn l3_a_reload_of_unchanged_skills_keeps_the_version() {
    everywhere(async |home| {
        home.say("hello").await;
        let (before, head) = (home.fields(1).await, home.state().await.head);
        let reply = home.reply("/reload_skills").await;
        assert_eq!(reply, "The skills of #1 have not changed.");
        assert_eq!(differing(&before, &home.fields(1).await), Vec::<&str>::new());
        let written = home.state().await.head.0 - head.0;
        assert_eq!(written, 3, "the command, the pin and the decision: no text is written twice");
    })
    .await;
}

#[tokio::test]
async fn l4_nothing_on_disk_reaches_a_session_until_a_reload() {
    everywhere(async |home| {
        home.say("hello").await;
        let (before, front) = (home.fields(1).await, home.front().await);
        assert!(front.contains("Be kind.") && front.contains("- tides: Reads tide tables"), "{front}");
        home.skill("tides", "Reads anything", "Guess.");
        home.skill("winds", "Reads wind charts", "Look up.");
        for (file, text) in
            [("SOUL.md", "Be rude."), ("IDENTITY.md", "A"), ("USER.md", "B"), ("AGENTS.md", "Send.")]
        {
            home.file(file, text);
        }
        home.restart(&SETTINGS.replace("qwen3", "qwen4")).await;
        home.say("and now?").await;
        let mut after = home.fields(1).await;
        after.insert("conversation_state", before["conversation_state"].clone());
        after.insert("spans", before["spans"].clone());
        assert_eq!(differing(&before, &after), Vec::<&str>::new());
        assert_eq!(home.front().await, front, "the model is given the same");
        assert_eq!(
            home.reply("/skill tides").await.lines().last(),
            Some("Open the table, find the harbour.")
        );
        assert!(home.reply("/skill winds").await.starts_with("This session has no skill winds."));

        home.say("/reload_skills").await;
        let front = home.front().await;
        assert!(front.contains("Be kind.") && front.contains("- winds"), "{front}");
        home.say("/reload_persona").await;
        assert!(home.front().await.starts_with("# SOUL.md\n\nBe rude."));
        assert_eq!(home.reply("/skill tides").await.lines().last(), Some("Guess."));
    })
    .await;
}

#[tokio::test]
async fn l5_each_command_changes_its_own_field_and_nothing_else() {
    everywhere(async |home| {
        home.say("hello").await;
        home.say("/session rename 1 Tides").await;
        home.skill("winds", "Reads wind charts", "Look up.");
        home.file("SOUL.md", "Be rude.");
        let steps: [(&str, &[&str]); 6] = [
            ("/agent use work", &["active_agent", "agent_pin"]),
            ("/model fast", &["model_config"]),
            ("/reload_skills", &["skill_snapshot", "skills_pin"]),
            ("/reload_persona", &["persona", "persona_pin"]),
            ("/agent play", &["active_agent", "agent_pin"]),
            ("/model main", &["model_config"]),
        ];
        for (command, own) in steps {
            let before = home.fields(1).await;
            let outcome = home.say(command).await;
            assert_eq!(outcome.action.name(), "command", "{:?}", outcome.reply);
            assert_eq!(differing(&before, &home.fields(1).await), own, "{command}");
        }
        home.restart(SETTINGS).await;
        let pinned = home.pinned(1).await;
        assert_eq!((pinned.agent.as_str(), pinned.model.name.as_str()), ("play", "main"));
        // What is wrong changes nothing at all.
        for command in ["/agent use nobody", "/model nothing", "/agent use", "/skill nowhere"] {
            let before = home.fields(1).await;
            home.say(command).await;
            assert_eq!(before, home.fields(1).await, "{command}");
        }
    })
    .await;
}

#[tokio::test]
async fn l6_commands_go_by_the_snapshot_alone() {
    everywhere(async |home| {
        home.file("skills/tides/SKILL.md", "---\nname: tides\ndescription: d\naliases: [ebb]\n---\nbody");
        home.say("hello").await;
        let asked = ["/skills", "/skill tides", "/skill EBB", "/skill tide", "/model", "/agent show"];
        let mut before = Vec::new();
        for command in asked {
            before.push(home.reply(command).await);
        }
        assert_eq!(before[1], before[2], "an alias is the skill");
        assert_eq!(before[3], "This session has no skill tide. Did you mean tides?");
        home.remove("skills");
        home.remove("SOUL.md");
        home.restart(SETTINGS).await;
        for (command, before) in asked.iter().zip(&before) {
            assert_eq!(home.reply(command).await, *before, "{command}");
        }
    })
    .await;
}

#[tokio::test]
async fn l9_a_new_session_captures_anew_and_a_model_stays_where_it_was_set() {
    everywhere(async |home| {
        home.say("hello").await;
        home.say("/model fast").await;
        home.say("/agent use work").await;
        home.file("SOUL.md", "Be brief.");
        home.say("/new").await;
        let (first, second) = (home.pinned(1).await, home.pinned(2).await);
        assert_eq!((first.model.name.as_str(), second.model.name.as_str()), ("fast", "main"));
        assert_eq!((first.agent.as_str(), second.agent.as_str()), ("work", "main"));
        assert_eq!(first.persona.parts[0].text, "Be kind.");
        assert_eq!(second.persona.parts[0].text, "Be brief.");
        assert_eq!(first.skills.version, second.skills.version);
        // Back in the first one, all is as it was.
        home.say("/session resume 1").await;
        assert_eq!(home.reply("/model").await, "fast (tiny, thinking low, verbosity high)");
        assert!(home.front().await.starts_with("# SOUL.md\n\nBe kind."));
    })
    .await;
}

#[tokio::test]
async fn l11_what_vanished_is_reported_and_nothing_is_switched() {
    everywhere(async |home| {
        home.say("hello").await;
        home.say("/agent use work").await;
        home.say("/model fast").await;
        assert_eq!(home.drift(1).await, Vec::<String>::new());
        let before = (home.fields(1).await, home.front().await);
        home.remove("skills/tides");
        home.remove("SOUL.md");
        home.skill("winds", "Reads wind charts", "Look up.");
        home.file("AGENTS.md", "Never ask.");
        home.restart("[models.main]\nbase_url = 'http://localhost:1/v1'\nmodel = 'qwen3'\n").await;
        let told = [
            "agent work is gone from the configuration; the session keeps it until /agent use NAME",
            "skill tides is gone since this session began; /reload_skills uses it as it is now",
            "skill winds was added since this session began; /reload_skills uses it as it is now",
            "SOUL.md is gone since this session began; /reload_persona uses it as it is now",
            "AGENTS.md changed on disk since this session began; /reload_persona uses it as it is now",
            "model fast is gone from the configuration; the session keeps it until /model NAME",
        ];
        assert_eq!(home.drift(1).await, told);
        let status = home.reply("/status").await;
        assert!(told.iter().all(|line| status.contains(line)), "{status}");
        assert_eq!((home.fields(1).await, home.front().await), before);
        assert_eq!(home.reply("/agent").await, "  main\n* work");
    })
    .await;
}
