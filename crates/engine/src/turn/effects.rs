//! Carries out the effects of a decision, once its entries are durable.

use crate::engine::Engine;
use segue_core::decide::Decided;
use segue_core::effect::Effect;

impl Engine {
    /// Carries out what a decision wants done besides its entries. Nothing here can fail the turn: it is durable.
    pub(crate) async fn carry_out(&self, decided: &Decided) {
        for effect in &decided.effects {
            match effect {
                Effect::Wake => self.scopes.get(&decided.state.scope).interrupts.wake(),
                Effect::Sweep(segments) if !segments.is_empty() => self.sweep().await,
                // What the person is told is in the outcome; the append has erased what is to be erased.
                Effect::Tell(_) | Effect::Warn(_) | Effect::Drop(_) => {}
                Effect::Sweep(_) | Effect::Erase(_) => {}
            }
        }
    }

    /// Deletes what was dropped. It is noted in the store: what fails now is tried again at the next start.
    async fn sweep(&self) {
        if let Err(error) = self.store.sweep().await {
            tracing::warn!(%error, "dropped sessions could not be deleted; it is tried again at the next start");
        }
    }
}
