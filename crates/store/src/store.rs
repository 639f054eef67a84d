//! The contract of a store, split by what a back end can do.
//!
//! [`Store`] is what every back end has: [`Log`], [`Catalog`], [`Maintenance`], [`Watch`], [`Leases`] and [`Values`].
//! [`Search`], [`Embeddings`], [`Quarantine`] and [`Encryption`] are optional, and [`Store`] says which of them a back end
//! has.
//!
//! Every call that concerns a log names its scope first, so that a back end can be distributed by it. Times come in as
//! arguments: a store has no clock. No call returns more than its limit.

use crate::commits::{Commit, Position};
use crate::encryption::Status;
use crate::error::Error;
use crate::leases::Leased;
use crate::search::{Postings, Term};
use crate::types::{
    Append, AppendId, Embedding, Page, Quarantined, QuarantinedFile, Reading, ScopePage, Subject,
};
use crate::values::Value;
use crate::verify::Report;
use async_trait::async_trait;
use segue_core::Timestamp;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::state::State;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;

/// A place where logs are kept.
pub trait Store: Log + Catalog + Maintenance + Watch + Leases + Values {
    /// Returns the full-text index; nothing if the store has none. Then the log is scanned.
    fn search(&self) -> Option<&dyn Search> {
        None
    }

    /// Returns the place for embeddings; nothing if the store keeps none.
    fn embeddings(&self) -> Option<&dyn Embeddings> {
        None
    }

    /// Returns the quarantine of files that cannot be read; nothing if the store has no files of its own.
    fn quarantine(&self) -> Option<&dyn Quarantine> {
        None
    }

    /// Returns the keys of the store; nothing if it cannot be encrypted.
    fn encryption(&self) -> Option<&dyn Encryption> {
        None
    }
}

/// The data keys of a store that can be encrypted.
#[async_trait]
pub trait Encryption: Send + Sync {
    /// Tells whether what is written is encrypted, and by which keys.
    async fn status(&self) -> Result<Status, Error>;

    /// Makes a new data key for what is written from now on, and wraps all data keys with the first master key that the
    /// store was opened with. Durable on return. Nothing else is rewritten. A crash leaves the keys as they were, or as
    /// they are to be.
    async fn rotate(&self) -> Result<Status, Error>;
}

/// The logs of scopes, and the states that are folded from them.
#[async_trait]
pub trait Log: Send + Sync {
    /// Loads the state of a scope after its last committed append; nothing if there was none.
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error>;

    /// Returns the last committed entry of a scope; nothing if there is none. It is asked before a cached state is used,
    /// so it should be cheap. Commits of other processes are seen.
    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        Ok(self.load(scope).await?.map(|state| state.head))
    }

    /// Appends entries, all or none of them.
    ///
    /// `Ok`: committed and durable, by this call or by an earlier one with the same [`AppendId`]: sending an append again
    /// never writes it twice. [`Error::Conflict`] if the scope's head is not the one that the append was decided on,
    /// [`Error::Duplicate`] if its message was accepted before by another append, [`Error::Sealed`] if an entry goes to a
    /// sealed segment, and any other error but one: nothing was changed. [`Error::Unknown`]: nobody knows; ask
    /// [`appended`](Log::appended), or send the same append again.
    ///
    /// Dropping the future does not undo anything.
    async fn append(&self, append: Append) -> Result<(), Error>;

    /// Appends one after the other, each all or none of it, up to the first that cannot be. Returns how many were
    /// committed, and why not all. Each append follows the rules of [`append`](Log::append).
    ///
    /// Returns once those are durable. A store may let them share a commit; a crash leaves a prefix of them.
    async fn append_many(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        let mut written = 0;
        for append in appends {
            if let Err(error) = self.append(append).await {
                return (written, Err(error));
            }
            written += 1;
        }
        (written, Ok(()))
    }

    /// Tells whether the append with this id, which was decided on the head `after`, was committed, and returns the head
    /// that it led to. A store knows at least the ids of its last 100,000 commits.
    async fn appended(&self, scope: &Key, after: Seq, id: AppendId) -> Result<Option<Seq>, Error>;

    /// Finds the entry by which a message was accepted. Ids outlive their entries.
    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error>;

    /// Lists the ids of accepted messages by their bytes, behind an id, also those whose entries are gone.
    async fn ids(
        &self,
        _scope: &Key,
        _after: Option<&MessageId>,
        _limit: usize,
    ) -> Result<Vec<(MessageId, Seq)>, Error> {
        Err(Error::Unsupported { store: "this store".into(), what: "list the ids of messages".into() })
    }

    /// Keeps the ids of messages that were accepted elsewhere and whose entries are gone, so that they are known when they
    /// come again. An id that is there stays as it is. Durable on return.
    async fn keep_ids(&self, _scope: &Key, _ids: Vec<(MessageId, Seq)>) -> Result<(), Error> {
        Err(Error::Unsupported { store: "this store".into(), what: "keep the ids of messages".into() })
    }

    /// Reads one entry.
    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error>;

    /// Reads some entries, in the order that they are given in.
    async fn get_many(&self, scope: &Key, seqs: &[Seq]) -> Result<Vec<Option<Record>>, Error> {
        let mut all = Vec::with_capacity(seqs.len());
        for seq in seqs {
            all.push(self.get(scope, *seq).await?);
        }
        Ok(all)
    }

    /// Reads entries of a view, in the order of the log.
    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error>;

    /// Reads several views, in the order that they are given in.
    async fn read_many(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let mut all = Vec::with_capacity(readings.len());
        for reading in readings {
            all.push(self.read(scope, reading).await?);
        }
        Ok(all)
    }

    /// Reads the entries behind an entry, in the order of the log. Entries of swept segments are missing.
    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error>;

    /// Counts the messages that some segments have before an entry.
    async fn count_before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error>;
}

/// The list of scopes.
#[async_trait]
pub trait Catalog: Send + Sync {
    /// Lists scopes, the last written first; those written at the same time by their keys. A scope that is written while
    /// somebody pages through the list may be missed or come twice.
    async fn scopes(&self, page: &Page) -> Result<ScopePage, Error>;
}

/// A full-text index of messages.
#[async_trait]
pub trait Search: Send + Sync {
    /// Reads where some terms stand in the messages of a scope, in the order of the terms; never in an erased message.
    /// Everything that was committed before the call is taken into account. [`find`](crate::search::find) ranks.
    ///
    /// Whoever indexes takes [`said`](crate::search::said) and [`terms`](crate::search::terms) of each message, and keeps
    /// only [tokens](crate::search::TokenKey) of them.
    async fn postings(&self, scope: &Key, terms: &[Term]) -> Result<Postings, Error>;
}

/// Embeddings of sessions and entries. They are a cache: whoever wrote them can make them again.
#[async_trait]
pub trait Embeddings: Send + Sync {
    /// Reads the embeddings of some subjects, as far as they are kept, in any order.
    async fn get(&self, scope: &Key, subjects: &[Subject]) -> Result<Vec<Embedding>, Error>;

    /// Reads the embeddings of entries behind an entry, in the order of the log.
    async fn tail(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Embedding>, Error>;

    /// Keeps embeddings; one of the same subject is replaced. Durable on return. An embedding goes together with any entry
    /// that it was made of, and none is kept if anything was erased behind the head that the entries were read at.
    async fn put(&self, scope: &Key, head: Seq, embeddings: Vec<Embedding>) -> Result<(), Error>;
}

/// What is left in a store's files of what was erased or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Purged {
    /// Nothing.
    Complete,
    /// Perhaps something. It is noted in the store, and a later call finishes it.
    Unfinished {
        /// What is in the way.
        why: String,
    },
}

/// What keeps a store in order.
#[async_trait]
pub trait Maintenance: Send + Sync {
    /// Deletes the content of segments that no session sees any more, and returns how many segments that were. What
    /// cannot be deleted now stays noted for the next call.
    async fn sweep(&self) -> Result<usize, Error>;

    /// Lets no byte of what was erased or deleted be left in the files of the store. An append that erases only notes that
    /// this is due: many erasures can share one purge, which may cost as much as writing the whole store anew. It waits a
    /// few seconds at most for others that are in the way.
    async fn purge(&self) -> Result<Purged, Error> {
        let (store, what) =
            ("this store".into(), "tell whether something erased is left in its files".into());
        Err(Error::Unsupported { store, what })
    }

    /// Checks a scope as it is at one moment ([`verify::inspect`](crate::verify::inspect)), whoever writes to it meanwhile;
    /// nothing if the store has no snapshots.
    async fn inspect(&self, _scope: &Key) -> Result<Option<Report>, Error> {
        Ok(None)
    }

    /// Checks what only this store can check, of one scope or of the store as a whole, and says what is wrong, one
    /// sentence each. [`verify`](crate::verify) does the rest.
    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error>;

    /// Says what the store is set to by others that may lose what was acknowledged, one sentence each.
    async fn risks(&self) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Writes a consistent copy of the whole store to a new file. It can be opened like the store itself.
    /// [`Error::Unsupported`] if the store cannot do so while it is in use.
    async fn backup(&self, to: &Path) -> Result<(), Error>;
}

/// Files that were set aside because they cannot be read, or were never acknowledged.
#[async_trait]
pub trait Quarantine: Send + Sync {
    /// Says what of a scope is in quarantine, one sentence each. It reads nothing that is not in use anyway.
    async fn problems(&self, scope: &Key) -> Result<Vec<String>, Error>;

    /// Lists the files in quarantine, of one scope or of all. They may hold what people said. What cannot be looked
    /// into keeps nobody from seeing the rest.
    async fn list(&self, scope: Option<&Key>) -> Result<Quarantined, Error>;

    /// Deletes a file for good.
    ///
    /// Of a scope as a whole, numbers that were used there are not used again, and messages that were accepted there are
    /// not accepted again. Of a single file nothing is kept: the ids of its messages are as unknown as they were while it
    /// could not be read, and [`audit`](Maintenance::audit) goes on to say what is missing.
    async fn discard(&self, file: &QuarantinedFile) -> Result<(), Error>;
}

/// The commits of a store, one after the other. `watch` on `dyn Store` makes a stream of them.
#[async_trait]
pub trait Watch: Send + Sync {
    /// Returns the position of the last commit.
    async fn position(&self) -> Result<Position, Error>;

    /// Reads the commits behind a position, in their order, without gaps: a position is never handed out before all
    /// positions before it can be read. Positions hold across restarts. A store keeps at least the last 100,000 commits;
    /// [`Error::Expired`] if those behind the position are not all kept any more.
    async fn commits(&self, after: Position, limit: usize) -> Result<Vec<Commit>, Error>;

    /// Returns a receiver of the newest position that is known here: of a commit of this process at once, of another
    /// process within a second. It may lag, and it may skip: [`commits`](Watch::commits) has all.
    fn subscribe(&self) -> watch::Receiver<Position>;
}

/// Leases, so that one of many processes does a piece of work.
#[async_trait]
pub trait Leases: Send + Sync {
    /// Acquires a lease, or renews it, for a holder. At most one holder has a lease at a time. Durable on return.
    ///
    /// A store that several machines share goes by its own clock: theirs may be wrong. Others go by `now`.
    async fn lease(&self, name: &str, holder: &str, ttl: Duration, now: Timestamp) -> Result<Leased, Error>;

    /// Gives a lease back; does nothing if somebody else has it.
    async fn release(&self, name: &str, holder: &str) -> Result<(), Error>;
}

/// Small named values beside the log. Each change is durable on return. A value whose time is over is not there, whether
/// or not it was deleted already.
#[async_trait]
pub trait Values: Send + Sync {
    /// Reads a value.
    async fn value(&self, namespace: &str, key: &str, now: Timestamp) -> Result<Option<Value>, Error>;

    /// Writes a value, whatever was there before.
    async fn put_value(&self, namespace: &str, value: Value) -> Result<(), Error>;

    /// Writes a value if none is there. Returns the one that is there instead; nothing if the new one was written.
    async fn insert_value(
        &self,
        namespace: &str,
        value: Value,
        now: Timestamp,
    ) -> Result<Option<Value>, Error>;

    /// Deletes a value. Returns whether one was there.
    async fn delete_value(&self, namespace: &str, key: &str) -> Result<bool, Error>;

    /// Lists values whose key begins with a prefix, by their keys' bytes, behind a key.
    async fn values(
        &self,
        namespace: &str,
        prefix: &str,
        after: Option<&str>,
        limit: usize,
        now: Timestamp,
    ) -> Result<Vec<Value>, Error>;
}
