//! R-10: images, files and code reduced to text, and what a change of their kind says.

/// One part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content<'a> {
    /// Plain words.
    Text(&'a str),
    /// A picture, by what is said about it.
    Image {
        /// Its file name, if any.
        name: Option<&'a str>,
        /// What it shows, if someone said so.
        caption: Option<&'a str>,
    },
    /// A file, by its name and media type.
    File {
        /// Its name.
        name: &'a str,
        /// Its media type, such as `application/pdf`.
        media_type: Option<&'a str>,
    },
    /// A piece of code.
    Code {
        /// Its language, such as `rust`.
        language: Option<&'a str>,
        /// The code.
        text: &'a str,
    },
}

/// What a file is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FileKind {
    /// Programs, scripts, build files.
    Code,
    /// Texts and slides.
    Document,
    /// Pictures, drawings and their sources.
    Image,
    /// Music and speech.
    Audio,
    /// Films.
    Video,
    /// Tables, databases, structured data.
    Data,
    /// Packed files.
    Archive,
    /// Anything else.
    Other,
}

impl FileKind {
    const ENDINGS: [(Self, &'static str); 7] = [
        (
            Self::Code,
            "rs py js ts tsx jsx go c h cc cpp hpp java kt swift rb php cs scala sh bash zsh lua pl r jl hs ex exs clj sql html css scss vue toml lock gradle cmake makefile dockerfile ipynb zig dart",
        ),
        (Self::Document, "txt md pdf doc docx odt rtf tex pages ppt pptx key epub rst"),
        (Self::Image, "png jpg jpeg gif bmp webp tif tiff svg heic psd ai xd fig sketch ico raw indd"),
        (Self::Audio, "mp3 wav flac ogg m4a aac opus mid"),
        (Self::Video, "mp4 mov avi mkv webm wmv m4v"),
        (Self::Data, "csv tsv xls xlsx ods json jsonl xml yaml yml parquet db sqlite log ini"),
        (Self::Archive, "zip tar gz tgz bz2 xz 7z rar zst jar whl"),
    ];
    const LANGUAGES_OF_DATA: &'static str = "json yaml yml xml csv toml ini log text txt";

    /// Tells the kind by the ending of a name, or by the name itself ("Makefile").
    #[must_use]
    pub(crate) fn of_name(name: &str) -> Self {
        let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
        let ending = base.rsplit('.').next().unwrap_or(base);
        // A limit: a name of a megabyte has no ending worth reading.
        if ending.len() > 16 {
            return Self::Other;
        }
        let ending = ending.to_lowercase();
        Self::ENDINGS
            .iter()
            .find(|(_, list)| list.split(' ').any(|known| known == ending))
            .map_or(Self::Other, |&(kind, _)| kind)
    }

    /// Tells the kind by a media type; `None` where it says nothing.
    #[must_use]
    pub(crate) fn of_media_type(media_type: &str) -> Option<Self> {
        let (main, sub) = media_type.split_once('/')?;
        match main {
            "image" => Some(Self::Image),
            "audio" => Some(Self::Audio),
            "video" => Some(Self::Video),
            "text" | "application" => {
                let has = |words: &str| words.split(' ').any(|word| sub.contains(word));
                if has("python rust javascript typescript x-c x-java x-sh html css x-script") {
                    Some(Self::Code)
                } else if has("json xml csv yaml spreadsheet excel sqlite parquet") {
                    Some(Self::Data)
                } else if has("zip tar gzip compressed") {
                    Some(Self::Archive)
                } else if has("photoshop illustrator") {
                    Some(Self::Image)
                } else if has("pdf word document presentation plain markdown rtf") {
                    Some(Self::Document)
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// The word for it.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Document => "document",
            Self::Image => "image",
            Self::Audio => "audio",
            Self::Video => "video",
            Self::Data => "data",
            Self::Archive => "archive",
            Self::Other => "file",
        }
    }
}

/// A message reduced to what can be compared.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reduced {
    /// All of its words: text, captions, names, code.
    pub text: String,
    /// The kinds of what was attached, sorted, each once.
    pub kinds: Vec<FileKind>,
}

/// The most text that is taken from one part of a message.
const PART_BYTES_MAX: usize = 16_384;

/// Reduces a message to text and kinds.
///
/// ```
/// use segue_signals::content::{Content, FileKind, reduce};
/// let reduced = reduce(&[
///     Content::Text("why does this fail?"),
///     Content::File { name: "src/parse_rows.py", media_type: None },
/// ]);
/// assert_eq!(reduced.text, "why does this fail?\nparse rows py");
/// assert_eq!(reduced.kinds, [FileKind::Code]);
/// ```
#[must_use]
pub fn reduce(parts: &[Content<'_>]) -> Reduced {
    let mut reduced = Reduced::default();
    for part in parts {
        match *part {
            Content::Text(text) => reduced.line(text),
            Content::Image { name, caption } => {
                reduced.kinds.push(FileKind::Image);
                reduced.line(caption.unwrap_or(""));
                reduced.line(&name_words(name.unwrap_or("")));
            }
            Content::File { name, media_type } => {
                let by_name = FileKind::of_name(name);
                let by_type = media_type.and_then(FileKind::of_media_type);
                // A name says more than a type: programs are often sent as "text/plain".
                let kind = if by_name == FileKind::Other { by_type.unwrap_or(by_name) } else { by_name };
                reduced.kinds.push(kind);
                reduced.line(&name_words(name));
            }
            Content::Code { language, text } => {
                let data = language.is_some_and(|language| {
                    FileKind::LANGUAGES_OF_DATA.split(' ').any(|known| known.eq_ignore_ascii_case(language))
                });
                reduced.kinds.push(if data { FileKind::Data } else { FileKind::Code });
                reduced.line(language.unwrap_or(""));
                reduced.line(text);
            }
        }
    }
    reduced.kinds.sort_unstable();
    reduced.kinds.dedup();
    reduced
}

impl Reduced {
    fn line(&mut self, text: &str) {
        let mut end = text.len().min(PART_BYTES_MAX);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let text = text[..end].trim();
        if text.is_empty() {
            return;
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(text);
    }
}

/// The words of a file's name: `parse_rows.py` is about parsing rows.
fn name_words(name: &str) -> String {
    let base = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let spaced: String =
        base.chars().take(256).map(|ch| if ch.is_alphanumeric() { ch } else { ' ' }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// What the kinds of attachments say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KindEvidence {
    /// One of the two has no attachments: nothing can be said.
    Unknown,
    /// The same kinds as before.
    Same,
    /// None of the kinds were there before: Python, then Photoshop.
    Changed {
        /// One sentence for the decision record.
        evidence: String,
    },
}

/// Compares a message's attachments with those of the session so far.
#[must_use]
pub fn judge_kinds(before: &[FileKind], now: &[FileKind]) -> KindEvidence {
    if before.is_empty() || now.is_empty() {
        return KindEvidence::Unknown;
    }
    if now.iter().any(|kind| before.contains(kind)) {
        return KindEvidence::Same;
    }
    let list = |kinds: &[FileKind]| kinds.iter().map(|kind| kind.word()).collect::<Vec<_>>().join(", ");
    KindEvidence::Changed { evidence: format!("attachments changed from {} to {}", list(before), list(now)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r10_captions_names_and_code_become_text() {
        let reduced = reduce(&[
            Content::Image { name: Some("IMG_2041.jpg"), caption: Some("a cracked phone screen") },
            Content::Code { language: Some("rust"), text: "fn parse() {}" },
            Content::File { name: "Q3 report.xlsx", media_type: Some("application/octet-stream") },
        ]);
        assert_eq!(reduced.text, "a cracked phone screen\nIMG 2041 jpg\nrust\nfn parse() {}\nQ3 report xlsx");
        assert_eq!(reduced.kinds, [FileKind::Code, FileKind::Image, FileKind::Data]);
    }

    #[test]
    fn r10_python_then_photoshop_is_a_change_and_python_then_rust_is_not() {
        let kinds = |name| reduce(&[Content::File { name, media_type: None }]).kinds;
        let changed = judge_kinds(&kinds("a.py"), &kinds("b.psd"));
        assert_eq!(
            changed,
            KindEvidence::Changed { evidence: "attachments changed from code to image".into() }
        );
        assert_eq!(judge_kinds(&kinds("a.py"), &kinds("b.rs")), KindEvidence::Same);
        assert_eq!(judge_kinds(&[], &kinds("b.rs")), KindEvidence::Unknown);
    }

    #[test]
    fn r10_odd_names_are_just_files() {
        assert_eq!(FileKind::of_name(""), FileKind::Other);
        assert_eq!(FileKind::of_name(&"x".repeat(1_000_000)), FileKind::Other);
        assert_eq!(FileKind::of_name("Makefile"), FileKind::Code);
        assert_eq!(FileKind::of_media_type("nonsense"), None);
        assert_eq!(reduce(&[]), Reduced::default());
    }
}
