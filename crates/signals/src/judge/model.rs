//! The fitted models: trees over the numbers of a pair, and small networks over where the two lie.

use super::features::{Meaning, Meanings, dot};
use segue_encoder::DIMENSIONS;
use std::sync::OnceLock;

/// To how many numbers a meaning is brought down for the networks.
const NARROW: usize = 128;
/// What a network sees: seven such rows and three cosines.
const INPUTS: usize = 7 * NARROW + 3;

/// The judgement's weights are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the weights of the judgement are damaged")]
pub struct Damaged;

/// All models, as `segue-lab` fitted them.
#[derive(Debug)]
pub(super) struct Model {
    words: Trees,
    both: Trees,
    narrow: Vec<Meaning>,
    networks: Vec<Network>,
    /// Weight and shift of the words alone; then weights of words, both and networks, and what is added.
    mix: [f32; 6],
}

impl Model {
    pub(super) fn builtin() -> Result<&'static Self, Damaged> {
        static BUILTIN: OnceLock<Result<Model, Damaged>> = OnceLock::new();
        BUILTIN.get_or_init(|| Self::read(crate::assets::JUDGE)).as_ref().map_err(|damaged| *damaged)
    }

    fn read(bytes: &[u8]) -> Result<Self, Damaged> {
        let mut left = Left(bytes);
        if left.bytes(8)? != b"SEGJUDG1" {
            return Err(Damaged);
        }
        let (words, both) = (Trees::read(&mut left)?, Trees::read(&mut left)?);
        let mut row = || left.floats(DIMENSIONS)?.try_into().map_err(|_| Damaged);
        let narrow = (0..NARROW).map(|_| row()).collect::<Result<Vec<Meaning>, Damaged>>()?;
        let count = left.count()?;
        let networks = (0..count).map(|_| Network::read(&mut left)).collect::<Result<_, _>>()?;
        let mix = left.floats(6)?.try_into().map_err(|_| Damaged)?;
        if left.0.is_empty() { Ok(Self { words, both, narrow, networks, mix }) } else { Err(Damaged) }
    }

    /// The logit of a new conversation by words alone.
    pub(super) fn by_words(&self, words: &[f32]) -> f32 {
        self.words.sum(words) * self.mix[0] + self.mix[1]
    }

    /// The same by words and embeddings.
    ///
    /// Words count once more by themselves: a short follow-up lies nowhere near what it follows.
    pub(super) fn by_meaning(&self, numbers: &[f32], meanings: &Meanings) -> f32 {
        let networks = self.networks.len().max(1) as f32;
        let seen = self.seen(meanings);
        let by_networks = self.networks.iter().map(|network| network.logit(&seen)).sum::<f32>() / networks;
        let [_, _, words, both, network, shift] = self.mix;
        self.words.sum(numbers) * words + self.both.sum(numbers) * both + by_networks * network + shift
    }

    /// What the networks see.
    fn seen(&self, meanings: &Meanings) -> Vec<f32> {
        let narrow =
            |meaning: &Meaning| -> Vec<f32> { self.narrow.iter().map(|row| dot(meaning, row)).collect() };
        let (message, user) = (narrow(&meanings.message), narrow(&meanings.user));
        let reply = meanings.reply.as_ref().map_or_else(|| vec![0.0; NARROW], narrow);
        let (users, all) = (narrow(&meanings.mean_users), narrow(&meanings.mean_all));
        let scaled = |row: &[f32]| row.iter().map(|x| x * 8.0).collect::<Vec<f32>>();
        let product =
            |other: &[f32]| message.iter().zip(other).map(|(a, b)| a * b * 64.0).collect::<Vec<f32>>();
        let apart = message.iter().zip(&user).map(|(a, b)| (a - b).abs() * 8.0).collect::<Vec<f32>>();
        let cosine = |other: &[f32]| message.iter().zip(other).map(|(a, b)| a * b).sum::<f32>() * 8.0;
        let cosines = vec![cosine(&users), cosine(&reply), cosine(&user)];
        let rows = [scaled(&message), scaled(&user), scaled(&reply), product(&users), product(&reply), apart];
        rows.into_iter().chain([product(&all), cosines]).flatten().collect()
    }
}

/// Trees whose leaves are added up.
#[derive(Debug)]
struct Trees {
    nodes: Vec<Node>,
    leaves: Vec<f32>,
    /// Where each tree begins.
    roots: Vec<i32>,
}

/// A number above its limit leads to the right. What is below zero is a leaf, counted from -1 down.
#[derive(Debug, Clone, Copy)]
struct Node {
    number: usize,
    limit: f32,
    left: i32,
    right: i32,
}

impl Trees {
    fn read(left: &mut Left<'_>) -> Result<Self, Damaged> {
        let [nodes, leaves, roots] = [left.count()?, left.count()?, left.count()?];
        let mut node = || {
            let (number, limit) = (left.count()?, left.float()?);
            Ok(Node { number, limit, left: left.signed()?, right: left.signed()? })
        };
        let nodes = (0..nodes).map(|_| node()).collect::<Result<Vec<Node>, Damaged>>()?;
        let leaves = left.floats(leaves)?;
        let roots = (0..roots).map(|_| left.signed()).collect::<Result<Vec<i32>, Damaged>>()?;
        // Trees only lead on, so that reading them ends.
        let leads_on = |at: usize, to: i32| match usize::try_from(to) {
            Ok(to) => to > at && to < nodes.len(),
            Err(_) => (!to as usize) < leaves.len(),
        };
        let mut each = nodes.iter().enumerate();
        if each.any(|(at, node)| !leads_on(at, node.left) || !leads_on(at, node.right)) {
            return Err(Damaged);
        }
        Ok(Self { nodes, leaves, roots })
    }

    fn sum(&self, numbers: &[f32]) -> f32 {
        let leaf = |root: &i32| {
            let mut at = *root;
            while let Some(node) = usize::try_from(at).ok().and_then(|at| self.nodes.get(at)) {
                let number = numbers.get(node.number).copied().unwrap_or(0.0);
                at = if number <= node.limit { node.left } else { node.right };
            }
            self.leaves.get(!at as usize).copied().unwrap_or(0.0)
        };
        self.roots.iter().map(leaf).sum()
    }
}

/// A network with one hidden layer.
#[derive(Debug)]
struct Network {
    /// For each hidden number what it takes of each input.
    weights: Vec<f32>,
    bias: Vec<f32>,
    out: Vec<f32>,
    out_bias: f32,
}

impl Network {
    fn read(left: &mut Left<'_>) -> Result<Self, Damaged> {
        let hidden = left.count()?;
        let weights = left.floats(hidden.checked_mul(INPUTS).ok_or(Damaged)?)?;
        Ok(Self { weights, bias: left.floats(hidden)?, out: left.floats(hidden)?, out_bias: left.float()? })
    }

    fn logit(&self, inputs: &[f32]) -> f32 {
        let rows = self.weights.chunks_exact(INPUTS).zip(&self.bias).zip(&self.out);
        let hidden = |((row, bias), out): ((&[f32], &f32), &f32)| {
            let sum: f32 = row.iter().zip(inputs).map(|(weight, input)| weight * input).sum();
            (sum + bias).max(0.0) * out
        };
        rows.map(hidden).sum::<f32>() + self.out_bias
    }
}

/// Bytes that are not read yet.
struct Left<'a>(&'a [u8]);

impl<'a> Left<'a> {
    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Damaged> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Damaged)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn four(&mut self) -> Result<[u8; 4], Damaged> {
        self.bytes(4)?.try_into().map_err(|_| Damaged)
    }

    fn count(&mut self) -> Result<usize, Damaged> {
        Ok(u32::from_le_bytes(self.four()?) as usize)
    }

    fn signed(&mut self) -> Result<i32, Damaged> {
        self.four().map(i32::from_le_bytes)
    }

    fn float(&mut self) -> Result<f32, Damaged> {
        self.four().map(f32::from_le_bytes)
    }

    fn floats(&mut self, count: usize) -> Result<Vec<f32>, Damaged> {
        let (floats, _) = self.bytes(count.checked_mul(4).ok_or(Damaged)?)?.as_chunks::<4>();
        Ok(floats.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damaged_weights_are_no_model() {
        let bytes = crate::assets::JUDGE;
        assert!(Model::read(bytes).is_ok());
        for cut in (0..bytes.len()).step_by(bytes.len() / 50).chain([bytes.len() - 1]) {
            assert!(Model::read(&bytes[..cut]).is_err(), "{cut}");
        }
    }
}
