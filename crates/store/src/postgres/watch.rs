//! Watching commits: read by their positions, announced by LISTEN and NOTIFY, and by polling where that is not to be had.
//!
//! A transaction becomes visible when it commits, not when it takes its number. So a commit is handed out only once no
//! transaction with a smaller number can still commit; positions then never skip one. Announcements are sent by a task of
//! the node and not by the turn: a NOTIFY inside a transaction makes all commits of the database wait for each other.

use super::connect::{Statements, Target, Value};
use super::rows::{column, seq};
use super::{Shared, connection};
use crate::commits::{Commit, KEPT_MIN, Position};
use crate::error::Error;
use futures_util::StreamExt as _;
use std::sync::{Arc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio_postgres::AsyncMessage;
use tokio_postgres::types::Type;

/// How often the database is asked for commits of other nodes whose announcement was lost.
const POLL: Duration = Duration::from_millis(400);

/// How soon it is asked again while a commit is hidden behind an older transaction.
const SOON: Duration = Duration::from_millis(5);

/// How long to wait before the listening connection is made anew.
const RECONNECT: Duration = Duration::from_secs(1);

/// How often the oldest commits are deleted.
const TRIM_EVERY: Duration = Duration::from_secs(600);

const CHANNEL: &str = "segue_commits";

/// The smallest position that is not safe to read yet.
const SAFE: &str = "pg_snapshot_xmin(pg_current_snapshot())::text::bigint * 4096";

pub(super) async fn position(shared: &Shared) -> Result<Position, Error> {
    let db = connection(shared).await?;
    let sql = format!("SELECT coalesce(max(position), 0) FROM segue_commits WHERE position < {SAFE}");
    let rows = db.rows(&sql, &[]).await?;
    let last: i64 = rows.first().map_or(Ok(0), |row| column(row, 0))?;
    Ok(Position(seq(last)?.0))
}

pub(super) async fn commits(shared: &Shared, after: Position, limit: usize) -> Result<Vec<Commit>, Error> {
    let db = connection(shared).await?;
    let sql = format!(
        "SELECT position, scope, after, head FROM segue_commits WHERE position > $1 AND position < {SAFE} ORDER BY position LIMIT $2"
    );
    let at = i64::try_from(after.0).unwrap_or(i64::MAX);
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let values: [Value<'_>; 2] = [(&at, Type::INT8), (&limit, Type::INT8)];
    let rows = db.rows(&sql, &values).await?;
    let swept = db.rows("SELECT value FROM segue_marks WHERE name = 'commits_swept'", &[]).await?;
    let swept: i64 = swept.first().map_or(Ok(0), |row| column(row, 0))?;
    if at < swept {
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

/// Deletes the oldest commits, and remembers up to where.
async fn trim(shared: &Shared) -> Result<(), Error> {
    let db = connection(shared).await?;
    let keep = i64::try_from(2 * KEPT_MIN).unwrap_or(i64::MAX);
    let sql = "WITH cut AS (SELECT position FROM segue_commits ORDER BY position DESC OFFSET $1 LIMIT 1),
        mark AS (INSERT INTO segue_marks (name, value) SELECT 'commits_swept', position FROM cut
            ON CONFLICT (name) DO UPDATE SET value = greatest(segue_marks.value, EXCLUDED.value))
        DELETE FROM segue_commits USING cut WHERE segue_commits.position <= cut.position";
    db.rows(sql, &[(&keep, Type::INT8)]).await.map(drop)
}

/// Tells the position of the newest commit, as long as the store is open.
pub(super) async fn follow(shared: Weak<Shared>, committed: Arc<Notify>, heard: Arc<Notify>) {
    let mut ahead = false;
    let mut trimmed = tokio::time::Instant::now();
    loop {
        let wait = if ahead { SOON } else { POLL };
        tokio::select! {
            () = committed.notified() => ahead = true,
            () = heard.notified() => {}
            () = tokio::time::sleep(wait) => {}
        }
        let Some(shared) = shared.upgrade() else { return };
        if trimmed.elapsed() >= TRIM_EVERY {
            trimmed = tokio::time::Instant::now();
            if let Err(error) = trim(&shared).await {
                tracing::warn!(%error, "old commits could not be deleted");
            }
        }
        if shared.news.receiver_count() == 0 {
            continue;
        }
        let Ok(last) = position(&shared).await else { continue };
        let moved = shared.news.send_if_modified(|known| {
            let is_newer = last > *known;
            *known = last.max(*known);
            is_newer
        });
        // A commit of ours is visible once everything before it is.
        ahead &= !moved;
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
        let Ok(tls) = target.tls() else { return };
        if let Ok((client, mut connection)) = target.config.connect(tls).await {
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
