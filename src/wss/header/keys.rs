//! Tokens, and the forms in which `ds:KeyInfo` names a key (WS-010…WS-016).

use std::collections::HashMap;
use std::sync::Arc;

use super::super::der;
use super::super::error::WssError;
use super::super::query::CertificateQuery;
use super::model::{KeyName, TokenPath};
use super::schema::{bounded, children, malformed, not_understood, octets, only_child, required, text};
use crate::wire::xml::{Node, names};

/// `wsse:BinarySecurityToken` elements of one header.
const TOKENS: usize = 32;
/// Certificates of one path.
const PATH: usize = 16;

/// The binary security tokens by their `wsu:Id`.
pub(super) struct Tokens {
    by_id: HashMap<String, Arc<TokenPath>>,
}

impl Tokens {
    pub(super) fn read(blocks: &[Node<'_>]) -> Result<Self, WssError> {
        let mut by_id = HashMap::new();
        let tokens = blocks.iter().filter(|block| block.is(names::WSSE, "BinarySecurityToken"));
        for (count, token) in tokens.enumerate() {
            bounded(count + 1, TOKENS, "BinarySecurityTokens")?;
            let path = Arc::new(binary_token(*token)?);
            // Ids are unique in the document; a token without one cannot be referred to.
            if let Some(id) = token.xml_id() {
                by_id.insert(id.to_owned(), path);
            }
        }
        Ok(Self { by_id })
    }

    fn by_uri(&self, node: Node<'_>, uri: &str) -> Result<Arc<TokenPath>, WssError> {
        let id = uri.strip_prefix('#').ok_or_else(|| refused(uri, "a token is referred to by `#id` only"))?;
        self.by_id.get(id).cloned().ok_or_else(|| malformed(node, &format!("there is no token with the Id `{id}`")))
    }
}

fn refused(uri: &str, why: &'static str) -> WssError {
    WssError::Reference { uri: uri.to_owned(), why }
}

/// The certificates of a `wsse:BinarySecurityToken`, end entity first.
fn binary_token(token: Node<'_>) -> Result<TokenPath, WssError> {
    if token.attribute("EncodingType").is_some_and(|encoding| encoding.trim() != names::WSS_BASE64) {
        return Err(not_understood(token, "its EncodingType is not Base64Binary"));
    }
    let content = octets(token)?;
    let certificates = match token.attribute("ValueType").map(str::trim) {
        Some(names::X509_V3) | None => vec![content],
        Some(names::X509_PKI_PATH) => path(token, content)?,
        Some(_) => return Err(not_understood(token, "its ValueType is neither X509v3 nor X509PKIPathv1")),
    };
    Ok(TokenPath { certificates })
}

/// A `PKIPath` from its end: the last certificate is the signer's (FR-041). A single certificate under that name is
/// taken as one (WS-018): its first inner element is a `TBSCertificate`, whose own first element is no SEQUENCE.
fn path(token: Node<'_>, content: Vec<u8>) -> Result<Vec<Vec<u8>>, WssError> {
    let wrong = || malformed(token, "it is no PKIPath");
    if let Some(elements) = der::sequence(&content, PATH) {
        let certificate = |candidate: &[u8]| {
            let tbs = der::element(candidate).and_then(|(tag, inside, _)| (tag == 0x30).then_some(inside));
            tbs.and_then(der::element).is_some_and(|(tag, _, _)| tag == 0x30)
        };
        if !elements.is_empty() && elements.iter().all(|candidate| certificate(candidate)) {
            return Ok(elements.iter().rev().map(|certificate| certificate.to_vec()).collect());
        }
        if !elements.is_empty() {
            return Ok(vec![content]);
        }
    }
    Err(wrong())
}

/// A key named by the content of `ds:KeyInfo`: a token reference or plain `ds:X509Data`.
pub(super) fn key_info(node: Node<'_>, tokens: &Tokens) -> Result<KeyName, WssError> {
    let inside = only_child(node)?;
    match (inside.namespace(), inside.local()) {
        (names::WSSE, "SecurityTokenReference") => token_reference(inside, tokens),
        (names::DS, "X509Data") => x509_data(inside),
        _ => Err(not_understood(inside, "a key is named by a SecurityTokenReference or X509Data only")),
    }
}

fn token_reference(node: Node<'_>, tokens: &Tokens) -> Result<KeyName, WssError> {
    let inside = only_child(node)?;
    match (inside.namespace(), inside.local()) {
        (names::WSSE, "Reference") => Ok(KeyName::Certificate(tokens.by_uri(inside, required(inside, "URI")?.trim())?)),
        (names::WSSE, "KeyIdentifier") => key_identifier(inside),
        (names::WSSE, "Embedded") => {
            let token = only_child(inside)?;
            if !token.is(names::WSSE, "BinarySecurityToken") {
                return Err(not_understood(token, "only a BinarySecurityToken can be embedded"));
            }
            Ok(KeyName::Certificate(Arc::new(binary_token(token)?)))
        }
        (names::DS, "X509Data") => x509_data(inside),
        _ => Err(not_understood(inside, "this form of token reference is not spoken")),
    }
}

fn key_identifier(node: Node<'_>) -> Result<KeyName, WssError> {
    let content = octets(node)?;
    match node.attribute("ValueType").map(str::trim) {
        Some(names::X509_SKI) => Ok(KeyName::Named(CertificateQuery::SubjectKeyIdentifier(content))),
        Some(names::THUMBPRINT_SHA1) => Ok(KeyName::Named(CertificateQuery::Thumbprint(content))),
        Some(names::X509_V3) => Ok(KeyName::Certificate(Arc::new(TokenPath { certificates: vec![content] }))),
        _ => Err(not_understood(node, "its ValueType is not spoken")),
    }
}

/// Plain `ds:X509Data` with one name, or with the certificate (WS-013, WS-015).
fn x509_data(node: Node<'_>) -> Result<KeyName, WssError> {
    let inside = children(node)?;
    let first = |local| inside.iter().copied().find(|child: &Node<'_>| child.is(names::DS, local));
    if let Some(strange) = inside.iter().find(|child| {
        child.namespace() != names::DS
            || !matches!(child.local(), "X509Certificate" | "X509SKI" | "X509IssuerSerial" | "X509SubjectName")
    }) {
        return Err(not_understood(*strange, "it has no meaning in X509Data"));
    }
    if let Some(certificate) = first("X509Certificate") {
        bounded(inside.len(), 3, "children of X509Data")?;
        return Ok(KeyName::Certificate(Arc::new(TokenPath { certificates: vec![octets(certificate)?] })));
    }
    if let Some(ski) = first("X509SKI") {
        return Ok(KeyName::Named(CertificateQuery::SubjectKeyIdentifier(octets(ski)?)));
    }
    let Some(pair) = first("X509IssuerSerial") else {
        return Err(not_understood(node, "it holds neither certificate, SKI nor issuer and serial"));
    };
    match children(pair)?.as_slice() {
        [issuer, serial] if issuer.is(names::DS, "X509IssuerName") && serial.is(names::DS, "X509SerialNumber") => {
            Ok(KeyName::Named(CertificateQuery::IssuerSerial {
                issuer: text(*issuer)?.trim().to_owned(),
                serial: text(*serial)?.trim().to_owned(),
            }))
        }
        _ => Err(malformed(pair, "it must hold X509IssuerName and X509SerialNumber")),
    }
}
