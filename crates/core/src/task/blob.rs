//! Contents of files and output of commands: bounded, with the hash and the size of the whole.

use crate::digest::Digest;
use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

/// The longest content that is kept whole, in bytes.
pub(crate) const WHOLE_BYTES_MAX: usize = 256 << 10;

/// How much is kept of the beginning, and of the end, of a longer one, in bytes.
pub(crate) const END_BYTES_MAX: usize = 64 << 10;

/// A content: what it hashes to, how long it is, and what is kept of it.
///
/// Two contents are the same if their hashes are, so a store may keep the text of each once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// The BLAKE3 hash of the whole content.
    pub hash: Digest,
    /// The size of the whole content.
    pub bytes: u64,
    /// What is kept.
    pub kept: StoredContent,
}

/// What is kept of a content. Bytes that are no text are shown as U+FFFD; the hash is that of the real ones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredContent {
    /// All of it.
    Whole(String),
    /// Its two ends: it was longer than [`WHOLE_BYTES_MAX`].
    Ends {
        /// The beginning.
        head: String,
        /// The end.
        tail: String,
    },
    /// Nothing here: it is stored elsewhere under its hash, or was never given.
    Elsewhere,
}

impl Blob {
    /// Makes a blob of a content that is at hand.
    ///
    /// ```
    /// use segue_core::task::blob::{Blob, StoredContent};
    /// let blob = Blob::of(b"fn main() {}\n");
    /// assert_eq!((blob.bytes, blob.kept), (13, StoredContent::Whole("fn main() {}\n".into())));
    /// ```
    pub fn of(content: &[u8]) -> Self {
        let kept = if content.len() <= WHOLE_BYTES_MAX {
            StoredContent::Whole(String::from_utf8_lossy(content).into_owned())
        } else {
            let head = content.get(..END_BYTES_MAX).unwrap_or(content);
            let tail = content.get(content.len() - END_BYTES_MAX..).unwrap_or(content);
            StoredContent::Ends { head: head_text(head), tail: tail_text(tail) }
        };
        Self { hash: Digest::of_body(content), bytes: content.len() as u64, kept }
    }

    /// Returns the blob without its text, for where that is stored once under its hash.
    #[must_use]
    pub fn without_text(&self) -> Self {
        Self { kept: StoredContent::Elsewhere, ..*self }
    }

    /// Counts the bytes that are not kept here.
    pub fn left_out(&self) -> u64 {
        match &self.kept {
            StoredContent::Whole(_) => 0,
            StoredContent::Ends { head, tail } => self.bytes.saturating_sub((head.len() + tail.len()) as u64),
            StoredContent::Elsewhere => self.bytes,
        }
    }
}

/// Cuts off a character that the end of the head may have torn.
fn head_text(head: &[u8]) -> String {
    let whole = (0..4).find_map(|cut| {
        let part = head.get(..head.len().checked_sub(cut)?)?;
        std::str::from_utf8(part).ok()
    });
    whole.map_or_else(|| String::from_utf8_lossy(head).into_owned(), str::to_owned)
}

/// Cuts off a character that the beginning of the tail may have torn.
fn tail_text(tail: &[u8]) -> String {
    let torn = tail.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count();
    String::from_utf8_lossy(tail.get(torn..).unwrap_or(tail)).into_owned()
}

/// Takes in a content piece by piece, in memory that does not grow with it.
#[derive(Debug, Clone, Default)]
pub struct BlobWriter {
    hasher: blake3::Hasher,
    bytes: u64,
    front: Vec<u8>,
    back: VecDeque<u8>,
}

impl BlobWriter {
    /// Adds a piece.
    pub fn write(&mut self, piece: &[u8]) {
        self.hasher.update(piece);
        self.bytes += piece.len() as u64;
        let room = WHOLE_BYTES_MAX - self.front.len();
        self.front.extend(piece.iter().take(room));
        let end = piece.get(piece.len().saturating_sub(END_BYTES_MAX)..).unwrap_or(piece);
        let over = (self.back.len() + end.len()).saturating_sub(END_BYTES_MAX);
        self.back.drain(..over);
        self.back.extend(end);
    }

    /// Makes the blob: the same as [`Blob::of`] makes of the whole.
    pub fn finish(self) -> Blob {
        let Self { hasher, bytes, front, back } = self;
        let kept = if bytes <= WHOLE_BYTES_MAX as u64 {
            StoredContent::Whole(String::from_utf8_lossy(&front).into_owned())
        } else {
            let head = front.get(..END_BYTES_MAX).unwrap_or(&front);
            StoredContent::Ends { head: head_text(head), tail: tail_text(&Vec::from(back)) }
        };
        Blob { hash: Digest(hasher.finalize().into()), bytes, kept }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_pieces(content: &[u8], size: usize) -> BlobWriter {
        let mut writer = BlobWriter::default();
        content.chunks(size).for_each(|piece| writer.write(piece));
        writer
    }

    #[test]
    fn c6_pieces_make_what_the_whole_makes() {
        for len in
            [0, 1, 1000, WHOLE_BYTES_MAX - 1, WHOLE_BYTES_MAX, WHOLE_BYTES_MAX + 1, 3 * WHOLE_BYTES_MAX]
        {
            let content: Vec<u8> = "añ€😀".bytes().cycle().take(len).collect();
            let whole = Blob::of(&content);
            assert_eq!(matches!(whole.kept, StoredContent::Whole(_)), len <= WHOLE_BYTES_MAX);
            for size in [4099, END_BYTES_MAX, END_BYTES_MAX + 7, WHOLE_BYTES_MAX + 3] {
                assert_eq!(in_pieces(&content, size).finish(), whole, "{len} in pieces of {size}");
            }
        }
    }

    /// 50 MB of output: two ends, the hash and the size of the whole, and no memory for the rest.
    #[test]
    fn c6_a_huge_output_is_bounded() {
        let piece = vec![b'x'; 1 << 20];
        let (mut writer, mut hasher) = (BlobWriter::default(), blake3::Hasher::new());
        for _ in 0..50 {
            writer.write(&piece);
            hasher.update(&piece);
            assert!(
                writer.front.capacity() <= 2 * WHOLE_BYTES_MAX && writer.back.capacity() <= 4 * END_BYTES_MAX
            );
        }
        writer.write(b"error: the end\n");
        hasher.update(b"error: the end\n");
        let blob = writer.finish();
        assert_eq!((blob.hash, blob.bytes), (Digest(hasher.finalize().into()), (50 << 20) + 15));
        assert_eq!(blob.left_out(), blob.bytes - 2 * END_BYTES_MAX as u64);
        let StoredContent::Ends { head, tail } = blob.kept else { panic!("not bounded") };
        assert!(head.starts_with("xxx") && tail.ends_with("error: the end\n"));
    }

    #[test]
    fn c6_no_character_is_torn_and_odd_bytes_keep_their_hash() {
        let content = "€".repeat(WHOLE_BYTES_MAX);
        let StoredContent::Ends { head, tail } = Blob::of(content.as_bytes()).kept else {
            panic!("not bounded")
        };
        assert!(head.chars().chain(tail.chars()).all(|c| c == '€'));
        let (odd, shown) = (Blob::of(b"a\xffb"), Blob::of("a\u{fffd}b".as_bytes()));
        assert_eq!(odd.kept, shown.kept);
        assert_ne!(odd.hash, shown.hash);
        assert_eq!(odd.without_text().left_out(), 3);
    }
}
