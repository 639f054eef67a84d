//! Encryption at rest: the one place where bytes that hold people's words are encrypted and decrypted.
//!
//! XChaCha20-Poly1305 under *data keys*, which the store keeps, wrapped by a *master key*, which it never keeps. What is
//! encrypted is bound to its place ([`Bound`]): a row that is moved elsewhere is found. `docs/encryption.md` has the whole
//! of it.

mod keyring;
mod master;

pub use keyring::{KeyId, Status};
pub use master::{MasterKey, MasterKeys, NotAKey};

use crate::error::Error;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{KeyInit, XChaCha20Poly1305, XNonce};
use keyring::{ID_BYTES, Keyring};
use segue_core::entry::Seq;
use segue_core::scope::Key;
use segue_core::session::Number;
use std::sync::{Arc, PoisonError, RwLock};

/// The first byte of what is encrypted: how the rest is laid out.
const LAYOUT: u8 = 1;
const NONCE_BYTES: usize = 24;
const TAG_BYTES: usize = 16;
const HEAD_BYTES: usize = 1 + ID_BYTES + NONCE_BYTES;

/// Stands before encrypted bytes where plain ones can stand too. No plain ones may begin with it.
const MARK: &[u8; 16] = b"\0segue encrypted";

/// What encrypted bytes are bound to. They can be read nowhere else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound<'a> {
    /// The body of an entry.
    Entry(&'a Key, Seq),
    /// The title of a session, in a projection.
    Title(&'a Key, Number),
    /// What a session is pinned to, or all of the session, in a projection.
    Session(&'a Key, Number),
    /// What a scope keeps besides its sessions, in a projection.
    Extras(&'a Key),
    /// A row of what a scope keeps besides its sessions, in a projection: what it is about, and its number.
    ExtrasRow(&'a Key, &'a str, u64),
    /// The embedding of a session.
    SessionEmbedding(&'a Key, Number),
    /// The embedding of an entry.
    EntryEmbedding(&'a Key, Seq),
    /// A named value: its namespace and its key.
    Value(&'a str, &'a str),
    /// The key of the tokens of a full-text index.
    TokenKey,
}

impl Bound<'_> {
    /// Writes the associated data: a number for the kind, then texts with their lengths, then the place.
    fn encode(self) -> Vec<u8> {
        let (kind, texts, place) = match self {
            Self::Entry(scope, seq) => (1, [scope.as_str(), ""], seq.0),
            Self::Title(scope, number) => (2, [scope.as_str(), ""], u64::from(number.0)),
            Self::Session(scope, number) => (3, [scope.as_str(), ""], u64::from(number.0)),
            Self::Extras(scope) => (4, [scope.as_str(), ""], 0),
            Self::SessionEmbedding(scope, number) => (5, [scope.as_str(), ""], u64::from(number.0)),
            Self::EntryEmbedding(scope, seq) => (6, [scope.as_str(), ""], seq.0),
            Self::Value(namespace, key) => (7, [namespace, key], 0),
            Self::TokenKey => (8, ["", ""], 0),
            Self::ExtrasRow(scope, what, number) => (9, [scope.as_str(), what], number),
        };
        let mut bytes = b"segue encryption 1\0".to_vec();
        bytes.push(kind);
        for text in texts {
            bytes.extend((text.len() as u64).to_le_bytes());
            bytes.extend(text.as_bytes());
        }
        bytes.extend(place.to_le_bytes());
        bytes
    }

    /// Says what it is, for people.
    fn name(self) -> String {
        match self {
            Self::Entry(scope, seq) => format!("entry {seq} of {scope}"),
            Self::Title(scope, number) => format!("the title of session {} of {scope}", number.0),
            Self::Session(scope, number) => format!("session {} of {scope}", number.0),
            Self::Extras(scope) => format!("what {scope} keeps besides its sessions"),
            Self::ExtrasRow(scope, what, number) => {
                format!("what {scope} keeps besides its sessions ({what} {number})")
            }
            Self::SessionEmbedding(scope, number) => {
                format!("the embedding of session {} of {scope}", number.0)
            }
            Self::EntryEmbedding(scope, seq) => format!("the embedding of entry {seq} of {scope}"),
            Self::Value(namespace, key) => format!("the value {key} of {namespace}"),
            Self::TokenKey => "the key of the full-text index".to_owned(),
        }
    }
}

/// Why encrypted bytes cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Unopened {
    /// The data key is not among those of the store.
    NoKey(KeyId),
    /// There are no keys at all.
    Off,
    /// They were changed, cut off, or moved here from elsewhere.
    Changed,
}

impl Unopened {
    /// Says so of what they are bound to. Only bytes that were changed are damage.
    pub(crate) fn of(self, bound: Bound<'_>) -> Error {
        let what = bound.name();
        match self {
            Self::NoKey(id) => {
                let why = format!(
                    "its data key {id} is not among the store's keys: restart this program if the keys were rotated, \
                     else restore the store's keys from a backup"
                );
                Error::Locked { what, why }
            }
            Self::Off => {
                let why = "this program was given no key: set store.key_file or store.key_env and restart it";
                Error::Locked { what, why: why.to_owned() }
            }
            Self::Changed => Error::damaged(
                what,
                "it is encrypted, and was changed, cut off or moved here from another place",
            ),
        }
    }
}

/// The keys of a store that is open: they encrypt what is written and decrypt what is read. Without keys, nothing is
/// encrypted.
#[derive(Debug, Default)]
pub struct Vault {
    masters: Option<MasterKeys>,
    keyring: RwLock<Option<Arc<Keyring>>>,
}

impl Vault {
    /// A vault without keys.
    pub(crate) fn off() -> Arc<Self> {
        Arc::default()
    }

    /// Opens the keys that a store keeps. Returns a document too if the store has none yet: it has to be durable before
    /// anything is encrypted.
    ///
    /// [`Error::Locked`] if the store is encrypted and the right master key is not among those that are given.
    pub(crate) fn open(
        masters: Option<&MasterKeys>,
        stored: Option<&str>,
    ) -> Result<(Arc<Self>, Option<String>), Error> {
        let (keyring, document) = match (masters, stored) {
            (None, None) => return Ok((Self::off(), None)),
            (None, Some(document)) => return Err(Keyring::missing(document)),
            (Some(masters), Some(document)) => (Keyring::unwrap(masters, document)?, None),
            (Some(masters), None) => {
                let keyring = Keyring::fresh()?;
                let document = keyring.wrap(masters.first())?;
                (keyring, Some(document))
            }
        };
        let vault = Self { masters: masters.cloned(), keyring: RwLock::new(Some(Arc::new(keyring))) };
        Ok((Arc::new(vault), document))
    }

    fn keyring(&self) -> Option<Arc<Keyring>> {
        self.keyring.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn take(&self, keyring: Keyring) {
        *self.keyring.write().unwrap_or_else(PoisonError::into_inner) = Some(Arc::new(keyring));
    }

    /// Tells whether what is written is encrypted.
    pub(crate) fn is_on(&self) -> bool {
        self.masters.is_some()
    }

    /// Reads the store's keys again: another process may have rotated them.
    pub(crate) fn reload(&self, document: &str) -> Result<(), Error> {
        match &self.masters {
            None => Err(Keyring::missing(document)),
            Some(masters) => {
                self.take(Keyring::unwrap(masters, document)?);
                Ok(())
            }
        }
    }

    /// Makes a new data key for what is written from now on, and wraps all of them with the first master key. The document
    /// takes the place of the one that is stored, in one atomic write; [`reload`](Vault::reload) follows.
    pub(crate) fn rotated(&self, stored: &str) -> Result<String, Error> {
        let Some(masters) = &self.masters else { return Err(Keyring::missing(stored)) };
        Keyring::unwrap(masters, stored)?.with_new_key()?.wrap(masters.first())
    }

    /// Tells what a document says of the keys.
    pub(crate) fn status(document: Option<&str>) -> Result<Status, Error> {
        document.map_or(Ok(Status::Off), Keyring::status)
    }

    /// Encrypts bytes; nothing without keys.
    pub(crate) fn seal(&self, bound: Bound<'_>, plain: &[u8]) -> Result<Option<Vec<u8>>, Error> {
        let Some(keyring) = self.keyring() else { return Ok(None) };
        let (id, cipher) = keyring.current();
        let mut nonce = [0; NONCE_BYTES];
        random(&mut nonce)?;
        let payload = Payload { msg: plain, aad: &bound.encode() };
        let sealed = cipher.encrypt(&XNonce::from(nonce), payload);
        let sealed =
            sealed.map_err(|_| Error::unavailable(bound.name(), "it is too large to be encrypted"))?;
        let mut bytes = Vec::with_capacity(HEAD_BYTES + sealed.len());
        bytes.push(LAYOUT);
        bytes.extend(id.0);
        bytes.extend(nonce);
        bytes.extend(sealed);
        Ok(Some(bytes))
    }

    /// Decrypts bytes.
    pub(crate) fn unseal(&self, bound: Bound<'_>, sealed: &[u8]) -> Result<Vec<u8>, Unopened> {
        if sealed.len() < HEAD_BYTES + TAG_BYTES || sealed[0] != LAYOUT {
            return Err(Unopened::Changed);
        }
        let keyring = self.keyring().ok_or(Unopened::Off)?;
        let (head, body) = sealed.split_at(HEAD_BYTES);
        let (id, nonce) = head[1..].split_at(ID_BYTES);
        let (Ok(id), Ok(nonce)) = (id.try_into().map(KeyId), <[u8; NONCE_BYTES]>::try_from(nonce)) else {
            return Err(Unopened::Changed);
        };
        let cipher = keyring.find(id).ok_or(Unopened::NoKey(id))?;
        let payload = Payload { msg: body, aad: &bound.encode() };
        cipher.decrypt(&XNonce::from(nonce), payload).map_err(|_| Unopened::Changed)
    }

    /// Encrypts bytes for a place where plain ones can stand too; without keys they come back as they are.
    pub(crate) fn seal_bytes(&self, bound: Bound<'_>, plain: &[u8]) -> Result<Vec<u8>, Error> {
        match self.seal(bound, plain)? {
            Some(sealed) => Ok([MARK.as_slice(), &sealed].concat()),
            None if plain.starts_with(MARK) => {
                let why = "it begins as encrypted bytes do".to_owned();
                Err(Error::Invalid { what: bound.name(), why })
            }
            None => Ok(plain.to_vec()),
        }
    }

    /// Decrypts bytes that stand where plain ones can stand too.
    pub(crate) fn unseal_bytes(&self, bound: Bound<'_>, bytes: Vec<u8>) -> Result<Vec<u8>, Unopened> {
        match bytes.strip_prefix(MARK) {
            Some(sealed) => self.unseal(bound, sealed),
            None => Ok(bytes),
        }
    }
}

/// Turns decrypted bytes into the text that they were.
pub(crate) fn text(bytes: Vec<u8>) -> Result<String, Unopened> {
    String::from_utf8(bytes).map_err(|_| Unopened::Changed)
}

fn cipher(key: &[u8; 32]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(key.into())
}

/// Fills bytes from the machine's own source.
fn random(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|error| Error::unavailable("the machine gives no random numbers", error))
}

#[cfg(test)]
mod tests;
