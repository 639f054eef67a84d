//! `segue keys`: the keys of an encrypted store. No key is ever printed but the one that `new` makes.

use crate::args::Common;
use crate::keys_args::Keys;
use crate::{Exit, json, out, setup};
use anyhow::{Context as _, bail};
use segue_store::Store;
use segue_store::encryption::{MasterKey, MasterKeys, Status};
use segue_store::private;
use serde_json::json;
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;

pub async fn run(common: &Common, verb: Keys) -> anyhow::Result<Exit> {
    match verb {
        Keys::New { file: None } => {
            let key = MasterKey::random()?;
            match common.json {
                true => json::print(&json!({ "id": key.id(), "key": key.reveal().as_str() }))?,
                false => out::line(key.reveal().as_str())?,
            }
            out::warning(
                "this is the only time that the key is shown; without it an encrypted store cannot be read",
            );
        }
        Keys::New { file: Some(file) } => {
            let key = MasterKey::random()?;
            let file = setup::expand(&file);
            put_first(&file, &key)?;
            match common.json {
                true => json::print(&json!({ "id": key.id(), "file": file.display().to_string() }))?,
                false => out::line(format!("Master key {} is in {}.", key.id(), file.display()))?,
            }
            out::warning("keep a copy of it elsewhere: without it an encrypted store cannot be read");
        }
        Keys::Show => {
            let store = open(common)?;
            let status = match store.encryption() {
                Some(encryption) => encryption.status().await?,
                None => Status::Off,
            };
            show(common, "", &status)?;
        }
        Keys::Rotate => {
            let store = open(common)?;
            let Some(encryption) = store.encryption() else { bail!("this store cannot be encrypted") };
            let status = encryption.rotate().await.context("the keys were not rotated")?;
            show(common, "Rotated. ", &status)?;
        }
    }
    Ok(Exit::Done)
}

fn open(common: &Common) -> anyhow::Result<Arc<dyn Store>> {
    let config = setup::config(common, &[])?;
    let location = setup::locate(&config.store_url)?;
    if !setup::is_there(&location) {
        bail!("there is no store at {location}: --store URL names another one");
    }
    setup::open(&config)
}

fn show(common: &Common, before: &str, status: &Status) -> anyhow::Result<()> {
    if common.json {
        let shown = match status {
            Status::Off => json!({ "encrypted": false }),
            Status::On { master, data_keys } => {
                json!({ "encrypted": true, "master_key": master, "data_keys": data_keys })
            }
        };
        json::print(&shown)?;
    } else {
        out::line(format!("{before}{}", sentence(status)))?;
    }
    Ok(())
}

/// Says how a store is encrypted.
pub fn sentence(status: &Status) -> String {
    match status {
        Status::Off => "The store is not encrypted; store.key_file or store.key_env turns it on.".to_owned(),
        Status::On { master, data_keys } => {
            format!("The store is encrypted by the master key {master}; data keys: {data_keys}.")
        }
    }
}

/// Puts a key before those of a file, which is its owner's alone.
fn put_first(path: &Path, key: &MasterKey) -> anyhow::Result<()> {
    let shown = path.display();
    let before = match std::fs::read_to_string(path) {
        Ok(text) => {
            // What is no file of keys is left alone.
            text.parse::<MasterKeys>().with_context(|| format!("{shown} is no file of keys"))?;
            text
        }
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        Err(error) => return Err(error).with_context(|| format!("{shown} cannot be read")),
    };
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        private::create_dir_all(folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    }
    let mut fresh = path.as_os_str().to_owned();
    fresh.push(".new");
    let fresh = std::path::PathBuf::from(fresh);
    let text = format!("# master key {}\n{}\n{before}", key.id(), key.reveal().as_str());
    let written = private::write(&fresh, text)
        .and_then(|()| std::fs::File::open(&fresh)?.sync_all())
        .and_then(|()| std::fs::rename(&fresh, path));
    written.with_context(|| format!("{shown} cannot be written"))
}
