//! A simulated disk that loses power. What is written goes to a real folder, which stands for the cache of the machine, and
//! is recorded. From the record come the states in which a power cut can leave the disk: of what was not synced, any part
//! lands, in any order, by pages or by sectors; what did not land within the length of a file reads as before, or as zeros;
//! and any part of the names that were given, changed or taken away since their folder was synced.

use crate::files::disk::{Disk, Machine};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Numbers that look random and are the same for the same seed (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    pub(crate) fn is_one_of(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

#[derive(Debug, Clone)]
enum Step {
    CreateDir(PathBuf),
    Write(PathBuf, Vec<u8>),
    Append(PathBuf, Vec<u8>),
    Truncate(PathBuf, u64),
    Sync(PathBuf),
    Rename(PathBuf, PathBuf),
    Remove(PathBuf),
    SyncDir(PathBuf),
}

/// A disk that records what is done to it.
#[derive(Debug)]
pub struct Recorder {
    root: PathBuf,
    steps: Mutex<Vec<Step>>,
    /// The process dies before this step: nothing is done any more.
    dies_at: AtomicUsize,
}

impl Recorder {
    pub fn new(root: &Path) -> Self {
        let (steps, dies_at) = (Mutex::default(), AtomicUsize::new(usize::MAX));
        Self { root: root.to_owned(), steps, dies_at }
    }

    pub fn steps(&self) -> usize {
        self.steps.lock().unwrap().len()
    }

    pub(crate) fn die_after(&self, steps: usize) {
        self.dies_at.store(self.steps().saturating_add(steps), Ordering::SeqCst);
    }

    pub fn revive(&self) {
        self.dies_at.store(usize::MAX, Ordering::SeqCst);
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.steps() >= self.dies_at.load(Ordering::SeqCst)
    }

    fn step(&self, step: Step, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
        if self.is_dead() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        work()?;
        self.steps.lock().unwrap().push(step);
        Ok(())
    }

    /// Makes the files of a disk whose power was cut after some steps.
    pub(crate) fn power_cut(&self, after: usize, rng: &mut Rng, to: &Path) {
        let mut tree = Tree::new();
        for step in &self.steps.lock().unwrap()[..after] {
            tree.apply(&self.root, step);
        }
        tree.write(0, rng, to);
    }
}

impl Disk for Recorder {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        Machine.read(path)
    }

    fn create_dir(&self, path: &Path) -> io::Result<()> {
        self.step(Step::CreateDir(path.into()), || Machine.create_dir(path))
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step(Step::Write(path.into(), bytes.into()), || Machine.write(path, bytes))
    }

    fn append(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.step(Step::Append(path.into(), bytes.into()), || Machine.append(path, bytes))
    }

    fn truncate(&self, path: &Path, len: u64) -> io::Result<()> {
        self.step(Step::Truncate(path.into(), len), || Machine.truncate(path, len))
    }

    fn sync(&self, path: &Path) -> io::Result<()> {
        self.step(Step::Sync(path.into()), || Ok(()))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.step(Step::Rename(from.into(), to.into()), || Machine.rename(from, to))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.step(Step::Remove(path.into()), || Machine.remove(path))
    }

    fn sync_dir(&self, path: &Path) -> io::Result<()> {
        self.step(Step::SyncDir(path.into()), || Ok(()))
    }
}

type Names = BTreeMap<String, usize>;

/// A file or a folder: what is durable, what the cache has, and what leads from one to the other.
#[derive(Debug)]
enum Node {
    File { durable: Vec<u8>, cached: Vec<u8>, pending: Vec<Change> },
    Folder { durable: Names, cached: Names, pending: Vec<Naming> },
}

#[derive(Debug, Clone)]
enum Change {
    Len(usize),
    Bytes(usize, Vec<u8>),
}

#[derive(Debug, Clone)]
enum Naming {
    Set(String, usize),
    Unset(String),
    Move(String, String, usize),
}

impl Naming {
    fn apply(&self, names: &mut Names) {
        match self {
            Self::Set(name, node) => _ = names.insert(name.clone(), *node),
            Self::Unset(name) => _ = names.remove(name),
            Self::Move(from, to, node) => {
                names.remove(from);
                names.insert(to.clone(), *node);
            }
        }
    }
}

#[derive(Debug)]
struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    fn new() -> Self {
        Self {
            nodes: vec![Node::Folder { durable: Names::new(), cached: Names::new(), pending: Vec::new() }],
        }
    }

    fn find(&self, root: &Path, path: &Path) -> Option<usize> {
        let relative = path.strip_prefix(root).unwrap();
        relative.components().try_fold(0, |node, part| match &self.nodes[node] {
            Node::Folder { cached, .. } => cached.get(part.as_os_str().to_str().unwrap()).copied(),
            Node::File { .. } => None,
        })
    }

    fn name(&mut self, root: &Path, path: &Path, naming: Naming) {
        // What lies above the root is not part of the disk.
        let Some(node) = path.parent().filter(|p| p.starts_with(root)).and_then(|p| self.find(root, p))
        else {
            return;
        };
        if let Node::Folder { cached, pending, .. } = &mut self.nodes[node] {
            naming.apply(cached);
            pending.push(naming);
        }
    }

    fn make(&mut self, root: &Path, path: &Path, node: Node) -> usize {
        self.nodes.push(node);
        let made = self.nodes.len() - 1;
        self.name(root, path, Naming::Set(name_of(path), made));
        made
    }

    fn file(&mut self, root: &Path, path: &Path) -> usize {
        let empty = Node::File { durable: Vec::new(), cached: Vec::new(), pending: Vec::new() };
        self.find(root, path).unwrap_or_else(|| self.make(root, path, empty))
    }

    fn change(&mut self, node: usize, change: Change) {
        if let Node::File { cached, pending, .. } = &mut self.nodes[node] {
            match &change {
                Change::Len(len) => cached.resize(*len, 0),
                Change::Bytes(at, bytes) => {
                    cached.truncate(*at);
                    cached.extend(bytes);
                }
            }
            pending.push(change);
        }
    }

    fn len(&self, node: usize) -> usize {
        match &self.nodes[node] {
            Node::File { cached, .. } => cached.len(),
            Node::Folder { .. } => 0,
        }
    }

    fn apply(&mut self, root: &Path, step: &Step) {
        match step {
            Step::CreateDir(path) => {
                let folder =
                    Node::Folder { durable: Names::new(), cached: Names::new(), pending: Vec::new() };
                self.make(root, path, folder);
            }
            Step::Write(path, bytes) => {
                let node = self.file(root, path);
                self.change(node, Change::Len(0));
                self.change(node, Change::Bytes(0, bytes.clone()));
            }
            Step::Append(path, bytes) => {
                let node = self.file(root, path);
                self.change(node, Change::Bytes(self.len(node), bytes.clone()));
            }
            Step::Truncate(path, len) => {
                let node = self.file(root, path);
                self.change(node, Change::Len(*len as usize));
            }
            Step::Sync(path) => {
                let node = self.file(root, path);
                if let Node::File { durable, cached, pending } = &mut self.nodes[node] {
                    durable.clone_from(cached);
                    pending.clear();
                }
            }
            Step::Rename(from, to) => {
                let node = self.find(root, from).unwrap();
                self.name(root, from, Naming::Move(name_of(from), name_of(to), node));
            }
            Step::Remove(path) => self.name(root, path, Naming::Unset(name_of(path))),
            Step::SyncDir(path) => {
                let Some(node) = path.starts_with(root).then(|| self.find(root, path)).flatten() else {
                    return;
                };
                if let Node::Folder { durable, cached, pending } = &mut self.nodes[node] {
                    durable.clone_from(cached);
                    pending.clear();
                }
            }
        }
    }

    /// Writes what is on the disk after the power cut.
    fn write(&self, node: usize, rng: &mut Rng, to: &Path) {
        match &self.nodes[node] {
            Node::File { durable, pending, .. } => fs::write(to, land(durable, pending, rng)).unwrap(),
            Node::Folder { durable, pending, .. } => {
                let mut names = durable.clone();
                let some = 1 + rng.below(4);
                pending.iter().filter(|_| rng.below(4) < some).for_each(|naming| naming.apply(&mut names));
                fs::create_dir_all(to).unwrap();
                for (name, node) in names {
                    self.write(node, rng, &to.join(name));
                }
            }
        }
    }
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap().to_str().unwrap().to_owned()
}

/// Lets some of the changes of a file land.
fn land(durable: &[u8], pending: &[Change], rng: &mut Rng) -> Vec<u8> {
    let mut content = durable.to_vec();
    // Some power cuts lose next to nothing, some next to everything.
    let odds = rng.below(5);
    let page = [512, 4096][rng.below(2)];
    for change in pending {
        match change {
            Change::Len(len) if rng.below(4) < odds => content.resize(*len, 0),
            Change::Len(_) => {}
            Change::Bytes(at, bytes) => {
                let end = at + bytes.len();
                let len = if rng.is_one_of(3) { at + rng.below(bytes.len() + 1) } else { end };
                if content.len() < len {
                    content.resize(len, 0);
                }
                for begin in (at / page * page..end).step_by(page) {
                    let range = begin.max(*at)..(begin + page).min(end).min(content.len());
                    if !range.is_empty() && rng.below(4) < odds {
                        content[range.clone()].copy_from_slice(&bytes[range.start - at..range.end - at]);
                    }
                }
            }
        }
    }
    content
}
