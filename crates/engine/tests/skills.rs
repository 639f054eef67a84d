//! Skills and personas, from files on disk (L-2, L-3, L-6, L-11).

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

use segue_engine::persona::{self, Persona};
use segue_engine::skills::{
    Diagnostic, Drift, FILE_BYTES_MAX, FOLDERS_MAX, Loaded, Part, Problem, Root, Roots, SkillSnapshot,
    Surroundings, drift, load, resolve,
};
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

/// Three roots in a folder that goes with the test.
struct Disk(TempDir);

impl Disk {
    fn new() -> Self {
        let disk = Self(TempDir::new().unwrap());
        for root in Root::ALL {
            fs::create_dir(disk.root(root)).unwrap();
        }
        disk
    }

    fn root(&self, root: Root) -> PathBuf {
        self.0.path().join(root.name())
    }

    fn file(&self, root: Root, folder: &str, bytes: impl AsRef<[u8]>) {
        let folder = self.root(root).join(folder);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("SKILL.md"), bytes).unwrap();
    }

    /// Writes a skill with `more` lines in its front matter.
    fn skill(&self, root: Root, name: &str, more: &str) {
        let text = format!("---\nname: {name}\ndescription: does {name}\n{more}---\n{name} of {root}\n");
        self.file(root, name, text);
    }

    fn load(&self) -> Loaded {
        let roots = Roots {
            workspace: Some(self.root(Root::Workspace)),
            user: Some(self.root(Root::User)),
            bundled: Some(self.root(Root::Bundled)),
        };
        let here = Surroundings {
            tools: BTreeSet::from(["git".to_owned()]),
            platform: "linux".to_owned(),
            env: BTreeSet::from(["HOME".to_owned()]),
        };
        load(&roots, &here)
    }

    fn snapshot(&self) -> SkillSnapshot {
        self.load().snapshot
    }
}

fn names(snapshot: &SkillSnapshot) -> Vec<String> {
    snapshot.skills.iter().map(|skill| format!("{}:{}", skill.source.root, skill.name)).collect()
}

fn told(snapshot: &SkillSnapshot) -> Vec<String> {
    snapshot.diagnostics.iter().map(Diagnostic::to_string).collect()
}

#[test]
fn l2_the_workspace_stands_before_the_user_before_the_bundled() {
    let disk = Disk::new();
    for root in Root::ALL {
        disk.skill(root, "all", "");
        disk.skill(root, root.name(), "");
    }
    disk.skill(Root::User, "two", "");
    disk.skill(Root::Bundled, "two", "");
    let Loaded { snapshot, bodies } = disk.load();
    let expected = ["workspace:all", "bundled:bundled", "user:two", "user:user", "workspace:workspace"];
    assert_eq!(names(&snapshot), expected);
    let all = resolve(&snapshot, "all").unwrap();
    assert_eq!(bodies.get(&all.body).unwrap(), "all of workspace\n");
    assert_eq!(all.source.path, "all/SKILL.md");
    assert_eq!(
        told(&snapshot),
        [
            "skill all (user:all/SKILL.md): workspace:all/SKILL.md has the same name and is taken instead",
            "skill all (bundled:all/SKILL.md): workspace:all/SKILL.md has the same name and is taken instead",
            "skill two (bundled:two/SKILL.md): user:two/SKILL.md has the same name and is taken instead",
        ]
    );
}

#[test]
fn l2_precedence_comes_before_eligibility() {
    let disk = Disk::new();
    disk.skill(Root::Workspace, "pdf", "requires:\n  platform: windows\n");
    disk.skill(Root::User, "pdf", "");
    let snapshot = disk.snapshot();
    assert!(snapshot.skills.is_empty(), "the user's skill stays hidden: {snapshot:?}");
    let problems: Vec<&Problem> = snapshot.diagnostics.iter().map(|one| &one.problem).collect();
    assert!(
        matches!(problems[..], [Problem::WrongPlatform { .. }, Problem::Conflict { .. }]),
        "{problems:?}"
    );
}

#[test]
fn l11_a_broken_skill_is_not_replaced_in_silence() {
    let disk = Disk::new();
    disk.file(Root::Workspace, "pdf", "no front matter");
    disk.skill(Root::User, "pdf", "");
    fs::create_dir(disk.root(Root::Workspace).join("csv")).unwrap();
    disk.skill(Root::User, "csv", "");
    let snapshot = disk.snapshot();
    assert_eq!(names(&snapshot), ["user:csv"], "a folder without a file is no skill and hides none");
    assert_eq!(
        told(&snapshot),
        [
            "skill csv (workspace:csv/SKILL.md): there is no SKILL.md in the folder",
            "skill pdf (workspace:pdf/SKILL.md): its front matter cannot be understood: it does not begin \
             with a line of ---",
            "skill pdf (user:pdf/SKILL.md): workspace:pdf/SKILL.md has the same name and is taken instead",
        ]
    );
}

#[test]
fn l2_what_a_skill_needs_must_be_there() {
    let disk = Disk::new();
    disk.skill(Root::User, "fits", "requires: {tools: git, platform: [darwin, linux], env: [HOME]}\n");
    disk.skill(Root::User, "lacks", "requires: {tools: [git, rg, fd], platform: darwin, env: [TOKEN]}\n");
    let snapshot = disk.snapshot();
    assert_eq!(names(&snapshot), ["user:fits"]);
    assert_eq!(
        told(&snapshot),
        [
            "skill lacks (user:lacks/SKILL.md): it is for darwin, this is linux",
            "skill lacks (user:lacks/SKILL.md): it needs TOKEN in the environment",
            "skill lacks (user:lacks/SKILL.md): it needs the tools rg, fd",
        ]
    );
}

#[test]
fn l2_an_alias_has_one_owner() {
    let disk = Disk::new();
    disk.skill(Root::Workspace, "zip", "aliases: [z, Pack, pdf, '/z', 'a b', zip, Z]\n");
    disk.skill(Root::User, "pdf", "aliases: [pack, p, gone]\n");
    disk.skill(Root::User, "far", "aliases: [gone]\nrequires: {tools: nothing}\n");
    let snapshot = disk.snapshot();
    let zip = resolve(&snapshot, "zip").unwrap();
    assert_eq!(zip.aliases, ["z", "Pack"]);
    assert_eq!(resolve(&snapshot, "pdf").unwrap().aliases, ["p"], "an ineligible skill keeps its words");
    assert_eq!(
        told(&snapshot),
        [
            "skill zip (workspace:zip/SKILL.md): the alias \"/z\" is left out: an alias has letters, digits, - \
             and _, at most 64",
            "skill zip (workspace:zip/SKILL.md): the alias \"a b\" is left out: an alias has letters, digits, - \
             and _, at most 64",
            "skill zip (workspace:zip/SKILL.md): the alias \"pdf\" is left out: it belongs to pdf",
            "skill far (user:far/SKILL.md): it needs the tools nothing",
            "skill pdf (user:pdf/SKILL.md): the alias \"gone\" is left out: it belongs to far",
            "skill pdf (user:pdf/SKILL.md): the alias \"pack\" is left out: it belongs to zip",
        ]
    );
}

#[test]
fn l6_a_word_finds_the_same_skill_each_time() {
    let disk = Disk::new();
    disk.skill(Root::User, "PDF", "aliases: [p, 文档]\n");
    let snapshot = disk.snapshot();
    for word in ["PDF", "pdf", " p ", "P", "文档"] {
        assert_eq!(resolve(&snapshot, word).map(|skill| skill.name.as_str()), Some("PDF"), "{word}");
    }
    for word in ["", " ", "pd", "/pdf"] {
        assert_eq!(resolve(&snapshot, word), None, "{word}");
    }
}

#[test]
fn l3_unchanged_skills_keep_their_version() {
    let disk = Disk::new();
    disk.skill(Root::User, "a", "aliases: [x]\n");
    disk.skill(Root::Bundled, "b", "");
    let first = disk.snapshot();
    disk.skill(Root::User, "a", "aliases: [x]\n");
    fs::write(disk.root(Root::User).join("README.md"), "no skill").unwrap();
    assert_eq!(disk.snapshot(), first, "written again with the same bytes");
    disk.file(Root::User, "broken", "");
    let second = disk.snapshot();
    assert_eq!(second.version, first.version, "a broken skill changes no session");
    assert_ne!(second.diagnostics, first.diagnostics);
    let (a, b) = (Disk::new(), Disk::new());
    a.skill(Root::User, "a", "");
    b.skill(Root::User, "a", "");
    assert_eq!(a.snapshot(), b.snapshot(), "a moved root keeps its snapshot");
    b.skill(Root::User, "a", "aliases: y\n");
    assert_ne!(a.snapshot().version, b.snapshot().version);
}

#[test]
fn l11_drift_names_what_changed() {
    let disk = Disk::new();
    for name in ["gone", "body", "words", "moved", "same"] {
        disk.skill(Root::User, name, "");
    }
    let old = disk.snapshot();
    assert_eq!(drift(&old, &disk.snapshot()), []);
    fs::remove_dir_all(disk.root(Root::User).join("gone")).unwrap();
    disk.file(Root::User, "body", "---\nname: body\ndescription: does body\n---\nother\n");
    disk.file(Root::User, "words", "---\nname: words\ndescription: new\naliases: w\n---\nwords of user\n");
    disk.skill(Root::Workspace, "moved", "");
    disk.skill(Root::Workspace, "added", "");
    let found = drift(&old, &disk.snapshot());
    let changed = |skill: &str, parts: &[Part]| Drift::Changed { skill: skill.into(), parts: parts.into() };
    assert_eq!(
        found,
        [
            Drift::Added { skill: "added".into() },
            changed("body", &[Part::Body]),
            Drift::Removed { skill: "gone".into() },
            changed("moved", &[Part::Source, Part::Body]),
            changed("words", &[Part::Description, Part::Aliases]),
        ]
    );
    assert_eq!(
        found[1].to_string(),
        "skill body changed on disk since this session began; /reload_skills uses it as it is now"
    );
}

#[test]
fn l1_a_stored_snapshot_comes_back_and_refuses_unknown_fields() {
    let disk = Disk::new();
    disk.skill(Root::User, "a", "aliases: [x, 'bad one']\n");
    disk.skill(Root::Bundled, "a", "");
    disk.file(Root::User, "broken", "x");
    let snapshot = disk.snapshot();
    let text = serde_json::to_string(&snapshot).unwrap();
    let back: SkillSnapshot = serde_json::from_str(&text).unwrap();
    assert_eq!(back, snapshot);
    assert!(back.is_whole());
    for place in ["\"name\":", "\"version\":", "\"root\":", "\"why\":", "\"hidden_by\":", "\"problem\":"] {
        assert!(text.contains(place), "{place}");
        let worse = text.replacen(place, &format!("\"surprise\":1,{place}"), 1);
        let error = serde_json::from_str::<SkillSnapshot>(&worse).unwrap_err().to_string();
        assert!(error.contains("surprise"), "{place}: {error}");
    }
    let mut torn = back;
    torn.skills[0].description.push('!');
    assert!(!torn.is_whole());
}

#[test]
fn l2_bad_files_are_diagnostics() {
    let disk = Disk::new();
    let large = "x".repeat(usize::try_from(FILE_BYTES_MAX).unwrap() + 1);
    disk.file(Root::User, "large", format!("---\nname: large\ndescription: b\n---\n{large}"));
    disk.file(Root::User, "latin", b"---\nname: latin\ndescription: caf\xe9\n---\n");
    fs::create_dir_all(disk.root(Root::User).join("folder/SKILL.md")).unwrap();
    disk.skill(Root::User, "fine", "");
    fs::create_dir(disk.root(Root::User).join(".git")).unwrap();
    let snapshot = disk.snapshot();
    assert_eq!(names(&snapshot), ["user:fine"]);
    assert_eq!(
        told(&snapshot),
        [
            "skill folder (user:folder/SKILL.md): it cannot be read: it is not a file",
            "skill large (user:large/SKILL.md): it is larger than 262144 bytes",
            "skill latin (user:latin/SKILL.md): it cannot be read: it is not UTF-8",
        ]
    );
    let here = Surroundings::default();
    let nowhere = Roots { user: Some(disk.root(Root::User).join("nowhere")), ..Roots::default() };
    assert_eq!(load(&nowhere, &here), Loaded::default());
    let file = Roots { user: Some(disk.root(Root::User).join("fine/SKILL.md")), ..Roots::default() };
    let snapshot = load(&file, &here).snapshot;
    assert!(matches!(snapshot.diagnostics[..], [Diagnostic { skill: None, .. }]), "{snapshot:?}");
}

#[cfg(unix)]
#[test]
fn l2_links_that_lead_back_are_diagnostics() {
    use std::os::unix::fs::symlink;
    let disk = Disk::new();
    let user = disk.root(Root::User);
    disk.skill(Root::Bundled, "real", "");
    symlink(user.join("itself"), user.join("itself")).unwrap();
    symlink(user.join("pong"), user.join("ping")).unwrap();
    symlink(user.join("ping"), user.join("pong")).unwrap();
    symlink(".", user.join("root")).unwrap();
    symlink("nowhere", user.join("dangling")).unwrap();
    symlink(disk.root(Root::Bundled).join("real"), user.join("linked")).unwrap();
    fs::create_dir(user.join("file")).unwrap();
    symlink("SKILL.md", user.join("file/SKILL.md")).unwrap();
    let snapshot = disk.snapshot();
    assert_eq!(names(&snapshot), ["user:real"], "a link to a skill elsewhere is a skill");
    let problem = |skill: &str| {
        let of = |one: &&Diagnostic| one.skill.as_deref() == Some(skill) && one.source.root == Root::User;
        snapshot.diagnostics.iter().find(of).unwrap().problem.clone()
    };
    for skill in ["itself", "ping", "pong", "root", "file"] {
        assert_eq!(problem(skill), Problem::LinkLoop {}, "{skill}");
    }
    assert_eq!(problem("dangling"), Problem::MissingFile {});
}

#[test]
fn l2_the_number_of_folders_has_a_limit() {
    let disk = Disk::new();
    for number in 0..FOLDERS_MAX + 3 {
        disk.skill(Root::User, &format!("s{number:05}"), "");
    }
    let snapshot = disk.snapshot();
    assert_eq!(snapshot.skills.len(), FOLDERS_MAX);
    let [only] = &snapshot.diagnostics[..] else { panic!("{:?}", snapshot.diagnostics) };
    assert_eq!(only.problem, Problem::TooMany { folders_max: FOLDERS_MAX });
    assert_eq!(only.skill.as_deref(), Some("s01000"));
}

#[test]
fn l4_a_persona_is_read_in_its_order() {
    let folder = TempDir::new().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("USER.md", b"I am Kim.\n");
    write("SOUL.md", b"Be kind.\n");
    write("IDENTITY.md", b" \n");
    write("NOTES.md", b"not a part");
    let first = Persona::read(folder.path()).unwrap();
    let parts: Vec<_> = first.parts.iter().map(|part| (part.name.as_str(), part.text.as_str())).collect();
    assert_eq!(parts, [("SOUL.md", "Be kind.\n"), ("USER.md", "I am Kim.\n")]);
    assert_eq!(first.diagnostics, [persona::Diagnostic::MissingFile { name: persona::Name::Agents }]);
    assert_eq!(Persona::read(folder.path()).unwrap(), first);
    let text = serde_json::to_string(&first).unwrap();
    assert_eq!(serde_json::from_str::<Persona>(&text).unwrap(), first);
    assert!(first.is_whole());
    let worse = text.replacen("\"version\"", "\"surprise\":1,\"version\"", 1);
    assert!(serde_json::from_str::<Persona>(&worse).unwrap_err().to_string().contains("surprise"));

    write("SOUL.md", b"Be brief.\n");
    write("AGENTS.md", b"caf\xe9");
    let second = Persona::read(folder.path()).unwrap();
    assert_ne!(second.version, first.version);
    assert_eq!(persona::drift(&first, &second), [persona::Name::Soul]);
    assert!(second.diagnostics[0].to_string().starts_with("AGENTS.md cannot be read: "), "{second:?}");
}

#[test]
fn l11_a_vanished_persona_is_reported() {
    let folder = TempDir::new().unwrap();
    let gone = Persona::read(&folder.path().join("nowhere")).unwrap();
    assert_eq!(gone.diagnostics, [persona::Diagnostic::MissingFolder {}]);
    assert_eq!(gone.version, Persona::default().version);
}

#[test]
fn l4_a_persona_has_a_limit() {
    let folder = TempDir::new().unwrap();
    let half = usize::try_from(persona::BYTES_MAX / 2).unwrap();
    let write = |name: &str, bytes: usize| fs::write(folder.path().join(name), "x".repeat(bytes)).unwrap();
    write("SOUL.md", half);
    write("AGENTS.md", half);
    assert_eq!(Persona::read(folder.path()).unwrap().parts.len(), 2, "exactly the limit is taken");
    write("AGENTS.md", half + 7);
    assert_eq!(
        Persona::read(folder.path()).unwrap_err().to_string(),
        "the persona has 1048583 bytes, 7 more than the 1048576 that are taken; shorten AGENTS.md"
    );
}

/// Issue 16, row 8: a folder of the workspace that is a link to somewhere else shows nothing of what is there.
#[cfg(unix)]
#[test]
fn l2_a_linked_folder_of_the_workspace_is_refused() {
    let outside = TempDir::new().unwrap();
    fs::create_dir(outside.path().join("tides")).unwrap();
    fs::write(outside.path().join("tides/SKILL.md"), "---\nname: tides\ndescription: d\n---\nSECRET\n")
        .unwrap();
    fs::write(outside.path().join("SOUL.md"), "SECRET").unwrap();
    // Only a relative path is one of the workspace, which is the folder that the program runs in.
    let here = TempDir::new_in(".").unwrap();
    let name = PathBuf::from(here.path().file_name().unwrap()).join("linked");
    std::os::unix::fs::symlink(outside.path(), &name).unwrap();
    let roots = Roots { workspace: Some(name.clone()), ..Roots::default() };
    let loaded = load(&roots, &Surroundings::default());
    assert!(loaded.snapshot.skills.is_empty() && loaded.snapshot.diagnostics.len() == 1);
    let persona = Persona::read(&name).unwrap();
    assert!(persona.parts.is_empty());
    assert!(persona.diagnostics[0].to_string().contains("link that leaves the workspace"), "{persona:?}");
    // Who names the other folder means it.
    assert_eq!(Persona::read(outside.path()).unwrap().parts.len(), 1);
}
