//! OpenAI's `o200k_base` vocabulary, small: a token is two tokens that come before it, put together.
//!
//! `tiktoken-rs` has it as text of 3.6 MB; this is a quarter of that.

use crate::assets::O200K_BASE;
use tiktoken_rs::{CoreBPE, O200K_BASE_PAT_STR, Rank};

/// The tokens of one byte, which stand first.
const SINGLE: usize = 256;

/// The bits of a rank, of which the four of two tokens fill nine bytes.
const RANK_BITS: usize = 18;
const TWO_TOKENS_BYTES: usize = 9;

/// Reads the vocabulary; nothing if it is damaged.
pub(crate) fn o200k_base() -> Option<CoreBPE> {
    let ranked = tokens(O200K_BASE)?.into_iter().zip(0..).collect();
    // Text that looks like a special token is counted as text, so none are needed.
    CoreBPE::new(ranked, std::iter::empty::<(String, Rank)>().collect(), O200K_BASE_PAT_STR).ok()
}

/// Returns the tokens in the order of their ranks.
fn tokens(packed: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (single, pairs) = packed.split_at_checked(SINGLE)?;
    let mut tokens: Vec<Vec<u8>> = single.iter().map(|byte| vec![*byte]).collect();
    for two in pairs.as_chunks::<TWO_TOKENS_BYTES>().0 {
        let bits = two.iter().rev().fold(0_u128, |bits, byte| bits << 8 | u128::from(*byte));
        for at in [0, 2] {
            let part = |at: usize| tokens.get((bits >> (at * RANK_BITS)) as usize & ((1 << RANK_BITS) - 1));
            let token = [part(at)?.as_slice(), part(at + 1)?].concat();
            tokens.push(token);
        }
    }
    Some(tokens)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;
    use std::collections::HashMap;

    /// Puts a vocabulary into our form.
    fn packed(tokens: &[Vec<u8>]) -> Vec<u8> {
        let ranks: HashMap<&[u8], usize> = tokens.iter().map(Vec::as_slice).zip(0..).collect();
        let mut out: Vec<u8> = tokens[..SINGLE].iter().map(|token| token[0]).collect();
        let parts = tokens.iter().enumerate().skip(SINGLE).flat_map(|(rank, token)| {
            let known = |part: &[u8]| ranks.get(part).copied().filter(|known| *known < rank);
            (1..token.len()).find_map(|at| Some([known(&token[..at])?, known(&token[at..])?])).unwrap()
        });
        let parts: Vec<usize> = parts.collect();
        for four in parts.as_chunks::<4>().0 {
            let bits = four.iter().rev().fold(0_u128, |bits, rank| bits << RANK_BITS | *rank as u128);
            out.extend(&bits.to_le_bytes()[..TWO_TOKENS_BYTES]);
        }
        out
    }

    /// `SEGUE_WRITE_VOCABULARY=1 cargo test -p segue-signals vocabulary` makes the asset anew.
    #[test]
    fn the_vocabulary_is_that_of_tiktoken() {
        let theirs = tiktoken_rs::o200k_base().unwrap();
        let all: Vec<Vec<u8>> = (0..).map_while(|rank| theirs.decode_bytes(&[rank]).ok()).collect();
        let made = packed(&all);
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/o200k_base.bin");
        if std::env::var_os("SEGUE_WRITE_VOCABULARY").is_some() {
            std::fs::write(path, &made).unwrap();
        }
        assert!(std::fs::read(path).unwrap() == made, "SEGUE_WRITE_VOCABULARY=1 cargo test -p segue-signals");
        assert_eq!(tokens(&made).unwrap().len(), 199_998);
        let ours = o200k_base().unwrap();
        for text in
            ["fn main() { println!(\"{}\", 1_000); }", "换个话题吧，Ελλάδα 🦀", "<|endoftext|>", " \n\n  x"]
        {
            assert_eq!(ours.encode_ordinary(text), theirs.encode_ordinary(text), "{text}");
        }
    }

    #[test]
    fn a_damaged_vocabulary_is_refused() {
        assert_eq!(tokens(&[1, 2, 3]), None);
        let beyond = [(0..=255).collect::<Vec<u8>>(), vec![0xff; TWO_TOKENS_BYTES]].concat();
        assert_eq!(tokens(&beyond), None);
    }
}
