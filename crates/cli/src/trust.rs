//! Folders whose `segue.toml` may name models, keys, stores and paths outside of it.

use crate::setup;
use anyhow::Context as _;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

/// Settings that decide where words and keys go.
const GUARDED: [&str; 2] = ["models.", "store."];

/// Settings that are paths.
const PATHS: [&str; 4] = ["skills.workspace", "skills.user", "persona.dir", "memory.dir"];

/// Tells whether a folder has to be trusted before its configuration may set this.
pub fn needs_trust(key: &str, value: &str) -> bool {
    let path = value.trim_matches('"');
    let leaves = Path::new(path).is_absolute()
        || path.starts_with('~')
        || Path::new(path).components().any(|part| part == std::path::Component::ParentDir);
    GUARDED.iter().any(|table| key.starts_with(table)) || (PATHS.contains(&key) && leaves)
}

/// The list of trusted folders, one a line.
fn list() -> Option<PathBuf> {
    setup::config_folder().map(|folder| folder.join("segue").join("trusted"))
}

fn trusted() -> anyhow::Result<Vec<PathBuf>> {
    let Some(path) = list() else { return Ok(Vec::new()) };
    match fs::read_to_string(&path) {
        Ok(text) => Ok(text.lines().map(PathBuf::from).collect()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(error).with_context(|| format!("{} cannot be read", path.display())),
    }
}

/// Tells whether a folder is trusted.
pub fn is_trusted(folder: &Path) -> anyhow::Result<bool> {
    let Ok(folder) = fs::canonicalize(folder) else { return Ok(false) };
    Ok(trusted()?.contains(&folder))
}

/// Trusts a folder from now on. Returns it as it is noted.
pub fn add(folder: &Path) -> anyhow::Result<PathBuf> {
    let shown = folder.display();
    let folder = fs::canonicalize(folder).with_context(|| format!("there is no folder {shown}"))?;
    anyhow::ensure!(folder.is_dir(), "{shown} is no folder");
    anyhow::ensure!(!folder.to_string_lossy().contains('\n'), "{shown} has a line end in its name");
    if !trusted()?.contains(&folder) {
        let path = list().context("there is no home folder in which that could be noted: set HOME")?;
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("{} cannot be made", parent.display()))?;
        }
        let file = fs::OpenOptions::new().create(true).append(true).open(&path);
        let mut file = file.with_context(|| format!("{} cannot be written", path.display()))?;
        writeln!(file, "{}", folder.display())?;
    }
    Ok(folder)
}

/// Trusts a folder no longer.
pub fn remove(folder: &Path) -> anyhow::Result<()> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let Some(path) = list() else { return Ok(()) };
    let rest: Vec<PathBuf> = trusted()?.into_iter().filter(|trusted| *trusted != folder).collect();
    let text: String = rest.iter().map(|folder| format!("{}\n", folder.display())).collect();
    fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_with_a_folder_decides_about_that_folder_only() {
        for (key, value, expected) in [
            ("models.main.base_url", "\"http://evil/v1\"", true),
            ("models.main.api_key_env", "\"AWS_SECRET\"", true),
            ("store.url", "\"sqlite:x.db\"", true),
            ("persona.dir", "\"persona\"", false),
            ("persona.dir", "\"../..\"", true),
            ("persona.dir", "\"/etc\"", true),
            ("skills.user", "\"~/.ssh\"", true),
            ("lifecycle.policy", "\"task\"", false),
        ] {
            assert_eq!(needs_trust(key, value), expected, "{key} = {value}");
        }
    }
}
