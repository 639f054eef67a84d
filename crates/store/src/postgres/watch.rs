//! Watching commits: read by their positions, announced by LISTEN and NOTIFY, and by polling where that is not to be had.
//!
//! A position is the number of a transaction, and the place of the commit in it. Behind a restore into another server the numbers
//! begin anew, and so the positions have a base (`migrate`) that keeps them going on.
//!
//! A transaction becomes visible when it commits, not when it takes its number. So a commit is handed out only once no
//! transaction with a smaller number can still commit; positions then never skip one. Announcements are sent by a task of
//! the node and not by the turn: a NOTIFY inside a transaction makes all commits of the database wait for each other.

use super::connect::Value;
use super::rows::{column, seq};
use super::target::{Statements, Target};
use super::{Shared, connection, hosts};
use crate::commits::{Commit, KEPT_MIN, Position};
use crate::error::Error;
use futures_util::StreamExt as _;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::Type;

/// How often the database is asked for commits of other nodes whose announcement was lost.
pub(super) const POLL: Duration = Duration::from_millis(400);

/// How soon it is asked again while a commit is hidden behind an older transaction, and how often at most in a row.
const SOON: Duration = Duration::from_millis(5);
const SOON_MAX: u32 = 400;

/// How many places for commits a transaction has.
pub(super) const PLACES: i64 = 4_096;

/// How long to wait before the listening connection is made anew.
const RECONNECT: Duration = Duration::from_secs(1);

/// How often the oldest commits are deleted.
const TRIM_EVERY: Duration = Duration::from_secs(600);

const CHANNEL: &str = "segue_commits";

/// The smallest position that is not safe to read yet, and the smallest that no transaction has yet. Both without the base.
const SAFE: &str = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 4096";
const NEXT: &str = "pg_snapshot_xmax(pg_current_snapshot())::text::bigint * 4096";

pub(super) async fn position(shared: &Shared) -> Result<Position, Error> {
    let db = connection(shared).await?;
    let sql = format!("SELECT coalesce(max(position), 0) FROM segue_commits WHERE position < $1 + {SAFE}");
    let rows = db.rows(&sql, &[(&db.position_base, Type::INT8)]).await?;
    let last: i64 = rows.first().map_or(Ok(0), |row| column(row, 0))?;
    Ok(Position(seq(last)?.0))
}

pub(super) async fn commits(shared: &Shared, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
    let db = connection(shared).await?;
    let sql = format!(
        "SELECT position, scope, after, head FROM segue_commits WHERE position > $1 AND position < $3 + {SAFE}
         ORDER BY position LIMIT $2"
    );
    let at = i64::try_from(after.0).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let base = db.position_base;
    let values: [Value<'_>; 3] = [(&at, Type::INT8), (&limit, Type::INT8), (&base, Type::INT8)];
    let rows = db.rows(&sql, &values).await?;
    let kept = format!(
        "SELECT coalesce((SELECT value FROM segue_marks WHERE name = 'commits_swept'), 0), $1 + {NEXT}"
    );
    let kept = db.rows(&kept, &[(&base, Type::INT8)]).await?;
    let swept: i64 = kept.first().map_or(Ok(0), |row| column(row, 0))?;
    let next: i64 = kept.first().map_or(Ok(i64::MAX), |row| column(row, 1))?;
    // One from the future was handed out by a server that has lost it since, or was restored to an earlier time.
    if at < swept || at >= next {
        return Err(Error::Expired { oldest: Position(seq(swept)?.0 + 1) });
    }
    let commit = |row| {
        let key: &str = column(row, 1)?;
        Ok(Commit {
            position: Position(seq(column(row, 0)?)?.0),
            scope: key.parse().map_err(|error| Error::damaged("a scope's key", error))?,
            after: seq(column(row, 2)?)?,
            head: seq(column(row, 3)?)?,
        })
    };
    rows.iter().map(commit).collect()
}

/// Deletes the oldest commits, and remembers up to where: at most those up to a position that was the last one a while ago. An append
/// whose outcome is unknown is asked for by its commit, however many there have been since. Returns the position that is the last one now.
pub(super) async fn trim(shared: &Shared, a_while_ago: Position) -> Result<Position, Error> {
    let db = connection(shared).await?;
    let keep = i64::try_from(2 * KEPT_MIN).unwrap_or(i64::MAX);
    let through = i64::try_from(a_while_ago.0).unwrap_or(i64::MAX);
    let sql = "WITH newest AS (SELECT position FROM segue_commits ORDER BY position DESC OFFSET $1 LIMIT 1),
        cut AS (SELECT least(position, $2) AS position FROM newest),
        mark AS (INSERT INTO segue_marks (name, value) SELECT 'commits_swept', position FROM cut WHERE position > 0
            ON CONFLICT (name) DO UPDATE SET value = greatest(segue_marks.value, EXCLUDED.value))
        DELETE FROM segue_commits USING cut WHERE segue_commits.position <= cut.position";
    db.rows(sql, &[(&keep, Type::INT8), (&through, Type::INT8)]).await?;
    drop(db);
    position(shared).await
}

/// How long to wait before the database is asked for news. A commit of this node that is not told yet is hidden behind an older
/// transaction, and soon it is not; where nobody listens, and where it does not appear (a failover has lost it), nothing is urgent.
fn pause(listeners: usize, known: Position, ours: Position, asked: u32, poll: Duration) -> Duration {
    match listeners > 0 && ours > known && asked < SOON_MAX {
        true => SOON,
        false => poll,
    }
}

/// Tells the position of the newest commit, as long as the store is open.
pub(super) async fn follow(shared: Weak<Shared>, committed: Arc<Notify>, heard: Arc<Notify>, poll: Duration) {
    let (mut wait, mut asked) = (poll, 0);
    let (mut trimmed, mut last_then) = (tokio::time::Instant::now(), Position::START);
    loop {
        tokio::select! {
            () = committed.notified() => asked = 0,
            () = heard.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
        let Some(shared) = shared.upgrade() else { return };
        if trimmed.elapsed() >= TRIM_EVERY {
            trimmed = tokio::time::Instant::now();
            match trim(&shared, last_then).await {
                Ok(last) => last_then = last,
                Err(error) => tracing::warn!(%error, "old commits could not be deleted"),
            }
        }
        let listeners = shared.news.receiver_count();
        if listeners > 0
            && let Ok(last) = position(&shared).await
        {
            shared.news.send_if_modified(|known| {
                let is_newer = last > *known;
                *known = last.max(*known);
                is_newer
            });
        }
        let (known, ours) = (*shared.news.borrow(), Position(shared.ours.load(Ordering::Relaxed)));
        wait = pause(listeners, known, ours, asked, poll);
        asked += 1;
    }
}

/// Tells the other nodes that there is something new, many commits by one announcement.
pub(super) async fn announce(shared: Weak<Shared>, committed: Arc<Notify>) {
    loop {
        committed.notified().await;
        let Some(shared) = shared.upgrade() else { return };
        if let Ok(db) = connection(&shared).await {
            let sql = "SELECT pg_notify($1, '')";
            // Who misses it polls.
            drop(db.rows(sql, &[(&CHANNEL, Type::TEXT)]).await);
        }
    }
}

/// Listens for the announcements of other nodes on a connection of its own, and makes it anew when it breaks.
pub(super) async fn listen(shared: Weak<Shared>, target: Arc<Target>, heard: Arc<Notify>) {
    if target.statements == Statements::Unnamed {
        // Behind a pooler that gives each transaction another connection, nothing would be heard.
        return;
    }
    while shared.strong_count() > 0 {
        if let Ok((client, mut connection)) = hosts::connect(&target).await {
            let mut messages = futures_util::stream::poll_fn(move |context| connection.poll_message(context));
            let listening = async { client.batch_execute(&format!("LISTEN {CHANNEL}")).await };
            tokio::pin!(listening);
            let mut is_listening = false;
            loop {
                tokio::select! {
                    done = &mut listening, if !is_listening => match done {
                        Ok(()) => is_listening = true,
                        Err(_) => break,
                    },
                    message = messages.next() => match message {
                        Some(Ok(AsyncMessage::Notification(_))) => heard.notify_one(),
                        Some(Ok(_)) => {}
                        Some(Err(_)) | None => break,
                    },
                    () = tokio::time::sleep(RECONNECT) => if shared.strong_count() == 0 { return },
                }
            }
        }
        tokio::time::sleep(RECONNECT).await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_database_is_asked_soon_only_while_somebody_waits_for_a_commit_of_ours() {
        let (old, new) = (Position(1), Position(2));
        assert_eq!(pause(1, old, new, 0, POLL), SOON);
        assert_eq!(pause(0, old, new, 0, POLL), POLL, "nobody listens");
        assert_eq!(pause(1, new, new, 0, POLL), POLL, "it was told, whoever found it");
        assert_eq!(pause(1, old, new, SOON_MAX, POLL), POLL, "it does not appear");
    }
}
