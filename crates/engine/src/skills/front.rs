//! Front matter: the block of YAML between two lines of `---` at the beginning of a `SKILL.md`.
//!
//! Fields that Segue does not know are let through: skills written for other agents carry a licence or
//! metadata. Under `requires` they are not: a requirement that nobody checks would count as met.

use super::words::Words;
use super::{NAME_CHARS_MAX, is_name};
use serde::Deserialize;

/// The most characters in a description: it stands in every context.
const DESCRIPTION_CHARS_MAX: usize = 1024;

/// The most aliases of one skill.
const ALIASES_MAX: usize = 32;

/// What the front matter says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Front {
    pub(super) name: String,
    pub(super) description: String,
    pub(super) aliases: Vec<String>,
    pub(super) requires: Requires,
}

/// What a skill needs.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Requires {
    /// All of these tools.
    #[serde(default)]
    pub(super) tools: Words,
    /// One of these platforms; any, if none is named.
    #[serde(default)]
    pub(super) platform: Words,
    /// All of these variables.
    #[serde(default)]
    pub(super) env: Words,
}

#[derive(Deserialize)]
struct Fields {
    name: Option<String>,
    description: Option<String>,
    #[serde(default)]
    aliases: Words,
    requires: Option<Requires>,
}

/// Takes a `SKILL.md` apart into its front matter and its body, or says what is wrong with it.
pub(super) fn parse(text: &str) -> Result<(Front, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (yaml, body) = split(text)?;
    // The line of dashes stays in as an empty one, so that the line in an error is the line in the file.
    let fields: Fields = serde_saphyr::from_str(&format!("\n{yaml}")).map_err(|error| first_line(&error))?;
    let name = said(fields.name).ok_or("it has no name")?;
    if !is_name(&name) {
        return Err(format!(
            "the name {name:?} must have letters, digits, - and _ only, at most {NAME_CHARS_MAX}"
        ));
    }
    let description = said(fields.description).ok_or("it has no description")?;
    if description.chars().count() > DESCRIPTION_CHARS_MAX {
        return Err(format!("the description has more than {DESCRIPTION_CHARS_MAX} characters"));
    }
    if fields.aliases.0.len() > ALIASES_MAX {
        return Err(format!("it has more than {ALIASES_MAX} aliases"));
    }
    let requires = fields.requires.unwrap_or_default();
    Ok((Front { name, description, aliases: fields.aliases.0, requires }, body))
}

fn split(text: &str) -> Result<(&str, &str), String> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next().unwrap_or_default();
    if first.trim_end() != "---" {
        return Err("it does not begin with a line of ---".to_owned());
    }
    let begin = first.len();
    let mut end = begin;
    for line in lines {
        if line.trim_end() == "---" {
            return Ok((&text[begin..end], &text[end + line.len()..]));
        }
        end += line.len();
    }
    Err("the line of --- that ends it is missing".to_owned())
}

fn said(field: Option<String>) -> Option<String> {
    field.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty())
}

/// The parser draws the place in the lines after the first; a diagnostic is one sentence.
fn first_line(error: &serde_saphyr::Error) -> String {
    let text = error.to_string();
    let line = text.lines().next().unwrap_or_default();
    line.strip_prefix("error: ").unwrap_or(line).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn why(text: &str) -> String {
        parse(text).unwrap_err()
    }

    #[test]
    fn reads_all_fields_and_lets_foreign_ones_through() {
        let text = "---\r\nname: pdf\r\ndescription: \"Reads: PDF\"\r\naliases: [p, no, 12, true]\r\nlicense: MIT\r\n\
                    metadata: {a: {b: [1]}}\r\nrequires:\r\n  tools: pdftotext\r\n  platform: [linux, macos]\r\n\
                    \x20 env:\r\n---\r\n# Body\r\n---\r\nmore";
        let (front, body) = parse(text).unwrap();
        assert_eq!((front.name.as_str(), front.description.as_str()), ("pdf", "Reads: PDF"));
        assert_eq!(front.aliases, ["p", "no", "12", "true"]);
        assert_eq!(front.requires.tools.0, ["pdftotext"]);
        assert_eq!(front.requires.platform.0, ["linux", "macos"]);
        assert_eq!(front.requires.env.0, Vec::<String>::new());
        assert_eq!(body, "# Body\r\n---\r\nmore");
        for (written, words) in [("x", vec!["x"]), ("7", vec!["7"]), ("", vec![]), ("[]", vec![])] {
            let text = format!("---\nname: a\ndescription: b\naliases: {written}\n---\n");
            assert_eq!(parse(&text).unwrap().0.aliases, words, "{written}");
        }
        assert!(why("---\nname: a\ndescription: b\naliases: {x: y}\n---").contains("a word or a list"));
        assert!(parse("\u{feff}---\nname: a\ndescription: b\n---").is_ok());
    }

    #[test]
    fn says_what_is_wrong_and_where() {
        assert_eq!(why(""), "it does not begin with a line of ---");
        assert_eq!(why("---\nname: a\n"), "the line of --- that ends it is missing");
        assert_eq!(why("---\ndescription: b\n---\n"), "it has no name");
        assert_eq!(why("---\nname: a\ndescription: ' '\n---\n"), "it has no description");
        assert!(why("---\nname: a/b\ndescription: b\n---\n").starts_with("the name \"a/b\" must"));
        assert!(why("---\nname: a\ndescription: b: c\n---\n").starts_with("line 3 column"));
        assert!(why("---\nname: a\nname: b\ndescription: c\n---\n").contains("duplicate"));
        assert!(
            why("---\nname: a\ndescription: b\nrequires: {tool: x}\n---\n").contains("unknown field `tool`")
        );
        assert!(why("---\n- a\n---\n").starts_with("line 2"));
        assert!(parse("---\n---\n").is_err());
    }
}
