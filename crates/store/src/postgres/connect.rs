//! A connection, and the statements that are sent over it.

use super::fault::{Failure, OrFault};
use super::pool::{Identity, Manager};
use super::target::{Statements, Target};
use super::tls;
use crate::error::Error;
use deadpool::managed::Object;
use std::sync::Arc;
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::{ToSql, Type};

/// How long a statement may take that looks at a whole table, or changes its shape.
pub(super) const LONG: Duration = Duration::from_secs(1_800);

/// A value of a statement, with its type: a statement that is sent whole needs it.
pub(super) type Value<'a> = (&'a (dyn ToSql + Sync), Type);

/// A connection of the pool, in use.
pub(super) struct Connection {
    pooled: Object<Manager>,
    target: Arc<Target>,
    /// What the positions of commits in this database begin with; see `watch`.
    pub(super) position_base: i64,
}

impl Connection {
    pub(super) fn new(pooled: Object<Manager>, target: &Arc<Target>) -> Self {
        Self { pooled, target: Arc::clone(target), position_base: 0 }
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

    /// Begins a transaction. Whoever does runs in a task of its own: a caller that goes away must not leave one open.
    pub(super) async fn begin(&self) -> Result<(), Failure> {
        self.batch(match self.target.statements {
            Statements::Prepared => "BEGIN",
            // Behind a pooler nothing is known about what the connection is set to, and nothing may stay set.
            Statements::Unnamed => "BEGIN ISOLATION LEVEL READ COMMITTED; SET LOCAL statement_timeout = 0",
        })
        .await
    }

    pub(super) async fn commit(&self) -> Result<(), Failure> {
        self.batch("COMMIT").await
    }

    /// Takes a transaction back. A connection that broke has nothing left to take back.
    pub(super) async fn roll_back(&self) {
        drop(self.batch("ROLLBACK").await);
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
            Ok(done) => Ok(done?),
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
