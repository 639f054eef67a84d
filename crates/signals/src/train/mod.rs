//! Fitting the weights: `segue train` without its files.
//!
//! One thread, fixed seeds, sums in a fixed order: the same data gives the same bytes.

mod calibrate;
mod data;
mod examples;
mod fit;
mod intents;
mod join;
mod labels;
mod own;

pub use data::{DataError, Dataset, Dialogue, Meaning, Split, Turn};
pub(crate) use labels::label;
pub use own::OWN_SETS;

use crate::assets;
use crate::boundary::Output;
use crate::classifier::LoadError;
use crate::embed::Table;
use crate::features::{Features, Reader};
use crate::hash::{SplitMix, WordHash};
use crate::model::Model;
use crate::model::network::{MEMBERS, Network};
use calibrate::Scored;
use examples::Example;
use fit::{Fitted, Recipe};

/// What is to be fitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Sets of which nothing is seen, by name.
    pub leave_out: Vec<String>,
}

/// How far the work is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The output that is being fitted.
    pub output: Output,
    /// Steps done, over both outputs.
    pub done: usize,
    /// Steps in all.
    pub all: usize,
}

/// Why nothing was fitted.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// The data cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The shipped word table is damaged.
    #[error(transparent)]
    Load(#[from] LoadError),
}

/// One in so many dialogues is kept from each member.
const HELD_OUT: u32 = 8;
/// Joined dialogues for each language.
const JOINED: usize = 2_500;
const JOIN_SEED: u64 = 5;

/// Fits a model to the train parts of the sets; their dev parts only choose the thresholds.
///
/// # Errors
/// Refuses data in which nothing is left to fit.
pub fn train(
    sets: &[Dataset],
    options: &Options,
    progress: &mut dyn FnMut(Progress),
) -> Result<Model, TrainError> {
    let own = own::sets();
    let kept: Vec<&Dataset> =
        sets.iter().chain(own.iter()).filter(|set| !options.leave_out.contains(&set.name)).collect();
    let fitting: Vec<&Dataset> = kept.iter().copied().filter(|set| set.split == Split::Train).collect();
    if !sets.iter().any(|set| fitting.iter().any(|kept| std::ptr::eq(*kept, set))) {
        return Err(DataError::NothingToFit.into());
    }
    let choosing: Vec<&Dataset> = kept.iter().copied().filter(|set| set.split == Split::Dev).collect();
    let reader = Reader::new(Table::load(assets::WORDS).map_err(LoadError::from)?);
    let mut done = 0;
    let mut network = |output| {
        let recipe = recipe(output);
        let all = recipe.epochs * MEMBERS * Output::ALL.len();
        one(&reader, output, &fitting, &choosing, &recipe, &mut || {
            done += 1;
            progress(Progress { output, done, all });
        })
    };
    let session = network(Output::Session);
    let task = network(Output::Task);
    Ok(Model::new(session, task, intents::fit(&reader)))
}

fn recipe(output: Output) -> Recipe {
    match output {
        Output::Session | Output::Task => Recipe::DEFAULT,
    }
}

fn one(
    reader: &Reader,
    output: Output,
    fitting: &[&Dataset],
    choosing: &[&Dataset],
    recipe: &Recipe,
    step: &mut dyn FnMut(),
) -> Network {
    let mut unseen = Vec::new();
    let members: [Fitted; MEMBERS] = std::array::from_fn(|member| {
        // Each member is kept from one dialogue in eight; those show how far it can be believed.
        let (most, rest) = part(fitting, member as u32);
        let recipe = Recipe { seed: recipe.seed + member as u64, ..*recipe };
        let seed = JOIN_SEED + member as u64;
        let fitted = fit::fit(&gather(reader, output, &borrow(&most), seed), &recipe, |_| step());
        let held_out = with_joined(rest, seed);
        unseen.extend(scores(reader, output, &borrow(&held_out), |features| fitted.logit(features)));
        fitted
    });
    let (wide, dense) = fit::combine(&members);
    let calibration = calibrate::platt(&unseen.concat());
    let mut network = Network { wide, dense, calibration, threshold: 0.5 };
    let chosen = scores(reader, output, choosing, |features| network.logit(features));
    let sets = if chosen.is_empty() { &unseen } else { &chosen };
    network.threshold = calibrate::threshold(sets, calibration);
    network
}

fn borrow(sets: &[Dataset]) -> Vec<&Dataset> {
    sets.iter().collect()
}

/// The sets without one dialogue in eight, and those dialogues.
fn part(sets: &[&Dataset], fold: u32) -> (Vec<Dataset>, Vec<Dataset>) {
    sets.iter()
        .map(|set| {
            let held = |dialogue: &&Dialogue| WordHash::of(&dialogue.id).0 % HELD_OUT == fold;
            let (rest, most): (Vec<&Dialogue>, Vec<&Dialogue>) = set.dialogues.iter().partition(held);
            let with = |dialogues: Vec<&Dialogue>| Dataset {
                name: set.name.clone(),
                meaning: set.meaning,
                split: set.split,
                dialogues: dialogues.into_iter().cloned().collect(),
            };
            (with(most), with(rest))
        })
        .unzip()
}

/// The held-out dialogues, and a set of them joined.
fn with_joined(mut sets: Vec<Dataset>, seed: u64) -> Vec<Dataset> {
    let mut random = SplitMix::new(seed);
    let dialogues = join::join(&borrow(&sets), JOINED / HELD_OUT as usize, &mut random);
    sets.push(Dataset {
        name: "joined".to_owned(),
        meaning: Meaning::Session,
        split: Split::Train,
        dialogues,
    });
    sets
}

/// How much a set counts beside the others of its size.
fn importance(output: Output, meaning: Meaning) -> f32 {
    match (output, meaning) {
        (Output::Session, Meaning::Session) | (Output::Task, _) => 1.0,
        (Output::Session, Meaning::Task) => 0.25,
        (Output::Session, Meaning::Topic) => 0.1,
    }
}

fn gather(reader: &Reader, output: Output, sets: &[&Dataset], seed: u64) -> Vec<Example> {
    let mut groups: Vec<(Vec<Example>, f32)> = sets
        .iter()
        // Our own conversations have one subject each: by themselves they would only teach that nothing
        // ever begins. They are shown joined.
        .filter(|set| output == Output::Task || !OWN_SETS.contains(&set.name.as_str()))
        .map(|set| (examples::of_set(reader, output, set), importance(output, set.meaning)))
        .collect();
    let mut random = SplitMix::new(seed);
    let mut joined = Vec::new();
    for dialogue in join::join(sets, JOINED, &mut random) {
        let restart =
            if random.unit() < 0.5 { examples::Restart::Never } else { examples::Restart::AtBoundaries };
        examples::of_dialogue(reader, output, Meaning::Session, &dialogue, restart, &mut joined);
    }
    groups.push((joined, 2.0));
    groups.retain(|(group, _)| !group.is_empty());
    let all: usize = groups.iter().map(|(group, _)| group.len()).sum();
    let mean = all as f32 / groups.len().max(1) as f32;
    for (group, importance) in &mut groups {
        // Between one voice for each set and one for each example.
        let weight = *importance * (mean / group.len() as f32).sqrt();
        for example in group {
            example.weight = weight;
        }
    }
    groups.into_iter().flat_map(|(group, _)| group).collect()
}

/// The scores of each set that labels the question, each set with the same weight in all.
fn scores(
    reader: &Reader,
    output: Output,
    sets: &[&Dataset],
    logit: impl Fn(&Features) -> f32,
) -> Vec<Vec<Scored>> {
    let labelled = |set: &&&Dataset| match output {
        Output::Session => set.meaning == Meaning::Session,
        Output::Task => set.meaning != Meaning::Topic,
    };
    sets.iter()
        .filter(labelled)
        .map(|set| examples::of_set(reader, output, set))
        // A set without a boundary says nothing about how often a probability is right.
        .filter(|examples| examples.iter().any(|example| example.label))
        .map(|examples| {
            let weight = 1.0 / examples.len() as f32;
            let score =
                |example: &Example| Scored { logit: logit(&example.features), label: example.label, weight };
            examples.iter().map(score).collect()
        })
        .collect()
}
