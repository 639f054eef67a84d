//! Where a setting comes from.

use std::fmt;
use std::path::PathBuf;

/// A source of settings. A later one counts before an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// The defaults that are built in.
    Defaults,
    /// The system's file.
    System(PathBuf),
    /// The user's file.
    User(PathBuf),
    /// The workspace's file.
    Workspace(PathBuf),
    /// Environment variables.
    Environment,
    /// The file that `--config` names: it was asked for, so it counts before what merely lies around.
    File(PathBuf),
    /// Options of the command line.
    CommandLine,
}

impl Origin {
    /// Returns the place in the order of layers. Two files of one kind keep the order they came in.
    pub(super) fn rank(&self) -> u8 {
        match self {
            Self::Defaults => 0,
            Self::System(_) => 1,
            Self::User(_) => 2,
            Self::Workspace(_) => 3,
            Self::Environment => 4,
            Self::File(_) => 5,
            Self::CommandLine => 6,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Defaults => f.write_str("the built-in defaults"),
            Self::System(path) | Self::User(path) | Self::Workspace(path) | Self::File(path) => {
                path.display().fmt(f)
            }
            Self::Environment => f.write_str("the environment"),
            Self::CommandLine => f.write_str("the command line"),
        }
    }
}

/// Where exactly a setting stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The source.
    pub origin: Origin,
    /// Where in the source.
    pub spot: Spot,
}

/// Where in its source a setting stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Spot {
    /// Somewhere.
    Whole,
    /// On a line of a file, counted from 1.
    Line(usize),
    /// In an environment variable.
    Variable(String),
}

impl Place {
    /// Returns what places are sorted by: the layer, then the line.
    pub(super) fn order(&self) -> (Origin, usize) {
        let line = if let Spot::Line(line) = self.spot { line } else { 0 };
        (self.origin.clone(), line)
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.spot {
            Spot::Whole => self.origin.fmt(f),
            Spot::Line(_) if self.origin == Origin::Defaults => self.origin.fmt(f),
            Spot::Line(line) => write!(f, "{}:{line}", self.origin),
            Spot::Variable(name) => f.write_str(name),
        }
    }
}
