//! Tasks: work that survives questions, interruptions and nights (001).
//!
//! Plain data and pure functions. An [`assignment::Assignment`] is what a scope's state holds of a task; the rules are
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
pub mod state;
pub mod text;
pub mod timing;
pub mod transition;
