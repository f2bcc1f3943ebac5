//! Why a document is no SOAP message for us.

use super::fault::FaultCode;
use crate::wire::xml::XmlError;

/// Why an envelope cannot be read (FR-022).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SoapError {
    /// Not XML that we accept.
    #[error("the SOAP part is not acceptable XML: {0}")]
    Xml(#[from] XmlError),
    /// Some other document.
    #[error("the root element is `{0}`, expected a SOAP Envelope")]
    NotSoap(String),
    /// An envelope of an unknown version.
    #[error("the Envelope is of namespace `{0}`; SOAP 1.2 and 1.1 are understood")]
    Version(String),
    /// No Body.
    #[error("the Envelope has no Body")]
    MissingBody,
    /// Something in the wrong place.
    #[error("{place} has `{found}` where only {expected} may stand")]
    Unexpected {
        /// Where.
        place: &'static str,
        /// The element, or text.
        found: String,
        /// What may stand there.
        expected: &'static str,
    },
    /// A header block in no namespace.
    #[error("the header block `{0}` is in no namespace")]
    UnqualifiedBlock(String),
    /// Not an xsd:boolean.
    #[error("mustUnderstand of the header block `{block}` is `{value}`, expected true, false, 1 or 0")]
    MustUnderstand {
        /// Local name of the block.
        block: String,
        /// The value, shortened.
        value: String,
    },
}

impl SoapError {
    /// The code of the fault that answers it (EB-086).
    pub fn fault_code(&self) -> FaultCode {
        match self {
            Self::Version(_) => FaultCode::VersionMismatch,
            Self::Xml(_)
            | Self::NotSoap(_)
            | Self::MissingBody
            | Self::Unexpected { .. }
            | Self::UnqualifiedBlock(_)
            | Self::MustUnderstand { .. } => FaultCode::Sender,
        }
    }
}
