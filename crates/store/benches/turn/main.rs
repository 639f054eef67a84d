//! What a turn costs: durable, against a bare SQLite transaction that does the same writes in the same run.
//!
//! `cargo bench -p segue-store --bench turn` prints a table, with `-- --json` one line per figure. The
//! order of what is compared is shuffled, and figures are medians of medians, so that a busy disk harms
//! both sides alike.

#![allow(missing_docs, reason = "a program")]

mod bare;
mod disk;
mod figure;
mod flat;
mod ours;
mod scopes;
mod together;
mod turn;

use figure::Figure;

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if !arguments.iter().any(|argument| argument == "--bench") {
        println!("this is a benchmark: cargo bench -p segue-store --bench turn");
        return Ok(());
    }
    let wanted: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with('-')).collect();
    let parts: [(&str, fn() -> Outcome<Vec<Figure>>); 5] = [
        ("turn", turn::figures),
        ("together", together::figures),
        ("disk", disk::figures),
        ("flat", flat::figures),
        ("scopes", scopes::figures),
    ];
    let as_json = arguments.iter().any(|argument| argument == "--json");
    if !as_json {
        println!("{}", Figure::heading());
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
        println!("{}", if missed == 0 { "all goals met".to_owned() } else { format!("{missed} goals missed") });
    }
    Ok(())
}
