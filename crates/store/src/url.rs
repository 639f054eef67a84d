//! Where a store is, as a URL.

use crate::error::Error;
use crate::memory::Memory;
use crate::store::Store;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

/// Where a store is.
///
/// ```
/// use segue_store::Location;
/// assert_eq!("sqlite:segue.db".parse(), Ok(Location::Sqlite("segue.db".into())));
/// assert!("segue.db".parse::<Location>().is_err());
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// In memory.
    Memory,
    /// In a SQLite file.
    Sqlite(PathBuf),
    /// In files below a folder.
    Files(PathBuf),
    /// In a PostgreSQL database, by its URL.
    Postgres(String),
}

/// The text does not name a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("'{0}' names no store: it is sqlite:PATH, files:DIR, postgres://USER@HOST/DATABASE or memory:")]
pub struct NotALocation(String);

impl FromStr for Location {
    type Err = NotALocation;

    fn from_str(url: &str) -> Result<Self, NotALocation> {
        let wrong = || NotALocation(url.to_owned());
        let (scheme, path) = url.split_once(':').ok_or_else(wrong)?;
        match (scheme, path) {
            ("memory", "" | "//") => Ok(Self::Memory),
            ("sqlite" | "files", "") => Err(wrong()),
            ("sqlite", path) => Ok(Self::Sqlite(path.into())),
            ("files", path) => Ok(Self::Files(path.into())),
            ("postgres" | "postgresql", rest) if rest.starts_with("//") => Ok(Self::Postgres(url.to_owned())),
            _ => Err(wrong()),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Files(path) => write!(f, "files:{}", path.display()),
            Self::Postgres(url) => f.write_str(&without_password(url)),
        }
    }
}

impl Location {
    /// Opens the store, making its folder where there is none. [`Error::Unavailable`] if this build leaves that store out.
    pub fn open(&self) -> Result<Arc<dyn Store>, Error> {
        match self {
            Self::Memory => Ok(Arc::new(Memory::default())),
            #[cfg(feature = "files")]
            Self::Files(folder) => Ok(Arc::new(crate::files::Files::open(folder)?)),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if let Some(folder) = folder {
                    crate::private::create_dir_all(folder).map_err(|error| {
                        Error::unavailable(format!("the folder {} cannot be made", folder.display()), error)
                    })?;
                }
                Ok(Arc::new(crate::sqlite::Sqlite::open(path)?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(url) => Ok(Arc::new(crate::postgres::Postgres::open(url)?)),
            #[cfg(not(all(feature = "files", feature = "sqlite", feature = "postgres")))]
            other => Err(Error::unavailable(
                format!("{other} cannot be opened"),
                "this build leaves the store out: its feature is `sqlite`, `files` or `postgres`",
            )),
        }
    }
}

/// Takes the password and the settings out of a URL, for messages.
pub(crate) fn without_password(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return "(not a URL)".to_owned() };
    let rest = rest.split_once('?').map_or(rest, |(rest, _)| rest);
    match rest.rsplit_once('@') {
        Some((who, host)) => {
            let user = who.split_once(':').map_or(who, |(user, _)| user);
            format!("{scheme}://{user}@{host}")
        }
        None => format!("{scheme}://{rest}"),
    }
}
