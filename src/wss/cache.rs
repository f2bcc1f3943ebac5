//! Parsed certificates by the hash of their DER octets: parsing one costs more than all XML work of a message.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::certificate::Certificate;
use super::error::WssError;

/// A bounded cache, shared by `Arc` among all who verify.
#[derive(Debug)]
pub struct CertificateCache {
    generations: Mutex<Generations>,
    half: usize,
}

type Parsed = HashMap<[u8; 32], Arc<Certificate>>;

/// What was used lately, and what was used before that: the older half goes when the younger is full.
#[derive(Debug, Default)]
struct Generations {
    young: Parsed,
    old: Parsed,
}

impl Default for CertificateCache {
    fn default() -> Self {
        Self::new(4096)
    }
}

impl CertificateCache {
    /// A cache of at most `capacity` certificates.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { generations: Mutex::default(), half: (capacity / 2).max(1) }
    }

    /// The certificate with those DER octets, parsed now or before.
    ///
    /// # Errors
    /// When it does not parse.
    pub fn certificate(&self, der: &[u8]) -> Result<Arc<Certificate>, WssError> {
        let hash = openssl::sha::sha256(der);
        if let Some(known) = self.known(&hash) {
            return Ok(known);
        }
        let parsed = Certificate::from_der(der).map_err(|error| WssError::Certificate(error.to_string()))?;
        if parsed.der() != der {
            return Err(WssError::Certificate("octets follow the certificate, or it is not in DER".to_owned()));
        }
        let parsed = Arc::new(parsed);
        self.remember(hash, Arc::clone(&parsed));
        Ok(parsed)
    }

    fn known(&self, hash: &[u8; 32]) -> Option<Arc<Certificate>> {
        let generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(young) = generations.young.get(hash) {
            return Some(Arc::clone(young));
        }
        let old = generations.old.get(hash).cloned()?;
        drop(generations);
        self.remember(*hash, Arc::clone(&old));
        Some(old)
    }

    fn remember(&self, hash: [u8; 32], certificate: Arc<Certificate>) {
        let mut generations = self.generations.lock().unwrap_or_else(PoisonError::into_inner);
        if generations.young.len() >= self.half {
            generations.old = std::mem::take(&mut generations.young);
        }
        generations.young.insert(hash, certificate);
    }
}
