//! Signs of programs in a message: fences, traces, commands, file names, lines of code.

use std::sync::LazyLock;

use crate::content::FileKind;
use crate::phrases::lists::{Phrases, Words};
use crate::text::Window;

/// How much code a message shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Code {
    /// None.
    Absent,
    /// A file's name, a command, a line.
    Some,
    /// A block, or the trace of a crash: nobody sends one by the way.
    Block,
}

const TRACES: [&str; 11] = [
    "Traceback (most recent call last)",
    "panicked at ",
    "Exception in thread",
    "error[E",
    "SyntaxError:",
    "TypeError:",
    "NullPointerException",
    "Segmentation fault",
    "undefined reference to",
    "stack backtrace:",
    "npm ERR!",
];
const COMMANDS: &str = "cargo git npm npx yarn pnpm pip pip3 python python3 node docker kubectl make cmake gcc clang rustc rustup go java mvn gradle curl ssh grep sed awk chmod sudo apt brew cd ls cat pytest tsc bash sh uv poetry terraform ansible systemctl psql sqlite3 javac dotnet swift gh";
/// What follows the name of a command in English is a word; in a shell it is one of these.
const SUBCOMMANDS: &str = "build test run install add commit push pull clone checkout rebase merge status diff log init check fmt clippy ps exec compose up apply get update upgrade publish start dev";
/// A line that begins like this is code, whatever follows.
const PLAIN_STARTS: [&str; 7] =
    ["#include", "#!/", "pub fn ", "pub struct ", "CREATE TABLE ", "INSERT INTO ", "async fn "];
/// These are English words too: the line must also end or be assigned like code.
const WORDY_STARTS: [&str; 14] = [
    "fn ",
    "def ",
    "class ",
    "func ",
    "function ",
    "const ",
    "let ",
    "var ",
    "public ",
    "private ",
    "static ",
    "return ",
    "struct ",
    "async ",
];

/// Looks for code in a text; long texts are read at both ends.
pub(crate) fn code_in(text: &str) -> Code {
    let (head, tail) = Window::PHRASES.cut(text);
    part(head).max(part(tail))
}

fn part(text: &str) -> Code {
    static SIGNS: LazyLock<Phrases> = LazyLock::new(|| Phrases::new(TRACES.map(str::to_owned).to_vec()));
    let fenced = text.lines().any(|line| line.trim_start().starts_with("```") || line.starts_with("~~~"));
    if fenced || SIGNS.any_in(text) || frames_of_a_trace(text) >= 2 {
        return Code::Block;
    }
    let lines = text.lines().filter(|line| is_code_line(line.trim())).count();
    if lines >= 3 {
        return Code::Block;
    }
    if lines > 0 || has_inline_code(text) || text.split_whitespace().any(is_code_word) {
        return Code::Some;
    }
    Code::Absent
}

/// Lines such as `at Foo.bar (x.js:3:5)` and `File "x.py", line 3`.
fn frames_of_a_trace(text: &str) -> usize {
    let is_frame = |line: &&str| {
        let line = line.trim_start();
        line.starts_with("File \"") && line.contains(", line ")
            || line.starts_with("at ") && line.contains('(') && line.contains(':')
    };
    text.lines().filter(is_frame).count()
}

fn is_code_line(line: &str) -> bool {
    if let Some(prompt) = line.strip_prefix("$ ") {
        return !prompt.starts_with(|ch: char| ch.is_ascii_digit());
    }
    let starts = |list: &[&str]| list.iter().any(|start| line.starts_with(start));
    if is_command(line) || starts(&PLAIN_STARTS) {
        return true;
    }
    if line.starts_with("import ") || line.starts_with("from ") || line.starts_with("SELECT ") {
        let short = line.split(' ').count() <= 4;
        return line.starts_with("from ") && line.contains(" import ")
            || line.starts_with("import ")
                && short
                && (line.contains(" as ") || line.contains(['.', ';', '{', '"']))
            || line.contains(" FROM ");
    }
    let closed = line.ends_with(['{', ';', '}']) || line.ends_with("})") || line.ends_with("):");
    if starts(&WORDY_STARTS) {
        return (closed || line.contains(" = ")) && line.contains(['(', '=', '{']);
    }
    line == "}" || closed && line.contains(['(', '=', '{', '}']) && line.is_ascii()
}

/// A name of a program, and behind it an option, a path or one of its verbs.
fn is_command(line: &str) -> bool {
    static PROGRAMS: LazyLock<Words> = LazyLock::new(|| Words::new(COMMANDS.split(' ').collect()));
    static VERBS: LazyLock<Words> = LazyLock::new(|| Words::new(SUBCOMMANDS.split(' ').collect()));
    let mut words = line.split_whitespace();
    let Some(first) = words.next() else { return false };
    let first = if first == "sudo" { words.next().unwrap_or(first) } else { first };
    if !PROGRAMS.has(first) {
        return false;
    }
    let shaped =
        |word: &str| word.starts_with('-') && word.len() > 1 || word.contains('/') || is_code_word(word);
    words.next().is_some_and(|word| VERBS.has(word) || shaped(word))
        && (first != "go" && first != "make" || line.split_whitespace().count() <= 4)
}

fn has_inline_code(text: &str) -> bool {
    let mut parts = text.split('`');
    parts.next();
    let inside = parts.step_by(2).next();
    text.matches('`').count() >= 2 && inside.is_some_and(|code| !code.trim().is_empty() && code.len() <= 200)
}

/// A file of code by its name, or an identifier with a path or a call.
fn is_code_word(word: &str) -> bool {
    // Most words of most messages.
    if word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return false;
    }
    if word.len() > 200 || word.contains("://") || word.starts_with("www.") {
        return false;
    }
    let outer = |ch: char| {
        !(ch.is_alphanumeric() || matches!(ch, '_' | '/' | '.' | '-' | ':' | '(' | ')' | '<' | '>'))
    };
    let word = word.split(outer).find(|part| !part.is_empty()).unwrap_or("");
    let word = word
        .trim_matches(['(', ')', ':', '.', '-', '<', '>'])
        .split(':')
        .next()
        .filter(|_| !word.contains("::"))
        .unwrap_or(word);
    if word.contains("::")
        && word.is_ascii()
        && word.chars().all(|ch| ch.is_alphanumeric() || "_:<>()".contains(ch))
    {
        return word.split("::").all(|part| !part.is_empty());
    }
    let called = word.split_once('(').is_some_and(|(name, _)| name.contains(['_', '.']) && name.is_ascii());
    if called {
        return true;
    }
    let Some((stem, ending)) = word.rsplit_once('.') else {
        return matches!(word, "Dockerfile" | "Makefile" | "CMakeLists.txt" | "Cargo.lock" | "Jenkinsfile");
    };
    let named = stem.chars().last().is_some_and(|ch| ch.is_alphanumeric() || ch == '_')
        && stem.chars().all(|ch| ch.is_alphanumeric() || "_/.-".contains(ch));
    // "e.g. this.Go" is a missing space; names of files end in small letters.
    named
        && ending.chars().all(|ch| ch.is_ascii_lowercase() || ch.is_ascii_digit())
        && (FileKind::of_name(word) == FileKind::Code
            || matches!(
                word,
                "package.json" | "tsconfig.json" | "pom.xml" | "requirements.txt" | "docker-compose.yml"
            ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r6_code_is_told_from_talk() {
        for text in [
            "look:\n```rust\nfn a() {}\n```",
            "Traceback (most recent call last):\n  File \"a.py\", line 3",
            "thread 'main' panicked at src/main.rs:3:5",
            "Error: x\n    at foo (a.js:1:2)\n    at bar (b.js:3:4)",
            "fn main() {\n    let x = 1;\n    print(x);\n}",
        ] {
            assert_eq!(code_in(text), Code::Block, "{text:?}");
        }
        for text in [
            "why does src/main.rs not compile?",
            "run `ls -la`",
            "cargo test --lib",
            "$ make all",
            "parse_rows(x) returns None",
            "std::mem::take is odd",
            "看一下 main.py 第三行",
            "git commit -m x",
            "let x = 5;",
            "import numpy as np",
            "the Makefile is broken",
            "请修改app.py，谢谢",
        ] {
            assert_eq!(code_in(text), Code::Some, "{text:?}");
        }
        for text in [
            "",
            "hello",
            "let me see (if I can)",
            "from the start; it was raining",
            "go home",
            "make dinner for two",
            "I paid $ 20",
            "e.g. this",
            "see https://example.com/index.html",
            "python is a snake",
            "cat and dog",
            "in the class of 2020 (Berlin)",
            "Sentence.Go on",
            "我想订酒店",
            "e.g.the.Go",
            "at 5 p.m. (or later)",
            "import taxes = high?",
            "return the shoes (size 9)",
            "hotel.pdf is attached",
            "10:30",
            "😀",
        ] {
            assert_eq!(code_in(text), Code::Absent, "{text:?}");
        }
    }
}
