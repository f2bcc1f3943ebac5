//! The security header as values.

use std::sync::Arc;

use super::super::query::CertificateQuery;
use super::super::reference::Reference;
use super::super::suite::{DataEncryption, DigestAlgorithm, KeyTransport, SignatureAlgorithm};
use super::timestamp::Timestamp;
use crate::wire::xml::NodeId;

/// One `wsse:Security` block.
#[derive(Clone, Debug)]
pub struct SecurityHeader {
    /// The element.
    pub node: NodeId,
    /// The one signature, if there is one.
    pub signature: Option<Signature>,
    /// All encrypted keys, wherever they stand.
    pub encrypted_keys: Vec<EncryptedKey>,
    /// What is encrypted.
    pub encrypted_data: Vec<EncryptedData>,
    /// `wsu:Timestamp`.
    pub timestamp: Option<Timestamp>,
    /// `wsse:UsernameToken` elements; judged by the authorisation module.
    pub username_tokens: Vec<NodeId>,
}

/// A certificate, or a path, as it stands in a token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenPath {
    /// DER certificates, end entity first.
    pub certificates: Vec<Vec<u8>>,
}

/// How a key is named.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyName {
    /// The certificate stands in the message.
    Certificate(Arc<TokenPath>),
    /// The certificate is named only.
    Named(CertificateQuery),
}

/// `ds:Signature`.
#[derive(Clone, Debug)]
pub struct Signature {
    /// The element.
    pub node: NodeId,
    /// Its `ds:SignedInfo`.
    pub signed_info: NodeId,
    /// `PrefixList` of the canonicalisation of `SignedInfo`.
    pub prefix_list: Option<String>,
    /// `ds:SignatureMethod`.
    pub algorithm: SignatureAlgorithm,
    /// In document order.
    pub references: Vec<SignedReference>,
    /// The octets of `ds:SignatureValue`.
    pub value: Vec<u8>,
    /// Who signed.
    pub key: KeyName,
}

/// `ds:Reference` with what it points to.
#[derive(Clone, Debug)]
pub struct SignedReference {
    /// As it goes into a receipt.
    pub reference: Reference,
    /// The digest algorithm.
    pub digest: DigestAlgorithm,
    /// What is signed.
    pub target: Target,
}

/// What a reference points to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Target {
    /// An element of this document.
    Element(NodeId),
    /// A MIME part, by its Content-ID without brackets and escapes.
    Part(String),
}

/// `xenc:EncryptedKey`, by key transport.
#[derive(Clone, Debug)]
pub struct EncryptedKey {
    /// `@Id`.
    pub id: Option<String>,
    /// How the content key is wrapped.
    pub transport: KeyTransport,
    /// `xenc:OAEPparams`.
    pub label: Vec<u8>,
    /// For whom.
    pub recipient: KeyName,
    /// The wrapped content key.
    pub wrapped: Vec<u8>,
    /// Ids in its `xenc:ReferenceList`.
    pub data: Vec<String>,
}

/// `xenc:EncryptedData` of a MIME part.
#[derive(Clone, Debug)]
pub struct EncryptedData {
    /// `@Id`.
    pub id: Option<String>,
    /// `@MimeType`: the part's type before encryption.
    pub mime_type: Option<String>,
    /// Whether the part's MIME headers are encrypted with it (`@Type`).
    pub complete: bool,
    /// How.
    pub algorithm: DataEncryption,
    /// `xenc:CipherReference/@URI` as written.
    pub uri: String,
    /// The part's Content-ID without brackets and escapes.
    pub content_id: String,
    /// Index of its key in [`SecurityHeader::encrypted_keys`]; `None` when no key belongs to it.
    pub key: Option<usize>,
}
