//! What can go wrong with the security of a message, split by what the partner is told.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::query::CertificateQuery;

/// A WS-Security failure: the text is for the operator, [`WssError::failure`] for the partner.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WssError {
    /// The header, or the envelope around it, is not what the schemas say.
    #[error("the security header is malformed at {place}: {why}")]
    Malformed {
        /// Path of the element.
        place: String,
        /// What is wrong with it.
        why: String,
    },
    /// An element that is well-formed but not spoken here.
    #[error("{place} is not understood: {why}")]
    NotUnderstood {
        /// Path of the element.
        place: String,
        /// Why it is refused.
        why: String,
    },
    /// An algorithm or transform that is not on the list of the P-Mode (WS-090).
    #[error("the {use_for} algorithm `{uri}` is not accepted; allow it in the P-Mode, or ask the partner to change it")]
    Algorithm {
        /// What it is used for.
        use_for: &'static str,
        /// Its identifier.
        uri: String,
    },
    /// More of something than a message can need (AT-14).
    #[error("the security header has more than {limit} {what}")]
    TooMany {
        /// What there is too much of.
        what: &'static str,
        /// The bound.
        limit: usize,
    },
    /// A reference that is neither `#id` nor `cid:` (AT-07).
    #[error("the reference `{uri}` is refused: {why}")]
    Reference {
        /// `@URI`.
        uri: String,
        /// Why.
        why: &'static str,
    },
    /// A signature was required.
    #[error("the message is not signed")]
    NotSigned,
    /// Something that must be signed is not (WS-022).
    #[error("{what} is not covered by the signature")]
    NotCovered {
        /// `eb:Messaging`, `S:Body` or the part's Content-ID.
        what: String,
    },
    /// A key too short or of the wrong kind (WS-091).
    #[error("the key of {certificate} is not accepted: {why}")]
    Key {
        /// Whose key.
        certificate: String,
        /// Why.
        why: String,
    },
    /// The signer is named by something that we have no certificate for.
    #[error("no certificate is known for the signer, who is named by {0}; add it to the partner's certificates")]
    SignerUnknown(CertificateQuery),
    /// The token holds no certificate that OpenSSL can read.
    #[error("the certificate in the message cannot be read: {0}")]
    Certificate(String),
    /// The value over `ds:SignedInfo` does not hold.
    #[error("the signature value does not fit SignedInfo and the key of {certificate}")]
    Signature {
        /// The signer's certificate.
        certificate: String,
    },
    /// The digest of a signed element or part differs.
    #[error("the digest of `{uri}` differs: signed {}, found {}", STANDARD.encode(expected), STANDARD.encode(found))]
    Digest {
        /// `@URI` of the reference.
        uri: String,
        /// As signed.
        expected: Vec<u8>,
        /// As computed.
        found: Vec<u8>,
    },
    /// An XML part that has no canonical form (WS-032).
    #[error("the part `{uri}` is of an XML type but cannot be canonicalised: {why}")]
    PartNotXml {
        /// `@URI` of the reference, where known.
        uri: String,
        /// The reader's reason.
        why: String,
    },
    /// A signed `wsu:Timestamp` that is not, or no longer, good (WS-081).
    #[error("the security timestamp is refused: {0}")]
    Timestamp(String),
    /// The part must be encrypted and is not (WS-051).
    #[error("the part `{0}` is not encrypted")]
    NotEncrypted(String),
    /// Decryption failed: one text whatever the cause, which is in the value for the operator alone.
    #[error("the message could not be decrypted")]
    Decryption(DecryptionCause),
    /// OpenSSL refused something that depends on nothing the partner sent.
    #[error("cryptography failed while {doing}: {why}")]
    Crypto {
        /// What was being done.
        doing: &'static str,
        /// OpenSSL's own words.
        why: String,
    },
}

/// Why decryption failed. Never shown to the partner: all causes are one answer (WS-049).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecryptionCause {
    /// No key of ours fits the name in the message (WS-052).
    #[error("no decryption key of ours is named by {0}; the partner may encrypt to an old certificate")]
    KeyUnknown(CertificateQuery),
    /// No `xenc:EncryptedKey` belongs to the part.
    #[error("no EncryptedKey belongs to `{0}`")]
    NoKey(String),
    /// The content key did not come out of its wrapping.
    #[error("the content key cannot be unwrapped: it was encrypted to another key or with other parameters")]
    Unwrap,
    /// Fewer than 28 octets (FR-038).
    #[error("the part is shorter than an IV and a tag")]
    Short,
    /// The MIME headers at the start of an `Attachment-Complete` part are none (WS-045).
    #[error("the encrypted MIME headers cannot be read")]
    Head,
    /// The GCM tag differs.
    #[error("the authentication tag differs: the part was altered, or encrypted with another key")]
    Tag,
}

/// What the partner is told (WS §12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Failure {
    /// `EBMS:0101`.
    FailedAuthentication,
    /// `EBMS:0102`.
    FailedDecryption,
    /// `EBMS:0103`.
    PolicyNoncompliance,
    /// `EBMS:0009`.
    InvalidHeader,
    /// Our own trouble: `EBMS:0004`.
    Other,
}

impl Failure {
    /// Its code.
    #[must_use]
    pub fn code(self) -> &'static str {
        match self {
            Self::FailedAuthentication => "EBMS:0101",
            Self::FailedDecryption => "EBMS:0102",
            Self::PolicyNoncompliance => "EBMS:0103",
            Self::InvalidHeader => "EBMS:0009",
            Self::Other => "EBMS:0004",
        }
    }
}

impl WssError {
    /// What the partner is told.
    #[must_use]
    pub fn failure(&self) -> Failure {
        match self {
            Self::Malformed { .. } => Failure::InvalidHeader,
            Self::NotUnderstood { .. }
            | Self::Algorithm { .. }
            | Self::TooMany { .. }
            | Self::Reference { .. }
            | Self::NotSigned
            | Self::NotCovered { .. }
            | Self::Key { .. }
            | Self::NotEncrypted(_) => Failure::PolicyNoncompliance,
            Self::SignerUnknown(_)
            | Self::Certificate(_)
            | Self::Signature { .. }
            | Self::Digest { .. }
            | Self::PartNotXml { .. }
            | Self::Timestamp(_) => Failure::FailedAuthentication,
            Self::Decryption(_) => Failure::FailedDecryption,
            Self::Crypto { .. } => Failure::Other,
        }
    }

    /// Its `EBMS:nnnn` code.
    #[must_use]
    pub fn code(&self) -> &'static str {
        self.failure().code()
    }

    /// What the operator sees: for a failed decryption the cause too, which the text leaves out.
    #[must_use]
    pub fn operator_detail(&self) -> String {
        match self {
            Self::Decryption(cause) => format!("{self}: {cause}"),
            other => other.to_string(),
        }
    }

    pub(super) fn crypto(doing: &'static str) -> impl Fn(openssl::error::ErrorStack) -> Self {
        move |error| Self::Crypto { doing, why: error.to_string() }
    }
}
