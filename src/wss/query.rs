//! How a message names a certificate, and who knows the certificates.

use std::fmt;
use std::sync::Arc;

use super::certificate::Certificate;
use super::name::same_name;

/// How a token reference names a certificate (WS-010…WS-015).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum CertificateQuery {
    /// The certificate itself: SHA-256 of its DER octets.
    Exact([u8; 32]),
    /// The octets of its `SubjectKeyIdentifier`.
    SubjectKeyIdentifier(Vec<u8>),
    /// Issuer name in any spelling, and the serial number in decimal.
    IssuerSerial {
        /// As written.
        issuer: String,
        /// As written.
        serial: String,
    },
    /// SHA-1 of the DER octets.
    Thumbprint(Vec<u8>),
}

impl CertificateQuery {
    /// Whether it names that certificate.
    #[must_use]
    pub fn names(&self, certificate: &Certificate) -> bool {
        match self {
            Self::Exact(sha256) => sha256 == certificate.sha256(),
            Self::SubjectKeyIdentifier(ski) => *ski == certificate.key_identifier(),
            Self::IssuerSerial { issuer, serial } => {
                same_number(serial, certificate.serial()) && same_name(issuer, certificate.x509().issuer_name())
            }
            Self::Thumbprint(sha1) => sha1.as_slice() == certificate.thumbprint(),
        }
    }
}

/// Whether two decimal serial numbers are one number.
fn same_number(a: &str, b: &str) -> bool {
    let plain = |n: &str| {
        let n = n.trim();
        n.strip_prefix('+').unwrap_or(n).trim_start_matches('0').to_owned()
    };
    plain(a) == plain(b)
}

impl fmt::Display for CertificateQuery {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let hex = |f: &mut fmt::Formatter<'_>, octets: &[u8]| octets.iter().try_for_each(|o| write!(f, "{o:02x}"));
        match self {
            Self::Exact(sha256) => {
                f.write_str("the certificate with SHA-256 ")?;
                hex(f, sha256)
            }
            Self::SubjectKeyIdentifier(ski) => {
                f.write_str("SubjectKeyIdentifier ")?;
                hex(f, ski)
            }
            Self::IssuerSerial { issuer, serial } => write!(f, "issuer `{issuer}` and serial {serial}"),
            Self::Thumbprint(sha1) => {
                f.write_str("thumbprint ")?;
                hex(f, sha1)
            }
        }
    }
}

/// Certificates of partners, for signers that a message only names.
pub trait CertificateSource {
    /// The certificate that the query names, if it is known.
    fn find(&self, query: &CertificateQuery) -> Option<Arc<Certificate>>;
}

impl CertificateSource for Vec<Arc<Certificate>> {
    fn find(&self, query: &CertificateQuery) -> Option<Arc<Certificate>> {
        self.iter().find(|certificate| query.names(certificate)).cloned()
    }
}
