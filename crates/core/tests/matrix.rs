//! the matrix, exhaustively, and the page that is written from it.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "a test may fail")]

use segue_core::decision::Action;
use segue_core::evidence::{Evidence, Health, Intent, Pause, Semantic, Window};
use segue_core::matrix::{MATRIX, Row, RowOrigin, row};
use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;

fn index(evidence: &Evidence) -> Option<usize> {
    MATRIX.iter().position(|row| row.covers(evidence))
}

/// Every combination has exactly one row (the first that covers it), and every row is needed.
#[test]
fn r8_the_matrix_is_total_and_no_row_is_dead() {
    let mut used = BTreeSet::new();
    let mut count = 0;
    for evidence in Evidence::all() {
        count += 1;
        used.insert(index(&evidence).unwrap_or_else(|| panic!("no row for {evidence:?}")));
    }
    assert_eq!(count, 4 * 2 * 4 * 3 * 2);
    assert_eq!(used.len(), MATRIX.len(), "rows that nothing reaches: {used:?}");
}

/// The eight rows of 003 as they stand, confidence included.
#[test]
fn r8_the_rows_of_the_document_stand() {
    use Health::{Bad, Good};
    use Intent::New;
    use Pause::{Long, Medium, Short};
    let of = |semantic, intent, window, pause, health| Evidence { semantic, intent, window, pause, health };
    let (ok, none) = (Window::Healthy, Intent::None);
    for (number, evidence, action, confidence) in [
        (1, of(Semantic::Low, New, Window::Critical, Long, Bad), Action::New, Some(100)),
        (2, of(Semantic::Low, none, ok, Short, Good), Action::Ask, None),
        (3, of(Semantic::Low, none, ok, Long, Good), Action::New, Some(80)),
        (3, of(Semantic::Low, none, ok, Long, Bad), Action::New, Some(80)),
        (4, of(Semantic::High, none, ok, Short, Good), Action::Continue, Some(100)),
        (5, of(Semantic::High, none, Window::Warning, Short, Good), Action::ContinueSummarize, None),
        (6, of(Semantic::High, none, Window::Critical, Medium, Bad), Action::NewCarryOver, None),
        (7, of(Semantic::Medium, none, Window::Warning, Medium, Bad), Action::Ask, None),
        (8, of(Semantic::Medium, none, ok, Medium, Good), Action::ContinueReinject, None),
    ] {
        let (_, found) = row(&evidence);
        assert_eq!(found.source, RowOrigin::Document(number), "{evidence:?}");
        assert_eq!(found.action, action);
        if let Some(confidence) = confidence {
            assert_eq!(found.confidence, confidence);
        }
    }
}

/// Unknown never causes a boundary by itself, and explicit intent overrides everything.
#[test]
fn r8_what_must_hold_in_every_row() {
    for evidence in Evidence::all() {
        let (_, found) = row(&evidence);
        if evidence.intent == Intent::New {
            assert_eq!(found.action, Action::New, "{evidence:?}");
        } else if evidence.semantic == Semantic::Unknown
            && evidence.window < Window::Critical
            && evidence.pause != Pause::Long
            && evidence.health == Health::Good
        {
            assert!(
                matches!(
                    found.action,
                    Action::Continue | Action::ContinueReinject | Action::ContinueSummarize
                ),
                "{evidence:?}"
            );
        }
    }
}

fn cell<T: Copy>(bands: &[T], name: impl Fn(T) -> &'static str) -> String {
    match bands {
        [] => "any".to_owned(),
        bands => bands.iter().map(|band| name(*band)).collect::<Vec<_>>().join(", "),
    }
}

fn page() -> String {
    let mut page = String::from(
        "# Decisions\n\n\
         Written from `crates/core/src/matrix.rs` by `UPDATE_DOCS=1 cargo test -p segue-core --test matrix`; a test\n\
         fails if it is not up to date. The first row that covers the evidence decides. Numbers in the last column\n\
         are the rows of the document 003; the other rows settle what it leaves open.\n\n\
         | meaning | intent | window | pause | health | decision | confidence | why | 003 |\n\
         |---|---|---|---|---|---|---|---|---|\n",
    );
    for Row { semantic, intent, window, pause, health, action, confidence, source, why, .. } in MATRIX {
        let source = match source {
            RowOrigin::Document(number) => number.to_string(),
            RowOrigin::Settled => String::new(),
        };
        writeln!(
            page,
            "| {} | {} | {} | {} | {} | `{action}` | {confidence} % | {why} | {source} |",
            cell(semantic, Semantic::name),
            cell(intent, Intent::name),
            cell(window, Window::name),
            cell(pause, Pause::name),
            cell(health, Health::name),
        )
        .unwrap();
    }
    page
}

#[test]
fn r8_the_page_is_written_from_the_matrix() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/decisions.md");
    let page = page();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), page, "run it with UPDATE_DOCS=1");
}
