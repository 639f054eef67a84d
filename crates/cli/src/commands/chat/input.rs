//! What is typed: with editing, history and completion on a terminal, else line by line.

use super::screen::Screen;
use super::speaker::interrupted;
use super::typeahead::{TypeAhead, Typed};
use super::typed_lines::{Kept, LINES_MAX, TypedLines};
use crate::out;
use crate::setup;
use reedline::{
    ColumnarMenu, Completer, CompletionResult, EditCommand, Emacs, FileBackedHistory, History as _,
    HistoryItem, KeyCode, KeyModifiers, MenuBuilder, Prompt, PromptEditMode, PromptHistorySearch,
    PromptHistorySearchStatus, Reedline, ReedlineEvent, ReedlineMenu, Signal, Span, Suggestion,
    default_emacs_keybindings,
};
use segue_engine::words::Command;
use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, BufRead, IsTerminal};
use std::sync::Arc;
use tokio::sync::mpsc;

/// The name of the menu that completes commands.
const MENU: &str = "commands";

/// Where lines come from.
pub enum Input {
    /// A person at a terminal.
    Editor(Box<Editor>),
    /// A file or a program.
    Plain(mpsc::Receiver<io::Result<String>>),
}

/// A person's terminal.
pub struct Editor {
    line: Reedline,
    history: Option<TypedLines>,
    /// What was typed while a reply came.
    queue: VecDeque<Typed>,
    listening: Option<TypeAhead>,
    screen: Arc<Screen>,
}

/// Whether lines that were typed may be found again with the arrow keys, also tomorrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum History {
    /// They are kept in a file.
    Kept,
    /// They are kept as long as the program runs.
    Forgotten,
}

impl Input {
    /// Opens standard input.
    pub fn open(history: History, screen: Arc<Screen>) -> anyhow::Result<Self> {
        if !std::io::stdin().is_terminal() || !std::io::stdout().is_terminal() {
            return Ok(Self::Plain(plain()));
        }
        let menu = Box::new(ColumnarMenu::default().with_name(MENU));
        let mut keys = default_emacs_keybindings();
        keys.add_binding(
            KeyModifiers::NONE,
            KeyCode::Tab,
            ReedlineEvent::UntilFound(vec![ReedlineEvent::Menu(MENU.to_owned()), ReedlineEvent::MenuNext]),
        );
        keys.add_binding(
            KeyModifiers::ALT,
            KeyCode::Enter,
            ReedlineEvent::Edit(vec![EditCommand::InsertNewline]),
        );
        // What is typed between two prompts comes with line ends of the terminal's own making.
        keys.add_binding(KeyModifiers::CONTROL, KeyCode::Char('j'), ReedlineEvent::Enter);
        let mut editor = Reedline::create()
            .with_completer(Box::new(SlashCommands))
            .with_menu(ReedlineMenu::EngineCompleter(menu))
            // The only command that fits is typed at once, and so is what all that fit have in common.
            .with_quick_completions(true)
            .with_partial_completions(true)
            // What is pasted is one message, however many lines it has.
            .use_bracketed_paste(true)
            .with_edit_mode(Box::new(Emacs::new(keys)));
        // Without a history the chat is still a chat.
        let history = setup::history_file().filter(|_| history == History::Kept).map(TypedLines::open);
        if let (Some(typed), Ok(mut lines)) = (&history, FileBackedHistory::new(LINES_MAX)) {
            for line in typed.read() {
                _ = lines.save(HistoryItem::from_command_line(line));
            }
            editor = editor.with_history(Box::new(lines));
        }
        let (queue, listening) = (VecDeque::new(), None);
        Ok(Self::Editor(Box::new(Editor { line: editor, history, queue, listening, screen })))
    }

    /// Forgets the lines that were typed, after something that was said was deleted.
    pub fn forget_typed(&mut self) {
        if let Self::Editor(editor) = self {
            _ = editor.line.history_mut().clear();
        }
    }

    /// Listens to what is typed while nobody reads, until the next line is read.
    pub fn listen(&mut self) {
        if let Self::Editor(editor) = self
            && editor.listening.is_none()
        {
            let screen = Arc::clone(&editor.screen);
            editor.listening = Some(TypeAhead::listen(move |line| screen.queued(line)));
        }
    }

    /// Tells whether a person types.
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Editor(_))
    }

    /// Reads a line; nothing at the end.
    pub async fn read(&mut self, session: &str) -> anyhow::Result<Option<String>> {
        match self {
            // Once Ctrl-C has been listened to, it no longer ends the program by itself.
            Self::Plain(lines) => tokio::select! {
                line = lines.recv() => Ok(line.transpose()?),
                () = interrupted() => Ok(None),
            },
            Self::Editor(editor) => loop {
                if let Some(listening) = editor.listening.take() {
                    let (lines, rest) = listening.stop();
                    editor.queue.extend(lines);
                    if !rest.is_empty() {
                        editor.line.run_edit_commands(&[EditCommand::InsertString(rest)]);
                    }
                }
                match editor.queue.pop_front() {
                    Some(Typed::Line(line)) => {
                        out::line(format!("{session} › {line}"))?;
                        _ = editor.line.history_mut().save(HistoryItem::from_command_line(line.clone()));
                        editor.keep(&line);
                        return Ok(Some(line));
                    }
                    Some(Typed::End) => return Ok(None),
                    None => {}
                }
                match editor.line.read_line(&SessionPrompt(session.to_owned()))? {
                    Signal::Success(line) => {
                        editor.keep(&line);
                        return Ok(Some(line));
                    }
                    Signal::CtrlD => return Ok(None),
                    // Like a shell: a line that is given up is not the end of the conversation.
                    _ => continue,
                }
            },
        }
    }
}

impl Editor {
    /// Keeps a line that was typed, to be found again tomorrow.
    fn keep(&mut self, line: &str) {
        if self.history.as_mut().is_some_and(|history| history.push(line) == Kept::Anew) {
            // Another program erased something: that is forgotten here, too.
            _ = self.line.history_mut().clear();
            _ = self.line.history_mut().save(HistoryItem::from_command_line(line.to_owned()));
        }
    }
}

/// Reads lines on a thread of its own, which nothing waits for at the end.
fn plain() -> mpsc::Receiver<io::Result<String>> {
    let (sender, lines) = mpsc::channel(1);
    std::thread::spawn(move || {
        let mut lines = io::stdin().lock().lines();
        // Nobody listens any more: then nothing more is read.
        while lines.next().is_some_and(|line| sender.blocking_send(line).is_ok()) {}
    });
    lines
}

/// Completes slash commands.
struct SlashCommands;

impl Completer for SlashCommands {
    fn complete(&mut self, line: &str, position: usize) -> CompletionResult {
        let typed = line.get(..position).unwrap_or(line);
        if !typed.starts_with('/') {
            return CompletionResult::fresh(Vec::new());
        }
        let commands =
            Command::ALL.iter().map(|command| (command.name(), command.name() != command.syntax()));
        let own = ["/retry", "/exit"].map(|name| (name, false));
        let suggestion = |(name, append_whitespace): (&str, bool)| Suggestion {
            value: name.to_owned(),
            span: Span::new(0, position),
            append_whitespace,
            ..Suggestion::default()
        };
        let fitting = commands.chain(own).filter(|(name, _)| name.starts_with(typed));
        CompletionResult::fresh(fitting.map(suggestion).collect::<Vec<_>>())
    }
}

/// `#2 ›`: the session in which the next message will be said.
struct SessionPrompt(String);

impl Prompt for SessionPrompt {
    fn render_prompt_left(&self) -> Cow<'_, str> {
        Cow::Borrowed(&self.0)
    }

    fn render_prompt_right(&self) -> Cow<'_, str> {
        Cow::Borrowed("")
    }

    fn render_prompt_indicator(&self, _: PromptEditMode) -> Cow<'_, str> {
        Cow::Borrowed(" › ")
    }

    fn render_prompt_multiline_indicator(&self) -> Cow<'_, str> {
        Cow::Borrowed("   ")
    }

    fn render_prompt_history_search_indicator(&self, search: PromptHistorySearch) -> Cow<'_, str> {
        let found = match search.status {
            PromptHistorySearchStatus::Passing => "",
            PromptHistorySearchStatus::Failing => "not ",
        };
        Cow::Owned(format!("({found}found: {}) ", search.term))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(line: &str) -> Vec<String> {
        let result = SlashCommands.complete(line, line.len());
        result.suggestions().iter().map(|suggestion| suggestion.value.clone()).collect()
    }

    #[test]
    fn every_command_is_completed() {
        for command in Command::ALL {
            assert!(completed("/").contains(&command.name().to_owned()), "{command:?}");
        }
        assert_eq!(completed("/co"), ["/continue", "/control"]);
        assert_eq!(completed("/f"), ["/fresh"]);
        assert_eq!(completed("/o"), ["/older"]);
        assert_eq!(completed("/ret"), ["/retry"]);
        assert_eq!(completed("/session l"), ["/session list"]);
        assert!(completed("hello").is_empty() && completed("").is_empty());
    }
}
