//! What a warm turn costs on the embedded store: the person's message through the engine (appended, decided, durable)
//! and the context of about the fifty newest messages. Beside it, in the same run, a bare SQLite transaction with a read
//! of the newest fifty. The agent's answer is written on both sides; with it, it is an exchange. And what a context of a
//! long session costs beside one of a short session.
//!
//!     cargo bench -p segue-engine --bench warm
//!     cargo bench -p segue-engine --bench warm -- --json
//!
//! With `--batches` it waits for lines and measures a batch for each: so `scripts/bench-peers` runs it in turns with
//! the others.

#![allow(clippy::disallowed_methods, reason = "a benchmark measures time")]

mod bare;
mod ours;
mod talk;

use bare::Bare;
use ours::Ours;
use serde_json::json;
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};
use talk::TALK;

type Outcome<T> = Result<T, Box<dyn Error>>;

/// How many messages a session has before anything is measured.
const FILLED: usize = 900;

/// How many messages are read back.
const RECENT: usize = 50;

const ROUNDS: usize = 75;
const TURNS: usize = 10;
const ASSEMBLIES: usize = 10;

/// A message and its reply, each durable, beside the same two bare transactions.
const GOAL_EXCHANGE: f64 = 1.6;

fn micros(time: Duration, times: usize) -> f64 {
    time.as_secs_f64() * 1e6 / times as f64
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures.get(figures.len() / 2).copied().unwrap_or(f64::NAN)
}

fn mean(figures: &[f64]) -> f64 {
    figures.iter().sum::<f64>() / figures.len() as f64
}

/// What each turn of a round takes, in micros: up to the context, and with the answer.
#[derive(Default)]
struct Turns {
    turns: Vec<f64>,
    exchanges: Vec<f64>,
}

impl Turns {
    fn add(&mut self, heard: Duration, answered: Duration) {
        self.turns.push(micros(heard, 1));
        self.exchanges.push(micros(heard + answered, 1));
    }

    fn turn(&self) -> f64 {
        mean(&self.turns)
    }

    fn exchange(&self) -> f64 {
        mean(&self.exchanges)
    }
}

async fn ours_round(ours: &mut Ours) -> Outcome<Turns> {
    let mut round = Turns::default();
    for _ in 0..TURNS {
        let begun = Instant::now();
        ours.hear().await?;
        let heard = begun.elapsed();
        let begun = Instant::now();
        ours.answer().await?;
        round.add(heard, begun.elapsed());
    }
    Ok(round)
}

fn bare_round(bare: &mut Bare) -> Outcome<Turns> {
    let mut round = Turns::default();
    for _ in 0..TURNS {
        let begun = Instant::now();
        bare.hear()?;
        let heard = begun.elapsed();
        let begun = Instant::now();
        bare.answer()?;
        round.add(heard, begun.elapsed());
    }
    Ok(round)
}

fn bare_once_round(bare: &mut Bare) -> Outcome<f64> {
    let begun = Instant::now();
    for _ in 0..TURNS {
        bare.exchange_at_once()?;
    }
    Ok(micros(begun.elapsed(), TURNS))
}

async fn assembly_round(ours: &Ours) -> Outcome<f64> {
    let begun = Instant::now();
    for _ in 0..ASSEMBLIES {
        ours.context().await?;
    }
    Ok(micros(begun.elapsed(), ASSEMBLIES))
}

/// What is measured in a round, in micros.
#[derive(Default)]
struct Round {
    ours: Turns,
    bare: Turns,
    bare_once: f64,
    short: f64,
    long: f64,
}

async fn rounds(report: impl Fn(usize, &Round)) -> Outcome<Vec<Round>> {
    let folder = tempfile::tempdir()?;
    let mut ours = Ours::open(&folder.path().join("ours.db"), FILLED).await?;
    let mut bare = Bare::open(&folder.path().join("bare.db"), FILLED)?;
    let mut bare_once = Bare::open(&folder.path().join("once.db"), FILLED)?;
    let short = Ours::open(&folder.path().join("short.db"), 100).await?;
    let long = Ours::open(&folder.path().join("long.db"), 10_000).await?;
    let mut all = Vec::new();
    let mut steps = [0, 1, 2, 3, 4];
    let mut random = 1_u64;
    for number in 0..ROUNDS {
        let mut round = Round::default();
        // Who follows whom changes, so that a slow moment of the machine favours nobody.
        for last in (1..steps.len()).rev() {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            steps.swap(last, (random >> 33) as usize % (last + 1));
        }
        for step in steps {
            match step {
                0 => round.ours = ours_round(&mut ours).await?,
                1 => round.bare = bare_round(&mut bare)?,
                2 => round.bare_once = bare_once_round(&mut bare_once)?,
                3 => round.short = assembly_round(&short).await?,
                _ => round.long = assembly_round(&long).await?,
            }
        }
        report(number, &round);
        all.push(round);
    }
    ours.check().await?;
    Ok(all)
}

async fn measure(as_json: bool) -> Outcome<()> {
    let rounds = Box::pin(rounds(|number, round| {
        if !as_json {
            println!(
                "round {number:2}: turn {:6.1} µs, bare {:6.1}; exchange {:6.1}, bare {:6.1}, at once {:6.1}; \
                 context {:6.1} of 100, {:6.1} of 10,000 messages",
                round.ours.turn(),
                round.bare.turn(),
                round.ours.exchange(),
                round.bare.exchange(),
                round.bare_once,
                round.short,
                round.long
            );
        }
    }))
    .await?;
    let of = |figure: fn(&Round) -> f64| median(rounds.iter().map(figure).collect());
    let each = |turns: fn(&Round) -> &Vec<f64>| median(rounds.iter().flat_map(turns).copied().collect());
    let (turn, bare_turn) = (each(|round| &round.ours.turns), each(|round| &round.bare.turns));
    let (exchange, bare) = (each(|round| &round.ours.exchanges), each(|round| &round.bare.exchanges));
    let (once, short, long) = (of(|round| round.bare_once), of(|round| round.short), of(|round| round.long));
    let figures = [
        ("turn_us", turn),
        ("bare_turn_us", bare_turn),
        ("exchange_us", exchange),
        ("bare_exchange_us", bare),
        ("bare_exchange_at_once_us", once),
        ("context_100_us", short),
        ("context_10000_us", long),
    ];
    let ratios = [
        ("turn_to_bare", turn / bare_turn, None),
        ("turn_to_bare_by_rounds", of(|round| round.ours.turn() / round.bare.turn()), None),
        ("exchange_to_bare", exchange / bare, Some(GOAL_EXCHANGE)),
        ("exchange_to_bare_at_once", exchange / once, None),
        ("context_10000_to_100", of(|round| round.long / round.short), None),
    ];
    if as_json {
        let figures: serde_json::Map<_, _> =
            figures.iter().map(|(name, figure)| ((*name).to_owned(), json!(figure))).collect();
        let ratios: serde_json::Map<_, _> = ratios
            .iter()
            .map(|(name, ratio, goal)| ((*name).to_owned(), json!({"ratio": ratio, "goal": goal})))
            .collect();
        println!("{}", json!({"figures": figures, "ratios": ratios}));
        return Ok(());
    }
    for (name, figure) in figures {
        println!("{name}: {figure:.1}");
    }
    for (name, ratio, goal) in ratios {
        match goal {
            Some(goal) if ratio <= goal => println!("{name}: {ratio:.2} x (goal {goal}): ok"),
            Some(goal) => println!("{name}: {ratio:.2} x (goal {goal}): MISSED"),
            None => println!("{name}: {ratio:.2} x"),
        }
    }
    Ok(())
}

/// Measures as many turns as each line says.
async fn batches() -> Outcome<()> {
    let folder = tempfile::tempdir()?;
    let mut ours = Ours::open(&folder.path().join("ours.db"), FILLED).await?;
    let mut bare = Bare::open(&folder.path().join("bare.db"), FILLED)?;
    println!("{}", json!({"ready": true}));
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let (who, turns) = line.split_once(' ').ok_or("ours N, or bare N")?;
        let turns: usize = turns.parse()?;
        let begun = Instant::now();
        for _ in 0..turns {
            match who {
                "ours" => {
                    ours.hear().await?;
                    ours.answer().await?;
                }
                _ => bare.exchange_at_once()?,
            }
        }
        println!("{}", json!({"us": micros(begun.elapsed(), turns)}));
    }
    ours.check().await
}

fn main() -> Outcome<()> {
    let has = |wanted: &str| std::env::args().any(|argument| argument == wanted);
    if !has("--bench") && !has("--batches") {
        println!("this is a benchmark: cargo bench -p segue-engine --bench warm");
        return Ok(());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    if has("--batches") { runtime.block_on(batches()) } else { runtime.block_on(measure(has("--json"))) }
}
