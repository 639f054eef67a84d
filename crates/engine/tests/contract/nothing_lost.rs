//! Nothing is lost unless somebody asked (P-8): 10,000 messages in 500 sessions of one scope, by `/new`, by rotation and by import.

use super::script::{Stage, stage_on};
use segue_core::Timestamp;
use segue_core::message::{Message, Role};
use segue_engine::Inbound;
use segue_engine::port::Conversation;
use segue_store::sqlite::Sqlite;
use segue_store::{Location, Store};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Sessions that are begun by `/new`, by the night, and by an import.
const BY_COMMAND: usize = 200;
const BY_NIGHT: usize = 100;
const BY_IMPORT: usize = 200;
const MESSAGES_EACH: usize = 20;

fn text(session: usize, n: usize) -> String {
    format!("what was said as number {n} of conversation {session}, word for word")
}

async fn say(stage: &Stage, at: Timestamp, role: Role, text: &str) {
    let mut inbound = Inbound::user(stage.scope.clone(), at, text);
    inbound.role = role;
    stage.engine.receive(inbound).await.unwrap();
}

/// Says a conversation, a message a second, and returns when it ended.
async fn converse(stage: &Stage, session: usize, from: Timestamp, said: &mut BTreeSet<String>) -> Timestamp {
    let mut at = from;
    for n in 0..MESSAGES_EACH {
        at += jiff::SignedDuration::from_secs(1);
        let role = if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
        say(stage, at, role, &text(session, n)).await;
        said.insert(text(session, n));
    }
    at
}

/// In SQLite, with a rotation every night, whatever is said: what is tested is what becomes of the old ones.
#[tokio::test]
async fn p8_ten_thousand_messages_in_five_hundred_sessions_are_all_there() {
    let folder = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::open(&folder.path().join("segue.db")).unwrap();
    all_are_there(Arc::new(sqlite), "lifecycle.policy = 'segmented'").await;
}

/// In files, with the settings as they ship.
#[tokio::test]
async fn p8_everything_is_there_with_the_settings_as_they_ship() {
    let folder = tempfile::tempdir().unwrap();
    all_are_there(Location::Files(folder.path().to_owned()).open().unwrap(), "").await;
}

async fn all_are_there(store: Arc<dyn Store>, settings: &str) {
    let stage = stage_on(store, settings).await;
    let mut said = BTreeSet::new();
    let mut at: Timestamp = "2026-03-01T08:00:00Z".parse().unwrap();
    for session in 0..BY_COMMAND {
        at = converse(&stage, session, at, &mut said).await;
        at += jiff::SignedDuration::from_secs(1);
        say(&stage, at, Role::User, "/new").await;
    }
    for session in BY_COMMAND..BY_COMMAND + BY_NIGHT {
        at += jiff::SignedDuration::from_hours(24);
        at = converse(&stage, session, at, &mut said).await;
    }
    for session in BY_COMMAND + BY_NIGHT..BY_COMMAND + BY_NIGHT + BY_IMPORT {
        let message = |n: usize| {
            let role = if n.is_multiple_of(2) { Role::User } else { Role::Assistant };
            (at, role, Message::text(text(session, n)))
        };
        said.extend((0..MESSAGES_EACH).map(|n| text(session, n)));
        let messages = (0..MESSAGES_EACH).map(message).collect();
        stage.engine.import(&stage.scope, Conversation { pins: None, title: None, messages }).await.unwrap();
    }
    at += jiff::SignedDuration::from_secs(1);
    say(&stage, at, Role::User, "/new").await;

    let state = stage.engine.state(&stage.scope).await.unwrap();
    let all = stage.engine.list_all(&state).await.unwrap();
    // After a night on the same topic a session may go on.
    let nights = if settings.is_empty() { 0 } else { BY_NIGHT };
    assert!(all.len() >= BY_COMMAND + nights + BY_IMPORT, "{} sessions", all.len());
    let (mut found, mut count) = (BTreeSet::new(), 0);
    for session in &all {
        for told in stage.engine.messages(&state, session.number, said.len()).await.unwrap() {
            count += 1;
            found.insert(told.text);
        }
    }
    assert_eq!(said.len(), 10_000);
    assert_eq!(said.difference(&found).collect::<Vec<_>>(), Vec::<&String>::new());
    assert_eq!(count, 10_000, "and nothing twice");
    stage.verify().await;
}
