//! What a turn costs: durable, against a bare SQLite transaction that does the same writes in the same run.
//!
//! `cargo bench -p segue-store --bench turn` prints a table, with `-- --json` one line per figure. The
//! order of what is compared is shuffled, and ratios are taken round by round, so that a busy disk harms
//! both sides alike.

#![allow(missing_docs, reason = "a program")]

mod bare;
mod disk;
mod encrypted;
mod figure;
mod flat;
mod ours;
mod scopes;
mod together;
mod turn;

use figure::Figure;
use std::io::{Seek, Write};
use std::time::Instant;

/// A part of the benchmark.
type Part = fn() -> Outcome<Vec<Figure>>;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("this is a benchmark: cargo bench -p segue-store --bench turn");
        return Ok(());
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let parts: [(&str, Part); 6] = [
        ("turn", turn::figures),
        ("together", together::figures),
        ("disk", disk::figures),
        ("flat", flat::figures),
        ("scopes", scopes::figures),
        ("encrypted", encrypted::figures),
    ];
    let as_json = arguments.iter().any(|argument| argument == "--json");
    let sync = sync_us()?;
    if as_json {
        println!("{}", serde_json::json!({ "name": "sync of 4 KiB in place", "unit": "us", "value": sync }));
    } else {
        println!("on this disk a sync of 4 KiB in place takes {sync:.0} us\n\n{}", Figure::heading());
    }
    let mut missed = 0;
    for (name, figures) in parts {
        if !wanted.is_empty() && !wanted.iter().any(|part| *part == name) {
            continue;
        }
        for figure in figures()? {
            missed += usize::from(!figure.is_met());
            println!("{}", if as_json { figure.json() } else { figure.line() });
        }
    }
    if !as_json {
        println!(
            "{}",
            if missed == 0 { "all goals met".to_owned() } else { format!("{missed} goals missed") }
        );
    }
    Ok(())
}

/// What a sync takes here: how much there is to share depends on it.
fn sync_us() -> Outcome<f64> {
    let mut file = tempfile::tempfile()?;
    let mut times = Vec::new();
    for _ in 0..100 {
        file.rewind()?;
        file.write_all(&[7; 4_096])?;
        let begun = Instant::now();
        file.sync_data()?;
        times.push(figure::micros(begun.elapsed()));
    }
    Ok(figure::median(times))
}
