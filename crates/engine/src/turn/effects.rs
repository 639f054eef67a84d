//! Carries out the effects of a decision, once its entries are durable.

use crate::engine::Engine;
use crate::error::Error;
use segue_core::decide::Decided;
use segue_core::effect::Effect;
use segue_core::notice::Notice;
use segue_store::Purged;

/// When what was erased has to be gone from the store's files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purge {
    /// Before anybody is told.
    AtOnce,
    /// When the caller says so, who erases in many scopes.
    Later,
}

/// After how many entries of a scope its messages are embedded in the background.
const EMBED_EVERY: u64 = 32;

impl Engine {
    /// Carries out what a decision wants done besides its entries. Nothing here can fail the turn: it is durable. What is
    /// not finished is told.
    pub(crate) async fn carry_out(&self, decided: &mut Decided, purge: Purge) {
        let scope = &decided.state.scope;
        let mut is_finished = true;
        for effect in &decided.effects {
            match effect {
                Effect::Wake => self.scopes.get(scope).interrupts.wake(),
                // Not for every message: many share a commit of their embeddings.
                Effect::Index { after } if after.0 / EMBED_EVERY != decided.state.head.0 / EMBED_EVERY => {
                    self.timelines.wake(scope);
                }
                Effect::Forget => {
                    self.timelines.forget(scope);
                    is_finished &= self.forget_in_memory_file(&decided.state).await;
                }
                Effect::Sweep(segments) if !segments.is_empty() => self.sweep().await,
                // Answers that are kept tell what was said, whoever let it go.
                Effect::Drop(sessions) if !sessions.is_empty() => {
                    is_finished &= self.forget_values(scope).await && self.forget_labels(scope).await;
                }
                Effect::Purge => {
                    is_finished &= self.forget_values(scope).await;
                    // One message that is erased leaves its conversation its labels; an operator who erases a session or a
                    // person does not.
                    is_finished &= match purge {
                        Purge::AtOnce => self.purge().await,
                        Purge::Later => self.forget_labels(scope).await,
                    };
                }
                // What the person is told is in the outcome; the append has erased what is to be erased.
                Effect::Tell(_) | Effect::Warn(_) | Effect::Drop(_) => {}
                Effect::Sweep(_) | Effect::Erase(_) | Effect::Index { .. } => {}
            }
        }
        if !is_finished {
            decided.effects.insert(0, Effect::Warn(Notice::Unfinished));
        }
    }

    /// Deletes what was dropped. It is noted in the store: what fails now is tried again at the next start.
    async fn sweep(&self) {
        if let Err(error) = self.store.sweep().await {
            tracing::warn!(%error, "dropped sessions could not be deleted; it is tried again at the next start");
        }
    }

    /// Does what has to be done before a decision is durable, so that a crash cannot keep its effects from being carried
    /// out.
    pub(crate) async fn announce(&self, decided: &Decided) -> Result<(), Error> {
        match decided.effects.contains(&Effect::Forget) {
            true => self.note_forgetting(&decided.state.scope, decided.state.head).await,
            false => Ok(()),
        }
    }

    /// Lets nothing of what was erased be left in `MEMORY.md` and in the store's files, where they are ours. Returns whether
    /// nothing is; else it is finished by a later call, which [`Engine::open`] makes, too.
    pub async fn purge(&self) -> bool {
        let is_forgotten = self.finish_memory_file().await;
        match self.store.purge().await {
            Ok(Purged::Complete) => is_forgotten,
            Ok(Purged::Unfinished { why }) => {
                tracing::warn!(%why, "what was erased is not gone from the store's files yet; it is tried again");
                false
            }
            // A store that cannot tell has not done it.
            Err(error) => {
                tracing::warn!(%error, "what was erased may not be gone from the store's files");
                false
            }
        }
    }

    /// Deletes what hosts label the conversations of a scope with. Returns whether nothing is left.
    async fn forget_labels(&self, scope: &segue_core::scope::Key) -> bool {
        match segue_store::values::forget_labels(self.store.as_ref(), scope).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "labels of conversations may tell what was erased");
                false
            }
        }
    }

    /// Deletes what is kept beside the log of what was said in a scope. Returns whether nothing is left.
    async fn forget_values(&self, scope: &segue_core::scope::Key) -> bool {
        match segue_store::values::forget(self.store.as_ref(), scope).await {
            Ok(()) => true,
            Err(error) => {
                tracing::warn!(%error, "answers that are kept may tell what was erased");
                false
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::config::Config;
    use crate::{Engine, Inbound, Pick, Request};
    use segue_core::session::Number;
    use segue_store::memory::Memory;
    use std::sync::Arc;

    /// what was made of a deleted session's words is in no cache.
    #[tokio::test]
    async fn x17_caches_forget_what_was_deleted() {
        let config = Config::load(Vec::new(), &jiff::tz::TimeZone::UTC).unwrap();
        let engine = Engine::open(Arc::new(Memory::default()), config).await.unwrap();
        let scope: segue_core::scope::Key = "agent:main:cli:direct:me".parse().unwrap();
        let at = "2026-03-01T10:00:00Z".parse().unwrap();
        let secret = "The safe behind the painting opens with the year of the flood";
        for text in [secret, "Which year was the flood?", "/new", "Something else"] {
            engine.receive(Inbound::user(scope.clone(), at, text)).await.unwrap();
        }
        engine.prepare_recall(&scope).await.unwrap();
        assert!(engine.embedder.knows(secret));
        engine.request(&scope, at, &Request::Delete(Pick::Numbered(Number(1)))).await.unwrap();
        assert!(!engine.embedder.knows(secret));
    }
}
