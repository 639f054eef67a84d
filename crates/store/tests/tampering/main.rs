//! M-D3: other programs are refused by the database itself, and where they get past its guards, `verify`
//! finds whatever they changed.

#![allow(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may do as tests do")]

mod template;

use rusqlite::Connection;
use rusqlite::types::Value;
use template::{Case, Template};

/// The statements of another program, and what the database answers.
#[test]
fn m_d3_other_programs_are_refused() {
    let template = Template::make();
    let sealed = "id IN (SELECT id FROM entries WHERE segment = 1)";
    for (statement, answer) in [
        (format!("UPDATE entries SET body = '{{}}' WHERE {sealed}"), "never changed"),
        (format!("UPDATE entries SET at = at + 1 WHERE {sealed}"), "never changed"),
        (format!("UPDATE entries SET kind = 2 WHERE {sealed}"), "never changed"),
        (format!("UPDATE entries SET segment = 99 WHERE {sealed}"), "never changed"),
        (format!("UPDATE entries SET body = NULL, hash = x'00' WHERE {sealed}"), "never changed"),
        ("UPDATE entries SET body = '{}' WHERE segment = 6".to_owned(), "never changed"),
        (format!("DELETE FROM entries WHERE {sealed}"), "with its segment only"),
        ("DELETE FROM entries".to_owned(), "with its segment only"),
        (
            "INSERT INTO entries SELECT id + 1000, segment, at, kind, nth, body, hash FROM entries
             WHERE segment = 1"
                .to_owned(),
            "is sealed",
        ),
        (
            "INSERT OR REPLACE INTO entries SELECT id, segment, at, kind, nth, '{}', hash FROM entries
             WHERE segment = 1"
                .to_owned(),
            "segue: ",
        ),
        (
            // The place of a sealed entry, under the number of a segment that is not.
            "INSERT OR REPLACE INTO entries SELECT id, 99, at, kind, nth, '{}', hash FROM entries
             WHERE segment = 1"
                .to_owned(),
            "never changed",
        ),
        ("UPDATE segments SET digest = zeroblob(32)".to_owned(), "is sealed"),
        ("DELETE FROM segments".to_owned(), "is sealed"),
        (
            "INSERT OR REPLACE INTO segments SELECT scope, number, first, last, 0, digest, 0 FROM segments"
                .to_owned(),
            "is sealed",
        ),
    ] {
        let case = template.copy();
        let error = case.connect().execute(&statement, []).expect_err(&statement);
        assert!(error.to_string().contains(answer), "{statement}: {error}");
        assert_eq!(case.problems(), Vec::<String>::new(), "{statement}");
    }
}

/// Every column of every row of every table: changed on disk, it is found.
#[test]
fn m_d3_every_changed_value_is_found() {
    let template = Template::make();
    let mut cases = 0;
    for (table, columns) in template.tables() {
        for row in template.rows(&table) {
            for column in &columns {
                // Nothing on disk proves the id of an append.
                if (table.as_str(), column.as_str()) == ("commits", "append_id") {
                    continue;
                }
                let case = template.copy();
                if change(&case, &table, column, &row) {
                    case.must_be_found(&format!("{table}.{column} where {row}"));
                    cases += 1;
                }
            }
        }
    }
    println!("{cases} values changed, each found");
    assert!(cases > 300, "{cases}");
}

/// Changes a value in place. Nothing if the new value is not allowed there.
fn change(case: &Case, table: &str, column: &str, row: &str) -> bool {
    let db = case.unguarded();
    let old: Value =
        db.query_row(&format!("SELECT {column} FROM {table} WHERE {row}"), [], |row| row.get(0)).unwrap();
    let new = match old {
        Value::Null if column == "title" => Value::Text("another title".into()),
        Value::Null if column == "body" => Value::Text("{}".into()),
        Value::Null if column == "hash" => Value::Blob(vec![7; 32]),
        Value::Null => Value::Integer(1),
        Value::Integer(number) => Value::Integer(number + 1),
        Value::Real(number) => Value::Real(number + 1.0),
        Value::Text(text) => Value::Text(swap_a_letter(&text)),
        Value::Blob(mut bytes) => {
            bytes[0] ^= 1;
            Value::Blob(bytes)
        }
    };
    // An INTEGER PRIMARY KEY may be taken already: then there is no such change to find.
    let changed = db.execute(&format!("UPDATE {table} SET {column} = ?1 WHERE {row}"), [new]);
    case.guard(&db);
    changed.is_ok_and(|rows| rows == 1)
}

/// Changes one letter or digit and leaves the text as long and as well-formed as it was.
fn swap_a_letter(text: &str) -> String {
    let Some(at) = text.rfind(|c: char| c.is_ascii_alphanumeric()) else {
        return if text == "[]" { "[1]".into() } else { format!("{text} ") };
    };
    let other = match text.as_bytes()[at] {
        b'0' => '1',
        b'a' => 'b',
        digit if digit.is_ascii_digit() => '0',
        _ => 'a',
    };
    format!("{}{other}{}", &text[..at], &text[at + 1..])
}

/// Every row of every table: taken away, it is missed.
#[test]
fn m_d3_every_deleted_row_is_found() {
    let template = Template::make();
    for (table, _) in template.tables() {
        for row in template.rows(&table) {
            let case = template.copy();
            let db = case.unguarded();
            db.execute(&format!("DELETE FROM {table} WHERE {row}"), []).unwrap();
            case.guard(&db);
            case.must_be_found(&format!("deleted from {table} where {row}"));
        }
    }
}

/// Rows that nobody of ours has written, and changes to several rows at once that fit together.
#[test]
fn m_d3_rows_that_were_added_are_found() {
    let template = Template::make();
    let entry = "INSERT INTO entries SELECT";
    for statement in [
        format!("{entry} max(id) + 1, segment, at, 1, nth + 1, '{{\"text\":\"x\"}}', NULL FROM entries WHERE id < 1 << 33"),
        format!("{entry} min(id) - 1, segment, at, 1, nth, '{{\"text\":\"x\"}}', NULL FROM entries WHERE id < 1 << 33"),
        format!("{entry} (77 << 32) + 1, segment, at, kind, nth, body, hash FROM entries LIMIT 1"),
        // Back into the place of one that was swept.
        format!(
            "{entry} (SELECT min(id) + 1 FROM entries e WHERE NOT EXISTS (SELECT 1 FROM entries n WHERE n.id = e.id + 1)),
             segment, at, 1, 1, '{{\"text\":\"x\"}}', NULL FROM entries WHERE kind = 1 LIMIT 1"
        ),
        "INSERT INTO segments SELECT scope, 99, first, last, messages, digest, sealed_at FROM segments LIMIT 1".to_owned(),
        "INSERT INTO sessions SELECT scope, 99, id, parent, origin, merged_into, title, title_entries, spans,
         created_at, updated_at, pins, upkeep FROM sessions LIMIT 1".to_owned(),
        "INSERT INTO seen VALUES (1, 'never sent', 2)".to_owned(),
        "INSERT INTO garbage SELECT scope, number, first, last FROM segments LIMIT 1".to_owned(),
        "INSERT INTO garbage SELECT id, open_segment, open_first, head FROM scopes LIMIT 1".to_owned(),
        "INSERT INTO garbage VALUES (1, 99, 1, 1000)".to_owned(),
        "INSERT INTO erasing SELECT id FROM entries LIMIT 1".to_owned(),
        "INSERT INTO boundaries SELECT 77, list FROM boundaries LIMIT 1".to_owned(),
        "INSERT INTO scopes SELECT 77, key || 'x', head, updated_at, next_session, next_segment, chain, messages,
         sessions, open_segment, open_session, open_first, open_messages, open_digest, opened_at, last_user_at,
         open_updated_at, view_from, view_skips FROM scopes LIMIT 1".to_owned(),
        "INSERT INTO commits (scope, after, head) SELECT scope, after, head FROM commits LIMIT 1".to_owned(),
        "INSERT INTO search_index (rowid, terms) SELECT id, '0123456789abcdef' FROM search_messages LIMIT 1".to_owned(),
        "INSERT INTO search_index (search_index) VALUES ('delete-all')".to_owned(),
        // Two messages change places, with everything but their bodies left as it was.
        "UPDATE entries SET body = CASE id WHEN (SELECT min(id) FROM entries WHERE kind = 1)
         THEN (SELECT body FROM entries WHERE kind = 1 ORDER BY id LIMIT 1 OFFSET 1)
         ELSE (SELECT body FROM entries WHERE kind = 1 ORDER BY id LIMIT 1) END
         WHERE id IN (SELECT id FROM entries WHERE kind = 1 ORDER BY id LIMIT 2)".to_owned(),
        // The log and the projection tell the same lie.
        "UPDATE entries SET at = at + 1; UPDATE scopes SET updated_at = updated_at + 1".to_owned(),
        // An erasure that nobody asked for, with a hash that fits.
        "UPDATE entries SET hash = (SELECT hash FROM entries WHERE hash IS NOT NULL LIMIT 1), body = NULL
         WHERE id = (SELECT min(id) FROM entries WHERE kind = 1)".to_owned(),
    ] {
        let case = template.copy();
        let db = case.unguarded();
        db.execute_batch(&statement).unwrap_or_else(|error| panic!("{statement}: {error}"));
        case.guard(&db);
        case.must_be_found(&statement);
    }
}

/// A guard that is gone is missed, also when nothing was changed yet.
#[test]
fn m_d3_missing_guards_are_found() {
    let template = Template::make();
    let case = template.copy();
    let guards = Template::guards(&case.connect());
    assert_eq!(guards.len(), 12);
    for (name, _) in guards {
        let case = template.copy();
        case.connect().execute_batch(&format!("DROP TRIGGER {name}")).unwrap();
        let problems = case.problems().join("; ");
        assert!(problems.contains(&name), "{name}: {problems}");
    }
}

/// What was dropped with its segment left no body to compare with: the id of such a message is believed.
#[test]
fn ids_of_dropped_messages_are_still_known() {
    let template = Template::make();
    let case = template.copy();
    let gone: i64 = count(&case.connect(), template::UNPROVABLE);
    assert!(gone > 0);
}

fn count(db: &Connection, of: &str) -> i64 {
    db.query_row(&format!("SELECT count(*) FROM {of}"), [], |row| row.get(0)).unwrap()
}
