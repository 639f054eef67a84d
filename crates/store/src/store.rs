//! The trait of a store.

use crate::error::Error;
use crate::search::{self, Hit, Query};
use crate::types::{Append, Copies, Impression, Page, Reading, ScopeRow, SetAside};
use async_trait::async_trait;
use segue_core::entry::{Record, Seq};
use segue_core::message::MessageId;
use segue_core::scope::Key;
use segue_core::segment;
use segue_core::session::Number;
use segue_core::state::State;
use std::sync::Arc;

/// Keeps the logs of scopes and what is folded from them.
///
/// Every call names its scope first, so that a store can be spread over many nodes by it.
#[async_trait]
pub trait Store: Send + Sync {
    /// Loads the state of a scope, as it is after the last append; nothing if there was none.
    async fn load(&self, scope: &Key) -> Result<Option<Arc<State>>, Error>;

    /// Tells the last entry of a scope; nothing if there is none. Asked before what was read earlier is used again, so
    /// it should cost next to nothing.
    async fn head(&self, scope: &Key) -> Result<Option<Seq>, Error> {
        Ok(self.load(scope).await?.map(|state| state.head))
    }

    /// Appends entries, all or none of them.
    ///
    /// Returns once they are durable. [`Error::Conflict`] if the scope's head is not the one that the
    /// append was decided on, [`Error::Duplicate`] if its message was accepted before, [`Error::Sealed`]
    /// if an entry goes to a sealed segment; then nothing was changed.
    async fn append(&self, append: Append) -> Result<(), Error>;

    /// Appends one after the other, each all or none of it, up to the first that cannot be. Tells how many were, and why
    /// not all.
    ///
    /// Returns once those are durable. A store may let them share a commit; a crash leaves the first ones, however many.
    async fn append_all(&self, appends: Vec<Append>) -> (usize, Result<(), Error>) {
        let mut written = 0;
        for append in appends {
            if let Err(error) = self.append(append).await {
                return (written, Err(error));
            }
            written += 1;
        }
        (written, Ok(()))
    }

    /// Finds the entry by which a message was accepted.
    async fn seen(&self, scope: &Key, id: &MessageId) -> Result<Option<Seq>, Error>;

    /// Reads the newest entries of a view, in the order of the log.
    async fn read(&self, scope: &Key, reading: &Reading) -> Result<Vec<Record>, Error>;

    /// Reads several views at once.
    async fn read_all(&self, scope: &Key, readings: &[Reading]) -> Result<Vec<Vec<Record>>, Error> {
        let mut all = Vec::with_capacity(readings.len());
        for reading in readings {
            all.push(self.read(scope, reading).await?);
        }
        Ok(all)
    }

    /// Reads one entry.
    async fn get(&self, scope: &Key, seq: Seq) -> Result<Option<Record>, Error>;

    /// Reads the log itself, from behind an entry, in order, as far as it is still there.
    async fn log(&self, scope: &Key, after: Seq, limit: usize) -> Result<Vec<Record>, Error>;

    /// Counts the messages that some segments hold before an entry.
    async fn before(
        &self,
        scope: &Key,
        seq: Seq,
        segments: &[segment::Number],
    ) -> Result<Vec<(segment::Number, u32)>, Error>;

    /// Finds the messages of a scope that match a query, the best first; never one that was erased, or that the
    /// query's sight does not hold. All stores give the same hits.
    ///
    /// A store that keeps no index reads the scope's log for it, which takes as long as the log is.
    async fn search(&self, scope: &Key, query: &Query) -> Result<Vec<Hit>, Error> {
        search::scan(self, scope, query).await
    }

    /// Reads what was found out about some sessions, as far as it was kept.
    async fn impressions(&self, _scope: &Key, _sessions: &[Number]) -> Result<Vec<Impression>, Error> {
        Ok(Vec::new())
    }

    /// Keeps what was found out about sessions, so that it need not be found out again. A store may keep nothing; one that
    /// keeps it lets an impression go together with any message that it was made of, and keeps none if anything was erased
    /// behind the head that the messages were read at.
    async fn keep_impressions(
        &self,
        _scope: &Key,
        _head: Seq,
        _impressions: Vec<Impression>,
    ) -> Result<(), Error> {
        Ok(())
    }

    /// Lists scopes, the last written first.
    async fn scopes(&self, page: &Page) -> Result<Vec<ScopeRow>, Error>;

    /// Deletes the content of segments that nobody sees any more and tells how many segments that were.
    /// What cannot be deleted now stays noted for the next call.
    async fn sweep(&self) -> Result<usize, Error>;

    /// Tells what of a scope is set aside because it cannot be read, one sentence each. It reads nothing that is not in
    /// use anyway.
    async fn aside(&self, _scope: &Key) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// Lists what was set aside because it cannot be read or was never acknowledged, of one scope or of all. It may hold
    /// what people said. What cannot be looked into keeps nobody from seeing the rest.
    async fn copies(&self, _scope: Option<&Key>) -> Result<Copies, Error> {
        Ok(Copies::default())
    }

    /// Deletes something that was set aside, for good.
    ///
    /// Of a scope as a whole, numbers that were used there are not used again, and messages that were accepted there are
    /// not accepted again. Of a single file nothing is kept: the ids of its messages are as unknown as they were while it
    /// could not be read, and [`audit`](Store::audit) goes on to say what is missing.
    async fn discard(&self, _copy: &SetAside) -> Result<(), Error> {
        Ok(())
    }

    /// Checks what only this store can check, of one scope or of the store as a whole, and says what is
    /// wrong, one sentence each. [`verify`](crate::verify) does the rest.
    async fn audit(&self, scope: Option<&Key>) -> Result<Vec<String>, Error>;
}
