//! Where a store is, as a URL.

use crate::encryption::MasterKeys;
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
        let wrong = || NotALocation(redacted(url));
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
        self.open_with(None)
    }

    /// Opens the store with a master key: it is encrypted, or is from now on. A store in memory needs no key.
    pub fn open_with(&self, masters: Option<&MasterKeys>) -> Result<Arc<dyn Store>, Error> {
        match self {
            Self::Memory => Ok(Arc::new(Memory::default())),
            #[cfg(feature = "files")]
            Self::Files(folder) => Ok(Arc::new(crate::files::Files::open_with(folder, masters)?)),
            #[cfg(feature = "sqlite")]
            Self::Sqlite(path) => {
                let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
                if let Some(folder) = folder {
                    crate::private::create_dir_all(folder).map_err(|error| {
                        Error::unavailable(format!("the folder {} cannot be made", folder.display()), error)
                    })?;
                }
                Ok(Arc::new(crate::sqlite::Sqlite::open_with(path, masters)?))
            }
            #[cfg(feature = "postgres")]
            Self::Postgres(_) if masters.is_some() => Err(Error::Unsupported {
                store: "the PostgreSQL store".into(),
                what: "be encrypted by Segue: use sqlite: or files:, or let the database's disk be encrypted"
                    .into(),
            }),
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

/// Parameters of an address whose values are nobody's business.
const SECRETS: [&str; 7] = ["key", "token", "secret", "pass", "pwd", "sig", "auth"];

/// How a part of a path begins that is a key.
const KEY_BEGINNINGS: [&str; 10] = ["sk-", "sk_", "pk-", "pk_", "rk_", "key-", "gsk_", "xai-", "hf_", "ghp_"];

/// How long a part of a path is at least that is a key: with such a beginning, and without.
const KEY_BYTES_MIN: usize = 8;
const RANDOM_BYTES_MIN: usize = 20;

/// How many letters and digits such a part has in a row, and how many digits in all.
const RANDOM_RUN_MIN: usize = 16;
const RANDOM_DIGITS_MIN: usize = 4;

/// Masks what may be a secret in an address: passwords, and keys among its parameters or in its path. Whatever shows an
/// address to anybody shows this.
///
/// ```
/// use segue_store::redacted;
/// assert_eq!(redacted("postgres://ann:pass@h/db"), "postgres://ann:***@h/db");
/// assert_eq!(redacted("http://h/v1?api_key=sk-1&x=1"), "http://h/v1?api_key=***&x=1");
/// assert_eq!(redacted("http://h/sk-live-1/v1"), "http://h/***/v1");
/// assert_eq!(redacted("sqlite:~/segue.db"), "sqlite:~/segue.db");
/// ```
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return without_scheme(url) };
    // The last `@`, since people forget to encode the one in their password.
    let (who, rest) = match rest.rsplit_once('@') {
        Some((who, rest)) => (masked_user(who), rest),
        None => (String::new(), rest),
    };
    let (rest, query) = rest.split_once('?').map_or((rest, None), |(path, query)| (path, Some(query)));
    let path: Vec<&str> = rest.split('/').map(|part| if is_key(part) { "***" } else { part }).collect();
    let path = path.join("/");
    let Some(query) = query else { return format!("{scheme}://{who}{path}") };
    let parameter = |parameter: &str| match parameter.split_once('=') {
        Some((name, _)) if is_secret(name) => format!("{name}=***"),
        _ => parameter.to_owned(),
    };
    let query: Vec<String> = query.split('&').map(parameter).collect();
    format!("{scheme}://{who}{path}?{}", query.join("&"))
}

/// Tells whether a part of a path looks like a key: by its beginning, or because nobody would choose it as a name.
fn is_key(part: &str) -> bool {
    let lower = part.to_ascii_lowercase();
    if KEY_BEGINNINGS.iter().any(|begins| lower.starts_with(begins)) {
        return part.len() >= KEY_BYTES_MIN;
    }
    let is_plain = part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.~+=#;:%".contains(&b));
    let run = part.split(|c: char| !c.is_ascii_alphanumeric()).map(str::len).max().unwrap_or(0);
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    is_plain && part.len() >= RANDOM_BYTES_MIN && run >= RANDOM_RUN_MIN && digits >= RANDOM_DIGITS_MIN
}

fn is_secret(name: &str) -> bool {
    let name = name.to_lowercase();
    SECRETS.iter().any(|secret| name.contains(secret))
}

/// What stands before the `@`: a name is shown if a password follows it, and alone it may be a key.
fn masked_user(who: &str) -> String {
    match who.split_once(':') {
        Some((user, _)) if !user.contains(['/', '?', '=']) => format!("{user}:***@"),
        None if who.len() <= USER_BYTES_MAX && who.chars().all(|c| c.is_ascii_lowercase() || c == '_') => {
            format!("{who}@")
        }
        _ => "***@".to_owned(),
    }
}

/// A user without a password that is longer may be a key.
const USER_BYTES_MAX: usize = 16;

/// What is no URL may still hold a password: `host=h password=x`, or a URL that was mistyped.
fn without_scheme(text: &str) -> String {
    match text.find(['@', '=']) {
        Some(at) => {
            let shown = text.get(..at).unwrap_or_default();
            let shown = shown.split_once(':').map_or(shown, |(scheme, _)| scheme);
            format!("{shown}...")
        }
        None => text.to_owned(),
    }
}

/// Takes the password and the settings out of a URL, for messages.
pub(crate) fn without_password(url: &str) -> String {
    let shown = redacted(url).replace(":***@", "@");
    shown.split_once('?').map_or(shown.clone(), |(shown, _)| shown.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_secret_of_an_address_is_shown() {
        for (url, shown) in [
            ("postgres://ann:pa@ss/w?rd@h/db", "postgres://ann:***@h/db"),
            (
                "postgres://ann@h/db?sslmode=require&password=x",
                "postgres://ann@h/db?sslmode=require&password=***",
            ),
            ("postgres://h/db?password=x@y", "postgres://***@y"),
            ("https://sk-0123456789abcdef@h/v1", "https://***@h/v1"),
            ("https://h/v1?Token=a&x=1", "https://h/v1?Token=***&x=1"),
            ("https://gw/sk-live-1/v1", "https://gw/***/v1"),
            ("https://gw/v1/SK_0123456789?x=1", "https://gw/v1/***?x=1"),
            ("https://gw/4f9d2c7be01a4d6f8c3b5a7e9d1f2c4b/v1", "https://gw/***/v1"),
            ("https://gw/proxy/eyJhbGciOi1234JIUzI1NiJ9/v1", "https://gw/proxy/***/v1"),
            ("http://localhost:11434/v1", "http://localhost:11434/v1"),
            (
                "https://api.example/v1beta/openai-compatible-endpoint",
                "https://api.example/v1beta/openai-compatible-endpoint",
            ),
            (
                "https://a.example/openai/deployments/gpt-4-2026-03-01",
                "https://a.example/openai/deployments/gpt-4-2026-03-01",
            ),
            ("https://gw/sk-2/v1", "https://gw/sk-2/v1"),
            ("postgres:host=h password=x", "postgres..."),
            ("postgre:/ann:pass@h", "postgre..."),
            ("C:\\segue.db", "C:\\segue.db"),
        ] {
            assert_eq!(redacted(url), shown);
        }
        let wrong = "postgers://ann:hunter2@h/db".parse::<Location>().unwrap_err().to_string();
        assert!(wrong.contains("postgers://ann:***@h/db") && !wrong.contains("hunter2"), "{wrong}");
        assert_eq!(Location::Postgres("postgres://ann:x@h/db?a=b".into()).to_string(), "postgres://ann@h/db");
    }
}
