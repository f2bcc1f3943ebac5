//! Why a received message is not accepted, split by who must act.
//!
//! One value, three readings: the partner is told a code and a short text ([`Reject::code`], [`Reject::detail`]), the
//! operator sees the whole cause (`Display`, with sources), and the counters see a bounded label ([`Reject::label`]).

use crate::ebms::{Code, EbmsError, HeaderError};
use crate::pmode;
use crate::wire::visible;
use crate::wss::{Failure, WssError};

/// One text for whatever is wrong with a signature or its signer.
const SIGNER: &str = "the signature or the signer was not accepted";

/// Why a received message is not accepted.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Reject {
    /// The MIME package or the HTTP framing of the message (EB-002…EB-023).
    #[error("the MIME package is broken: {0}")]
    Packaging(String),
    /// The SOAP envelope is not readable XML, or not SOAP.
    #[error("the SOAP envelope cannot be read: {0}")]
    Envelope(String),
    /// An envelope of a SOAP version that nobody speaks.
    #[error("{0}")]
    SoapVersion(String),
    /// A header block that must be understood is not.
    #[error("the header block `{0}` must be understood and is not")]
    NotUnderstood(String),
    /// `eb:Messaging` breaks the rules of the header tables.
    #[error("eb:Messaging is not valid: {0}")]
    Header(#[source] HeaderError),
    /// The message is for a party that is not ours.
    #[error("the To party {0} is not served here")]
    NotForUs(String),
    /// Security that the P-Mode did not agree.
    #[error("{0}")]
    NotAgreed(String),
    /// A feature of the specifications that is not spoken here.
    #[error("not supported: {0}")]
    Unsupported(String),
    /// No P-Mode agrees, or one that does not allow this message.
    #[error("no agreement: {0}")]
    Agreement(#[source] pmode::Refusal),
    /// The security header or the signature.
    #[error("security: {}", .0.operator_detail())]
    Security(WssError),
    /// The signer is not who the From party is.
    #[error("the signer is not accepted: {0}")]
    Signer(String),
    /// A payload that PayloadInfo names is not there.
    #[error("the part `{0}` is named by PayloadInfo and is not in the message")]
    PartMissing(String),
    /// Two PartInfo elements for one part.
    #[error("{0} name the same payload")]
    PartTwice(String),
    /// A part that nobody names, in a leg with signatures (EB-015).
    #[error("the part `{0}` is not named by PayloadInfo")]
    PartUnnamed(String),
    /// A payload outside the message; never fetched (EB-016).
    #[error("the external payload `{0}` is not accepted")]
    External(String),
    /// The two signature engines do not agree: nothing is accepted, the evidence is kept.
    #[error("the second signature engine disagrees: {0}")]
    SecondOpinion(String),
    /// gzip data, or the properties that must go with it (EB-172).
    #[error("part `{part}` cannot be decompressed: {why}")]
    Decompression {
        /// Its Content-ID.
        part: String,
        /// What is wrong.
        why: String,
    },
    /// A limit of this gateway or of the P-Mode.
    #[error("too large: {0}")]
    TooLarge(String),
    /// A check of the profile (SBDH, properties, number of payloads).
    #[error("profile: {0}")]
    Profile(String),
    /// Older than the duplicate window: its id may be forgotten (IN-16).
    #[error("older than the duplicate window: {0}")]
    TooOld(String),
    /// Dated further ahead than clocks differ.
    #[error("dated in the future: {0}")]
    TooNew(String),
    /// The id was used for another content (IN-23).
    #[error("message id reused with other content: first {first}, now {now}")]
    OtherContent {
        /// Payload hash of the accepted message.
        first: String,
        /// Payload hash of this one.
        now: String,
    },
}

impl Reject {
    /// What the partner is told, one `eb:Error` each.
    #[must_use]
    pub fn errors(&self) -> Vec<EbmsError> {
        match self {
            Self::Header(error) => error.errors(),
            Self::Agreement(refusal) if !refusal.findings.is_empty() => {
                refusal.findings.iter().map(|f| EbmsError::new(Code::read(f.code), visible(&f.detail()))).collect()
            }
            other => vec![EbmsError::new(other.code(), visible(&other.detail()))],
        }
    }

    /// The code that the partner is told.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::Packaging(_) | Self::PartMissing(_) => Code::MIME_INCONSISTENCY,
            Self::Envelope(_) | Self::SoapVersion(_) | Self::NotUnderstood(_) | Self::PartTwice(_) => {
                Code::INVALID_HEADER
            }
            Self::Header(error) => error.code(),
            Self::Agreement(refusal) => Code::read(refusal.code()),
            Self::Security(error) => Code::read(error.code()),
            Self::Signer(_) | Self::SecondOpinion(_) => Code::FAILED_AUTHENTICATION,
            Self::NotForUs(_) => Code::VALUE_NOT_RECOGNIZED,
            Self::NotAgreed(_) => Code::POLICY_NONCOMPLIANCE,
            Self::Unsupported(_) => Code::FEATURE_NOT_SUPPORTED_IN_PACKAGING,
            Self::PartUnnamed(_) | Self::External(_) => Code::EXTERNAL_PAYLOAD_ERROR,
            Self::Decompression { .. } => Code::DECOMPRESSION_FAILURE,
            Self::TooLarge(_) | Self::Profile(_) | Self::TooOld(_) | Self::TooNew(_) | Self::OtherContent { .. } => {
                Code::OTHER
            }
        }
    }

    /// `eb:ErrorDetail`: the element and the value refused, and nothing of our insides (EB-090).
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Security(error) => match error.failure() {
                Failure::FailedDecryption => "the message could not be decrypted".to_owned(),
                Failure::FailedAuthentication => SIGNER.to_owned(),
                Failure::PolicyNoncompliance | Failure::InvalidHeader => error.to_string(),
                Failure::Other => "the security of the message could not be checked".to_owned(),
            },
            Self::Signer(_) | Self::SecondOpinion(_) => SIGNER.to_owned(),
            Self::OtherContent { .. } => "message id reused with other content".to_owned(),
            Self::TooOld(_) => "older than the duplicate window".to_owned(),
            other => other.to_string(),
        }
    }

    /// A bounded label for counters.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Packaging(_) => "packaging",
            Self::Envelope(_) => "envelope",
            Self::SoapVersion(_) => "soap_version",
            Self::NotUnderstood(_) => "not_understood",
            Self::Header(_) => "header",
            Self::NotForUs(_) => "not_for_us",
            Self::NotAgreed(_) => "not_agreed",
            Self::Unsupported(_) => "unsupported",
            Self::Agreement(_) => "agreement",
            Self::Security(_) => "security",
            Self::Signer(_) => "signer",
            Self::PartMissing(_) => "part_missing",
            Self::PartTwice(_) => "part_twice",
            Self::PartUnnamed(_) => "part_unnamed",
            Self::External(_) => "external",
            Self::SecondOpinion(_) => "second_opinion",
            Self::Decompression { .. } => "decompression",
            Self::TooLarge(_) => "too_large",
            Self::Profile(_) => "profile",
            Self::TooOld(_) => "too_old",
            Self::TooNew(_) => "too_new",
            Self::OtherContent { .. } => "other_content",
        }
    }
}
