//! Folders whose `segue.toml` may decide everything; those of other folders decide what is harmless.

use crate::setup;
use anyhow::Context as _;
use segue_store::private;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

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
            private::create_dir_all(parent)
                .with_context(|| format!("{} cannot be made", parent.display()))?;
        }
        let file = private::options().create(true).append(true).open(&path);
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
    private::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}
