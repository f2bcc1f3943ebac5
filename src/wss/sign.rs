//! Signing: a detached `ds:Signature` over `eb:Messaging`, the SOAP Body and every part (WS-020).

use std::fmt::Write as _;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::certificate::{Certificate, PrivateKey};
use super::compose::Places;
use super::digest::Hasher;
use super::error::WssError;
use super::reference::{Reference, Transform};
use super::signature_value::{self, KeySizes};
use super::suite::{DigestAlgorithm, SignatureAlgorithm, TokenReference};
use super::token::token;
use crate::wire::xml::write::Value;
use crate::wire::xml::{Document, Limits, Node, c14n, names};

/// Who holds a signing key: our own memory, or a device.
pub trait Signer: Send + Sync {
    /// The certificate of the key.
    fn certificate(&self) -> &Arc<Certificate>;

    /// The certificates above it, nearest first.
    fn chain(&self) -> &[Arc<Certificate>];

    /// The signature of `data` as it stands in `ds:SignatureValue`: for ECDSA `r‖s`.
    ///
    /// # Errors
    /// When the key does not fit the algorithm, or its holder refuses.
    fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Result<Vec<u8>, WssError>;
}

impl Signer for PrivateKey {
    fn certificate(&self) -> &Arc<Certificate> {
        &self.certificate
    }

    fn chain(&self) -> &[Arc<Certificate>] {
        &self.chain
    }

    fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Result<Vec<u8>, WssError> {
        if let Some(why) = signature_value::unfit(&self.key, algorithm, KeySizes { rsa: 2048, ec: 256 }) {
            return Err(WssError::Key { certificate: self.certificate.subject().to_owned(), why });
        }
        signature_value::sign(&self.key, algorithm, data).map_err(WssError::crypto("signing"))
    }
}

/// A part to be signed.
#[derive(Clone, Copy, Debug)]
pub struct PartToSign<'a> {
    /// `cid:` URL, as it stands in `eb:PartInfo/@href`.
    pub uri: &'a str,
    /// Its digest by [`super::PartDigester::signing`], with the hash of the options.
    pub digest: &'a [u8],
}

/// Ids of the elements that signing makes; unique in the envelope, and each an `NCName`.
#[derive(Clone, Copy, Debug)]
pub struct SignIds<'a> {
    /// `ds:Signature/@Id`.
    pub signature: &'a str,
    /// `wsse:BinarySecurityToken/@wsu:Id`; not used by the forms that have none.
    pub token: &'a str,
}

/// How to sign.
#[derive(Clone, Copy, Debug)]
pub struct SignOptions<'a> {
    /// `ds:SignatureMethod`.
    pub algorithm: SignatureAlgorithm,
    /// `ds:DigestMethod` of every reference.
    pub hash: DigestAlgorithm,
    /// How our certificate is named.
    pub token: TokenReference,
    /// Ids of further elements to sign, such as the `ebms` authorisation header (WS-021, WS-111).
    pub also: &'a [&'a str],
    /// Ids to use.
    pub ids: SignIds<'a>,
}

/// A signature, ready to be composed into the envelope.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signed {
    /// Children of `wsse:Security`: the binary token, if any, and `ds:Signature`. They declare their own namespaces,
    /// so they stay valid wherever they are put.
    pub blocks: String,
    /// What was signed, in order: for the comparison with the receipt.
    pub references: Vec<Reference>,
}

/// Signs the envelope's `eb:Messaging` and Body, by the Ids they bear, and the parts in their order. The envelope has
/// no `wsse:Security` yet; what is added beside the signed elements does not change them.
///
/// # Errors
/// When the envelope does not parse, lacks an Id, or the key cannot sign.
pub fn sign(
    envelope: &str,
    parts: &[PartToSign<'_>],
    signer: &dyn Signer,
    options: &SignOptions<'_>,
) -> Result<Signed, WssError> {
    let document = Document::parse(envelope, &Limits::ENVELOPE).map_err(|error| WssError::Malformed {
        place: "the envelope to be signed".to_owned(),
        why: error.to_string(),
    })?;
    let references = references(&document, parts, options)?;
    let inside = signed_info(options.algorithm, &references);
    // SignedInfo is written in canonical form. Only the declaration of `ds` moves: in the message it stands on
    // ds:Signature, in the canonical form of the subtree on SignedInfo.
    let canonical = format!(r#"<ds:SignedInfo xmlns:ds="{}">{inside}</ds:SignedInfo>"#, names::DS);
    let value = signer.sign(options.algorithm, canonical.as_bytes())?;
    let token = token(options.token, signer.certificate(), signer.chain(), options.ids.token);
    let blocks = format!(
        r#"{}<ds:Signature xmlns:ds="{}" Id="{}"><ds:SignedInfo>{inside}</ds:SignedInfo><ds:SignatureValue>{}</ds:SignatureValue><ds:KeyInfo xmlns:wsse="{}">{}</ds:KeyInfo></ds:Signature>"#,
        token.binary,
        names::DS,
        Value(options.ids.signature),
        STANDARD.encode(value),
        names::WSSE,
        token.reference,
    );
    Ok(Signed { blocks, references })
}

/// What is to be signed, in the order emitted: Messaging, Body, further elements, parts.
fn references(
    document: &Document,
    parts: &[PartToSign<'_>],
    options: &SignOptions<'_>,
) -> Result<Vec<Reference>, WssError> {
    let places = Places::find(document)?;
    let mut references = vec![element(places.messaging, options.hash)?, element(places.body, options.hash)?];
    for id in options.also {
        let node = document.by_id(id).ok_or_else(|| WssError::Malformed {
            place: places.envelope.path(),
            why: format!("no element has the Id `{id}`, which is to be signed"),
        })?;
        references.push(element_by(id, node, options.hash));
    }
    for part in parts {
        references.push(Reference {
            uri: part.uri.to_owned(),
            transforms: vec![Transform { algorithm: names::SWA_CONTENT_SIGNATURE.to_owned(), prefix_list: None }],
            digest_method: options.hash.uri().to_owned(),
            digest: part.digest.to_vec(),
        });
    }
    Ok(references)
}

/// The reference to an element by its Id.
fn element(node: Node<'_>, hash: DigestAlgorithm) -> Result<Reference, WssError> {
    let id = node.xml_id().ok_or_else(|| WssError::Malformed {
        place: node.path(),
        why: "it has no Id, so it cannot be signed".to_owned(),
    })?;
    Ok(element_by(id, node, hash))
}

fn element_by(id: &str, node: Node<'_>, hash: DigestAlgorithm) -> Reference {
    let mut hasher = Hasher::new(hash);
    c14n::canonicalize(node, None, &mut |octets| hasher.update(octets));
    Reference {
        uri: format!("#{id}"),
        transforms: vec![Transform { algorithm: names::EXC_C14N.to_owned(), prefix_list: None }],
        digest_method: hash.uri().to_owned(),
        digest: hasher.finish(),
    }
}

/// The content of `ds:SignedInfo`, in canonical form: no empty-element tags, no white space.
fn signed_info(algorithm: SignatureAlgorithm, references: &[Reference]) -> String {
    let mut xml = format!(
        r#"<ds:CanonicalizationMethod Algorithm="{}"></ds:CanonicalizationMethod><ds:SignatureMethod Algorithm="{}"></ds:SignatureMethod>"#,
        names::EXC_C14N,
        algorithm.uri()
    );
    for reference in references {
        // Writing to a String cannot fail.
        let _ = write!(xml, r#"<ds:Reference URI="{}"><ds:Transforms>"#, Value(&reference.uri));
        for transform in &reference.transforms {
            let _ = write!(xml, r#"<ds:Transform Algorithm="{}"></ds:Transform>"#, Value(&transform.algorithm));
        }
        let _ = write!(
            xml,
            r#"</ds:Transforms><ds:DigestMethod Algorithm="{}"></ds:DigestMethod><ds:DigestValue>{}</ds:DigestValue></ds:Reference>"#,
            Value(&reference.digest_method),
            STANDARD.encode(&reference.digest)
        );
    }
    xml
}
