//! A connection with the keys of its database: what goes into a column that can hold words, and what comes out of it.

use super::fault::OrFault;
use crate::encryption::{self, Bound, MasterKeys, Unopened, Vault};
use crate::error::Error;
use rusqlite::types::{ToSqlOutput, Value, ValueRef};
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

/// A connection with the keys of its database.
#[derive(Debug)]
pub(super) struct Db {
    connection: Connection,
    vault: Arc<Vault>,
}

impl Deref for Db {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

impl DerefMut for Db {
    fn deref_mut(&mut self) -> &mut Connection {
        &mut self.connection
    }
}

impl Db {
    pub(super) fn new(connection: Connection, vault: Arc<Vault>) -> Self {
        Self { connection, vault }
    }

    /// Opens the keys of the database with a master key, and makes them if it has none yet.
    pub(super) fn unlock(connection: Connection, masters: Option<&MasterKeys>) -> Result<Self, Error> {
        let stored = document(&connection)?;
        if masters.is_none() || stored.is_some() {
            let (vault, _) = Vault::open(masters, stored.as_deref())?;
            return Ok(Self::new(connection, vault));
        }
        let transaction =
            Transaction::new_unchecked(&connection, TransactionBehavior::Immediate).or_fault()?;
        // Asked again inside the transaction: another program may have been faster.
        let (vault, new) = Vault::open(masters, document(&connection)?.as_deref())?;
        if let Some(document) = new {
            connection.execute("INSERT INTO keyring VALUES (1, ?1)", [document]).or_fault()?;
            super::search::renew_key(&connection, &vault)?;
        }
        transaction.commit().or_fault()?;
        Ok(Self::new(connection, vault))
    }

    /// Returns the keys, for another connection to the same database.
    pub(super) fn vault(&self) -> &Arc<Vault> {
        &self.vault
    }

    /// Begins a transaction that writes.
    pub(super) fn begin(&self) -> Result<Transaction<'_>, Error> {
        Transaction::new_unchecked(self, TransactionBehavior::Immediate).or_fault()
    }

    /// Makes a new data key, and wraps all of them with the first master key. One row is written, so that a crash leaves the
    /// old or the new document.
    pub(super) fn rotate(&self) -> Result<encryption::Status, Error> {
        let transaction = self.begin()?;
        let Some(stored) = document(self)? else {
            return Err(Error::Invalid {
                what: "the rotation".into(),
                why: "the store is not encrypted".into(),
            });
        };
        let rotated = self.vault.rotated(&stored)?;
        self.execute("UPDATE keyring SET document = ?1 WHERE id = 1", [&rotated]).or_fault()?;
        transaction.commit().or_fault()?;
        self.vault.reload(&rotated)?;
        // The old document must not be found in the write-ahead log by who has the old master key. Somebody who reads just now
        // can be in the way; then a later checkpoint does it.
        if let Err(error) = self.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())) {
            tracing::warn!(%error, "the write-ahead log could not be cut after the rotation");
        }
        Vault::status(Some(&rotated))
    }

    /// Makes a value for a column of texts: the text, or encrypted bytes.
    pub(super) fn seal<'a>(&self, bound: Bound<'_>, text: &'a str) -> Result<ToSqlOutput<'a>, Error> {
        Ok(match self.vault.seal(bound, text.as_bytes())? {
            Some(sealed) => ToSqlOutput::Owned(Value::Blob(sealed)),
            None => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }

    /// Reads a column of texts.
    pub(super) fn unseal(&self, bound: Bound<'_>, value: ValueRef<'_>) -> Result<Option<String>, Error> {
        match value {
            ValueRef::Null => Ok(None),
            ValueRef::Text(text) => {
                let text = std::str::from_utf8(text).map_err(|error| Error::damaged("a text", error))?;
                Ok(Some(text.to_owned()))
            }
            ValueRef::Blob(sealed) => {
                let opened = self.opened(bound, |vault| vault.unseal(bound, sealed))?;
                encryption::text(opened).map(Some).map_err(|why| why.of(bound))
            }
            ValueRef::Integer(_) | ValueRef::Real(_) => {
                Err(Error::damaged("a text", "there is a number in its place"))
            }
        }
    }

    /// Makes a value for a column of bytes.
    pub(super) fn seal_bytes(&self, bound: Bound<'_>, bytes: &[u8]) -> Result<Vec<u8>, Error> {
        self.vault.seal_bytes(bound, bytes)
    }

    /// Reads a column of bytes.
    pub(super) fn unseal_bytes(&self, bound: Bound<'_>, bytes: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.opened(bound, |vault| vault.unseal_bytes(bound, bytes.clone()))
    }

    /// Opens something, with the keys read again if another process has rotated them.
    fn opened(
        &self,
        bound: Bound<'_>,
        open: impl Fn(&Vault) -> Result<Vec<u8>, Unopened>,
    ) -> Result<Vec<u8>, Error> {
        match open(&self.vault) {
            Err(Unopened::NoKey(_)) => {
                if let Some(document) = document(self)? {
                    self.vault.reload(&document)?;
                }
                open(&self.vault).map_err(|why| why.of(bound))
            }
            opened => opened.map_err(|why| why.of(bound)),
        }
    }
}

/// Reads the document of the data keys.
pub(super) fn document(db: &Connection) -> Result<Option<String>, Error> {
    let mut query = db.prepare_cached("SELECT document FROM keyring WHERE id = 1").or_fault()?;
    query.query_row([], |row| row.get(0)).optional().or_fault()
}
