//! Worktrees: a folder that shares its repository with another one, which is where its conversations belong.

use crate::input;
use segue_core::digest::Digest;
use segue_engine::Engine;
use segue_store::Value;
use std::path::{Component, Path, PathBuf};

/// How much of a `.git` file is read. It is one line with a path.
const BYTES_MAX: u64 = 16 << 10;

/// The namespace of what is known of worktrees: the repository of each, by the digest of its folder.
const KNOWN: &str = "import.repository";

/// Finds the folder of the repository that a worktree belongs to. Once found it is known for good: a worktree comes and goes,
/// and what was taken over from it stays where it is.
pub async fn home_of(engine: &Engine, folder: &str) -> anyhow::Result<Option<String>> {
    let (store, key) = (engine.store(), Digest::of_body(folder.as_bytes()).to_string());
    if let Some(known) = store.value(KNOWN, &key, engine.now()).await? {
        return Ok(Some(String::from_utf8_lossy(&known.bytes).into_owned()));
    }
    let found = repository(folder);
    if let Some(found) = &found {
        store.put_value(KNOWN, Value::new(key, found.as_str())).await?;
    }
    Ok(found)
}

/// Finds the folder of the repository that a worktree belongs to, if that can be seen here. A folder inside of the
/// worktree is the same folder inside of the repository.
fn repository(folder: &str) -> Option<String> {
    let folder = Path::new(folder);
    if !folder.is_absolute() {
        return None;
    }
    let root = folder.ancestors().find(|ancestor| ancestor.join(".git").symlink_metadata().is_ok())?;
    // Of a repository itself, it is a folder.
    let text = input::bounded(&root.join(".git"), BYTES_MAX).ok()?;
    let git = plain(&root.join(text.strip_prefix("gitdir:")?.trim()));
    // REPOSITORY/.git/worktrees/NAME. A submodule is under `modules`, and a repository of its own.
    let worktrees = git.parent().filter(|parent| parent.ends_with("worktrees"))?;
    let git = worktrees.parent()?;
    let repository = if git.ends_with(".git") { git.parent()? } else { git };
    let inside = folder.strip_prefix(root).ok()?;
    Some(repository.join(inside).to_str()?.trim_end_matches('/').to_owned())
}

/// Resolves `.` and `..` in a path by their names.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = plain.pop(),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;
    use std::fs;

    #[test]
    fn a_worktree_belongs_to_its_repository() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name).to_str().unwrap().to_owned();
        let git = |name: &str, text: &str| {
            fs::create_dir_all(at(name)).unwrap();
            fs::write(Path::new(&at(name)).join(".git"), text).unwrap();
        };
        fs::create_dir_all(at("shop/.git/worktrees/shop-fix")).unwrap();
        git("shop-fix", &format!("gitdir: {}\n", at("shop/.git/worktrees/shop-fix")));
        git("beside", "gitdir: ../shop/.git/worktrees/beside\n");
        git("of-bare", &format!("gitdir: {}\n", at("bare.git/worktrees/of-bare")));
        git("module", &format!("gitdir: {}\n", at("shop/.git/modules/module")));
        git("broken", "nonsense");
        assert_eq!(repository(&at("shop-fix")), Some(at("shop")));
        assert_eq!(repository(&at("shop-fix/crates/cli")), Some(at("shop/crates/cli")));
        assert_eq!(repository(&at("beside")), Some(at("shop")));
        assert_eq!(repository(&at("of-bare")), Some(at("bare.git")));
        for none in [at("shop"), at("module"), at("broken"), at("nowhere"), "C:\\shop".to_owned()] {
            assert_eq!(repository(&none), None, "{none}");
        }
    }
}
