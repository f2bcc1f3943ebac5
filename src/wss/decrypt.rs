//! Decrypting: content keys out of their wrapping, for [`super::PartDecryptor`].
//!
//! Called only for a sender whose signature, digests and chain hold (WS-003). A key that does not come out of its
//! wrapping is replaced by random octets: the failure shows at the tag, at the end of the part, like any other (WS-049).

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

use zeroize::Zeroizing;

use super::certificate::PrivateKey;
use super::error::{DecryptionCause, WssError};
use super::gcm::ContentKey;
use super::header::{EncryptedKey, KeyName, SecurityHeader};
use super::oaep;
use super::query::CertificateQuery;
use super::reference::content_id;
use super::suite::{DataEncryption, KeyTransport};

/// What is accepted (WS-090).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecryptPolicy {
    /// Encryption of the parts.
    pub data: Vec<DataEncryption>,
    /// Whether SHA-1 may have a part in RSA-OAEP.
    pub sha1_oaep: bool,
}

impl Default for DecryptPolicy {
    fn default() -> Self {
        Self { data: DataEncryption::ALL.to_vec(), sha1_oaep: false }
    }
}

/// Who holds a decryption key: our own memory, or a device.
pub trait Decryptor: Send + Sync {
    /// Unwraps a content key; every failure is the same `None`.
    fn unwrap_key(&self, transport: KeyTransport, label: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>>;
}

impl Decryptor for PrivateKey {
    fn unwrap_key(&self, transport: KeyTransport, label: &[u8], wrapped: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        oaep::unwrap(&self.key, transport, label, wrapped)
    }
}

/// Our own decryption keys, current and lately expired (WS-052).
pub trait DecryptionKeys {
    /// The key whose certificate the query names.
    fn find(&self, query: &CertificateQuery) -> Option<Arc<dyn Decryptor>>;
}

impl DecryptionKeys for Vec<Arc<PrivateKey>> {
    fn find(&self, query: &CertificateQuery) -> Option<Arc<dyn Decryptor>> {
        let own = self.iter().find(|key| query.names(&key.certificate))?;
        Some(Arc::clone(own) as Arc<dyn Decryptor>)
    }
}

/// A part that arrives encrypted.
#[derive(Clone, Debug)]
pub struct EncryptedPart {
    /// The part's Content-ID without brackets and escapes.
    pub content_id: String,
    /// `cid:` URL as written.
    pub uri: String,
    /// Its type once decrypted; absent is `application/octet-stream` (WS-045).
    pub mime_type: Option<String>,
    /// Whether what is decrypted begins with MIME headers, which replace the part's own (WS-045).
    pub complete: bool,
    /// The content key.
    pub key: ContentKey,
}

/// Unwraps the content key of every encrypted part; each wrapped key once.
///
/// # Errors
/// When an algorithm is not accepted, or no key of ours is named. A key that is ours but does not unwrap is no error
/// here: decryption with what stands in its place fails.
pub fn unwrap_keys(
    header: &SecurityHeader,
    keys: &dyn DecryptionKeys,
    policy: &DecryptPolicy,
) -> Result<Vec<EncryptedPart>, WssError> {
    let mut unwrapped: HashMap<usize, Option<Zeroizing<Vec<u8>>>> = HashMap::new();
    let mut parts = Vec::with_capacity(header.encrypted_data.len());
    for data in &header.encrypted_data {
        if !policy.data.contains(&data.algorithm) {
            return Err(WssError::Algorithm { use_for: "data encryption", uri: data.algorithm.uri().to_owned() });
        }
        let found = data.key.and_then(|at| Some((at, header.encrypted_keys.get(at)?)));
        let Some((at, wrapped)) = found else {
            return Err(WssError::Decryption(DecryptionCause::NoKey(data.uri.clone())));
        };
        let octets = match unwrapped.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => unknown.insert(unwrap(wrapped, keys, policy)?),
        };
        let key = match octets.as_ref().and_then(|octets| ContentKey::from_octets(data.algorithm, octets)) {
            Some(key) => key,
            None => ContentKey::stand_in(data.algorithm)?,
        };
        parts.push(EncryptedPart {
            content_id: data.content_id.clone(),
            uri: data.uri.clone(),
            mime_type: data.mime_type.clone(),
            complete: data.complete,
            key,
        });
    }
    Ok(parts)
}

fn unwrap(
    wrapped: &EncryptedKey,
    keys: &dyn DecryptionKeys,
    policy: &DecryptPolicy,
) -> Result<Option<Zeroizing<Vec<u8>>>, WssError> {
    if wrapped.transport.uses_sha1() && !policy.sha1_oaep {
        return Err(WssError::Algorithm {
            use_for: "key transport (with SHA-1)",
            uri: wrapped.transport.uri().to_owned(),
        });
    }
    let query = match &wrapped.recipient {
        KeyName::Named(query) => query.clone(),
        KeyName::Certificate(path) => {
            CertificateQuery::Exact(openssl::sha::sha256(path.certificates.first().map_or(&[], Vec::as_slice)))
        }
    };
    let own = keys.find(&query).ok_or(WssError::Decryption(DecryptionCause::KeyUnknown(query)))?;
    Ok(own.unwrap_key(wrapped.transport, &wrapped.label, &wrapped.wrapped))
}

/// Checks that every part that must be encrypted is (WS-051).
///
/// # Errors
/// When one is not: it names the first.
pub fn require_encryption<'h>(
    header: &SecurityHeader,
    hrefs: impl IntoIterator<Item = &'h str>,
) -> Result<(), WssError> {
    for href in hrefs {
        let encrypted =
            content_id(href).is_some_and(|id| header.encrypted_data.iter().any(|data| data.content_id == id));
        if !encrypted {
            return Err(WssError::NotEncrypted(href.to_owned()));
        }
    }
    Ok(())
}
