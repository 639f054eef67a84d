//! Streams end with the token that opened them.

use super::{Caller, TokenError};
use crate::app::App;
use crate::problem::Problem;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::sleep;

/// How often the tokens are looked at while somebody watches.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// The tokens that have ended, as far as it is known. Those that are revoked stay, so that one is never valid again.
pub(crate) type Ended = watch::Sender<BTreeSet<String>>;

/// Looks at the tokens while streams are open, and tells which have ended.
pub(crate) async fn look(app: Arc<App>) {
    let mut stopping = app.stopping.clone();
    loop {
        tokio::select! {
            () = sleep(LOOK_EVERY) => {}
            _ = stopping.wait_for(|stop| *stop) => return,
        }
        // Who watches with a token listens here.
        if app.tokens_ended.receiver_count() == 0 {
            continue;
        }
        match ended(&app).await {
            Ok(found) => {
                app.tokens_ended.send_if_modified(|known| {
                    let is_new = *known != found;
                    *known = found;
                    is_new
                });
            }
            Err(error) => tracing::warn!(%error, "the tokens cannot be looked at; it is tried again"),
        }
    }
}

async fn ended(app: &App) -> Result<BTreeSet<String>, TokenError> {
    let now = app.engine.now();
    let tokens = app.tokens.list(now).await?;
    Ok(tokens.into_iter().filter(|token| !token.is_valid(now)).map(|token| token.id).collect())
}

/// Who was let in, for as long as their token counts.
pub(crate) struct Admission {
    caller: Caller,
    ended: Option<watch::Receiver<BTreeSet<String>>>,
}

impl App {
    /// Lets a caller stay until their token ends.
    pub(crate) fn admission(&self, caller: Caller) -> Admission {
        let ended = match &caller {
            Caller::Local => None,
            Caller::Holder(_) => Some(self.tokens_ended.subscribe()),
        };
        Admission { caller, ended }
    }
}

impl Admission {
    /// Returns who was let in.
    pub(crate) fn caller(&self) -> &Caller {
        &self.caller
    }

    /// Makes sure that the token counts now, before anything more is told.
    pub(crate) async fn check(&self, app: &App) -> Result<(), Problem> {
        let Caller::Holder(token) = &self.caller else { return Ok(()) };
        let now = app.engine.now();
        match app.tokens.still(token, now).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(Problem::unauthorized("the token is revoked or expired")),
            Err(error) => Err(Problem::unavailable(error.to_string())),
        }
    }

    /// Waits until the token ends.
    pub(crate) async fn ended(&mut self) {
        let (Caller::Holder(token), Some(ended)) = (&self.caller, &mut self.ended) else {
            return std::future::pending().await;
        };
        if ended.wait_for(|ended| ended.contains(&token.id)).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
