//! Fitting the intent model to messages written for this project.
//!
//! A file is a list of contexts (`# task | question | summary`) and of messages in them, each with a
//! letter: response, modification, confirmation, new task, abandon, `x` for unclear. What a message
//! means holds in every state but an answer, which needs a question. Messages under `# *` could be said
//! in any context.

use segue_signals::internals::SplitMix;
use segue_signals::internals::intent_features::{BUCKETS, DENSE, IntentFeatures};
use segue_signals::internals::intents::{INTENTS, IntentNetwork, softmax};
use segue_signals::judge::Embedder;
use segue_signals::task_intent::{MessageIntent, TaskContext, TaskState};

const FILES: [&str; 2] =
    [include_str!("../assets-src/intents.en.txt"), include_str!("../assets-src/intents.zh.txt")];
const EPOCHS: usize = 24;
const RATE: f32 = 0.15;
const DECAY: f32 = 2e-4;
const DROPOUT: f32 = 0.3;
/// Other contexts in which a new task is shown again: what is new there is new here.
const ELSEWHERE: usize = 4;
/// Contexts in which a message of the context `*` is shown: it could be said in any.
const EVERYWHERE: usize = 3;

struct Context<'a> {
    task: &'a str,
    question: &'a str,
    summary: &'a str,
    messages: Vec<(MessageIntent, &'a str)>,
}

fn parse(file: &'static str) -> Vec<Context<'static>> {
    let mut contexts: Vec<Context<'static>> = Vec::new();
    for line in file.lines() {
        if let Some(head) = line.strip_prefix("# ") {
            let mut parts = head.split(" | ");
            let mut part = || parts.next().unwrap_or("");
            contexts.push(Context { task: part(), question: part(), summary: part(), messages: Vec::new() });
            continue;
        }
        let (Some((mark, text)), Some(context)) = (line.split_once(": "), contexts.last_mut()) else {
            continue;
        };
        let intent = match mark {
            "r" => MessageIntent::Response,
            "m" => MessageIntent::Modification,
            "c" => MessageIntent::Confirmation,
            "n" => MessageIntent::NewTask,
            "a" => MessageIntent::Abandon,
            "x" => MessageIntent::Unclear,
            _ => continue,
        };
        context.messages.push((intent, text));
    }
    contexts
}

type Example = (IntentFeatures, usize);

fn examples(embedder: &Embedder) -> Vec<Example> {
    let mut out = Vec::new();
    for file in FILES {
        let contexts = parse(file);
        let (general, contexts): (Vec<_>, Vec<_>) =
            contexts.into_iter().partition(|context| context.task == "*");
        for (at, &(intent, text)) in general.iter().flat_map(|context| &context.messages).enumerate() {
            for step in 0..EVERYWHERE {
                show(embedder, &contexts[(at * 5 + step * 7) % contexts.len()], intent, text, &mut out);
            }
        }
        for (at, context) in contexts.iter().enumerate() {
            for &(intent, text) in &context.messages {
                show(embedder, context, intent, text, &mut out);
                if intent == MessageIntent::NewTask {
                    for step in 1..=ELSEWHERE {
                        let other = &contexts[(at + step * 3) % contexts.len()];
                        show(embedder, other, intent, text, &mut out);
                    }
                }
            }
            // Another context's task is a new task here.
            for step in 1..=ELSEWHERE {
                let other = &contexts[(at + step * 4 + 1) % contexts.len()];
                if other.task != context.task {
                    show(embedder, context, MessageIntent::NewTask, other.task, &mut out);
                }
            }
        }
    }
    out
}

fn show(
    embedder: &Embedder,
    context: &Context<'_>,
    intent: MessageIntent,
    text: &str,
    out: &mut Vec<Example>,
) {
    use MessageIntent as I;
    use TaskState as S;
    let states: &[TaskState] = match intent {
        I::Response => &[S::AwaitingUser; 10],
        I::Modification => &[S::Running, S::AwaitingUser, S::PendingComplete],
        I::Confirmation | I::NewTask | I::Abandon | I::Unclear => {
            &[S::None, S::Running, S::AwaitingUser, S::PendingComplete]
        }
    };
    for &state in states {
        let none = state == S::None;
        let task = TaskContext {
            state,
            task: if none { "" } else { context.task },
            question: (state == S::AwaitingUser).then_some(context.question),
            summary: (state == S::PendingComplete).then_some(context.summary),
        };
        out.push((IntentFeatures::of(embedder, &task, text), intent as usize));
    }
}

/// Fits the model: AdaGrad over softmax, one thread, a fixed seed.
pub fn fit(embedder: &Embedder) -> IntentNetwork {
    let examples = examples(embedder);
    let mut words = vec![[0.0_f32; INTENTS]; BUCKETS];
    let mut dense = vec![[0.0_f32; INTENTS]; DENSE];
    let mut word_squares = vec![[1e-2_f32; INTENTS]; BUCKETS];
    let mut dense_squares = vec![[1e-2_f32; INTENTS]; DENSE];
    let mut random = SplitMix::new(23);
    let mut order: Vec<usize> = (0..examples.len()).collect();
    for _ in 0..EPOCHS {
        random.shuffle(&mut order);
        for &at in &order {
            let (features, intent) = &examples[at];
            let kept: Vec<(usize, f32)> = features
                .words
                .iter()
                .filter(|_| random.unit() >= DROPOUT)
                .map(|&(bucket, value)| (bucket as usize, value / (1.0 - DROPOUT)))
                .collect();
            let mut sums = [0.0; INTENTS];
            let facts = || features.dense.iter().enumerate().filter(|(_, value)| **value != 0.0);
            for (row, value) in kept.iter().map(|&(bucket, value)| (&words[bucket], value)) {
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
            }
            for (row, value) in facts().map(|(at, &value)| (&dense[at], value)) {
                sums.iter_mut().zip(row).for_each(|(sum, weight)| *sum += value * weight);
            }
            let mut errors = softmax(sums);
            errors[*intent] -= 1.0;
            for &(bucket, value) in &kept {
                step(&mut words[bucket], &mut word_squares[bucket], &errors, value);
            }
            for (at, &value) in facts() {
                step(&mut dense[at], &mut dense_squares[at], &errors, value);
            }
        }
    }
    IntentNetwork::new(&words, dense)
}

fn step(row: &mut [f32; INTENTS], squares: &mut [f32; INTENTS], errors: &[f32; INTENTS], value: f32) {
    for intent in 0..INTENTS {
        let slope = errors[intent] * value + DECAY * row[intent];
        squares[intent] += slope * slope;
        row[intent] -= RATE * slope / squares[intent].sqrt();
    }
}
