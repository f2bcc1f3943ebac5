//! A certificate with its key.

use std::{fmt, sync::Arc};

use openssl::pkey::PKey;
use rustls::sign::CertifiedKey;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer, pem::PemObject};

use super::{TlsError, provider};

/// A certificate chain with the private key of its first certificate.
#[derive(Clone)]
pub struct Identity {
    pub(super) chain: Vec<CertificateDer<'static>>,
    pub(super) key: Arc<PrivateKeyDer<'static>>,
    pub(super) what: String,
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Identity").field("what", &self.what).field("chain", &self.chain.len()).finish_non_exhaustive()
    }
}

impl Identity {
    /// Reads a chain (leaf first) and a key (PKCS#8, PKCS#1 or SEC 1; locked ones with `passphrase`) out of PEM texts,
    /// which may be the same text. `what` names them in errors.
    pub fn from_pem(what: &str, chain: &[u8], key: &[u8], passphrase: Option<&[u8]>) -> Result<Self, TlsError> {
        let chain = certificates(what, chain)?;
        let refused = |reason: String| TlsError::Key { what: what.to_owned(), reason };
        let key = if is_locked(key) {
            let passphrase =
                passphrase.ok_or_else(|| refused("it is locked, and no passphrase is given".to_owned()))?;
            let key = PKey::private_key_from_pem_passphrase(key, passphrase)
                .and_then(|key| key.private_key_to_pkcs8())
                .map_err(|error| refused(error.to_string()))?;
            PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(key))
        } else {
            PrivateKeyDer::from_pem_slice(key).map_err(|error| refused(error.to_string()))?
        };
        let identity = Self { chain, key: Arc::new(key), what: what.to_owned() };
        identity.certified()?;
        Ok(identity)
    }

    /// The form that rustls signs with; refused when key and certificate are not a pair.
    pub(super) fn certified(&self) -> Result<CertifiedKey, TlsError> {
        CertifiedKey::from_der(self.chain.clone(), self.key.clone_key(), &provider())
            .map_err(|error| TlsError::Key { what: self.what.clone(), reason: error.to_string() })
    }
}

fn is_locked(pem: &[u8]) -> bool {
    memchr::memmem::find(pem, b"ENCRYPTED").is_some()
}

/// Every certificate of a PEM text; at least one.
pub(super) fn certificates(what: &str, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let all: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let all = all.map_err(|error| TlsError::Pem { what: what.to_owned(), reason: error.to_string() })?;
    if all.is_empty() { Err(TlsError::NoCertificate { what: what.to_owned() }) } else { Ok(all) }
}
