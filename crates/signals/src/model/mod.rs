//! The learned part: two networks over the same features, as bytes and ready for use.
//!
//! Layout, little endian: `SGMD`, version `u16`, outputs `u16`, buckets `u32`, dense features `u32`,
//! hidden units `u32`, then the same three sizes of the intent model; then for each output:
//! calibration (slope, shift), threshold, the dense part (rows, hidden bias, out, direct, bias), the
//! scale of the words (all `f32`), the words (`i8`); last the intent model: facts and scale (`f32`),
//! words (`i8`).

pub mod intents;
pub mod network;

use crate::boundary::Output;
use crate::features::DENSE;
use intents::{INTENTS, IntentNetwork};
use network::{BUCKETS, Calibration, DensePart, HIDDEN, Network, WidePart};

const VERSION: u16 = 1;

/// Why a model cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// The bytes do not begin as a model does.
    #[error("this is not a model; make one with `segue-lab train`")]
    NotAModel,
    /// The model was made for other features.
    #[error("this model was made by another version; make it again with `segue-lab train`")]
    OtherVersion,
    /// The bytes end early, or go on too long.
    #[error("the model is damaged; make it again with `segue-lab train`")]
    Damaged,
}

/// The weights that `segue-lab train` makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    networks: [Network; 2],
    pub(crate) intents: IntentNetwork,
}

impl Model {
    #[doc(hidden)]
    pub fn new(session: Network, task: Network, intents: IntentNetwork) -> Self {
        Self { networks: [session, task], intents }
    }

    pub(crate) fn network(&self, output: Output) -> &Network {
        match output {
            Output::Session => &self.networks[0],
            Output::Task => &self.networks[1],
        }
    }

    /// The probability from which an output leans towards a boundary.
    #[must_use]
    pub fn threshold(&self, output: Output) -> f32 {
        self.network(output).threshold
    }

    /// The bytes of the model; the same weights give the same bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend(b"SGMD");
        out.extend(VERSION.to_le_bytes());
        out.extend((self.networks.len() as u16).to_le_bytes());
        out.extend(sizes());
        for network in &self.networks {
            let dense = &network.dense;
            let head = [network.calibration.slope, network.calibration.shift, network.threshold];
            let tail = [dense.bias, network.wide.scale];
            let numbers = head
                .iter()
                .chain(dense.rows.iter().flatten())
                .chain(&dense.hidden_bias)
                .chain(&dense.out)
                .chain(&dense.direct)
                .chain(&tail);
            out.extend(numbers.flat_map(|number| number.to_le_bytes()));
            out.extend(network.wide.weights.iter().map(|&weight| weight as u8));
        }
        out.extend(self.intents.numbers().flat_map(f32::to_le_bytes));
        out.extend(self.intents.words.iter().flatten().map(|&weight| weight as u8));
        out
    }

    /// Reads a model.
    ///
    /// # Errors
    /// Says what is wrong with the bytes, and how to make new ones.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let mut cursor = Cursor(bytes);
        if cursor.take(4) != Some(b"SGMD") {
            return Err(ModelError::NotAModel);
        }
        let expected = [VERSION.to_le_bytes(), 2_u16.to_le_bytes()].concat();
        let sizes = sizes();
        if cursor.take(4) != Some(&expected) || cursor.take(sizes.len()) != Some(&sizes) {
            return Err(ModelError::OtherVersion);
        }
        let session = cursor.network().ok_or(ModelError::Damaged)?;
        let task = cursor.network().ok_or(ModelError::Damaged)?;
        let intents = cursor.intents().ok_or(ModelError::Damaged)?;
        if !cursor.0.is_empty() {
            return Err(ModelError::Damaged);
        }
        Ok(Self::new(session, task, intents))
    }
}

/// What a model is made for; weights of other sizes mean something else.
fn sizes() -> Vec<u8> {
    [BUCKETS, DENSE, HIDDEN]
        .iter()
        .chain(&IntentNetwork::SIZES)
        .flat_map(|&size| (size as u32).to_le_bytes())
        .collect()
}

struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<f32> {
        let bytes: [u8; 4] = self.take(4)?.try_into().ok()?;
        let number = f32::from_le_bytes(bytes);
        number.is_finite().then_some(number)
    }

    fn numbers<const N: usize>(&mut self) -> Option<[f32; N]> {
        let mut out = [0.0; N];
        for place in &mut out {
            *place = self.number()?;
        }
        Some(out)
    }

    fn intents(&mut self) -> Option<IntentNetwork> {
        let [buckets, facts, _] = IntentNetwork::SIZES;
        let dense = (0..facts).map(|_| self.numbers()).collect::<Option<_>>()?;
        let scale = self.number()?;
        let bytes = self.take(buckets * INTENTS)?;
        let row = |row: &[u8]| std::array::from_fn(|at| row.get(at).map_or(0, |&byte| byte as i8));
        Some(IntentNetwork { scale, words: bytes.chunks_exact(INTENTS).map(row).collect(), dense })
    }

    fn network(&mut self) -> Option<Network> {
        let [slope, shift, threshold] = self.numbers()?;
        let rows = (0..DENSE).map(|_| self.numbers()).collect::<Option<_>>()?;
        let hidden_bias = self.numbers()?;
        let out = self.numbers()?;
        let direct = (0..DENSE).map(|_| self.number()).collect::<Option<_>>()?;
        let [bias, scale] = self.numbers()?;
        let weights = self.take(BUCKETS)?.iter().map(|&byte| byte as i8).collect();
        Some(Network {
            wide: WidePart { scale, weights },
            dense: DensePart { rows, hidden_bias, out, direct, bias },
            calibration: Calibration { slope, shift },
            threshold,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_survives_its_bytes_and_damage_is_named() {
        let network = |threshold| Network {
            wide: WidePart::quantise(&vec![0.5; BUCKETS]),
            dense: DensePart::zero(),
            calibration: Calibration::NONE,
            threshold,
        };
        let model = Model::new(network(0.4), network(0.6), IntentNetwork::zero());
        let bytes = model.to_bytes();
        assert_eq!(Model::from_bytes(&bytes), Ok(model));
        assert_eq!(Model::from_bytes(b"x"), Err(ModelError::NotAModel));
        assert_eq!(Model::from_bytes(&bytes[..bytes.len() - 1]), Err(ModelError::Damaged));
        let mut other = bytes.clone();
        other[4] = 9;
        assert_eq!(Model::from_bytes(&other), Err(ModelError::OtherVersion));
    }
}
