//! A connection, and the statements that are sent over it.

use super::fault::{Failure, OrFault};
use super::pool::{Identity, Manager};
use super::target::{Statements, Target};
use super::tls;
use crate::error::Error;
use deadpool::managed::Object;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};

/// How long a statement may take that looks at a whole table, or changes its shape.
pub(super) const LONG: Duration = Duration::from_secs(1_800);

/// A value of a statement, with its type: a statement that is sent whole needs it.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection of the pool, in use. One that is dropped inside a transaction is closed.
pub(super) struct Connection {
    pooled: Object<Manager>,
    target: Arc<Target>,
    /// Set before a transaction begins, and until it is known to be over.
    is_in_transaction: AtomicBool,
    /// What the positions of commits in this database begin with; see `watch`.
    pub(super) position_base: i64,
}

impl Connection {
    pub(super) fn new(pooled: Object<Manager>, target: &Arc<Target>) -> Self {
        let is_in_transaction = AtomicBool::new(false);
        Self { pooled, target: Arc::clone(target), is_in_transaction, position_base: 0 }
    }

    pub(super) fn identity(&self) -> Identity {
        self.pooled.identity
    }

    pub(super) fn statements(&self) -> Statements {
        self.target.statements
    }

    /// Runs one statement, in one round trip once it is prepared. One that takes too long is cancelled.
    pub(super) async fn rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        let done = self.try_rows(sql, values).await;
        if matches!(done, Err(Failure::Late)) {
            self.cancel();
        }
        done.or_fault()
    }

    /// Runs one statement of a transaction that writes, or one that may have to wait for a standby. One that takes too long is not
    /// cancelled: a commit that is cancelled while it waits for its standby is seen by everybody, and may be lost.
    pub(super) async fn try_rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Failure> {
        self.within(self.target.answer_max, self.run(sql, values)).await
    }

    /// Runs one statement that writes and is acknowledged, as an append is. Behind a pooler it is a transaction, for which
    /// everything is set that an acknowledgement needs; whoever runs it does so in a task of its own.
    pub(super) async fn write(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        if self.target.statements == Statements::Prepared {
            return self.rows(sql, values).await;
        }
        self.begin().await.or_fault()?;
        match self.try_rows(sql, values).await {
            Ok(rows) => self.commit().await.or_fault().map(|()| rows),
            Err(failure) => {
                self.roll_back().await;
                Err(failure.into())
            }
        }
    }

    /// Runs one statement that may take long.
    pub(super) async fn long_rows(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, Error> {
        self.within(LONG, self.run(sql, values)).await.or_fault()
    }

    /// Runs statements that return nothing.
    pub(super) async fn batch(&self, sql: &str) -> Result<(), Failure> {
        self.within(self.target.answer_max, self.pooled.client.batch_execute(sql)).await
    }

    /// Runs statements that return nothing and may take long.
    pub(super) async fn long_batch(&self, sql: &str) -> Result<(), Failure> {
        self.within(LONG, self.pooled.client.batch_execute(sql)).await
    }

    /// Begins a transaction. Whoever does runs in a task of its own: a caller that goes away must not break it off in the middle.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        self.begin_as(match self.target.statements {
            Statements::Prepared => "BEGIN",
            // Behind a pooler nothing is known about what the connection is set to, and nothing may stay set.
            Statements::Unnamed => {
                "BEGIN ISOLATION LEVEL READ COMMITTED;
                 SET LOCAL statement_timeout = 0; SET LOCAL client_min_messages = warning"
            }
        })
        .await
    }

    /// Begins a transaction that only reads, and sees the database as it is now.
    pub(super) async fn begin_to_read(&self) -> Result<(), Failure> {
        self.begin_as("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY").await
    }

    async fn begin_as(&self, sql: &str) -> Result<(), Failure> {
        self.is_in_transaction.store(true, Ordering::SeqCst);
        self.batch(sql).await
    }

    pub(super) async fn commit(&self) -> Result<(), Failure> {
        self.end("COMMIT").await
    }

    /// Takes a transaction back. A connection that broke has nothing left to take back.
    pub(super) async fn roll_back(&self) {
        drop(self.end("ROLLBACK").await);
    }

    async fn end(&self, sql: &str) -> Result<(), Failure> {
        self.batch(sql).await?;
        self.is_in_transaction.store(false, Ordering::SeqCst);
        Ok(())
    }

    /// Waits for an answer, and gives the connection up if it does not come.
    ///
    /// A warning is no success: a server that stops waiting for its standby says so by a warning, and acknowledges.
    async fn within<T>(
        &self,
        wait_max: Duration,
        answer: impl Future<Output = Result<T, tokio_postgres::Error>>,
    ) -> Result<T, Failure> {
        self.pooled.take_warning();
        match tokio::time::timeout(wait_max, answer).await {
            Ok(Ok(_)) if self.pooled.take_warning() => Err(Failure::Unconfirmed),
            Ok(done) => {
                let done = done.map_err(Failure::from);
                if matches!(&done, Err(failure) if failure.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION))
                {
                    // Another server may have become the primary: the next connection finds it.
                    self.pooled.abandon();
                }
                done
            }
            Err(_) => {
                self.pooled.abandon();
                Err(Failure::Late)
            }
        }
    }

    /// Asks the server to stop what it is doing for this connection; nobody waits for that.
    fn cancel(&self) {
        let (token, target) = (self.pooled.client.cancel_token(), Arc::clone(&self.target));
        tokio::spawn(async move {
            if let Ok(tls) = tls::connector(target.verification, target.root_certificates.as_deref()) {
                // A server that cannot be reached cannot be asked.
                drop(tokio::time::timeout(target.connect_max, token.cancel_query(tls)).await);
            }
        });
    }

    async fn run(&self, sql: &str, values: &[Value<'_>]) -> Result<Vec<Row>, tokio_postgres::Error> {
        let client = &self.pooled.client;
        match self.target.statements {
            Statements::Unnamed => {
                let values: Vec<_> = values.iter().map(|(value, kind)| (*value, kind.clone())).collect();
                client.query_typed(sql, &values).await
            }
            Statements::Prepared => {
                let types: Vec<Type> = values.iter().map(|(_, kind)| kind.clone()).collect();
                let statement = client.prepare_typed_cached(sql, &types).await?;
                let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|(value, _)| *value).collect();
                client.query(&statement, &values).await
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.is_in_transaction.load(Ordering::SeqCst) {
            // Whoever had it next would write into a transaction that nobody commits.
            self.pooled.abandon();
        }
    }
}
