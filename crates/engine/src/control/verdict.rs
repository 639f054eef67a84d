//! The answer of a control model, read strictly: what is not exactly what was asked for is no answer.

use serde::{Deserialize, Serialize};
use serde_json::error::Category;

/// What a model says about a message.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Verdict {
    /// It belongs to the conversation; how sure that is, from 0 to 1.
    Same(f64),
    /// It begins something new; how sure that is, from 0 to 1.
    New(f64),
    /// It cannot be told.
    Unsure,
}

/// Why an answer is none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Flaw {
    /// It is not one JSON object and nothing else.
    #[error("it is not one JSON object and nothing else")]
    NotAnObject,
    /// It has other fields, other types or other words.
    #[error("it has other fields, types or words than were asked for")]
    WrongShape,
    /// It is no title: too long, more than a line, in another language, or it holds what nobody can see.
    #[error("it is no title of that conversation")]
    NoTitle,
    /// Its confidence is not from 0 to 1.
    #[error("its confidence is not from 0 to 1")]
    OutOfRange,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct VerdictReply {
    // A text and not an enum: serde would read `{"same":null}` as one too.
    verdict: String,
    confidence: f64,
}

impl Verdict {
    /// Reads an answer.
    ///
    /// ```
    /// use segue_engine::control::verdict::Verdict;
    /// let verdict = Verdict::parse(r#"{"verdict":"new","confidence":0.8}"#)?;
    /// assert_eq!(verdict, Verdict::New(0.8));
    /// assert!(Verdict::parse(r#"It is new: {"verdict":"new","confidence":0.8}"#).is_err());
    /// # Ok::<(), segue_engine::control::verdict::Flaw>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, Flaw> {
        // Serde would read a list as an object too.
        if !text.trim_start().starts_with('{') {
            return Err(Flaw::NotAnObject);
        }
        let answer: VerdictReply = serde_json::from_str(text).map_err(|error| match error.classify() {
            Category::Io | Category::Syntax | Category::Eof => Flaw::NotAnObject,
            Category::Data => Flaw::WrongShape,
        })?;
        if !(0.0..=1.0).contains(&answer.confidence) {
            return Err(Flaw::OutOfRange);
        }
        match answer.verdict.as_str() {
            "same" => Ok(Self::Same(answer.confidence)),
            "new" => Ok(Self::New(answer.confidence)),
            "unsure" => Ok(Self::Unsure),
            _ => Err(Flaw::WrongShape),
        }
    }

    /// Returns how likely the message belongs to the conversation; nothing when that cannot be told.
    pub fn belongs(self) -> Option<f64> {
        match self {
            Self::Same(confidence) => Some(0.5 + confidence / 2.0),
            Self::New(confidence) => Some(0.5 - confidence / 2.0),
            Self::Unsure => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_what_was_asked_for() {
        let belongs = |text: &str| Verdict::parse(text).map(Verdict::belongs);
        assert_eq!(belongs(r#"{"verdict":"same","confidence":1}"#), Ok(Some(1.0)));
        assert_eq!(belongs(r#"{"confidence":0.5,"verdict":"new"}"#), Ok(Some(0.25)));
        assert_eq!(belongs(" \n{\"verdict\":\"same\",\"confidence\":0}\n"), Ok(Some(0.5)));
        assert_eq!(belongs(r#"{"verdict":"unsure","confidence":0.9}"#), Ok(None));
    }

    #[test]
    fn refuses_everything_else() {
        let good = r#"{"verdict":"new","confidence":0.9}"#;
        for text in [
            "",
            "new",
            "NEW",
            "\"new\"",
            "[\"new\",0.9]",
            "null",
            "{\"verdict\":\"new\",",
            &format!("```json\n{good}\n```"),
            &format!("{good}."),
            &format!("{good}{good}"),
            &format!("<think>hm</think>{good}"),
        ] {
            assert_eq!(Verdict::parse(text), Err(Flaw::NotAnObject), "{text}");
        }
        for text in [
            "{}",
            r#"{"verdict":"new"}"#,
            r#"{"confidence":0.9}"#,
            r#"{"verdict":"NEW","confidence":0.9}"#,
            r#"{"verdict":"rotate","confidence":0.9}"#,
            r#"{"verdict":{"new":null},"confidence":0.9}"#,
            r#"{"verdict":"new","confidence":"0.9"}"#,
            r#"{"verdict":"new","confidence":null}"#,
            r#"{"verdict":"new","confidence":0.9,"reason":"x"}"#,
            r#"{"verdict":"new","verdict":"same","confidence":0.9}"#,
        ] {
            assert_eq!(Verdict::parse(text), Err(Flaw::WrongShape), "{text}");
        }
        for number in ["-0.1", "1.1", "90", "1e300"] {
            let text = format!(r#"{{"verdict":"new","confidence":{number}}}"#);
            assert_eq!(Verdict::parse(&text), Err(Flaw::OutOfRange), "{text}");
        }
        for number in ["NaN", "Infinity", "1e999", ".5"] {
            let text = format!(r#"{{"verdict":"new","confidence":{number}}}"#);
            assert!(Verdict::parse(&text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn whatever_is_read_is_a_probability(confidence in 0.0..=1.0f64, text in any::<String>()) {
            for word in ["same", "new"] {
                let text = format!(r#"{{"verdict":"{word}","confidence":{confidence}}}"#);
                let belongs = Verdict::parse(&text).unwrap().belongs().unwrap();
                prop_assert!((0.0..=1.0).contains(&belongs));
                prop_assert_eq!(belongs >= 0.5, word == "same" || confidence == 0.0);
            }
            let _ = Verdict::parse(&text);
        }
    }
}
