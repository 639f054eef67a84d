//! The one way from a store to another: `segue backup`, `restore` and `move` all take it.

use crate::out;
use anyhow::bail;
use indicatif::{ProgressBar, ProgressStyle};
use segue_core::scope;
use segue_engine::clock::{Clock as _, SystemClock};
use segue_server::values::Space;
use segue_store::copy::{self, Compared, Copied, Extra};
use segue_store::{Error, Purged, Store};
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::task::JoinSet;

/// How many scopes are copied at the same time.
const TOGETHER_MAX: usize = 8;

/// How often what was written meanwhile is caught up with, before the copy is compared.
const ROUNDS_MAX: usize = 20;

/// How thoroughly the copy is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// Every entry.
    All,
    /// Every entry of the scopes that this run has copied something of; the last entry of the others.
    Copied,
}

/// What came of it.
#[derive(Debug, Default)]
pub struct Done {
    /// How many scopes there are.
    pub scopes: usize,
    /// What was copied.
    pub copied: Copied,
    /// How many values were written.
    pub values: u64,
    /// How many scopes the source went on to write while they were compared.
    pub behind: usize,
    /// What does not come along, one sentence each.
    pub left: Vec<String>,
}

/// The names of the values that come along.
pub fn namespaces() -> Vec<&'static str> {
    Space::ALL.map(Space::name).to_vec()
}

/// Copies everything, catches up with what was written meanwhile, and compares.
pub async fn run(
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    extra: Extra,
    check: Check,
) -> anyhow::Result<Done> {
    let mut position = source.position().await?;
    let mut all = copy::scopes(source.as_ref()).await?;
    let mut done = Done::default();
    let (mut due, mut touched) = (all.clone(), BTreeSet::new());
    for _ in 0..ROUNDS_MAX {
        let copied = every(source, target, &due, "copied", Step::Copy).await?;
        touched.extend(copied.changed);
        done.copied.add(copied.copied);
        (due, position) = match copy::changed(source.as_ref(), position).await {
            Ok(changed) => changed,
            // More was written than the source remembers: all scopes are looked at again.
            Err(Error::Expired { .. }) => {
                let position = source.position().await?;
                (copy::scopes(source.as_ref()).await?, position)
            }
            Err(error) => return Err(error.into()),
        };
        all.extend(due.iter().cloned());
        if due.is_empty() {
            break;
        }
    }
    let compared = match check {
        Check::All => every(source, target, &all, "compared", Step::Compare).await?,
        Check::Copied => every(source, target, &touched, "compared", Step::Compare).await?,
    };
    done.copied.add(compared.copied);
    done.behind = compared.behind;
    // Last, so that what was revoked meanwhile is seen.
    let now = SystemClock.now();
    let values = copy::values(source.as_ref(), target.as_ref(), &namespaces(), extra, now).await?;
    done.values = values.changed;
    if values.foreign > 0 && extra == Extra::DeleteBrought {
        done.left
            .push(format!("{} values (tokens, answers) that only the target has stay there", values.foreign));
    }
    if done.copied.erased > 0
        && let Ok(Purged::Unfinished { why }) = target.purge().await
    {
        done.left.push(format!("what was erased meanwhile is still in the target's files: {why}"));
    }
    done.left.extend(left(source.as_ref()).await?);
    done.scopes = all.len();
    Ok(done)
}

/// Says what a copy cannot hold.
pub async fn left(source: &dyn Store) -> anyhow::Result<Vec<String>> {
    let Some(quarantine) = source.quarantine() else { return Ok(Vec::new()) };
    let files = quarantine.list(None).await?.found.len();
    let told = format!("{files} files that cannot be read stay in the quarantine of the source");
    Ok((files > 0).then_some(told).into_iter().collect())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Copy,
    Compare,
    /// Only the heads are compared.
    Heads,
}

#[derive(Debug, Default)]
struct Every {
    copied: Copied,
    changed: BTreeSet<scope::Key>,
    behind: usize,
    ahead: Option<scope::Key>,
}

/// What a step has found out about a scope.
enum Found {
    Copied(Copied),
    Compared(Compared, Copied),
    /// Whether the target has more than the source.
    Ahead(bool),
}

/// Finds a scope that the target has more of than the source: somebody has written there.
pub async fn ahead(source: &Arc<dyn Store>, target: &Arc<dyn Store>) -> anyhow::Result<Option<scope::Key>> {
    let scopes = copy::scopes(target.as_ref()).await?;
    Ok(every(source, target, &scopes, "looked at", Step::Heads).await?.ahead)
}

/// Takes a step for every scope, several at the same time.
async fn every(
    source: &Arc<dyn Store>,
    target: &Arc<dyn Store>,
    scopes: &BTreeSet<scope::Key>,
    what: &'static str,
    step: Step,
) -> anyhow::Result<Every> {
    let style = "{bar:40} {pos}/{len} scopes {msg}, {per_sec}, {eta} left";
    let bar = ProgressBar::new(scopes.len() as u64).with_style(ProgressStyle::with_template(style)?);
    bar.set_message(what);
    let (mut every, mut running, mut rest) = (Every::default(), JoinSet::new(), scopes.iter());
    loop {
        while running.len() < TOGETHER_MAX
            && let Some(scope) = rest.next()
        {
            let (source, target, scope) = (Arc::clone(source), Arc::clone(target), scope.clone());
            running.spawn(async move {
                (Box::pin(take(step, source.as_ref(), target.as_ref(), &scope)).await, scope)
            });
        }
        let Some(next) = running.join_next().await else { break };
        let (done, scope) = next?;
        match done {
            Ok(Found::Copied(copied)) => {
                every.copied.add(copied);
                if copied.entries > 0 {
                    every.changed.insert(scope);
                }
            }
            Ok(Found::Compared(compared, copied)) => {
                every.copied.add(copied);
                every.behind += usize::from(compared == Compared::Behind);
            }
            Ok(Found::Ahead(is_ahead)) => {
                if is_ahead {
                    every.ahead = Some(scope);
                }
            }
            Err(copy::Fault::Store(error)) => {
                return Err(anyhow::Error::new(error).context(format!("{scope} was not {what}")));
            }
            Err(other) => bail!("{other}"),
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    Ok(every)
}

/// Takes a step for one scope.
async fn take(
    step: Step,
    source: &dyn Store,
    target: &dyn Store,
    scope: &scope::Key,
) -> Result<Found, copy::Fault> {
    Ok(match step {
        Step::Copy => Found::Copied(copy::scope(source, target, scope).await?),
        Step::Compare => {
            let (compared, copied) = copy::compare(source, target, scope).await?;
            Found::Compared(compared, copied)
        }
        Step::Heads => Found::Ahead(target.head(scope).await? > source.head(scope).await?),
    })
}

/// Says what stays behind.
pub fn warn(left: &[String]) {
    for one in left {
        out::warning(one);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_store::conformance::{Call, Hook, Hooked, World, said};
    use segue_store::memory::Memory;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use tokio::runtime::Handle;
    use tokio::sync::Mutex;

    /// Says something in the source each time that its log is read, so many times.
    struct Talks {
        world: Mutex<World>,
        left: AtomicUsize,
    }

    impl Hook for Talks {
        fn after(&self, call: Call, _: usize) -> Result<(), Error> {
            let talks = |left: usize| left.checked_sub(1);
            if call == Call::Tail && self.left.fetch_update(SeqCst, SeqCst, talks).is_ok() {
                let say = async { self.world.lock().await.run(&said("meanwhile")).await.unwrap() };
                tokio::task::block_in_place(|| Handle::current().block_on(say));
            }
            Ok(())
        }
    }

    /// A source that is written while it is copied is caught up with; one that never rests is behind, and is told so.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_source_that_is_written_all_the_while_is_behind_until_it_rests() {
        for (says, behind) in [(10, 0), (1_000_000, 1)] {
            let (inner, target): (Arc<dyn Store>, Arc<dyn Store>) =
                (Arc::new(Memory::default()), Arc::new(Memory::default()));
            let mut world = World::new(Arc::clone(&inner));
            world.say("hello").await;
            let scope = world.scope.clone();
            let hook = Talks { world: Mutex::new(world), left: AtomicUsize::new(says) };
            let talking: Arc<dyn Store> = Arc::new(Hooked::new(Arc::clone(&inner), hook));
            let done = run(&talking, &target, Extra::DeleteBrought, Check::All).await.unwrap();
            assert_eq!(done.behind, behind, "{done:?}");
            // What it has is a part of the source.
            let (ours, theirs) = (inner.head(&scope).await.unwrap(), target.head(&scope).await.unwrap());
            assert_eq!(ours == theirs, behind == 0);
            // Nobody writes any more.
            let done = run(&inner, &target, Extra::DeleteBrought, Check::Copied).await.unwrap();
            assert_eq!((done.behind, done.copied.entries > 0), (0, behind == 1), "{done:?}");
            assert_eq!(inner.load(&scope).await.unwrap(), target.load(&scope).await.unwrap());
        }
    }
}
