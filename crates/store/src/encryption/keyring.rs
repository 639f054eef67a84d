//! The data keys of a store, and the document in which it keeps them, wrapped by a master key.
//!
//! ```json
//! {"format":1,"master":"8d1f...","keys":[{"id":"17c4...","wrapped":"..."}]}
//! ```
//!
//! The last one encrypts what is written. The others stay, so that what they encrypted can be read.

use super::master::{KEY_BYTES, MasterKey, MasterKeys};
use super::{NONCE_BYTES, cipher, random};
use crate::error::Error;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use chacha20poly1305::aead::{Aead, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use serde::{Deserialize, Serialize};
use std::fmt;
use zeroize::Zeroizing;

/// The newest document that this program knows.
const FORMAT: i64 = 1;

pub(super) const ID_BYTES: usize = 8;

const WHAT: &str = "the list of the store's data keys";

/// Names a data key. It is made of the key, so that another key never has the same name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyId(pub(super) [u8; ID_BYTES]);

impl KeyId {
    fn of(key: &[u8; KEY_BYTES]) -> Self {
        let digest = blake3::derive_key("segue 2026-11-18 id of a data key", key);
        let mut id = [0; ID_BYTES];
        id.copy_from_slice(&digest[..ID_BYTES]);
        Self(id)
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Whether a store is encrypted, and by which keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Status {
    /// It is not.
    Off,
    /// It is.
    On {
        /// The name of the master key that wraps the data keys.
        master: String,
        /// How many data keys there are: one, and one more for each rotation.
        data_keys: usize,
    },
}

#[derive(Serialize, Deserialize)]
struct Document {
    format: i64,
    master: String,
    keys: Vec<Wrapped>,
}

#[derive(Serialize, Deserialize)]
struct Wrapped {
    id: String,
    wrapped: String,
}

struct DataKey {
    id: KeyId,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
    cipher: XChaCha20Poly1305,
}

impl DataKey {
    fn new(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Self {
        Self { id: KeyId::of(&bytes), cipher: cipher(&bytes), bytes }
    }

    fn random() -> Result<Self, Error> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        random(bytes.as_mut_slice())?;
        Ok(Self::new(bytes))
    }
}

/// The data keys of a store. There is at least one.
pub(super) struct Keyring(Vec<DataKey>);

impl fmt::Debug for Keyring {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|key| key.id.to_string())).finish()
    }
}

fn parse(document: &str) -> Result<Document, Error> {
    let read: Document = serde_json::from_str(document).map_err(|error| Error::damaged(WHAT, error))?;
    match read.format {
        FORMAT if read.keys.is_empty() => Err(Error::damaged(WHAT, "it is empty")),
        FORMAT => Ok(read),
        found => Err(Error::NewerFormat { found, known: FORMAT }),
    }
}

/// What the wrapped key is bound to.
fn bound(id: &str) -> Vec<u8> {
    [b"segue data key 1\0", id.as_bytes()].concat()
}

impl Keyring {
    /// Makes a keyring with one new key.
    pub(super) fn fresh() -> Result<Self, Error> {
        Ok(Self(vec![DataKey::random()?]))
    }

    /// Adds a new key, by which everything is encrypted from now on.
    pub(super) fn with_new_key(mut self) -> Result<Self, Error> {
        self.0.push(DataKey::random()?);
        Ok(self)
    }

    /// Returns the key by which everything is encrypted now.
    pub(super) fn current(&self) -> (KeyId, &XChaCha20Poly1305) {
        // There is one by construction.
        let key = &self.0[self.0.len() - 1];
        (key.id, &key.cipher)
    }

    pub(super) fn find(&self, id: KeyId) -> Option<&XChaCha20Poly1305> {
        self.0.iter().rev().find(|key| key.id == id).map(|key| &key.cipher)
    }

    /// Says that a store is encrypted and no key was given.
    pub(super) fn missing(document: &str) -> Error {
        match parse(document) {
            Err(error) => error,
            Ok(Document { master, .. }) => Error::Locked {
                what: "the store".into(),
                why: format!(
                    "it needs the master key {master}, and none was given: name it with store.key_file or store.key_env"
                ),
            },
        }
    }

    /// Tells what a document says.
    pub(super) fn status(document: &str) -> Result<Status, Error> {
        parse(document).map(|read| Status::On { master: read.master, data_keys: read.keys.len() })
    }

    /// Opens a document by the master key that it was wrapped with.
    pub(super) fn unwrap(masters: &MasterKeys, document: &str) -> Result<Self, Error> {
        let read = parse(document)?;
        let Some(master) = masters.iter().find(|master| master.id() == read.master) else {
            let given: Vec<String> = masters.iter().map(MasterKey::id).collect();
            return Err(Error::Locked {
                what: "the store".into(),
                why: format!(
                    "it needs the master key {}, and what was given is {}: give the right key; nothing was changed",
                    read.master,
                    given.join(", ")
                ),
            });
        };
        let with = cipher(master.bytes());
        let open = |key: &Wrapped| {
            let changed = || Error::damaged(WHAT, "a key was changed or cut off: restore it from a backup");
            let bytes = STANDARD.decode(&key.wrapped).map_err(|_| changed())?;
            let (nonce, sealed) = bytes.split_at_checked(NONCE_BYTES).ok_or_else(changed)?;
            let nonce = <[u8; NONCE_BYTES]>::try_from(nonce).map_err(|_| changed())?;
            let payload = Payload { msg: sealed, aad: &bound(&key.id) };
            let plain = with.decrypt(&XNonce::from(nonce), payload).map_err(|_| changed())?;
            let plain = Zeroizing::new(plain);
            let bytes = <[u8; KEY_BYTES]>::try_from(plain.as_slice()).map_err(|_| changed())?;
            let opened = DataKey::new(Zeroizing::new(bytes));
            if opened.id.to_string() == key.id { Ok(opened) } else { Err(changed()) }
        };
        read.keys.iter().map(open).collect::<Result<_, _>>().map(Self)
    }

    /// Wraps the keys with a master key.
    pub(super) fn wrap(&self, master: &MasterKey) -> Result<String, Error> {
        let with = cipher(master.bytes());
        let wrap = |key: &DataKey| {
            let (id, mut nonce) = (key.id.to_string(), [0; NONCE_BYTES]);
            random(&mut nonce)?;
            let payload = Payload { msg: key.bytes.as_slice(), aad: &bound(&id) };
            let sealed = with.encrypt(&XNonce::from(nonce), payload);
            let sealed = sealed.map_err(|_| Error::unavailable(WHAT, "a key cannot be wrapped"))?;
            Ok(Wrapped { id, wrapped: STANDARD.encode([nonce.as_slice(), &sealed].concat()) })
        };
        let keys = self.0.iter().map(wrap).collect::<Result<_, Error>>()?;
        let document = Document { format: FORMAT, master: master.id(), keys };
        serde_json::to_string(&document).map_err(|error| Error::unavailable(WHAT, error))
    }
}
