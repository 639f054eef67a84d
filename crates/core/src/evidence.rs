//! Evidence, as the rules see it: bands, not numbers (003).
//!
//! Where the bands come from is not this crate's business; `segue-signals` finds them in text and numbers.

use serde::{Deserialize, Serialize};

/// Defines bands that can be listed, and named as the documents name them.
macro_rules! bands {
    ($($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $band:ident = $text:literal,)* })*) => {$(
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(rename_all = "snake_case")]
        pub enum $name { $($(#[$doc])* $band,)* }

        impl $name {
            /// All bands.
            pub const ALL: &[Self] = &[$(Self::$band),*];

            /// Returns the band's name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$band => $text,)* }
            }
        }
    )*};
}

bands! {
    /// Whether the message is about what the session is about.
    Semantic {
        /// It is: the probability that it belongs is above 0.7.
        High = "high",
        /// It may be.
        Medium = "medium",
        /// It is not: the probability is below 0.3.
        Low = "low",
        /// There is no history, or too little text to tell. It never causes a boundary by itself.
        Unknown = "unknown",
    }

    /// Whether the user asks for a new session, in words.
    Intent {
        /// Yes.
        New = "new",
        /// No.
        None = "none",
    }

    /// How full the context window is.
    Window {
        /// Below 60 percent.
        Healthy = "healthy",
        /// 60 to 80 percent.
        Warning = "warning",
        /// Above 80 percent.
        Critical = "critical",
        /// Above 95 percent.
        Emergency = "emergency",
    }

    /// How long the user has been away.
    Pause {
        /// Less than an hour.
        Short = "short",
        /// Less than four hours.
        Medium = "medium",
        /// Four hours or more.
        Long = "long",
    }

    /// Whether the conversation gets anywhere.
    Health {
        /// It does.
        Good = "good",
        /// It is stuck.
        Bad = "bad",
    }
}

/// The evidence about a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Evidence {
    /// Meaning.
    pub semantic: Semantic,
    /// Explicit intent.
    pub intent: Intent,
    /// The context window.
    pub window: Window,
    /// Time.
    pub pause: Pause,
    /// Health.
    pub health: Health,
}

impl Evidence {
    /// Lists every combination there is.
    pub fn all() -> impl Iterator<Item = Self> {
        let pairs = Semantic::ALL.iter().flat_map(|s| Intent::ALL.iter().map(move |i| (*s, *i)));
        let triples = pairs.flat_map(|(s, i)| Window::ALL.iter().map(move |w| (s, i, *w)));
        let quads = triples.flat_map(|(s, i, w)| Pause::ALL.iter().map(move |p| (s, i, w, *p)));
        quads.flat_map(|(semantic, intent, window, pause)| {
            let with = move |health: &Health| Self { semantic, intent, window, pause, health: *health };
            Health::ALL.iter().map(with)
        })
    }
}
