//! The data keys of an encrypted store: `keys.json`, wrapped by a master key.

use super::disk::{Disk, replace, unavailable};
use crate::encryption::{MasterKeys, Status, Vault};
use crate::error::Error;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

const FILE: &str = "keys.json";

fn read(sessions: &Path) -> Result<Option<String>, Error> {
    let path = sessions.join(FILE);
    match fs::read(&path) {
        Ok(bytes) => match String::from_utf8(bytes) {
            Ok(text) => Ok(Some(text)),
            Err(error) => Err(Error::damaged(path.display().to_string(), error)),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unavailable(&path, &error)),
    }
}

/// Opens the keys with a master key, and makes them if the store has none yet.
pub(super) fn open(
    disk: &dyn Disk,
    sessions: &Path,
    masters: Option<&MasterKeys>,
) -> Result<Arc<Vault>, Error> {
    let (vault, new) = Vault::open(masters, read(sessions)?.as_deref())?;
    if let Some(document) = new {
        replace(disk, &sessions.join(FILE), document.as_bytes())?;
    }
    Ok(vault)
}

pub(super) fn status(sessions: &Path) -> Result<Status, Error> {
    Vault::status(read(sessions)?.as_deref())
}

/// Makes a new data key. A crash leaves the old file or the new one.
pub(super) fn rotate(disk: &dyn Disk, sessions: &Path) -> Result<Status, Error> {
    let Some(stored) = read(sessions)? else {
        return Err(Error::Invalid { what: "the rotation".into(), why: "the store is not encrypted".into() });
    };
    let vault = disk.vault();
    let rotated = vault.rotated(&stored)?;
    replace(disk, &sessions.join(FILE), rotated.as_bytes())?;
    vault.reload(&rotated)?;
    Vault::status(Some(&rotated))
}
