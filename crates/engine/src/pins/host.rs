//! The host: where skills and persona are taken in from.

use crate::persona::{self, Persona};
use crate::skills::{self, Loaded, Roots, Surroundings};
use std::path::PathBuf;
use std::sync::Arc;

/// Tells what a session is pinned to when it opens. It is asked at an opening, at a reload and for a drift report,
/// and never in between.
pub trait Host: Send + Sync {
    /// Reads the persona as it is now.
    fn persona(&self) -> Result<Persona, persona::Error>;

    /// Reads the skills as they are now.
    fn skills(&self) -> Loaded;
}

/// What is in the environment, found out when it is first needed.
pub type Around = Arc<dyn Fn() -> Surroundings + Send + Sync>;

/// A host that reads folders.
#[derive(Clone)]
pub struct Folders {
    /// Where the persona's files are.
    pub persona: PathBuf,
    /// Where the skills are.
    pub roots: Roots,
    /// What the skills find around them.
    pub around: Around,
}

impl Host for Folders {
    fn persona(&self) -> Result<Persona, persona::Error> {
        Persona::read(&self.persona)
    }

    fn skills(&self) -> Loaded {
        let there = skills::Root::ALL.iter().any(|root| self.roots.folder(*root).is_some_and(|f| f.exists()));
        // Most have no skills, and the programs of a machine take a while to list.
        if !there && !self.any_link() {
            return Loaded::default();
        }
        skills::load(&self.roots, &(self.around)())
    }
}

impl Folders {
    /// A root that is a link to nowhere does not exist, and is still worth a word.
    fn any_link(&self) -> bool {
        skills::Root::ALL
            .iter()
            .any(|root| self.roots.folder(*root).is_some_and(|folder| folder.is_symlink()))
    }
}
