//! A new place that can hold words fails here until somebody has said how an erasure reaches it.

use crate::made::{Chance, In, Made};
use std::collections::BTreeSet;
use std::path::Path;

/// Columns of the database that hold words, with what takes them out; the others hold none. A new column has to be put here.
const WORDS_IN: [(&str, &str); 8] = [
    ("entries", "body"),            // set to NULL by an erasure, deleted by a sweep
    ("sessions", "title"),          // folded from the log: an erasure folds it away
    ("sessions", "pins"),           // hashes and names; texts stand in the log
    ("scope_extras", "extras"),     // names of models of the configuration; places of words, and no words
    ("embeddings", "bytes"),        // deleted by a trigger with any entry that they were made of
    ("named_values", "bytes"),      // those of the namespace `words` are deleted by `values::forget`
    ("search_index", "terms"),      // keyed hashes; taken out with the entry
    ("search_index_data", "block"), // the index itself
];

/// Columns without words: numbers, ids, digests, keys of scopes.
const NO_WORDS_IN: [&str; 66] = [
    "entries.id",
    "entries.segment",
    "entries.at",
    "entries.kind",
    "entries.nth",
    "entries.hash",
    "scopes.id",
    "scopes.key",
    "scopes.head",
    "scopes.updated_at",
    "scopes.next_session",
    "scopes.next_segment",
    "scopes.chain",
    "scopes.messages",
    "scopes.sessions",
    "scopes.open_segment",
    "scopes.open_session",
    "scopes.open_first",
    "scopes.open_messages",
    "scopes.open_digest",
    "scopes.opened_at",
    "scopes.last_user_at",
    "scopes.open_updated_at",
    "scopes.view_from",
    "scopes.view_skips",
    "boundaries.scope",
    "boundaries.list",
    "segments.scope",
    "segments.number",
    "segments.first",
    "segments.last",
    "segments.messages",
    "segments.digest",
    "segments.sealed_at",
    "sessions.scope",
    "sessions.number",
    "sessions.id",
    "sessions.parent",
    "sessions.origin",
    "sessions.merged_into",
    "sessions.title_entries",
    "sessions.spans",
    "sessions.upkeep",
    "upkeep_due.id",
    "sessions.created_at",
    "sessions.updated_at",
    "seen.scope",
    "seen.message_id",
    "seen.seq",
    "garbage.scope",
    "garbage.segment",
    "garbage.first",
    "garbage.last",
    "erasing.id",
    "scope_extras.scope",
    "scope_extras.has_rows",
    "embeddings.scope",
    "embeddings.kind",
    "embeddings.number",
    "embeddings.first",
    "embeddings.last",
    "purges.id",
    "purges.n",
    "in_use.id",
    "in_use.session",
    "in_use.log_missed",
];

/// Tables that hold no words at all: positions, leases, and what the index counts.
const TABLES_WITHOUT_WORDS: [&str; 12] = [
    "span_pages",
    "extras_rows",
    "commits",
    "leases",
    "search_messages",
    "search_scopes",
    "search_key",
    "keyring",
    "search_terms",
    "search_index_idx",
    "search_index_config",
    "search_index_docsize",
];

/// A new table, column or file fails here until somebody has said how an erasure reaches it.
#[test]
fn x17_every_column_and_file_is_known() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut made = Made::new(In::Sqlite);
    runtime.block_on(async {
        let mut chance = Chance(7);
        for _ in 0..60 {
            made.step(&mut chance).await;
        }
    });
    #[allow(clippy::disallowed_methods, reason = "the test looks at what the store has made")]
    let db = rusqlite::Connection::open(made.place.path().join("store/segue.db")).unwrap();
    let sql = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c
               WHERE m.type = 'table' AND c.hidden IN (0, 2)";
    let mut query = db.prepare(sql).unwrap();
    let rows = query.query_map([], |row| Ok((row.get::<_, String>(0)?, row.get::<_, String>(1)?))).unwrap();
    for (table, column) in rows.map(Result::unwrap) {
        let is_known = TABLES_WITHOUT_WORDS.contains(&table.as_str())
            || WORDS_IN.contains(&(table.as_str(), column.as_str()))
            || NO_WORDS_IN.contains(&format!("{table}.{column}").as_str())
            || matches!((table.as_str(), column.as_str()), ("named_values", _) | ("search_index_data", "id"));
        assert!(is_known, "{table}.{column}: can it hold words, and how does an erasure reach it?");
    }
    let mut made = Made::new(In::Files);
    runtime.block_on(async {
        let mut chance = Chance(7);
        for _ in 0..60 {
            made.step(&mut chance).await;
        }
    });
    let mut names = BTreeSet::new();
    file_names(&made.place.path().join("store"), &mut names);
    // Segments and the journal are written anew by an erasure, values by a purge. The others hold numbers, ids and digests.
    let known = [
        "journal.jsonl",
        "values.jsonl",
        "index.json",
        "index.json.digest",
        "index.changes.jsonl",
        "commits.jsonl",
        "garbage.jsonl",
        "dropped.jsonl",
        "store.lock",
    ];
    for name in names {
        // What was cut off, and what is damaged, is a segment, too: `made.rs` says what becomes of those.
        let name = name.split(".jsonl.").next().unwrap_or(&name);
        let name = if name.ends_with(".jsonl") || name.contains('.') {
            name.to_owned()
        } else {
            format!("{name}.jsonl")
        };
        let is_segment =
            name.strip_suffix(".jsonl").is_some_and(|n| n.bytes().all(|byte| byte.is_ascii_digit()));
        assert!(is_segment || known.contains(&name.as_str()), "{name}: how does an erasure reach it?");
    }
}

fn file_names(folder: &Path, names: &mut BTreeSet<String>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => file_names(&path, names),
            false => _ = names.insert(path.file_name().unwrap().to_str().unwrap().to_owned()),
        }
    }
}
