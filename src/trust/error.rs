//! Why a certificate is not accepted: which one, which link, and what can be done.

use std::fmt;
use std::path::PathBuf;

use time::OffsetDateTime;

use super::Purpose;
use crate::wss::Certificate;

/// A certificate of a path, for messages to people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Link {
    /// Its subject in RFC 4514 order.
    pub subject: String,
    /// Its serial number in decimal.
    pub serial: String,
    /// Where it stands.
    pub position: Position,
}

/// A place in a certificate path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// The certificate that was asked about.
    Leaf(Purpose),
    /// So many steps above it.
    Issuer(u32),
}

impl Link {
    pub(super) fn new(certificate: &Certificate, depth: u32, purpose: Purpose) -> Self {
        let position = if depth == 0 { Position::Leaf(purpose) } else { Position::Issuer(depth) };
        Self { subject: certificate.subject().to_owned(), serial: certificate.serial().to_owned(), position }
    }
}

impl fmt::Display for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { subject, serial, position } = self;
        match position {
            Position::Leaf(purpose) => write!(f, "the {purpose} certificate `{subject}` (serial {serial})"),
            Position::Issuer(1) => write!(f, "the issuer's certificate `{subject}` (serial {serial})"),
            Position::Issuer(steps) => {
                write!(f, "the CA certificate `{subject}` (serial {serial}), {steps} steps up the path,")
            }
        }
    }
}

/// Why a certificate is not accepted. All but the last three are the partner's to mend, and mean `EBMS:0101`.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrustError {
    /// Its validity is over.
    #[error("{link} expired {} ago ({}); its owner has to renew it", in_days(*.days), .ended.date())]
    Expired {
        /// Which certificate.
        link: Link,
        /// Whole days since.
        days: i64,
        /// When.
        ended: OffsetDateTime,
    },
    /// Its validity has not begun.
    #[error("{link} becomes valid in {} ({}); check its owner's roll-over and our clock", in_days(*.days), .starts.date())]
    NotYetValid {
        /// Which certificate.
        link: Link,
        /// Whole days until then.
        days: i64,
        /// When.
        starts: OffsetDateTime,
    },
    /// Its key usage extension does not allow this.
    #[error("{link} may not be used for it: its key usage lacks {lacks}")]
    KeyUsage {
        /// Which certificate.
        link: Link,
        /// The usage that is missing.
        lacks: &'static str,
    },
    /// Its key is too weak (WS-091).
    #[error("{link} has a weak key ({key}); RSA needs 2048 bits, elliptic curves 256")]
    WeakKey {
        /// Which certificate.
        link: Link,
        /// Kind and length of its key.
        key: String,
    },
    /// It is signed with a broken digest.
    #[error("{link} is signed with {algorithm}, which can be forged; its CA has to issue it anew")]
    WeakSignature {
        /// Which certificate.
        link: Link,
        /// The signature algorithm.
        algorithm: String,
    },
    /// No path leads to an anchor.
    #[error(
        "{link} leads to no trust anchor: its issuer `{issuer}` is neither an anchor nor among the intermediates; \
         if the partner is to be trusted, add that CA"
    )]
    NoAnchor {
        /// The last certificate that was reached.
        link: Link,
        /// Who issued it.
        issuer: String,
    },
    /// OpenSSL refuses the path for another reason.
    #[error("{link} breaks the path: {reason}")]
    Path {
        /// The certificate at which it broke.
        link: Link,
        /// OpenSSL's words.
        reason: String,
    },
    /// More certificates were sent along than any real path has.
    #[error("the message carries {given} certificates, and {limit} are looked at; its sender has to send one path")]
    TooManyCertificates {
        /// How many.
        given: usize,
        /// How many are allowed.
        limit: usize,
    },
    /// It stands on its issuer's revocation list.
    #[error("{link} was revoked by `{issuer}`; ask its owner by another way what happened")]
    Revoked {
        /// Which certificate.
        link: Link,
        /// Who revoked it.
        issuer: String,
    },
    /// Its issuer's revocation list is missing, stale or unusable, and that counts as a refusal here.
    #[error("whether {link} is revoked is not known: {reason}; provide the current CRL of `{issuer}`")]
    RevocationUnknown {
        /// Which certificate.
        link: Link,
        /// Whose list is needed.
        issuer: String,
        /// What is wrong with what there is.
        reason: String,
    },
    /// A revocation list file could not be read.
    #[error("revocation list {path}: {source}", path = .path.display())]
    CrlFile {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: std::io::Error,
    },
    /// Octets that are no revocation list.
    #[error("not a revocation list, neither PEM nor DER: {0}")]
    CrlFormat(String),
    /// OpenSSL itself failed.
    #[error("OpenSSL failed while judging a certificate: {0}")]
    OpenSsl(#[from] openssl::error::ErrorStack),
}

fn in_days(days: i64) -> String {
    match days {
        0 => "less than a day".to_owned(),
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    }
}
