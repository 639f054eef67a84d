//! A sentence encoder: texts that mean the same lie near each other, in English and Chinese alike.
//!
//! The weights are those of Universal Sentence Encoder multilingual 3 (Apache-2.0), packed by `scripts/pack_encoder.py`: the
//! pieces of English, Chinese and code in four bits, the layers in eight. Its kernel is fifty lines over `pulp`.

mod bytes;
mod embedding;
mod linear;
mod network;
mod pieces;

use bytes::Bytes;
use network::Network;
use pieces::Pieces;
use std::sync::OnceLock;

pub use embedding::{DIMENSIONS, Direction, Embedding, STEP};
pub use pieces::SPACE;

/// Raised whenever the same text gives other numbers: embeddings of another version are made again.
pub const VERSION: u32 = 2;

/// How the weights begin.
const MAGIC: &[u8; 8] = b"SEGUSE2\0";

/// A longer text is read at its beginning and its end, so many characters of each.
const HEAD_CHARS: usize = 400;
const TAIL_CHARS: usize = 200;

/// How many pieces are read of the beginning and of the end.
const HEAD_PIECES: usize = 64;
const TAIL_PIECES: usize = 32;

/// The weights that are shipped are damaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the encoder's weights are damaged")]
pub struct Damaged;

/// The encoder, ready for use; never changed.
#[derive(Debug)]
pub struct Encoder {
    pieces: Pieces,
    network: Network,
}

impl Encoder {
    /// Returns the encoder that is shipped; it is unpacked when it is first asked for.
    ///
    /// ```
    /// let encoder = segue_encoder::Encoder::builtin()?;
    /// let cosine = |a, b| encoder.embed(a).cosine(&encoder.embed(b));
    /// let bread = "why is my sourdough bread so dense?";
    /// assert!(cosine(bread, "为什么我的酸面包这么硬") > cosine(bread, "明天下雨吗"));
    /// # Ok::<(), segue_encoder::Damaged>(())
    /// ```
    ///
    /// # Errors
    /// Only if the shipped weights are damaged.
    pub fn builtin() -> Result<&'static Self, Damaged> {
        static BUILTIN: OnceLock<Result<Encoder, Damaged>> = OnceLock::new();
        let parts = [segue_asset_encoder_1::PART, segue_asset_encoder_2::PART, segue_asset_encoder_3::PART];
        BUILTIN.get_or_init(|| Self::load(parts)).as_ref().map_err(|damaged| *damaged)
    }

    fn load(parts: [&'static [u8]; 3]) -> Result<Self, Damaged> {
        let [first, second, third] = parts.map(Bytes);
        let mut first = first;
        first.magic(MAGIC)?;
        let pieces = Pieces::read(&mut first)?;
        let network = Network::read(&mut first, [second, third], pieces.count())?;
        Ok(Self { pieces, network })
    }

    /// Tells where a text lies. A long one is read at its beginning and its end.
    #[must_use]
    pub fn embed(&self, text: &str) -> Embedding {
        let mut read = self.pieces.cut(&clipped(text));
        if read.len() > HEAD_PIECES + TAIL_PIECES {
            read.drain(HEAD_PIECES..read.len() - TAIL_PIECES);
        }
        self.network.embed(&read)
    }
}

/// The pieces that texts are cut into, with the logarithm of how likely each is. A piece that begins a word begins with [`SPACE`].
///
/// # Errors
/// Only if the shipped weights are damaged.
pub fn vocabulary() -> Result<impl Iterator<Item = (&'static str, f32)>, Damaged> {
    let mut bytes = Bytes(segue_asset_encoder_1::PART);
    bytes.magic(MAGIC)?;
    Ok(Pieces::read(&mut bytes)?.into_list())
}

/// What [`Encoder::embed`] reads of a text: the beginning and the end of a long one.
#[must_use]
pub fn clipped(text: &str) -> String {
    let head = text.char_indices().nth(HEAD_CHARS).map_or(text.len(), |(at, _)| at);
    let tail = text.char_indices().nth_back(TAIL_CHARS - 1).map_or(0, |(at, _)| at);
    if tail <= head {
        return text.to_owned();
    }
    [&text[..head], "\n", &text[tail..]].concat()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

    use super::*;

    #[test]
    fn a_long_text_is_read_at_both_ends() {
        assert_eq!(clipped(&"数".repeat(600)), "数".repeat(600));
        let long = format!("{}{}{}", "a".repeat(400), "b".repeat(9_000), "c".repeat(200));
        assert_eq!(clipped(&long), format!("{}\n{}", "a".repeat(400), "c".repeat(200)));
    }

    /// The same network in Python, on the same weights (32 bits for what is between the layers).
    #[test]
    fn embeddings_are_those_of_the_reference() {
        let encoder = Encoder::builtin().unwrap();
        let reference = [
            ("how long do boiled eggs keep in the fridge?", [-0.030, -0.012, -0.001, 0.029]),
            ("水煮蛋在冰箱里能放多久？", [-0.028, -0.022, 0.016, 0.041]),
            ("fn main() { println!(\"hi\"); }", [-0.047, 0.038, -0.012, 0.062]),
            ("ok", [0.127, 0.008, 0.046, 0.015]),
            ("", [0.141, 0.045, 0.053, 0.029]),
        ];
        let mut embeddings = Vec::new();
        for (text, expected) in reference {
            let embedding = encoder.embed(text);
            for (number, expected) in embedding.numbers().into_iter().zip(expected) {
                assert!((number - expected).abs() < 0.003, "{text}: {number} is not {expected}");
            }
            embeddings.push(embedding);
        }
        assert!((embeddings[0].cosine(&embeddings[1]) - 0.803).abs() < 0.005);
        assert!((embeddings[0].cosine(&embeddings[2]) - 0.058).abs() < 0.005);
    }

    /// What means the same is nearest in the other language, whichever of the two is asked for.
    #[test]
    fn j2_english_and_chinese_lie_in_one_space() {
        let encoder = Encoder::builtin().unwrap();
        let pairs = [
            ("Why is my sourdough bread so dense?", "为什么我的酸面包这么硬？"),
            ("Book me a flight to Tokyo in April.", "帮我订四月去东京的机票。"),
            ("My Python script runs out of memory.", "我的 Python 脚本内存不够了。"),
            ("How do I treat a sprained ankle?", "脚踝扭伤了怎么处理？"),
            ("What should I give my mother for her birthday?", "妈妈生日我该送什么？"),
            ("The rent went up again this year.", "今年房租又涨了。"),
        ];
        let [english, chinese] =
            [0, 1].map(|which| pairs.map(|pair| encoder.embed(if which == 0 { pair.0 } else { pair.1 })));
        let nearest = |to: &Embedding, among: &[Embedding]| {
            (0..among.len()).max_by(|a, b| to.cosine(&among[*a]).total_cmp(&to.cosine(&among[*b])))
        };
        for at in 0..pairs.len() {
            assert_eq!(nearest(&english[at], &chinese), Some(at), "{}", pairs[at].0);
            assert_eq!(nearest(&chinese[at], &english), Some(at), "{}", pairs[at].1);
        }
    }

    #[test]
    fn a_text_of_any_signs_has_an_embedding() {
        let encoder = Encoder::builtin().unwrap();
        for text in ["\u{1}\0", "\u{1f600}\u{10ffff}", " \n\t ", "ﷺ", "¯\\_(ツ)_/¯"] {
            assert!(encoder.embed(text).cosine(&encoder.embed(text)) > 0.99, "{text:?}");
        }
    }

    #[test]
    fn the_vocabulary_knows_what_is_common() {
        let likely = |wanted: &str| vocabulary().unwrap().find(|(piece, _)| *piece == wanted).unwrap().1;
        assert!(likely("\u{1}the") > likely("\u{1}hotel") && likely("的") > likely("酒店"));
    }

    #[test]
    fn damaged_weights_are_no_encoder() {
        let parts = [segue_asset_encoder_1::PART, segue_asset_encoder_2::PART, segue_asset_encoder_3::PART];
        for cut in [0, 7, 11, 1_000, parts[0].len() / 2, parts[0].len() - 1] {
            assert_eq!(Encoder::load([&parts[0][..cut], parts[1], parts[2]]).err(), Some(Damaged), "{cut}");
        }
        assert_eq!(Encoder::load([parts[0], parts[1], &parts[2][1..]]).err(), Some(Damaged));
    }
}
