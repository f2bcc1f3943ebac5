//! Certificate revocation lists, one link of the path after the other.

use std::path::Path;
use std::sync::Arc;

use openssl::stack::Stack;
use openssl::x509::store::X509Store;
use openssl::x509::{CrlStatus, X509Crl, X509CrlRef};
use time::OffsetDateTime;

use super::anchors::MissingCrl;
use super::{Link, Purpose, TrustError, path};
use crate::wss::Certificate;

/// What is known of the revocation of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Revocation {
    /// No list was given, so nothing was asked.
    Unchecked,
    /// Every certificate below the anchor was looked up in a current list of its issuer.
    Good,
    /// Some could not be looked up, and that is accepted here.
    Unknown {
        /// Why not.
        why: String,
    },
}

/// One revocation list. It is used only if its signature, scope and time hold, which is seen when a certificate of its
/// issuer is judged.
#[derive(Clone)]
pub struct Crl(Arc<X509Crl>);

impl std::fmt::Debug for Crl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Crl({:?})", self.0.issuer_name())
    }
}

impl Crl {
    /// Parses one list in DER, or any number of them in PEM.
    ///
    /// # Errors
    /// When it is neither.
    pub fn parse_all(octets: &[u8]) -> Result<Vec<Self>, TrustError> {
        const BEGIN: &[u8] = b"-----BEGIN X509 CRL-----";
        let starts: Vec<usize> = memchr::memmem::find_iter(octets, BEGIN).collect();
        let failed = |e: openssl::error::ErrorStack| TrustError::CrlFormat(e.to_string());
        if starts.is_empty() {
            return Ok(vec![Self(Arc::new(X509Crl::from_der(octets).map_err(failed)?))]);
        }
        let pieces = starts.iter().filter_map(|start| octets.get(*start..));
        pieces.map(|pem| Ok(Self(Arc::new(X509Crl::from_pem(pem).map_err(failed)?)))).collect()
    }

    /// Reads a file of [`Crl::parse_all`].
    ///
    /// # Errors
    /// When it cannot be read, or holds something else.
    pub fn read_all(path: &Path) -> Result<Vec<Self>, TrustError> {
        let octets = std::fs::read(path).map_err(|source| TrustError::CrlFile { path: path.to_owned(), source })?;
        Self::parse_all(&octets).map_err(|e| {
            let source = std::io::Error::new(std::io::ErrorKind::InvalidData, e.to_string());
            TrustError::CrlFile { path: path.to_owned(), source }
        })
    }

    pub(super) fn list(&self) -> &X509CrlRef {
        &self.0
    }

    /// When its issuer promised the next one.
    #[must_use]
    pub fn next_update(&self) -> Option<OffsetDateTime> {
        let epoch = openssl::asn1::Asn1Time::from_unix(0).ok()?;
        let diff = epoch.diff(self.0.next_update()?).ok()?;
        let since = time::Duration::days(diff.days.into()) + time::Duration::seconds(diff.secs.into());
        OffsetDateTime::UNIX_EPOCH.checked_add(since)
    }

    pub(super) fn is_of(&self, issuer: &Certificate) -> bool {
        self.0.issuer_name().try_cmp(issuer.x509().subject_name()).is_ok_and(std::cmp::Ordering::is_eq)
    }

    /// Whether it lists the certificate, its time and scope left aside.
    fn lists(&self, certificate: &Certificate, issuer: &Certificate) -> bool {
        self.is_of(issuer)
            && self.0.verify(issuer.public_key()).unwrap_or(false)
            && matches!(self.0.get_by_cert(certificate.x509()), CrlStatus::Revoked(_))
    }
}

/// Looks every certificate below the anchor up. `store` holds anchors and lists.
pub(super) fn check(
    store: &X509Store,
    path: &[Certificate],
    crls: &[Crl],
    missing: MissingCrl,
    purpose: Purpose,
) -> Result<Revocation, TrustError> {
    // An anchor that is judged itself has no link to look up.
    let mut state = if path.len() > 1 { Revocation::Good } else { Revocation::Unchecked };
    for (depth, pair) in (0..).zip(path.windows(2)) {
        let [certificate, issuer] = pair else { continue };
        let mut above = Stack::new()?;
        for other in path.iter().skip(depth as usize + 1) {
            above.push(other.x509().clone())?;
        }
        let Err(failure) = path::verify(store, certificate.x509(), &above) else { continue };
        let link = Link::new(certificate, depth, purpose);
        let issuer_name = issuer.subject().to_owned();
        // A certificate on an outdated list stays revoked, whatever is thought of missing lists.
        let revoked = failure.result.as_raw() == openssl_sys::X509_V_ERR_CERT_REVOKED;
        if revoked || crls.iter().any(|crl| crl.lists(certificate, issuer)) {
            return Err(TrustError::Revoked { link, issuer: issuer_name });
        }
        let reason = failure.result.error_string().to_owned();
        match missing {
            MissingCrl::Refuse => return Err(TrustError::RevocationUnknown { link, issuer: issuer_name, reason }),
            MissingCrl::Accept => state = Revocation::Unknown { why: format!("{link}: {reason} (`{issuer_name}`)") },
        }
    }
    Ok(state)
}
