//! What can be wrong with a configuration, and how it is told.

use std::fmt;

use serde::de;
use thiserror::Error;

use super::tree::Origin;

/// A configuration that cannot be used: every fault found, in the order of files and lines.
#[derive(Debug, Error)]
pub struct ConfigError {
    /// At least one.
    pub problems: Vec<Problem>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, problem) in self.problems.iter().enumerate() {
            if n > 0 {
                writeln!(f)?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where the value came from; `None` when the file itself is the fault.
    pub origin: Option<Origin>,
    /// The key, such as `msh[0].listen`; empty when the file as a whole is meant.
    pub key: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub remedy: Option<String>,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.origin {
            write!(f, "{origin}: ")?;
        }
        if !self.key.is_empty() {
            write!(f, "`{}`: ", self.key)?;
        }
        f.write_str(&self.message)?;
        match &self.remedy {
            Some(remedy) => write!(f, "\n   next: {remedy}"),
            None => Ok(()),
        }
    }
}

/// The known name nearest to `word`, when one is near enough to be meant.
#[must_use]
pub fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    // Letters that changed places make short words unlike each other, and are the commonest slip.
    let swapped = |name: &str| f64::from(u8::from(strsim::damerau_levenshtein(word, name) == 1)) * 0.9;
    known
        .into_iter()
        .map(|name| (strsim::jaro_winkler(word, name).max(swapped(name)), name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|(a, _), (b, _)| a.total_cmp(b))
        .map(|(_, name)| name)
}

/// A fault while the tree becomes a [`super::Config`].
#[derive(Debug)]
pub(super) struct DecodeFault {
    pub(super) message: String,
    pub(super) remedy: Option<String>,
    /// The field that is missing, when that is the fault.
    pub(super) missing: Option<&'static str>,
}

impl DecodeFault {
    fn new(message: String, remedy: Option<String>) -> Self {
        Self { message, remedy, missing: None }
    }
}

impl std::error::Error for DecodeFault {}

impl fmt::Display for DecodeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl de::Error for DecodeFault {
    fn custom<T: fmt::Display>(message: T) -> Self {
        let text = message.to_string();
        if text == "invalid socket address syntax" {
            let remedy = "write an IP address and a port, like \"127.0.0.1:4080\" or \"[::1]:4080\"";
            return Self::new("this is no address to listen on".to_owned(), Some(remedy.to_owned()));
        }
        match text.split_once(": write ").or_else(|| text.split_once(": use ")) {
            Some((what, _)) => {
                let remedy = text.get(what.len() + 2..).map(str::to_owned);
                Self::new(what.to_owned(), remedy)
            }
            None => Self::new(text, None),
        }
    }

    fn invalid_type(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("{found} stands here"), Some(form(&expected.to_string())))
    }

    fn invalid_value(found: de::Unexpected<'_>, expected: &dyn de::Expected) -> Self {
        Self::new(format!("{found} is not a value of this key"), Some(form(&expected.to_string())))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        let remedy = match nearest(field, expected.iter().copied()) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("known here: {}", expected.join(", ")),
        };
        Self::new("unknown key".to_owned(), Some(remedy))
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        let remedy = match nearest(variant, expected.iter().copied()) {
            Some(name) => format!("did you mean \"{name}\"?"),
            None => format!("one of \"{}\"", expected.join("\", \"")),
        };
        Self::new(format!("`{variant}` is not a value of this key"), Some(remedy))
    }

    fn missing_field(field: &'static str) -> Self {
        Self {
            message: format!("`{field}` is missing"),
            remedy: Some(format!("add `{field} = …`")),
            missing: Some(field),
        }
    }
}

/// How a value is written, out of what the decoder expected.
fn form(expected: &str) -> String {
    let known = match expected {
        "u16" => "write a whole number from 0 to 65535",
        "u32" | "u64" | "usize" | "i64" => "write a whole number, without quotes and unit",
        "a boolean" => "write true or false",
        "a string" => "write a text in quotes",
        "a sequence" => "write a list in brackets, or several [[…]]",
        struct_or_other if struct_or_other.starts_with("struct ") => "write a table: [name], then its keys",
        other => return format!("write {other}"),
    };
    known.to_owned()
}
