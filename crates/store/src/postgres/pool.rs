//! The pool of connections.

use super::fault::{Failure, POOLER, unavailable};
use super::hosts::{self, Driver};
use super::target::{Statements, Target};
use crate::error::Error;
use deadpool::managed::{self, Metrics, RecycleError, RecycleResult};
use deadpool_postgres::{ClientWrapper, Runtime};
use futures_util::StreamExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::task::AbortHandle;
use tokio_postgres::AsyncMessage;
use tokio_postgres::error::Severity;

/// How long a turn waits for a free connection.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// The pool.
pub(super) type Pool = managed::Pool<Manager>;

/// Makes a pool; nothing is connected yet.
pub(super) fn pool(target: &Arc<Target>) -> Result<Pool, Error> {
    // How long it takes to connect is limited for each server by itself.
    Pool::builder(Manager(Arc::clone(target)))
        .max_size(target.connections)
        .wait_timeout(Some(WAIT_MAX))
        .runtime(Runtime::Tokio1)
        .build()
        .map_err(|error| unavailable("the pool of connections cannot be made", error))
}

/// Which database a connection has reached: one that was restored elsewhere is another one. Nothing where the server does not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Identity {
    /// The number that a server is given when its data folder is made; its standbys have the same.
    pub(super) system: Option<i64>,
    database: Option<u32>,
}

/// A connection, in the pool or in use.
pub(super) struct Pooled {
    pub(super) client: ClientWrapper,
    pub(super) identity: Identity,
    /// A warning came since it was last looked at.
    is_warned: Arc<AtomicBool>,
    /// It is never used again: its driver may take a moment to end.
    is_abandoned: AtomicBool,
    driver: AbortHandle,
}

impl Pooled {
    /// Closes the connection at once: nobody waits for its answer any more, and it does not go back to the pool.
    pub(super) fn abandon(&self) {
        self.is_abandoned.store(true, Ordering::SeqCst);
        self.driver.abort();
    }

    /// Tells whether the server has warned since this was asked before.
    pub(super) fn take_warning(&self) -> bool {
        self.is_warned.swap(false, Ordering::SeqCst)
    }
}

/// Makes connections, and looks at them before they are used again.
pub(super) struct Manager(Arc<Target>);

impl managed::Manager for Manager {
    type Type = Pooled;
    type Error = Error;

    async fn create(&self) -> Result<Pooled, Error> {
        let (client, driver) = hosts::connect(&self.0).await?;
        let is_warned = Arc::new(AtomicBool::new(false));
        let task = tokio::spawn(drive(driver, Arc::clone(&is_warned)));
        let (driver, client) = (task.abort_handle(), ClientWrapper::new(client, task));
        let asked = async {
            if self.0.statements == Statements::Prepared {
                check_settings(&client).await?;
            }
            Ok::<_, Error>(identity(&client).await)
        };
        let identity = match tokio::time::timeout(self.0.answer_max, asked).await {
            Ok(asked) => asked?,
            Err(_) => return Err(Error::from(Failure::Late)),
        };
        Ok(Pooled { client, identity, is_warned, is_abandoned: AtomicBool::new(false), driver })
    }

    async fn recycle(&self, one: &mut Pooled, _: &Metrics) -> RecycleResult<Error> {
        let is_abandoned = one.is_abandoned.load(Ordering::SeqCst);
        match is_abandoned || one.client.is_closed() || one.driver.is_finished() {
            true => Err(RecycleError::message("the connection is closed")),
            false => Ok(()),
        }
    }
}

/// Runs a connection until it ends, and notes the server's warnings.
async fn drive(mut driver: Driver, is_warned: Arc<AtomicBool>) {
    let mut messages = futures_util::stream::poll_fn(move |context| driver.poll_message(context));
    while let Some(message) = messages.next().await {
        match message {
            Ok(AsyncMessage::Notice(notice)) => {
                // Noted before the answer that it belongs to is handed out.
                if notice.parsed_severity() == Some(Severity::Warning) {
                    is_warned.store(true, Ordering::SeqCst);
                }
                tracing::debug!(notice = notice.message(), "PostgreSQL");
            }
            Ok(_) => {}
            Err(error) => return tracing::debug!(%error, "a connection to PostgreSQL broke"),
        }
    }
}

/// Looks whether the connection is set as it was asked for: a pooler may drop that without a word.
async fn check_settings(client: &ClientWrapper) -> Result<(), Error> {
    let sql = "SELECT current_setting('statement_timeout') = '0' AND current_setting('client_min_messages') = 'warning'
               AND current_setting('default_transaction_isolation') = 'read committed'";
    let rows = client.query_typed(sql, &[]).await.map_err(Failure::from)?;
    match rows.first().and_then(|row| row.try_get(0).ok()) {
        Some(true) => Ok(()),
        _ => Err(unavailable(
            "what is between Segue and PostgreSQL drops the settings of its connections",
            POOLER,
        )),
    }
}

/// Asks for a database's identity, without preparing anything. Not every server tells it.
async fn identity(client: &ClientWrapper) -> Identity {
    let sql = "SELECT system_identifier, (SELECT oid FROM pg_database WHERE datname = current_database())
               FROM pg_control_system()";
    let rows = client.query_typed(sql, &[]).await.unwrap_or_default();
    let row = rows.first();
    Identity {
        system: row.and_then(|row| row.try_get(0).ok()),
        database: row.and_then(|row| row.try_get(1).ok()),
    }
}
