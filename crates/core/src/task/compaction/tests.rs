//! C-8: what compaction keeps, and what it costs.

use super::*;
use crate::task::blob::Blob;
use crate::task::node::Weight;

fn begin() -> Compaction {
    Compaction::new(TaskId(Seq(1)), "Add retry logic", Timestamp::UNIX_EPOCH)
}

fn note(kind: NoteKind, text: &str) -> Observation {
    Observation::Note(Note::text(kind, text))
}

fn command(text: &str, exit_code: i32) -> Observation {
    Observation::Command { command: text.into(), exit_code: Some(exit_code), output: Blob::of(b"") }
}

fn write(path: &str, content: &str) -> Observation {
    let (path, content) = (WorkPath::new(path).unwrap(), Blob::of(content.as_bytes()));
    Observation::FileWrite { path, content }
}

fn history() -> Vec<Event> {
    let step = CommitId(Digest::of_body(b"step"));
    let observed = [
        note(NoteKind::Question, "Fixed delay or exponential?"),
        Observation::Note(Note::of_message(NoteKind::Response, Seq(40))),
        note(NoteKind::Question, "Who reviews it?"),
        note(NoteKind::Decision, "Jitter of 20 percent"),
        write("src/net.rs", "one"),
        write("./src/net.rs", "two"),
        Observation::FileRead { path: WorkPath::new("README.md").unwrap(), content: Blob::of(b"r") },
        command("cargo test", 101),
        command("cargo test", 0),
    ];
    let mut events: Vec<_> =
        (10..).zip(observed).map(|(seq, observation)| Event::Observed(Seq(seq), observation)).collect();
    events.insert(6, Event::Flushed(step));
    events
}

fn compacted() -> CanonicalCommit {
    let mut compaction = begin();
    compaction.extend(history());
    compaction.finish(CommitKind::Normal, "Retry with jitter", None)
}

#[test]
fn c8_decisions_open_questions_files_and_commands_are_kept() {
    let commit = compacted();
    let decisions: Vec<_> = commit.decisions.iter().map(|d| (d.seq.0, d.text.as_str(), d.message)).collect();
    assert_eq!(
        decisions,
        [(10, "Fixed delay or exponential?", Some(Seq(40))), (13, "Jitter of 20 percent", None)]
    );
    assert_eq!(commit.open_questions.iter().map(|q| q.seq).collect::<Vec<_>>(), [Seq(12)]);
    let files: Vec<_> = commit.files.iter().map(|f| (f.path.as_str(), f.reads, f.writes)).collect();
    assert_eq!(files, [("README.md", 1, 0), ("src/net.rs", 0, 2)]);
    assert_eq!(commit.files[1].last, Digest::of_body(b"two"));
    let [run] = commit.commands.as_slice() else { panic!("one command") };
    assert_eq!((run.runs, run.failures, run.exit_code, run.seq), (2, 1, Some(0), Seq(18)));
    assert_eq!((commit.work_commits.len(), commit.totals.observations), (1, 9));
}

/// The picture holds what the task did, also where nobody observed a relation.
#[test]
fn c8_the_graph_shows_what_the_task_touched() {
    let graph = compacted().graph();
    let edges: Vec<_> = graph.edges().map(|e| format!("{} {} {}", e.from, e.label, e.to)).collect();
    let expected = [
        "task:1 relates note:10",
        "task:1 relates note:12",
        "task:1 relates decision:13",
        "task:1 runs command:18",
        "task:1 reads file:README.md",
        "task:1 writes file:src/net.rs",
    ];
    assert_eq!(edges, expected);
}

/// Compaction again makes the same commit; anything else makes another one.
#[test]
fn c8_compaction_is_idempotent_and_its_id_covers_everything() {
    let commit = compacted();
    assert_eq!(commit, compacted());
    let back: CanonicalCommit = serde_json::from_str(&serde_json::to_string(&commit).unwrap()).unwrap();
    assert!(back == commit && back.is_intact());
    let mut ids = std::collections::BTreeSet::from([commit.id]);
    let changes: [fn(&mut CanonicalCommit); 12] = [
        |c| c.parent = Some(c.id),
        |c| c.kind = CommitKind::Stale,
        |c| c.task = TaskId(Seq(2)),
        |c| c.description.push('!'),
        |c| c.started_at = Timestamp::MAX,
        |c| c.summary.push('!'),
        |c| c.decisions.swap(0, 1),
        |c| c.open_questions.clear(),
        |c| c.files[0].reads += 1,
        |c| c.commands[0].exit_code = None,
        |c| c.work_commits.clear(),
        |c| c.totals.relations_left_out += 1,
    ];
    for change in changes {
        let mut other = commit.clone();
        change(&mut other);
        assert!(!other.is_intact());
        assert!(ids.insert(other.hash()));
    }
}

#[test]
fn c8_each_kind_has_its_words() {
    for kind in CommitKind::ALL {
        let commit = begin().finish(*kind, " ", None);
        assert_eq!(commit.summary, kind.reason().unwrap_or_default());
        assert_eq!(begin().finish(*kind, "done", None).summary, "done");
    }
    assert_eq!(CommitKind::Stale.reason(), Some("Session expired"));
}

#[test]
fn c8_an_edge_that_answers_settles_its_question_and_the_strongest_stays() {
    let mut compaction = begin();
    compaction.observe(Seq(2), &note(NoteKind::Question, "a?"));
    compaction.observe(Seq(3), &note(NoteKind::Question, "b?"));
    let mut edge = Edge::new(NodeId::Message(Seq(9)), NodeId::Note(Seq(2)), EdgeLabel::Answers, "weak");
    edge.weight = Weight::new(0.2).unwrap();
    let strong = Edge { weight: Weight::FULL, evidence: "strong".into(), ..edge.clone() };
    compaction.observe(Seq(4), &Observation::Relations { edges: vec![edge.clone(), strong.clone(), edge] });
    let commit = compaction.finish(CommitKind::Normal, "", None);
    assert_eq!(commit.relations, [strong]);
    assert_eq!(commit.totals.relations, 3);
    assert_eq!((commit.decisions[0].seq, commit.decisions[0].message), (Seq(2), Some(Seq(9))));
    assert_eq!(commit.open_questions[0].seq, Seq(3));
}

/// The lists stay short however long the task was; what is not listed is counted.
#[test]
fn c8_memory_does_not_grow_with_the_number_of_observations() {
    let mut compaction = begin();
    for n in 0..20_000u64 {
        compaction.observe(Seq(n + 2), &command(&format!("run {n}"), 0));
        compaction.observe(Seq(n + 2), &write(&format!("src/{}.rs", n % 7), "x"));
        let edge = Edge::new(NodeId::Note(Seq(n + 1)), NodeId::Note(Seq(n + 2)), EdgeLabel::Relates, "");
        compaction.observe(Seq(n + 2), &Observation::Relations { edges: vec![edge] });
        assert!(compaction.commands.len() <= COMMANDS_MAX && compaction.by_last_run.len() <= COMMANDS_MAX);
    }
    let commit = compaction.finish(CommitKind::Normal, "", None);
    assert_eq!(
        (commit.commands.len(), commit.relations.len(), commit.files.len()),
        (COMMANDS_MAX, RELATIONS_MAX, 7)
    );
    assert_eq!(commit.commands.last().map(|run| run.command.as_str()), Some("run 19999"));
    assert_eq!(commit.totals.commands_left_out, 20_000 - COMMANDS_MAX as u64);
    assert_eq!(commit.totals.relations_left_out, 20_000 - RELATIONS_MAX as u64);
}

#[test]
fn progress_tells_what_was_done_last() {
    let mut compaction = begin();
    compaction.extend(history());
    let progress = compaction.progress();
    assert_eq!(progress.command, Some(("cargo test".into(), Some(0))));
    assert_eq!(progress.note.as_deref(), Some("Jitter of 20 percent"));
    assert_eq!(progress.files_written, [WorkPath::new("src/net.rs").unwrap()]);
    assert_eq!(progress.steps, 1);
}

/// The encoding is for good: ids stand on disk.
#[test]
fn c8_the_encoding_never_changes() {
    assert_eq!(compacted().id.short(), "e88a0fd45f0b");
}
