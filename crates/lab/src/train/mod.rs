//! Fitting the weights: `segue-lab train` without its files.
//!
//! One thread, fixed seeds, sums in a fixed order: the same data gives the same bytes.

mod calibrate;
mod examples;
mod fit;
mod intents;
mod join;
mod own;

pub use own::OWN_SETS;

use calibrate::Scored;
use examples::Example;
use fit::{Fitted, Recipe};
use segue_signals::LoadError;
use segue_signals::Model;
use segue_signals::boundary::Output;
use segue_signals::eval::{DataError, Dataset, Dialogue, Meaning, Split};
use segue_signals::internals::Table;
use segue_signals::internals::WORDS;
use segue_signals::internals::network::{MEMBERS, Network};
use segue_signals::internals::{Features, Reader};
use segue_signals::internals::{SplitMix, WordHash};

/// What is to be fitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Sets of which nothing is seen, by name.
    pub leave_out: Vec<String>,
    /// How thorough to be.
    pub effort: Effort,
}

/// How thorough the fitting is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    /// As the shipped weights were made.
    #[default]
    Full,
    /// One look at a few examples: tests that the fit runs; not for weights that are used.
    #[cfg_attr(not(test), allow(dead_code, reason = "for tests"))]
    Trial,
}

impl Effort {
    /// Joined dialogues for each language.
    const fn joined(self) -> usize {
        match self {
            Self::Full => 2_500,
            Self::Trial => 24,
        }
    }

    const fn epochs(self) -> usize {
        match self {
            Self::Full => Recipe::DEFAULT.epochs,
            Self::Trial => 1,
        }
    }
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
    let reader = Reader::new(Table::load(WORDS).map_err(LoadError::from)?);
    let mut done = 0;
    let mut network = |output| {
        let recipe = Recipe { epochs: options.effort.epochs(), ..Recipe::DEFAULT };
        let all = recipe.epochs * MEMBERS * Output::ALL.len();
        let work = Work { reader: &reader, output, recipe, joined: options.effort.joined() };
        work.fit(&fitting, &choosing, &mut || {
            done += 1;
            progress(Progress { output, done, all });
        })
    };
    let session = network(Output::Session);
    let task = network(Output::Task);
    Ok(Model::new(session, task, intents::fit(&reader)))
}

/// Fitting one output.
struct Work<'a> {
    reader: &'a Reader,
    output: Output,
    recipe: Recipe,
    /// Joined dialogues for each language.
    joined: usize,
}

impl Work<'_> {
    fn fit(&self, fitting: &[&Dataset], choosing: &[&Dataset], step: &mut dyn FnMut()) -> Network {
        let mut unseen = Vec::new();
        let members: [Fitted; MEMBERS] = std::array::from_fn(|member| {
            // Each member is kept from one dialogue in eight; those show how far it can be believed.
            let (most, rest) = part(fitting, member as u32);
            let recipe = Recipe { seed: self.recipe.seed + member as u64, ..self.recipe };
            let seed = JOIN_SEED + member as u64;
            let fitted = fit::fit(&self.gather(&borrow(&most), seed), &recipe, |_| step());
            let held_out = self.with_joined(rest, seed);
            unseen.extend(self.scores(&borrow(&held_out), |features| fitted.logit(features)));
            fitted
        });
        let (wide, dense) = fit::combine(&members);
        let calibration = calibrate::platt(&unseen.concat());
        let mut network = Network { wide, dense, calibration, threshold: 0.5 };
        let chosen = self.scores(choosing, |features| network.logit(features));
        let sets = if chosen.is_empty() { &unseen } else { &chosen };
        network.threshold = calibrate::threshold(sets, calibration);
        network
    }

    /// The held-out dialogues, and a set of them joined.
    fn with_joined(&self, mut sets: Vec<Dataset>, seed: u64) -> Vec<Dataset> {
        let mut random = SplitMix::new(seed);
        let dialogues = join::join(&borrow(&sets), (self.joined / HELD_OUT as usize).max(4), &mut random);
        sets.push(Dataset {
            name: "joined".to_owned(),
            meaning: Meaning::Session,
            split: Split::Train,
            dialogues,
        });
        sets
    }

    fn gather(&self, sets: &[&Dataset], seed: u64) -> Vec<Example> {
        let mut groups: Vec<(Vec<Example>, f32)> = sets
            .iter()
            // Our own conversations have one subject each: by themselves they would only teach that nothing
            // ever begins. They are shown joined.
            .filter(|set| self.output == Output::Task || !OWN_SETS.contains(&set.name.as_str()))
            .map(|set| {
                (examples::of_set(self.reader, self.output, set), importance(self.output, set.meaning))
            })
            .collect();
        let mut random = SplitMix::new(seed);
        let mut joined = Vec::new();
        for dialogue in join::join(sets, self.joined, &mut random) {
            let restart =
                if random.unit() < 0.5 { examples::Restart::Never } else { examples::Restart::AtBoundaries };
            examples::of_dialogue(
                self.reader,
                self.output,
                Meaning::Session,
                &dialogue,
                restart,
                &mut joined,
            );
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
    fn scores(&self, sets: &[&Dataset], logit: impl Fn(&Features) -> f32) -> Vec<Vec<Scored>> {
        let labelled = |set: &&&Dataset| match self.output {
            Output::Session => set.meaning == Meaning::Session,
            Output::Task => set.meaning != Meaning::Topic,
        };
        sets.iter()
            .filter(labelled)
            .map(|set| examples::of_set(self.reader, self.output, set))
            // A set without a boundary says nothing about how often a probability is right.
            .filter(|examples| examples.iter().any(|example| example.label))
            .map(|examples| {
                let weight = 1.0 / examples.len() as f32;
                let score = |example: &Example| Scored {
                    logit: logit(&example.features),
                    label: example.label,
                    weight,
                };
                examples.iter().map(score).collect()
            })
            .collect()
    }
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

/// How much a set counts beside the others of its size.
fn importance(output: Output, meaning: Meaning) -> f32 {
    match (output, meaning) {
        (Output::Session, Meaning::Session) | (Output::Task, _) => 1.0,
        (Output::Session, Meaning::Task) => 0.25,
        (Output::Session, Meaning::Topic) => 0.1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use segue_signals::eval::Turn;

    fn set(meaning: Meaning, split: Split) -> Dataset {
        let turn = |role: &str, text: &str, boundary| Turn {
            role: role.to_owned(),
            text: text.to_owned(),
            boundary,
            task_switch: None,
            at: None,
        };
        let dialogue = |at: usize| Dialogue {
            id: at.to_string(),
            lang: "en".to_owned(),
            turns: vec![
                turn("user", "I need a hotel in Leeds", 0),
                turn("assistant", "For how many nights?", 0),
                turn("user", "Two nights please", 0),
                turn("assistant", "Booked. Anything else?", 0),
                turn("user", "Who painted the Night Watch?", 1),
            ],
        };
        Dataset { name: "small".to_owned(), meaning, split, dialogues: (0..24).map(dialogue).collect() }
    }

    #[test]
    fn the_same_data_gives_the_same_bytes_and_a_set_can_be_left_out() {
        let sets = [set(Meaning::Session, Split::Train), set(Meaning::Session, Split::Dev)];
        let options = Options { leave_out: Vec::new(), effort: Effort::Trial };
        let mut steps = 0;
        let once = train(&sets, &options, &mut |_| steps += 1).unwrap().to_bytes();
        let again = train(&sets, &options, &mut |_| {}).unwrap().to_bytes();
        assert_eq!(steps, 6);
        assert!(once == again, "two fits of the same data differ");
        let nothing = Options { leave_out: vec!["small".to_owned()], effort: Effort::Trial };
        assert!(matches!(
            train(&sets, &nothing, &mut |_| {}),
            Err(TrainError::Data(DataError::NothingToFit))
        ));
    }
}
