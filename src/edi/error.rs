//! Why no key could be made, and where the reason stands.

use crate::wire::xml::encoding::EncodingError;

/// Why a payload gives no business key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoKey {
    /// None of the formats that we read.
    #[error("the payload is neither UBL, CII, EDIFACT, X12 nor an MDN; it begins with `{first}`")]
    Unknown {
        /// Its first octets, escaped.
        first: String,
    },
    /// XML in an encoding that we do not read.
    #[error("{0}")]
    Encoding(#[from] EncodingError),
    /// XML that is not well-formed, has a DTD or exceeds a bound.
    #[error("XML, before octet {offset}: {problem}")]
    Xml {
        /// How many octets had been read.
        offset: u64,
        /// What is wrong.
        problem: String,
    },
    /// An XML document that gives no keys.
    #[error(
        "the document element {name} is none that gives keys (UBL 2 Invoice, CreditNote, Order, ApplicationResponse; CII)"
    )]
    Root {
        /// Its namespace and name.
        name: String,
    },
    /// An element that a key needs is missing, empty or not what it should be.
    #[error("element {path}: {problem}")]
    Element {
        /// Its path below the document element.
        path: String,
        /// What is wrong.
        problem: String,
    },
    /// An interchange whose beginning does not tell its separators.
    #[error("{tag}, octet {offset}: {problem}")]
    Separators {
        /// `UNA`, `UNB` or `ISA`.
        tag: &'static str,
        /// Octets before it.
        offset: u64,
        /// What is wrong.
        problem: String,
    },
    /// A segment is missing a value, stands in the wrong place, or counts wrongly.
    #[error("segment {number} {tag}: {problem}")]
    Segment {
        /// Its number in the interchange, from 1; `UNA` is not counted.
        number: usize,
        /// Its tag.
        tag: String,
        /// What is wrong.
        problem: String,
    },
    /// A MIME body that cannot be taken apart.
    #[error("MDN: {0}")]
    Mime(String),
    /// A field of an MDN is missing or stands twice (RFC 8098 §3.2).
    #[error("MDN field {field}: {problem}")]
    Field {
        /// Its name.
        field: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// The octets end too early: more of the document may give the key.
    #[error("the document ends after {octets} octets, before {wanted}")]
    Early {
        /// How many there were.
        octets: u64,
        /// What was still to come.
        wanted: String,
    },
    /// An interchange of several messages has a key for each.
    #[error("the interchange holds {0} documents, each with its own key")]
    Several(usize),
    /// What was read is no business document.
    #[error("{0}")]
    NoBusinessDocument(String),
}

impl NoKey {
    /// Whether more octets of the same document may still give a key.
    pub fn wants_more(&self) -> bool {
        matches!(self, Self::Early { .. })
    }

    pub(super) fn element(path: impl Into<String>, problem: impl Into<String>) -> Self {
        Self::Element { path: path.into(), problem: problem.into() }
    }
}

/// A stranger's text in a message: shortened, controls escaped.
pub(super) fn excerpt(octets: &[u8]) -> String {
    octets.get(..24).unwrap_or(octets).escape_ascii().to_string()
}
