//! Tasks: work that survives questions, interruptions and nights (001).
//!
//! Plain data and pure functions. A [`Task`] is what a scope's state holds of the open task; the rules are
//! tables: [`transition`] says where a task may go, [`intent`] what a message does to it, [`timing`] what
//! happens when the person comes back. `docs/tasks.md` is written from them.
//!
//! Sessions that never open a task have none, and nothing here is about them.

/// Defines words that can be listed, named as they stand in JSON, and found by their name.
macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $word:ident = $text:literal,)* }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$doc])* #[serde(rename = $text)] $word,)* }

        impl $name {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$word),*];

            /// Returns the word, as it stands in JSON.
            pub fn name(self) -> &'static str {
                match self { $(Self::$word => $text,)* }
            }

            /// Finds it by its word.
            pub fn named(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|word| word.name() == name)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

pub mod assignment;
pub mod blob;
pub mod canonical;
pub mod commit;
pub mod compaction;
mod encoder;
pub(crate) mod fold;
pub mod graph;
pub mod history;
pub mod identity;
pub mod intent;
pub mod narrative;
pub mod node;
pub mod notice;
pub mod observation;
pub mod path;
pub mod refusal;
pub mod staging;
pub mod state;
pub mod text;
pub mod timing;
pub mod transition;

use crate::Timestamp;
use crate::entry::Seq;
use identity::{Description, TaskId};
use staging::Staging;
use state::{StateName, TaskState};
use transition::Forbidden;

/// A task, as the state of a scope holds it: small, whatever was observed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its id.
    pub id: TaskId,
    /// What is to be done.
    pub description: Description,
    /// When it was started.
    pub started_at: Timestamp,
    /// Where it stands.
    pub state: TaskState,
    /// The staging pointer.
    pub staging: Staging,
}

impl Task {
    /// Starts a task: from nothing to running.
    pub fn start(id: TaskId, description: Description, started_at: Timestamp) -> Self {
        Self { id, description, started_at, state: TaskState::Running, staging: Staging::default() }
    }

    /// Moves the task, or refuses and leaves it as it is. Returns the state that it left.
    pub fn go(&mut self, to: TaskState) -> Result<TaskState, Forbidden> {
        self.state.go(to)
    }

    /// Adds a message that came while the agent was working; several queue in order (C-4).
    pub fn interrupt(&mut self, message: Seq) -> Result<(), Forbidden> {
        self.state.interrupt(message)
    }

    /// Tells whether the task can still go on.
    pub fn is_open(&self) -> bool {
        self.state.name().is_open()
    }
}

/// Returns the name of the state of a task that may not be there.
pub fn state_of(task: Option<&Task>) -> StateName {
    task.map_or(StateName::None, |task| task.state.name())
}
