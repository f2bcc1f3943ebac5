//! The two versions of SOAP and what differs between them.

use crate::wire::xml::names;

/// A version of SOAP. AS4 needs 1.2; 1.1 is recognised and answered in kind (EB-001).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Version {
    /// SOAP 1.1, `text/xml`.
    Soap11,
    /// SOAP 1.2, `application/soap+xml`.
    Soap12,
}

impl Version {
    /// Media type of an envelope on its own and of a root part.
    pub fn media_type(self) -> &'static str {
        match self {
            Self::Soap11 => "text/xml",
            Self::Soap12 => "application/soap+xml",
        }
    }

    /// Namespace of the envelope.
    pub fn namespace(self) -> &'static str {
        match self {
            Self::Soap11 => names::SOAP11,
            Self::Soap12 => names::SOAP12,
        }
    }

    /// The version whose envelopes have that media type, given in lower case and without parameters.
    pub fn of_media_type(essence: &str) -> Option<Self> {
        [Self::Soap11, Self::Soap12].into_iter().find(|version| version.media_type() == essence)
    }

    /// The version with that envelope namespace.
    pub fn of_namespace(namespace: &str) -> Option<Self> {
        [Self::Soap11, Self::Soap12].into_iter().find(|version| version.namespace() == namespace)
    }

    /// `mustUnderstand` as it is emitted (EB §3).
    pub fn must_understand(self) -> &'static str {
        match self {
            Self::Soap11 => "1",
            Self::Soap12 => "true",
        }
    }

    /// The attribute of a header block that says whom it addresses.
    pub(super) fn role_attribute(self) -> &'static str {
        match self {
            Self::Soap11 => "actor",
            Self::Soap12 => "role",
        }
    }

    /// Roles in which an ultimate receiver acts, besides the unnamed one (SOAP 1.2 §2.2, SOAP 1.1 §4.2.2).
    pub(super) fn receiver_roles(self) -> &'static [&'static str] {
        match self {
            Self::Soap11 => &["http://schemas.xmlsoap.org/soap/actor/next"],
            Self::Soap12 => &[
                "http://www.w3.org/2003/05/soap-envelope/role/ultimateReceiver",
                "http://www.w3.org/2003/05/soap-envelope/role/next",
            ],
        }
    }
}
