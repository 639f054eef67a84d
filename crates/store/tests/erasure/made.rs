//! A store that is made by chance.

use crate::marks::{marks, marks_below, text};
use segue_core::decide::{Command, Decided, TaskCommand, TaskVerb};
use segue_core::entry::{Body, Bytes, Kind, Record, Seq};
use segue_core::erasure::{Place, Trace};
use segue_core::evidence::Window;
use segue_core::facts::{Facts, Need};
use segue_core::message::{Message, Role};
use segue_core::observed::{Filling, Observed};
use segue_core::session::{Number, Title};
use segue_core::state::State;
use segue_core::task::history::{Reach, TaskHistory};
use segue_core::task::identity::Description;
use segue_core::task::observation::{Note, NoteKind, Observation};
use segue_store::conformance::{World, folder};
use segue_store::copy::{self, Extra};
use segue_store::files::Files;
use segue_store::search::Term;
use segue_store::sqlite::Sqlite;
use segue_store::values::{self, WORDS};
use segue_store::{Append, Purged, Store, Value};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const SCOPES: [&str; 3] = ["agent:main:cli:direct:a", "agent:main:cli:direct:b", "agent:main:cli:direct:c"];

/// A small generator, so that a store can be made again by its number.
pub struct Chance(pub u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: u64) -> u64 {
        (self.next() >> 16) % end
    }
}

#[derive(Clone, Copy, PartialEq)]
pub enum In {
    Sqlite,
    Files,
}

pub struct Made {
    kind: In,
    pub place: tempfile::TempDir,
    store: Option<Arc<dyn Store>>,
    pub worlds: Vec<World>,
    marks: u64,
    values: BTreeSet<(usize, u64)>,
    /// What a crash has cut off: it goes with the next erasure in its scope, in SQLite with any.
    cut_off: BTreeSet<(usize, u64)>,
    /// What is in damaged files: it goes when those are deleted.
    damaged: BTreeSet<u64>,
    /// Whether a file was damaged: what was lost with it is told from then on.
    is_whole: bool,
    /// Whether a damaged file is there: nobody deletes it unasked, so an erasure that concerns it is not finished.
    holds_damage: bool,
}

impl Made {
    pub fn new(kind: In) -> Self {
        let mut made = Self {
            kind,
            place: folder(),
            store: None,
            worlds: Vec::new(),
            marks: 0,
            values: BTreeSet::new(),
            cut_off: BTreeSet::new(),
            damaged: BTreeSet::new(),
            is_whole: true,
            holds_damage: false,
        };
        made.open();
        made
    }

    fn open(&mut self) {
        (self.store, self.worlds) = (None, Vec::new());
        let folder = self.place.path().join("store");
        std::fs::create_dir_all(&folder).unwrap();
        let store: Arc<dyn Store> = match self.kind {
            // A real disk under load takes long to rewrite even a small file, and each pause is many times that.
            In::Sqlite => Arc::new(Sqlite::open(&folder.join("segue.db")).unwrap().without_pauses()),
            In::Files => Arc::new(Files::open(&folder).unwrap()),
        };
        self.worlds = SCOPES.iter().map(|scope| World::at(Arc::clone(&store), scope)).collect();
        self.store = Some(store);
    }

    fn store(&self) -> &dyn Store {
        self.store.as_deref().unwrap()
    }

    pub fn text(&mut self, bytes: u64) -> String {
        self.marks += 1;
        text(self.marks, bytes)
    }

    pub async fn step(&mut self, chance: &mut Chance) {
        let at = chance.below(SCOPES.len() as u64) as usize;
        match chance.below(34) {
            0..=12 => {
                let bytes = match chance.below(8) {
                    0..=2 => chance.below(60),
                    3..=5 => 60 + chance.below(2_000),
                    6 => 2_000 + chance.below(6_000),
                    _ => 8_000 + chance.below(30_000),
                };
                let text = self.text(bytes);
                let message = Message::text(text);
                self.run(at, &Command::Say { role: Role::User, message }).await;
            }
            13 => drop(self.run(at, &Command::New { first: None }).await),
            14 => {
                let text = self.text(20);
                let title = Title::new(&text).unwrap();
                if let Some(session) = self.worlds[at].state().await.latest() {
                    self.run(at, &Command::Rename { session, title }).await;
                }
            }
            15 => {
                let latest = self.worlds[at].state().await.latest();
                if let Some(session) = latest {
                    self.run(at, &Command::Fork { session, at: None }).await;
                }
            }
            16 => {
                // What is searched for is indexed.
                if let Some(search) = self.store().search() {
                    let terms: Vec<Term> = segue_store::search::terms("MARK 00000001").collect();
                    search.postings(&self.worlds[at].scope, &terms).await.unwrap();
                }
            }
            17 => {
                let (text, scope) = (self.text(500), self.worlds[at].scope.clone());
                let key = values::words_key(&scope, &format!("v{}", self.marks));
                self.store().put_value(WORDS, Value::new(key, text)).await.unwrap();
                self.values.insert((at, self.marks));
            }
            18 => self.open(),
            19 => {
                let session = Number(1 + chance.below(3) as u32);
                if let Some(decided) = self.run(at, &Command::Delete { session }).await {
                    self.store().sweep().await.unwrap();
                    if decided.swept().next().is_some() || decided.erased().next().is_some() {
                        self.erased_in(at);
                    }
                    self.check().await;
                }
            }
            20..=24 => self.task(at, chance).await,
            25 => self.carry_over(at).await,
            26 => self.crash(at),
            27 => self.damage(at, chance),
            28 => self.discard().await,
            _ => self.erase(at, chance).await,
        }
    }

    /// Decides on what the log says, as the engine does, and appends.
    async fn run(&mut self, at: usize, command: &Command) -> Option<Decided> {
        let world = &mut self.worlds[at];
        let prior = world.state().await;
        let facts = facts(world, &prior, command).await;
        let mut decided = world.decide_knowing(&prior, command, &facts).ok()?;
        if !decided.records.is_empty() {
            let append = Append::of(world.append_id(), prior, &mut decided, None);
            world.store.append(append).await.unwrap();
        }
        Some(decided)
    }

    /// Does something in a task, with words.
    async fn task(&mut self, at: usize, chance: &mut Chance) {
        let bytes = chance.below(300);
        let text = self.text(bytes);
        let verb = match chance.below(8) {
            0 => {
                let description = Some(Description::new(&text).unwrap());
                TaskVerb::Start { description, message: None, cut: None }
            }
            1..=3 => {
                let note = Observation::Note(Note::text(NoteKind::Decision, text));
                TaskVerb::Observe { observations: vec![note] }
            }
            4 => TaskVerb::Flush,
            5 => TaskVerb::Finish { summary: text },
            6 => TaskVerb::Compact { summary: text, kind: None },
            _ => TaskVerb::Abort { reason: text },
        };
        self.run(at, &Command::Task(TaskCommand { session: None, verb })).await;
    }

    /// A full window carries a summary of what was said last into a new session.
    async fn carry_over(&mut self, at: usize) {
        let (said, state) = (self.worlds[at].whole_log().await, self.worlds[at].state().await);
        let Some(view) = state.latest().map(|latest| state.view(latest)) else { return };
        let is_here = |record: &&Record| record.kind == Kind::User && view.hold(record.segment, record.seq);
        let last = said.iter().rev().find(is_here);
        let Some(Ok(Body::Message(_, last))) = last.map(Record::body) else { return };
        let summary = Some(format!("it was about {}", last.text.get(..13).unwrap_or(&last.text)));
        let message = Message::text(self.text(60));
        let window = Filling { band: Window::Emergency, percent: 97 };
        let observed = Box::new(Observed { window, ..Observed::default() });
        self.run(at, &Command::UserMessage { message, observed, summary }).await;
    }

    /// The process is killed in the middle of an append, which was never acknowledged.
    fn crash(&mut self, at: usize) {
        self.marks += 1;
        let torn = text(self.marks, 200);
        match self.kind {
            In::Files => {
                let Some(segment) = self.segments(at).pop() else { return };
                (self.store, self.worlds) = (None, Vec::new());
                let line = format!("{{\"len\":9999,\"seq\":1,\"body\":{{\"text\":\"{torn}");
                // One that is damaged already is set aside with all that is in it.
                let is_damaged = !std::fs::read(&segment).unwrap().starts_with(b"{\"len");
                add_to(&segment, line.as_bytes());
                if is_damaged {
                    self.damaged.insert(self.marks);
                } else {
                    self.cut_off.insert((at, self.marks));
                }
            }
            In::Sqlite => {
                // What is there at this moment, and a page that was being written.
                let (db, wal) = (self.file("segue.db"), self.file("segue.db-wal"));
                let both = [&db, &wal].map(|path| std::fs::read(path).unwrap_or_default());
                (self.store, self.worlds) = (None, Vec::new());
                std::fs::write(&db, &both[0]).unwrap();
                if !both[1].is_empty() {
                    std::fs::write(&wal, &both[1]).unwrap();
                    add_to(&wal, &[&[0; 24], torn.as_bytes()].concat());
                    self.cut_off.insert((at, self.marks));
                }
            }
        }
        self.open();
    }

    /// A file is damaged.
    fn damage(&mut self, at: usize, chance: &mut Chance) {
        let segments = self.segments(at);
        if self.kind == In::Sqlite || segments.is_empty() {
            return;
        }
        (self.store, self.worlds) = (None, Vec::new());
        let segment = &segments[chance.below(segments.len() as u64) as usize];
        let mut bytes = std::fs::read(segment).unwrap();
        if let Some(byte) = bytes.get_mut(3) {
            *byte ^= 0x40;
        }
        marks(&bytes, &mut self.damaged);
        std::fs::write(segment, bytes).unwrap();
        (self.is_whole, self.holds_damage) = (false, true);
        self.open();
    }

    /// Somebody has all damaged files deleted.
    async fn discard(&mut self) {
        if let Some(quarantine) = self.store().quarantine() {
            for file in quarantine.list(None).await.unwrap().found {
                quarantine.discard(&file).await.unwrap();
            }
            self.damaged.clear();
            self.holds_damage = false;
            self.cut_off.clear();
            self.check().await;
        }
    }

    /// The files of a scope's segments, the newest last.
    fn segments(&self, at: usize) -> Vec<PathBuf> {
        let folder = self.file("sessions").join(SCOPES[at].replace(':', "_"));
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path());
        let is_segment = |path: &PathBuf| {
            let name = path.file_name().unwrap().to_str().unwrap();
            name.strip_suffix(".jsonl").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()))
        };
        let mut found: Vec<PathBuf> = files.filter(is_segment).collect();
        found.sort();
        found
    }

    fn file(&self, name: &str) -> PathBuf {
        self.place.path().join("store").join(name)
    }

    /// Something was erased in a scope, and nothing may be left of what a crash has cut off there.
    fn erased_in(&mut self, at: usize) {
        let kind = self.kind;
        self.cut_off.retain(|(of, _)| kind == In::Files && *of != at);
    }

    async fn erase(&mut self, at: usize, chance: &mut Chance) {
        let log = self.worlds[at].whole_log().await;
        let kept: Vec<_> = log.iter().filter(|record| Place::is_kept_in(record)).collect();
        if kept.is_empty() {
            return;
        }
        let count = 1 + chance.below(5);
        let erased: Vec<_> = (0..count).map(|_| kept[chance.below(kept.len() as u64) as usize]).collect();
        let entries: BTreeSet<Seq> = erased.iter().map(|record| record.seq).collect();
        // What people and agents said first, and nothing else was made of it.
        let mut said = BTreeSet::new();
        for record in erased.iter().filter(|record| matches!(record.kind, Kind::User | Kind::Observation)) {
            if let Bytes::Kept(text) = &record.bytes {
                marks(text.as_bytes(), &mut said);
            }
        }
        let entries = entries.into_iter().collect();
        self.run(at, &Command::Erase { entries, along: Vec::new() }).await.unwrap();
        self.erased_in(at);
        if chance.below(2) == 0 {
            let scope = self.worlds[at].scope.clone();
            values::forget(self.store(), &scope).await.unwrap();
            self.values.retain(|(of, _)| *of != at);
        }
        let found = self.check().await;
        let left: Vec<&u64> =
            said.iter().filter(|mark| found.contains(mark) && !self.damaged.contains(mark)).collect();
        assert_eq!(left, Vec::<&u64>::new(), "what was made of it is still there");
    }

    /// What is in the files is in a log, or a value.
    pub async fn check(&self) -> BTreeSet<u64> {
        let purged = self.store().purge().await.unwrap();
        assert!(purged == Purged::Complete || self.holds_damage, "{purged:?}");
        let mut live: BTreeSet<u64> =
            self.values.iter().chain(&self.cut_off).map(|(_, mark)| *mark).collect();
        live.extend(&self.damaged);
        for world in &self.worlds {
            for record in world.whole_log().await {
                if let Bytes::Kept(text) = &record.bytes {
                    marks(text.as_bytes(), &mut live);
                }
            }
        }
        let mut found = BTreeSet::new();
        marks_below(self.place.path(), &mut found);
        assert_eq!(
            found.difference(&live).collect::<Vec<_>>(),
            Vec::<&u64>::new(),
            "erased, and still there"
        );
        found
    }

    /// Backups that are made now hold nothing more, as the store makes them and as `segue backup` does.
    pub async fn check_backup(&self) {
        let to = self.place.path().join("backup.db");
        if self.kind == In::Sqlite {
            self.store().backup(&to).await.unwrap();
        }
        self.check().await;
        if !self.damaged.is_empty() {
            return;
        }
        if self.is_whole {
            for world in &self.worlds {
                world.verify().await;
            }
        }
        let target = Files::open(&self.place.path().join("copied")).unwrap();
        for scope in copy::scopes(self.store()).await.unwrap() {
            copy::scope(self.store(), &target, &scope).await.unwrap();
        }
        let now = self.worlds[0].now;
        copy::values(self.store(), &target, &[WORDS], Extra::Keep, now).await.unwrap();
        drop(target);
        self.check().await;
    }
}

fn add_to(path: &Path, bytes: &[u8]) {
    use std::io::Write as _;
    std::fs::OpenOptions::new().append(true).open(path).unwrap().write_all(bytes).unwrap();
}

/// Reads what a decision needs from the whole log.
async fn facts(world: &World, state: &State, command: &Command) -> Facts {
    let mut facts = Facts::default();
    for need in world.needs(state, command) {
        let log = world.whole_log().await;
        match need {
            Need::TaskHistory { session, reach } => {
                let Some(task) = state.extras.tasks.get(&session) else { continue };
                let words = |seq: Seq| {
                    let record = log.iter().find(|record| record.seq == seq)?;
                    match record.body().ok()? {
                        Body::Message(_, message) => Some(message.text),
                        Body::Worded(worded) => Some(worded.text),
                        _ => None,
                    }
                };
                let description = words(task.described.entry()).unwrap_or_default();
                let stage = task.stage.words().and_then(words).unwrap_or_default();
                let mut history = TaskHistory::new(task, reach, description, stage);
                if reach != Reach::Staged || task.first_staged().is_some() {
                    let after = history.after();
                    log.iter().filter(|record| record.seq > after).for_each(|record| history.read(record));
                }
                facts.task = Some(Box::new(history));
            }
            Need::Derived { sources } => {
                let mut trace = Trace::new(world.scope.clone(), sources);
                log.iter().for_each(|record| trace.read(record));
                let (mut derived, repeats) = trace.finish();
                if let Some(mut repeats) = repeats {
                    log.iter().for_each(|record| repeats.read(record));
                    derived.extend(repeats.finish());
                }
                facts.derived = derived;
            }
            Need::Pruned { .. } | Need::Memories { .. } => {}
        }
    }
    facts
}
