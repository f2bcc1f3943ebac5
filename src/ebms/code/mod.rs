//! Error codes: the `EBMS:nnnn` table (ebMS3 Core §6.7, AS4 §3, Part 2) as data, and severities.

mod table;

use std::borrow::Cow;

pub use table::TABLE;

/// `@severity`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// The message goes on.
    Warning,
    /// The message failed.
    Failure,
}

impl Severity {
    /// Reads what a partner wrote: `warning` in any case, and everything else as a failure (FR-024).
    #[must_use]
    pub fn read(text: &str) -> Self {
        if text.trim().eq_ignore_ascii_case("warning") { Self::Warning } else { Self::Failure }
    }

    /// The spelling of the schema, which we emit.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Failure => "failure",
        }
    }
}

impl std::fmt::Display for Severity {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error code as on the wire, known or not (EB-081).
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Code(Cow<'static, str>);

impl Code {
    /// The code with that text: one of the table where it is known, else the text itself.
    #[must_use]
    pub fn read(text: &str) -> Self {
        TABLE.iter().find(|e| e.code.0 == text).map_or_else(|| Self(Cow::Owned(text.to_owned())), |e| e.code.clone())
    }

    /// The code as text, such as `EBMS:0009`.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its row in the table; `None` for a code that no standard knows.
    #[must_use]
    pub fn entry(&self) -> Option<&'static Entry> {
        TABLE.iter().find(|e| e.code == *self)
    }
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// Who defined a code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Source {
    /// ebMS3 Core §6.7.
    Core,
    /// AS4 §3.
    As4,
    /// ebMS3 Part 2.
    Part2,
    /// No standard; seen from partners, never emitted.
    Field,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The code.
    pub code: Code,
    /// `@shortDescription`.
    pub short_description: &'static str,
    /// The severity that the standard recommends.
    pub severity: Severity,
    /// `@category`.
    pub category: &'static str,
    /// `@origin`.
    pub origin: &'static str,
    /// Who defined it.
    pub source: Source,
    /// What it says, in a sentence for `eb:Description`.
    pub meaning: &'static str,
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_code_stands_once_and_is_found_by_its_text() {
        let distinct: HashSet<&str> = TABLE.iter().map(|e| e.code.as_str()).collect();
        assert_eq!(distinct.len(), TABLE.len());
        for entry in TABLE {
            assert!(entry.code.as_str().starts_with("EBMS:") && entry.code.as_str().len() == 9, "{}", entry.code);
            assert_eq!(Code::read(entry.code.as_str()).entry(), Some(entry));
        }
        assert_eq!(TABLE.iter().filter(|e| e.source == Source::Core).count(), 16);
        assert_eq!(TABLE.iter().filter(|e| e.source == Source::As4).count(), 3);
        assert_eq!(TABLE.iter().filter(|e| e.source == Source::Part2).count(), 23);
    }

    #[test]
    fn rows_say_what_the_standard_says() {
        let empty = Code::EMPTY_MESSAGE_PARTITION_CHANNEL.entry().unwrap();
        assert_eq!((empty.severity, empty.category, empty.origin), (Severity::Warning, "Communication", "ebMS"));
        let policy = Code::POLICY_NONCOMPLIANCE.entry().unwrap();
        assert_eq!((policy.short_description, policy.origin), ("PolicyNoncompliance", "security"));
        assert_eq!(Code::INVALID_RECEIPT.as_str(), "EBMS:0302");
    }

    #[test]
    fn an_unknown_code_is_kept_as_text() {
        let code = Code::read("EBMS:9999");
        assert_eq!((code.as_str(), code.entry()), ("EBMS:9999", None));
    }

    #[test]
    fn any_unknown_severity_is_a_failure() {
        for text in ["failure", "FAILURE", "error", "", "fatal"] {
            assert_eq!(Severity::read(text), Severity::Failure, "{text}");
        }
        for text in ["warning", "Warning", " WARNING "] {
            assert_eq!(Severity::read(text), Severity::Warning, "{text}");
        }
    }
}
