//! L-10: a stored session that cannot be read is set aside, and the scope goes on.

use crate::home::{Home, SETTINGS};
use segue_core::session::Number;
use std::fs;

/// Damages the rows of a database, as a bad disk or a clumsy hand does.
#[allow(clippy::disallowed_methods, reason = "plays another program")]
fn sql(home: &Home, statement: &str) {
    let db = rusqlite::Connection::open(home.folder.path().join("log.db")).unwrap();
    db.execute_batch(statement).unwrap();
}

async fn problems(home: &Home) -> String {
    let report = segue_store::verify::verify(home.store().as_ref(), &home.scope).await.unwrap();
    report.problems.join("\n")
}

#[tokio::test]
async fn l10_a_damaged_row_of_a_session_stops_nobody_and_is_named() {
    for (column, junk, named) in [
        ("pins", r#"'{"mood":"good"}'"#, "unknown field `mood`"),
        ("pins", "'{'", "what a session is pinned to"),
        ("spans", "'junk'", "a session's spans"),
        ("id", "'nobody'", "a session's id"),
        ("created_at", "'long ago'", "created_at"),
    ] {
        let mut home = Home::new("sqlite:log.db", SETTINGS).await;
        home.say("hello").await;
        home.say("/new").await;
        home.say("something else").await;
        let before = (home.fields(1).await, home.fields(2).await);
        sql(&home, &format!("UPDATE sessions SET {column} = {junk} WHERE number = 1"));
        home.restart(SETTINGS).await;
        let told = problems(&home).await;
        assert!(told.contains(named) && told.contains("it is set aside"), "{column}: {told}");
        // The log is the truth: nothing is lost.
        assert_eq!((home.fields(1).await, home.fields(2).await), before, "{column}");
        home.say("it goes on").await;
        home.say("/new").await;
        assert_eq!(home.state().await.latest(), Some(Number(3)));
        assert!(problems(&home).await.contains(named), "the row is as it was");
        // What is written into the session writes its row anew.
        home.say("/session resume 1").await;
        home.say("/new").await;
        home.verify().await;
    }
}

#[tokio::test]
async fn l10_a_message_that_cannot_be_read_hides_no_session() {
    let mut home = Home::new("sqlite:log.db", SETTINGS).await;
    home.say("hello").await;
    home.say("/new").await;
    home.say("something else").await;
    sql(&home, "DROP TRIGGER entries_update; UPDATE entries SET kind = 99 WHERE kind = 1 AND segment = 1;");
    home.restart(SETTINGS).await;
    home.say("it goes on").await;
    let list = home.reply("/session list").await;
    assert_eq!(list.lines().count(), 2, "{list}");
    assert!(home.front().await.contains("Be kind."));
    assert!(problems(&home).await.contains("unknown kind 99"));
}

#[tokio::test]
async fn l10_a_damaged_file_of_a_session_stops_nobody_and_keeps_its_bytes() {
    let mut home = Home::new("files:log", SETTINGS).await;
    home.say("hello").await;
    home.say("/new").await;
    home.say("something else").await;
    let second = home.fields(2).await;
    let folder = home.folder.path().join("log/sessions/agent_main_cli_direct_me");
    let file = folder.join("000001.jsonl");
    let damaged = fs::read_to_string(&file).unwrap().replacen("\"seq\"", "\"sqe\"", 1);
    fs::write(&file, &damaged).unwrap();
    home.restart(SETTINGS).await;
    assert_eq!(
        home.fields(2).await,
        second,
        "its pins are there, also those that stand in the other's segment"
    );
    home.say("it goes on").await;
    assert_eq!(home.reply("/session list").await.lines().count(), 1);
    let told = problems(&home).await;
    assert!(told.contains("000001.jsonl, line 1,") && told.contains("it is set aside"), "{told}");
    assert_eq!(fs::read_to_string(&file).unwrap(), damaged);
}

#[tokio::test]
async fn l10_a_pinned_text_that_cannot_be_read_is_an_error_of_the_context_alone() {
    let mut home = Home::new("sqlite:log.db", SETTINGS).await;
    home.say("hello").await;
    sql(
        &home,
        "DROP TRIGGER entries_update;
         UPDATE entries SET body = replace(body, 'Be kind.', 'Be rude.') WHERE kind = 39;",
    );
    home.restart(SETTINGS).await;
    home.say("it goes on").await;
    let error = home.engine.context(&home.scope).await.unwrap_err().to_string();
    let said = "the persona of session agent:main:cli:direct:me cannot be read: entry 6 holds something else; \
                /reload_persona takes it in anew";
    assert_eq!(error, said);
    home.say("/reload_persona").await;
    assert!(home.front().await.contains("Be kind."));
}
