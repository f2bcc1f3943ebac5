//! What a check finds.

use serde_json::{Value, json};

use crate::cli::output::{Column, tell};
use crate::config::{Effective, Loaded, Problem};

/// Findings as a table.
pub(in crate::cli) const FINDING_COLUMNS: [Column; 4] = [
    Column { heading: "SEVERITY", field: "severity" },
    Column { heading: "PLACE", field: "place" },
    Column { heading: "FINDING", field: "message" },
    Column { heading: "NEXT", field: "next" },
];

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
    /// Whether the gateway does not start with it.
    pub stops: bool,
}

impl Finding {
    /// A finding at a place, or at none.
    pub fn new(severity: Severity, place: Option<String>, message: impl Into<String>) -> Self {
        Self { severity, place, message: message.into(), next: None, stops: false }
    }

    /// A finding about a key of the configuration, such as `party[0].signing[0].certificate`.
    pub fn at(severity: Severity, loaded: &Loaded, key: &str, message: impl Into<String>) -> Self {
        let place = loaded.origin(key).map(|origin| format!("{origin}: `{key}`"));
        Self::new(severity, place.or_else(|| Some(format!("`{key}`"))), message)
    }

    /// Adds what to do.
    #[must_use]
    pub fn next(mut self, act: impl Into<String>) -> Self {
        self.next = Some(act.into());
        self
    }

    /// The gateway does not start with it: it is an error, whatever else.
    #[must_use]
    pub fn stops(mut self) -> Self {
        self.stops = true;
        self.severity = Severity::Error;
        self
    }

    /// As people read it.
    pub fn tell(&self) {
        tell(self.severity.word(), &self.lines().join("\n   "));
    }

    /// What, where, what next: a line each.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let next = self.next.iter().map(|next| format!("next: {next}"));
        std::iter::once(self.message.clone()).chain(self.place.clone()).chain(next).collect()
    }

    /// As machines read it.
    #[must_use]
    pub fn row(&self) -> Value {
        json!({
            "id": self.place,
            "severity": self.severity.word(),
            "place": self.place,
            "message": self.message,
            "next": self.next,
            "stops": self.stops,
        })
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
        Self { next: problem.remedy.clone(), ..Self::new(Severity::Error, place, message).stops() }
    }
}

/// A value in effect as a row.
pub(super) fn value_row(value: &Effective) -> Value {
    json!({ "id": value.key, "key": value.key, "value": value.value, "from": value.origin.to_string() })
}
