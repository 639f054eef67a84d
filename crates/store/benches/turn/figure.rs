//! Figures, their goals, and how they are printed.

use std::sync::OnceLock;
use std::time::Duration;

/// What a ratio has to be.
#[derive(Debug, Clone, Copy)]
pub enum Goal {
    AtMost(f64),
    AtLeast(f64),
}

/// Two values of the same thing and how they relate.
#[derive(Debug, Clone)]
pub struct Figure {
    pub name: String,
    pub unit: &'static str,
    /// What it is compared with, and its value.
    pub base: (String, f64),
    /// What is measured, and its value.
    pub measured: (String, f64),
    pub ratio: f64,
    pub goal: Goal,
}

impl Figure {
    /// Compares round by round: a disk that is fast in one round and slow in the next harms neither side.
    pub fn paired(
        name: impl Into<String>,
        unit: &'static str,
        base: (&str, &[f64]),
        measured: (&str, &[f64]),
        goal: Goal,
    ) -> Self {
        let ratios = base.1.iter().zip(measured.1).map(|(base, measured)| measured / base).collect();
        let side = |(name, values): (&str, &[f64])| (name.to_owned(), median(values.to_vec()));
        Self {
            name: name.into(),
            unit,
            base: side(base),
            measured: side(measured),
            ratio: median(ratios),
            goal,
        }
    }

    pub fn is_met(&self) -> bool {
        match self.goal {
            Goal::AtMost(goal) => self.ratio <= goal,
            Goal::AtLeast(goal) => self.ratio >= goal,
        }
    }

    fn goal(&self) -> String {
        match self.goal {
            Goal::AtMost(goal) => format!("<= {goal}"),
            Goal::AtLeast(goal) => format!(">= {goal}"),
        }
    }

    pub fn heading() -> String {
        format!("{:34} {:>28} {:>28} {:>7} {:>7}", "", "compared with", "measured", "ratio", "goal")
    }

    pub fn line(&self) -> String {
        let side = |(name, value): &(String, f64)| format!("{name} {value:.1} {}", self.unit);
        let met = if self.is_met() { "met" } else { "MISSED" };
        let (base, measured) = (side(&self.base), side(&self.measured));
        format!("{:34} {base:>28} {measured:>28} {:>7.2} {:>7} {met}", self.name, self.ratio, self.goal())
    }

    pub fn json(&self) -> String {
        serde_json::json!({
            "name": self.name, "unit": self.unit, "ratio": self.ratio, "goal": self.goal(),
            "met": self.is_met(),
            "base": { "name": self.base.0, "value": self.base.1 },
            "measured": { "name": self.measured.0, "value": self.measured.1 },
        })
        .to_string()
    }
}

pub fn micros(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1e6
}

pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Shuffles, by a chance that is the same in each run.
pub fn shuffle<T>(values: &mut [T], seed: &mut u64) {
    for at in (1..values.len()).rev() {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        values.swap(at, (*seed >> 33) as usize % (at + 1));
    }
}

/// Texts of everyday length. They are made beforehand: making them is nobody's turn.
pub fn question(turn: usize) -> &'static str {
    pool(&QUESTIONS, 120, turn)
}

pub fn answer(turn: usize) -> &'static str {
    pool(&ANSWERS, 600, turn)
}

const TEXTS: usize = 1_000;
static QUESTIONS: OnceLock<Vec<String>> = OnceLock::new();
static ANSWERS: OnceLock<Vec<String>> = OnceLock::new();

fn pool(texts: &'static OnceLock<Vec<String>>, length: usize, turn: usize) -> &'static str {
    let texts = texts.get_or_init(|| (0..TEXTS).map(|seed| text(seed * 31 + length, length)).collect());
    &texts[turn % TEXTS]
}

fn text(seed: usize, length: usize) -> String {
    const WORDS: [&str; 16] = [
        "session", "the", "of", "rotate", "when", "store", "message", "a", "is", "why", "it", "parser",
        "fix", "and", "test", "log",
    ];
    let mut text = format!("{seed}");
    let mut at = seed;
    while text.len() < length {
        at = at.wrapping_mul(1_103_515_245).wrapping_add(12_345);
        text.push(' ');
        text.push_str(WORDS[(at >> 16) % WORDS.len()]);
    }
    text.truncate(length);
    text
}
