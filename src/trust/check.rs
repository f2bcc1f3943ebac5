//! What a certificate has to be by itself, whoever issued it.

use std::fmt;

use openssl::pkey::{HasPublic, Id, PKeyRef};
use openssl::x509::X509KeyUsage;
use time::OffsetDateTime;

use super::revocation::Revocation;
use super::{Link, TrustError};
use crate::wss::Certificate;

/// What a message certificate is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// Its holder signs.
    Sign,
    /// We encrypt to its holder.
    Encrypt,
}

impl fmt::Display for Purpose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Sign => "signing",
            Self::Encrypt => "encryption",
        })
    }
}

/// A certificate is accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// Subjects from the certificate to the anchor; a pinned certificate stands alone.
    pub path: Vec<String>,
    /// The end of the validity that ends first on the path.
    pub valid_until: OffsetDateTime,
    /// What is known of revocation.
    pub revocation: Revocation,
}

/// Validity at `now`, key usage and key strength of the certificate that is asked about.
pub(super) fn leaf(certificate: &Certificate, purpose: Purpose, now: OffsetDateTime) -> Result<(), TrustError> {
    let link = || Link::new(certificate, 0, purpose);
    validity(certificate, now, link)?;
    key_usage(certificate, purpose)?;
    key_strength(certificate.public_key()).map_err(|key| TrustError::WeakKey { link: link(), key })
}

/// Validity at `now`.
fn validity(certificate: &Certificate, now: OffsetDateTime, link: impl FnOnce() -> Link) -> Result<(), TrustError> {
    if now < certificate.not_before() {
        Err(not_yet_valid(certificate, now, link()))
    } else if now > certificate.not_after() {
        Err(expired(certificate, now, link()))
    } else {
        Ok(())
    }
}

/// The error of an expired certificate, with the days since.
pub(super) fn expired(certificate: &Certificate, now: OffsetDateTime, link: Link) -> TrustError {
    let ended = certificate.not_after();
    TrustError::Expired { link, days: (now - ended).whole_days(), ended }
}

/// The error of a certificate that is for later, with the days until then.
pub(super) fn not_yet_valid(certificate: &Certificate, now: OffsetDateTime, link: Link) -> TrustError {
    let starts = certificate.not_before();
    TrustError::NotYetValid { link, days: (starts - now).whole_days(), starts }
}

/// RFC 5280 §4.2.1.3: a certificate without the extension may be used for everything (WS-102).
fn key_usage(certificate: &Certificate, purpose: Purpose) -> Result<(), TrustError> {
    let Some(usage) = certificate.x509().key_usage() else { return Ok(()) };
    let (allowed, lacks) = match purpose {
        Purpose::Sign => (X509KeyUsage::DIGITAL_SIGNATURE, "digitalSignature"),
        Purpose::Encrypt => {
            (X509KeyUsage::KEY_ENCIPHERMENT | X509KeyUsage::KEY_AGREEMENT, "keyEncipherment or keyAgreement")
        }
    };
    if usage.intersects(allowed) {
        Ok(())
    } else {
        Err(TrustError::KeyUsage { link: Link::new(certificate, 0, purpose), lacks })
    }
}

/// WS-091: RSA from 2048 bits, elliptic curves from 256; kinds that no suite uses count as weak.
///
/// # Errors
/// Kind and length of a key that is too weak.
pub fn key_strength(key: &PKeyRef<impl HasPublic>) -> Result<(), String> {
    let (name, enough) = match key.id() {
        Id::RSA | Id::RSA_PSS => ("RSA", key.bits() >= 2048),
        Id::EC => ("EC", key.bits() >= 256),
        Id::ED25519 | Id::X25519 | Id::ED448 | Id::X448 => return Ok(()),
        Id::DSA => ("DSA", false),
        _ => ("of an unknown kind", false),
    };
    if enough { Ok(()) } else { Err(format!("{name}, {} bits", key.bits())) }
}
