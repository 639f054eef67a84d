//! The forms that conversations come and go in.

use clap::ValueEnum;

/// The forms that `segue export` writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// Segue's own: one JSON object a line
    Segue,
    /// OpenAI chat messages
    Openai,
    /// A transcript of Claude Code, to go on there
    ClaudeCode,
    /// A rollout of Codex, to go on there
    Codex,
    /// For people
    Markdown,
}

/// The forms that `segue import` reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ImportFormat {
    /// Segue's own: one JSON object a line
    Segue,
    /// OpenAI chat messages
    Openai,
    /// Sessions of PicoClaw
    Picoclaw,
    /// Transcripts of OpenClaw
    Openclaw,
    /// Transcripts of Claude Code
    ClaudeCode,
    /// Rollouts of Codex
    Codex,
    /// Sessions of goose
    Goose,
    /// Sessions of Hermes
    Hermes,
}

impl From<ImportFormat> for segue_engine::port::Format {
    fn from(format: ImportFormat) -> Self {
        match format {
            ImportFormat::Segue => Self::Segue,
            ImportFormat::Openai => Self::Openai,
            ImportFormat::Picoclaw => Self::Picoclaw,
            ImportFormat::Openclaw => Self::Openclaw,
            ImportFormat::ClaudeCode => Self::ClaudeCode,
            ImportFormat::Codex => Self::Codex,
            ImportFormat::Goose => Self::Goose,
            ImportFormat::Hermes => Self::Hermes,
        }
    }
}
