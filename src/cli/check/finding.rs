//! What a check finds.

use serde_json::{Value, json};

use crate::cli::output::tell;
use crate::config::{Effective, Loaded, Problem};

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// It works, and not for long or not as meant.
    Warning,
    /// It does not work.
    Error,
}

impl Severity {
    fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// How grave it is.
    pub severity: Severity,
    /// Where: a file with line, or what else leads there.
    pub place: Option<String>,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub next: Option<String>,
}

impl Finding {
    /// A finding about a key of the configuration, such as `party[0].signing[0].certificate`.
    pub fn at(severity: Severity, loaded: &Loaded, key: &str, message: impl Into<String>) -> Self {
        let place = loaded.origin(key).map(|origin| format!("{origin}: `{key}`"));
        Self { severity, place: place.or_else(|| Some(format!("`{key}`"))), message: message.into(), next: None }
    }

    /// Adds what to do.
    #[must_use]
    pub fn next(mut self, act: impl Into<String>) -> Self {
        self.next = Some(act.into());
        self
    }

    /// As people read it.
    pub fn tell(&self) {
        let place = self.place.iter().map(|place| format!("\n   {place}"));
        let next = self.next.iter().map(|next| format!("\n   next: {next}"));
        let more: String = place.chain(next).collect();
        tell(self.severity.word(), &format!("{}{more}", self.message));
    }

    /// As machines read it.
    #[must_use]
    pub fn row(&self) -> Value {
        json!({ "severity": self.severity.word(), "place": self.place, "message": self.message, "next": self.next })
    }
}

impl From<&Problem> for Finding {
    fn from(problem: &Problem) -> Self {
        let message = if problem.key.is_empty() {
            problem.message.clone()
        } else {
            format!("`{}`: {}", problem.key, problem.message)
        };
        let place = problem.origin.as_ref().map(ToString::to_string);
        Self { severity: Severity::Error, place, message, next: problem.remedy.clone() }
    }
}

/// A value in effect as a row.
pub(super) fn value_row(value: &Effective) -> Value {
    json!({ "id": value.key, "key": value.key, "value": value.value, "from": value.origin.to_string() })
}
