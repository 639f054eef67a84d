//! Metrics, in Prometheus' text form. Labels come from fixed sets: methods, routes, actions, names of models.

use segue_engine::CacheCounters;
use segue_engine::control::Counters;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The upper ends of the buckets of latencies, in seconds.
const SECONDS: [f64; 12] = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0, 120.0];

/// How many combinations of labels one metric may have.
const SERIES_MAX: usize = 2_000;

/// Something that is counted, by labels.
#[derive(Debug, Default)]
pub(crate) struct Counter(Mutex<BTreeMap<String, u64>>);

impl Counter {
    /// Counts.
    pub(crate) fn add(&self, labels: &[(&str, &str)], by: u64) {
        let key = written(labels);
        let mut series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if series.len() < SERIES_MAX || series.contains_key(&key) {
            let count = series.entry(key).or_default();
            *count = count.saturating_add(by);
        }
    }

    fn render(&self, to: &mut String, name: &str, help: &str) {
        head(to, name, help, "counter");
        for (labels, count) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            line(to, name, labels, &count.to_string());
        }
    }
}

/// Something that goes up and down.
#[derive(Debug, Default)]
pub(crate) struct Gauge(AtomicI64);

impl Gauge {
    /// Moves it.
    pub(crate) fn add(&self, by: i64) {
        self.0.fetch_add(by, Ordering::Relaxed);
    }

    fn render(&self, to: &mut String, name: &str, help: &str) {
        head(to, name, help, "gauge");
        line(to, name, "", &self.0.load(Ordering::Relaxed).to_string());
    }
}

#[derive(Debug, Default, Clone)]
struct Observed {
    buckets: [u64; SECONDS.len()],
    count: u64,
    sum: f64,
}

/// How long something took, by labels.
#[derive(Debug, Default)]
pub(crate) struct Histogram(Mutex<BTreeMap<String, Observed>>);

impl Histogram {
    /// Writes down how long it took.
    pub(crate) fn observe(&self, labels: &[(&str, &str)], seconds: f64) {
        let key = written(labels);
        let mut series = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if series.len() >= SERIES_MAX && !series.contains_key(&key) {
            return;
        }
        let observed = series.entry(key).or_default();
        observed.count += 1;
        observed.sum += seconds;
        for (bucket, end) in observed.buckets.iter_mut().zip(SECONDS) {
            *bucket += u64::from(seconds <= end);
        }
    }

    fn render(&self, to: &mut String, name: &str, help: &str) {
        head(to, name, help, "histogram");
        for (labels, observed) in &*self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            let comma = if labels.is_empty() { "" } else { "," };
            for (bucket, end) in observed.buckets.iter().zip(SECONDS) {
                let labels = format!("{labels}{comma}le=\"{end}\"");
                line(to, &format!("{name}_bucket"), &labels, &bucket.to_string());
            }
            let all = format!("{labels}{comma}le=\"+Inf\"");
            line(to, &format!("{name}_bucket"), &all, &observed.count.to_string());
            line(to, &format!("{name}_sum"), labels, &observed.sum.to_string());
            line(to, &format!("{name}_count"), labels, &observed.count.to_string());
        }
    }
}

/// What the store answered when the metrics were asked for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StoreAnswer {
    /// The number of its last commit; nothing if it does not answer.
    pub(crate) position: Option<u64>,
    /// How long it took to say so.
    pub(crate) seconds: f64,
}

impl StoreAnswer {
    fn render(&self, to: &mut String) {
        let up = u8::from(self.position.is_some()).to_string();
        value(to, "segue_store_up", "Whether the store answers", "gauge", &up);
        let help = "Seconds that the store took to answer just now";
        value(to, "segue_store_answer_seconds", help, "gauge", &self.seconds.to_string());
        if let Some(position) = self.position {
            value(to, "segue_store_commits_total", "Commits of the store", "counter", &position.to_string());
        }
    }
}

fn render_cache(cache: &CacheCounters, to: &mut String) {
    let CacheCounters { scopes, bytes, hits, misses, evictions } = cache;
    value(to, "segue_cache_scopes", "Scopes in memory", "gauge", &scopes.to_string());
    value(to, "segue_cache_bytes", "Bytes that they take, about", "gauge", &bytes.to_string());
    head(
        to,
        "segue_cache_lookups_total",
        "Scopes that were needed, by whether they were in memory",
        "counter",
    );
    for (result, count) in [("hit", hits), ("miss", misses)] {
        line(to, "segue_cache_lookups_total", &written(&[("result", result)]), &count.to_string());
    }
    value(to, "segue_cache_evictions_total", "Scopes that had to go", "counter", &evictions.to_string());
}

/// Everything that is counted.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    /// Requests by method, route and status.
    pub(crate) requests: Counter,
    /// How long requests took until their answer began.
    pub(crate) request_seconds: Histogram,
    /// Open connections.
    pub(crate) connections: Gauge,
    /// Open event streams.
    pub(crate) streams: Gauge,
    /// Turns by action and cause.
    pub(crate) turns: Counter,
    /// Questions that people were asked.
    pub(crate) questions: Counter,
    /// How long the engine took for a turn.
    pub(crate) turn_seconds: Histogram,
    /// Answers that were given again.
    pub(crate) replays: Counter,
    /// Calls of upstreams by model and result.
    pub(crate) upstream: Counter,
    /// How long upstreams took until their first byte.
    pub(crate) upstream_seconds: Histogram,
    /// Tokens that upstreams say they read and wrote.
    pub(crate) tokens: Counter,
    /// Runs of workers by worker and result.
    pub(crate) workers: Counter,
}

impl Metrics {
    /// Writes everything down.
    pub(crate) fn render(&self, control: &Counters, cache: &CacheCounters, store: &StoreAnswer) -> String {
        let mut to = String::new();
        self.requests.render(&mut to, "segue_http_requests_total", "HTTP requests");
        self.request_seconds.render(&mut to, "segue_http_request_seconds", "Seconds until an answer began");
        self.connections.render(&mut to, "segue_http_connections", "Open connections");
        self.streams.render(&mut to, "segue_event_streams", "Open event streams");
        self.turns.render(&mut to, "segue_turns_total", "Turns by action and cause of the decision");
        self.questions.render(&mut to, "segue_questions_total", "Questions that people were asked");
        self.turn_seconds.render(&mut to, "segue_turn_seconds", "Seconds the engine took for a durable turn");
        self.replays.render(&mut to, "segue_replayed_answers_total", "Answers to repeated requests");
        self.upstream.render(&mut to, "segue_upstream_requests_total", "Calls of models by result");
        self.upstream_seconds.render(
            &mut to,
            "segue_upstream_first_byte_seconds",
            "Seconds until a model's first byte",
        );
        self.tokens.render(&mut to, "segue_upstream_tokens_total", "Tokens that models read and wrote");
        store.render(&mut to);
        render_cache(cache, &mut to);
        self.workers.render(&mut to, "segue_worker_runs_total", "Runs of background workers by result");
        head(&mut to, "segue_control_calls_total", "Questions to control models", "counter");
        for (name, tally) in &control.models {
            line(
                &mut to,
                "segue_control_calls_total",
                &written(&[("model", name)]),
                &tally.calls.to_string(),
            );
        }
        head(&mut to, "segue_control_failures_total", "Questions that got no verdict", "counter");
        for (name, tally) in &control.models {
            for (why, count) in &tally.failures {
                let labels = written(&[("model", name), ("why", why)]);
                line(&mut to, "segue_control_failures_total", &labels, &count.to_string());
            }
        }
        to
    }
}

fn head(to: &mut String, name: &str, help: &str, kind: &str) {
    let _ = writeln!(to, "# HELP {name} {help}\n# TYPE {name} {kind}");
}

fn value(to: &mut String, name: &str, help: &str, kind: &str, value: &str) {
    head(to, name, help, kind);
    line(to, name, "", value);
}

fn line(to: &mut String, name: &str, labels: &str, value: &str) {
    let _ = match labels.is_empty() {
        true => writeln!(to, "{name} {value}"),
        false => writeln!(to, "{name}{{{labels}}} {value}"),
    };
}

fn written(labels: &[(&str, &str)]) -> String {
    let one = |(name, value): &(&str, &str)| {
        let value = value.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
        format!("{name}=\"{value}\"")
    };
    labels.iter().map(one).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_cannot_break_the_form() {
        let counter = Counter::default();
        counter.add(&[("model", "a\"} 1\nx")], 2);
        let mut text = String::new();
        counter.render(&mut text, "n", "h");
        assert_eq!(text, "# HELP n h\n# TYPE n counter\nn{model=\"a\\\"} 1\\nx\"} 2\n");
    }
}
