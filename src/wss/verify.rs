//! Verifying: the value over `SignedInfo`, and the digest of every signed element of the envelope.

use std::sync::Arc;

use super::cache::CertificateCache;
use super::certificate::Certificate;
use super::digest::Hasher;
use super::error::WssError;
use super::header::{KeyName, SecurityHeader, Signature, SignedReference, Target};
use super::query::CertificateSource;
use super::reference::Reference;
use super::signature_value::{self, KeySizes};
use super::suite::{DigestAlgorithm, SignatureAlgorithm};
use crate::wire::xml::{Document, NodeId, c14n};

/// What is accepted (WS-090, WS-091).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyPolicy {
    /// Signature algorithms.
    pub signatures: Vec<SignatureAlgorithm>,
    /// Digest algorithms.
    pub digests: Vec<DigestAlgorithm>,
    /// Least size of an RSA key in bits.
    pub min_rsa_bits: u32,
    /// Least size of a key on an elliptic curve in bits.
    pub min_ec_bits: u32,
}

impl Default for VerifyPolicy {
    fn default() -> Self {
        Self {
            signatures: SignatureAlgorithm::ALL.to_vec(),
            digests: DigestAlgorithm::ALL.to_vec(),
            min_rsa_bits: 2048,
            min_ec_bits: 256,
        }
    }
}

/// The digest that a part must have for the signature to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExpectedDigest {
    /// The part's Content-ID without brackets and escapes.
    pub content_id: String,
    /// `@URI` as written.
    pub uri: String,
    /// The digest algorithm.
    pub algorithm: DigestAlgorithm,
    /// The digest as signed.
    pub digest: Vec<u8>,
}

/// A signature that holds as far as the envelope goes. Whether its signer is trusted is for others to say, and the
/// parts still have to be digested.
#[derive(Clone, Debug)]
pub struct Verified {
    /// Whose key verified the signature.
    pub signer: Arc<Certificate>,
    /// Certificates that the message brought beside the signer's, nearest first; unjudged.
    pub chain: Vec<Arc<Certificate>>,
    /// The signature algorithm.
    pub algorithm: SignatureAlgorithm,
    /// Every reference, in document order: for the receipt.
    pub references: Vec<Reference>,
    /// The very elements whose digests hold.
    pub covers: Vec<NodeId>,
    /// What the parts must digest to.
    pub parts: Vec<ExpectedDigest>,
}

/// Verifies the signature of `header` over `document`: the signer's certificate is found, the value over `SignedInfo`
/// checked, then the digest of every signed element.
///
/// # Errors
/// When there is no signature, an algorithm or key is not accepted, the signer is unknown, or anything differs.
pub fn verify(
    document: &Document,
    header: &SecurityHeader,
    source: &dyn CertificateSource,
    cache: &CertificateCache,
    policy: &VerifyPolicy,
) -> Result<Verified, WssError> {
    let signature = header.signature.as_ref().ok_or(WssError::NotSigned)?;
    accepted(signature, policy)?;
    let (signer, chain) = certificates(&signature.key, source, cache)?;
    let least = KeySizes { rsa: policy.min_rsa_bits, ec: policy.min_ec_bits };
    if let Some(why) = signature_value::unfit(signer.public_key(), signature.algorithm, least) {
        return Err(WssError::Key { certificate: signer.subject().to_owned(), why });
    }
    let signed_info = c14n::canonical(document.node(signature.signed_info), signature.prefix_list.as_deref());
    if !signature_value::verify(signer.public_key(), signature.algorithm, &signed_info, &signature.value) {
        return Err(WssError::Signature { certificate: format!("{} (serial {})", signer.subject(), signer.serial()) });
    }
    let (mut covers, mut parts) = (Vec::new(), Vec::new());
    for signed in &signature.references {
        match &signed.target {
            Target::Element(node) => {
                check_element(document, *node, signed)?;
                covers.push(*node);
            }
            Target::Part(content_id) => parts.push(ExpectedDigest {
                content_id: content_id.clone(),
                uri: signed.reference.uri.clone(),
                algorithm: signed.digest,
                digest: signed.reference.digest.clone(),
            }),
        }
    }
    let references = signature.references.iter().map(|signed| signed.reference.clone()).collect();
    Ok(Verified { signer, chain, algorithm: signature.algorithm, references, covers, parts })
}

fn accepted(signature: &Signature, policy: &VerifyPolicy) -> Result<(), WssError> {
    let refused = |use_for, uri: &str| Err(WssError::Algorithm { use_for, uri: uri.to_owned() });
    if !policy.signatures.contains(&signature.algorithm) {
        return refused("signature", signature.algorithm.uri());
    }
    match signature.references.iter().find(|signed| !policy.digests.contains(&signed.digest)) {
        Some(signed) => refused("digest", signed.digest.uri()),
        None => Ok(()),
    }
}

type Path = (Arc<Certificate>, Vec<Arc<Certificate>>);

fn certificates(key: &KeyName, source: &dyn CertificateSource, cache: &CertificateCache) -> Result<Path, WssError> {
    match key {
        KeyName::Certificate(path) => {
            let mut all = path.certificates.iter().map(|der| cache.certificate(der));
            let signer = all.next().ok_or_else(|| WssError::Certificate("the token is empty".to_owned()))??;
            Ok((signer, all.collect::<Result<_, _>>()?))
        }
        KeyName::Named(query) => {
            let signer = source.find(query).ok_or_else(|| WssError::SignerUnknown(query.clone()))?;
            Ok((signer, Vec::new()))
        }
    }
}

fn check_element(document: &Document, node: NodeId, signed: &SignedReference) -> Result<(), WssError> {
    let list = signed.reference.transforms.first().and_then(|transform| transform.prefix_list.as_deref());
    let mut hasher = Hasher::new(signed.digest);
    c14n::canonicalize(document.node(node), list, &mut |octets| hasher.update(octets));
    let found = hasher.finish();
    if found == signed.reference.digest {
        return Ok(());
    }
    Err(WssError::Digest { uri: signed.reference.uri.clone(), expected: signed.reference.digest.clone(), found })
}
