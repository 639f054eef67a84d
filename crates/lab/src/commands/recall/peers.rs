//! What recall is compared with: the words of messages alone (BM25), their meaning alone (the encoder), and both, fused by rank.

use anyhow::Context as _;
use segue_encoder::{Embedding, Encoder};
use serde::Serialize;
use std::collections::HashMap;

/// BM25 as it is usually set.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// What is added to a rank before it is turned over, as reciprocal rank fusion is usually set.
const RANK_OFFSET: f64 = 60.0;

/// Another way to find messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Peer {
    Bm25,
    Encoder,
    Fused,
}

impl Peer {
    pub const ALL: [Self; 3] = [Self::Bm25, Self::Encoder, Self::Fused];

    pub fn name(self) -> &'static str {
        match self {
            Self::Bm25 => "BM25 alone",
            Self::Encoder => "encoder alone",
            Self::Fused => "both, fused by rank",
        }
    }
}

/// Messages, as the peers read them.
pub struct Peers {
    encoder: &'static Encoder,
    /// How often each word stands in each message.
    counts: Vec<HashMap<String, u32>>,
    lengths: Vec<f64>,
    /// In how many messages a word stands.
    holders: HashMap<String, u32>,
    embeddings: Vec<Embedding>,
}

impl Peers {
    pub fn of<'a>(texts: impl Iterator<Item = &'a str>) -> anyhow::Result<Self> {
        let encoder = Encoder::builtin().context("the encoder that is built in")?;
        let (mut counts, mut lengths, mut embeddings) = (Vec::new(), Vec::new(), Vec::new());
        let mut holders: HashMap<String, u32> = HashMap::new();
        for text in texts {
            let words = words(text);
            lengths.push(words.len() as f64);
            let mut count: HashMap<String, u32> = HashMap::new();
            for word in words {
                *count.entry(word).or_default() += 1;
            }
            for word in count.keys() {
                *holders.entry(word.clone()).or_default() += 1;
            }
            counts.push(count);
            embeddings.push(encoder.embed(text));
        }
        Ok(Self { encoder, counts, lengths, holders, embeddings })
    }

    /// Returns the messages by their places, the best first.
    pub fn ranked(&self, peer: Peer, question: &str) -> Vec<usize> {
        match peer {
            Peer::Bm25 => sorted(&self.bm25(question)),
            Peer::Encoder => sorted(&self.cosines(question)),
            Peer::Fused => {
                let mut fused = vec![0.0; self.counts.len()];
                for ranked in [sorted(&self.bm25(question)), sorted(&self.cosines(question))] {
                    for (rank, message) in ranked.into_iter().enumerate() {
                        fused[message] += 1.0 / (RANK_OFFSET + rank as f64 + 1.0);
                    }
                }
                sorted(&fused)
            }
        }
    }

    fn bm25(&self, question: &str) -> Vec<f64> {
        let all = self.counts.len() as f64;
        let average = self.lengths.iter().sum::<f64>() / all.max(1.0);
        let mut asked = words(question);
        asked.sort();
        asked.dedup();
        let weigh = |word: &String| {
            let holders = f64::from(self.holders.get(word).copied().unwrap_or(0));
            (1.0 + (all - holders + 0.5) / (holders + 0.5)).ln()
        };
        let weighed: Vec<(f64, &String)> = asked.iter().map(|word| (weigh(word), word)).collect();
        let score = |(count, length): (&HashMap<String, u32>, &f64)| {
            let of_word = |(weight, word): &(f64, &String)| {
                let often = f64::from(count.get(*word).copied().unwrap_or(0));
                weight * often * (K1 + 1.0) / (often + K1 * (1.0 - B + B * length / average.max(1.0)))
            };
            weighed.iter().map(of_word).sum()
        };
        self.counts.iter().zip(&self.lengths).map(score).collect()
    }

    fn cosines(&self, question: &str) -> Vec<f64> {
        let asked = self.encoder.embed(question);
        self.embeddings.iter().map(|said| f64::from(said.cosine(&asked))).collect()
    }
}

/// The places of scores, the highest first; equal ones in their order.
fn sorted(scores: &[f64]) -> Vec<usize> {
    let mut places: Vec<usize> = (0..scores.len()).collect();
    places.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
    places
}

/// Words in small letters; of Chinese, each two characters that stand together.
fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    for part in text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()) {
        let mut plain = String::new();
        let mut before = None;
        for c in part.chars() {
            if !is_han(c) {
                plain.push(c);
                before = None;
                continue;
            }
            if !plain.is_empty() {
                words.push(std::mem::take(&mut plain));
            }
            words.extend(before.map(|before: char| format!("{before}{c}")));
            before = Some(c);
        }
        if !plain.is_empty() {
            words.push(plain);
        }
    }
    words
}

fn is_han(c: char) -> bool {
    ('\u{3400}'..='\u{9fff}').contains(&c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn j4_the_peers_find_what_they_can() {
        let said = ["We fly to Lisbon in May.", "The rye bread needs two days.", "我们五月去成都。"];
        let peers = Peers::of(said.into_iter()).unwrap();
        for (question, right) in
            [("when do we fly to lisbon?", 0), ("how many days for bread", 1), ("去成都", 2)]
        {
            for peer in Peer::ALL {
                assert_eq!(peers.ranked(peer, question)[0], right, "{} {question}", peer.name());
            }
        }
    }
}
