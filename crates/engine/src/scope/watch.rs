//! Wakes agents also when another process wrote to their scope.

use super::Registry;
use segue_store::{Error, Position, Store};
use std::sync::{Arc, Weak};
use tokio::sync::OnceCell;

/// How many commits are read at once.
const PAGE: usize = 256;

/// Follows the commits of the store, once an agent works in the engine.
#[derive(Debug, Default)]
pub(crate) struct Watch(OnceCell<()>);

impl Watch {
    /// Begins to follow the commits of the store, if nobody has yet. It ends with the engine.
    pub(crate) async fn begin(&self, scopes: &Arc<Registry>, store: &Arc<dyn Store>) -> Result<(), Error> {
        let begin = async || {
            let mut news = store.subscribe();
            let mut at = store.position().await?;
            // Nothing is held while nothing happens: a store closes when its engine goes.
            let (scopes, store) = (Arc::downgrade(scopes), Arc::downgrade(store));
            tokio::spawn(async move {
                while news.changed().await.is_ok() {
                    let Some(next) = follow(&scopes, &store, at).await else { return };
                    at = next;
                }
            });
            Ok(())
        };
        self.0.get_or_try_init(begin).await.map(drop)
    }
}

/// Reads the commits behind a position and wakes the agents of their scopes. Nothing if the engine is gone.
async fn follow(scopes: &Weak<Registry>, store: &Weak<dyn Store>, mut at: Position) -> Option<Position> {
    let (scopes, store) = (scopes.upgrade()?, store.upgrade()?);
    loop {
        match store.commits(at, PAGE).await {
            Ok(commits) => {
                for commit in &commits {
                    at = commit.position;
                    if let Some(scope) = scopes.find(&commit.scope) {
                        scope.saw(commit.head);
                    }
                }
                if commits.len() < PAGE {
                    return Some(at);
                }
            }
            Err(Error::Expired { .. }) => {
                at = store.position().await.unwrap_or(at);
                scopes.wake_all();
                return Some(at);
            }
            Err(error) => {
                tracing::warn!(%error, "the commits of others cannot be read; it is tried again at the next one");
                return Some(at);
            }
        }
    }
}
