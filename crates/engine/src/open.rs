//! Opening an engine, and what it is given to work with.

use crate::clock::{Clock, Ids, RandomIds, Stamps, SystemClock};
use crate::config::Config;
use crate::control::{Control, Counters};
use crate::engine::Engine;
use crate::error::Error;
use crate::pins::Host;
use crate::recall::timeline::Timelines;
use crate::scope::session_profile::Reader;
use crate::scope::{CacheCounters, Registry, Watch};
use segue_core::Timestamp;
use segue_signals::context::{OpenAiTokens, TokenCounter};
use segue_signals::judge::Embedder;
use segue_store::{Purged, Store};
use std::sync::Arc;
use std::sync::atomic::AtomicI64;

impl Engine {
    /// Opens an engine on a store, and deletes what could not be deleted before (P-8).
    pub async fn open(store: Arc<dyn Store>, config: Config) -> Result<Self, Error> {
        if let Err(error) = store.sweep().await {
            tracing::warn!(%error, "dropped sessions could not be deleted; it is tried again at the next start");
        }
        let engine = Self::open_to_read(store, config);
        engine.finish_memory_file().await;
        // An erasure that was not finished is finished now; a store that cannot tell has said so when it erased.
        if let Ok(Purged::Unfinished { why }) = engine.store.purge().await {
            tracing::warn!(%why, "what was erased is not gone from the store's files yet; it is tried again");
        }
        Ok(engine)
    }

    /// Opens an engine on a store without finishing what is unfinished there: reading changes nothing.
    pub fn open_to_read(store: Arc<dyn Store>, config: Config) -> Self {
        let embedder = Arc::<Embedder>::default();
        Self {
            control: Arc::new(Control::new(&config, &|_| None)),
            timelines: Timelines::new(Arc::clone(&store), Arc::clone(&embedder)),
            scopes: Arc::new(Registry::new(config.limits.scopes_cached_max)),
            watch: Watch::default(),
            clock: Arc::new(SystemClock),
            ids: Arc::new(RandomIds),
            stamps: Stamps::default(),
            host: None,
            counter: Arc::new(OpenAiTokens::new()),
            store,
            config,
            embedder,
        }
    }

    /// Uses another clock and other ids, for tests.
    #[must_use]
    pub fn with(self, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Self {
        Self { clock, ids, ..self }
    }

    /// Counts tokens in another way, for contexts and for how full a session is. Usually it is OpenAI's `o200k_base`.
    #[must_use]
    pub fn with_counter(self, counter: Arc<dyn TokenCounter>) -> Self {
        Self { counter, ..self }
    }

    /// Returns what counts tokens.
    pub fn counter(&self) -> &dyn TokenCounter {
        self.counter.as_ref()
    }

    pub(crate) fn reader(&self) -> Reader<'_> {
        Reader { counter: self.counter.as_ref() }
    }

    /// Runs at recorded times, in a store that is used later: a stamp that is more than a day ahead of the clock counts as
    /// the one before it.
    #[must_use]
    pub fn at_recorded_times(self) -> Self {
        Self { stamps: Stamps::Recorded(AtomicI64::new(i64::MIN)), ..self }
    }

    /// Believes all time stamps, also those that are ahead of the clock: for recorded conversations that are kept nowhere.
    #[must_use]
    pub fn trusting_stamps(self) -> Self {
        Self { stamps: Stamps::Trusted, ..self }
    }

    /// Lets models be asked that need a key: `keys` finds one by the name of its environment variable, which this
    /// library does not read.
    #[must_use]
    pub fn with_keys(self, keys: &dyn Fn(&str) -> Option<String>) -> Self {
        let control = Arc::new(Control::new(&self.config, keys));
        Self { control, ..self }
    }

    /// Takes in skills and persona from a host when a session opens. Without one, sessions have neither.
    #[must_use]
    pub fn with_host(self, host: Arc<dyn Host>) -> Self {
        Self { host: Some(host), ..self }
    }

    /// Tells how often models were asked, how that went, and what it cost.
    pub fn counters(&self) -> Counters {
        self.control.counters()
    }

    /// Tells how well the scopes in memory serve.
    pub fn scope_cache(&self) -> CacheCounters {
        self.scopes.counters()
    }

    /// Returns the store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// Returns the settings.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the time now.
    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Tells whether a time stamp counts as it is given.
    pub(crate) fn believes(&self, at: Timestamp) -> bool {
        self.stamps.believed(at, self.clock.as_ref()) == at
    }
}
