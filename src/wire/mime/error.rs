//! What can be wrong with a MIME package. All of it is the sender's fault: EBMS:0007 on receipt (EB-003, EB-023).

/// Why a header, a package or a part cannot be read or written. Parts are counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MimeError {
    /// No `type/subtype`.
    #[error("Content-Type `{0}`: expected `type/subtype` with parameters after `;`")]
    MediaType(String),
    /// Quotes, comments or parameters that do not parse.
    #[error("header value `{value}`: {problem}")]
    Value {
        /// The value, shortened.
        value: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// One parameter, two values: which one counts would be a guess.
    #[error("the parameter `{0}` is given twice with different values")]
    RepeatedParameter(String),
    /// The package is of another kind.
    #[error("Content-Type is `{0}`, expected multipart/related")]
    NotRelated(String),
    /// Nothing to separate parts by.
    #[error("Content-Type multipart/related has no boundary parameter")]
    MissingBoundary,
    /// A boundary that RFC 2046 does not allow.
    #[error("the boundary `{0}` is not usable: 1 to 70 characters of RFC 2046 §5.1.1, not ending in a blank")]
    Boundary(String),
    /// The `type` parameter names no SOAP media type (EB-003).
    #[error("the type parameter is `{0}`, expected application/soap+xml or text/xml")]
    RootType(String),
    /// The root part is something else than the outer header announces (EB-003).
    #[error("the type parameter announces `{announced}`, the root part is `{found}`")]
    RootTypeDiffers {
        /// The outer `type` parameter.
        announced: String,
        /// The root part's media type.
        found: String,
    },
    /// FR-009.
    #[error("the header section of part {part} is longer than {limit} octets")]
    HeaderOctets {
        /// Which part.
        part: usize,
        /// The limit.
        limit: usize,
    },
    /// FR-009.
    #[error("the header section of part {part} has more than {limit} lines")]
    HeaderLines {
        /// Which part.
        part: usize,
        /// The limit.
        limit: usize,
    },
    /// A line in a header section that is no header.
    #[error("part {part}: the line `{line}` is not a header field")]
    HeaderLine {
        /// Which part.
        part: usize,
        /// The line, shortened.
        line: String,
    },
    /// One header field, two values (FR-008).
    #[error("part {part}: {name} is given twice with different values")]
    RepeatedHeader {
        /// Which part.
        part: usize,
        /// The header field.
        name: &'static str,
    },
    /// FR-008.
    #[error(
        "part {part}: Content-Transfer-Encoding `{value}` is not known; use 7bit, 8bit, binary, quoted-printable or base64"
    )]
    TransferEncoding {
        /// Which part.
        part: usize,
        /// The value, shortened.
        value: String,
    },
    /// Content that its transfer encoding does not allow.
    #[error("part {part}: the content is not valid {encoding}: {problem}")]
    Content {
        /// Which part.
        part: usize,
        /// `base64` or `quoted-printable`.
        encoding: &'static str,
        /// What is wrong.
        problem: &'static str,
    },
    /// Part count limit.
    #[error("the package has more than {0} parts")]
    TooManyParts(usize),
    /// EB-023.
    #[error("the package ends in {place} of part {part}, before its closing delimiter `--{boundary}--`")]
    Truncated {
        /// Which part.
        part: usize,
        /// `the header section` or `the content`.
        place: &'static str,
        /// The boundary.
        boundary: String,
    },
    /// No delimiter at all, or the closing one first.
    #[error("the package has no part: no line `--{0}` before its end")]
    NoParts(String),
    /// A header that we were asked to write and that is none.
    #[error("the header field `{name}` cannot be written: {problem}")]
    Unwritable {
        /// Its name, shortened.
        name: String,
        /// What is wrong.
        problem: &'static str,
    },
}

/// A stranger's text for an error message: one line, bounded.
pub(super) fn excerpt(text: &str) -> String {
    const SHOWN: usize = 80;
    let mut shown: String = text.chars().take(SHOWN).flat_map(char::escape_debug).collect();
    if text.chars().nth(SHOWN).is_some() {
        shown.push('…');
    }
    shown
}
