//! `xenc:EncryptedKey`, `xenc:EncryptedData` and the lists between them, in any order.

use std::collections::HashMap;

use super::super::error::WssError;
use super::super::reference::content_id;
use super::super::suite::{DataEncryption, KeyTransport, OaepHash};
use super::keys::{Tokens, key_info};
use super::model::{EncryptedData, EncryptedKey};
use super::schema::{bounded, children, malformed, not_understood, octets, only_child, required};
use crate::wire::xml::{Node, names};

/// `xenc:EncryptedKey` elements of one header: each costs a private-key operation.
const KEYS: usize = 128;
/// `xenc:EncryptedData` elements, and entries of one list.
const DATA: usize = 1_000;

/// How an `EncryptedData` finds its key.
enum DataKey {
    /// `KeyInfo` refers to it by Id.
    Id(String),
    /// It stands inside `KeyInfo`.
    Inline(usize),
    /// There is no `KeyInfo`: a list of some key has to name the data.
    Listed,
}

/// Gathers what is encrypted, and links it at the end.
pub(super) struct Encryption<'t> {
    tokens: &'t Tokens,
    keys: Vec<EncryptedKey>,
    data: Vec<(EncryptedData, DataKey)>,
    listed: Vec<String>,
}

impl<'t> Encryption<'t> {
    pub(super) fn new(tokens: &'t Tokens) -> Self {
        Self { tokens, keys: Vec::new(), data: Vec::new(), listed: Vec::new() }
    }

    /// A stand-alone list binds nothing to a key; what it names must be there.
    pub(super) fn list(&mut self, node: Node<'_>) -> Result<(), WssError> {
        self.listed.extend(reference_list(node)?);
        bounded(self.listed.len(), DATA, "entries in its ReferenceLists")
    }

    pub(super) fn key(&mut self, node: Node<'_>) -> Result<(), WssError> {
        bounded(self.keys.len() + 1, KEYS, "EncryptedKeys")?;
        let (mut method, mut recipient, mut wrapped, mut data) = (None, None, None, Vec::new());
        for child in children(node)? {
            let repeated = match (child.namespace(), child.local()) {
                (names::XENC, "EncryptionMethod") => method.replace(key_transport(child)?).is_some(),
                (names::DS, "KeyInfo") => {
                    no_agreement(child)?;
                    recipient.replace(key_info(child, self.tokens)?).is_some()
                }
                (names::XENC, "CipherData") => wrapped.replace(cipher_value(child)?).is_some(),
                (names::XENC, "ReferenceList") => {
                    let again = !data.is_empty();
                    data = reference_list(child)?;
                    again
                }
                (names::XENC, "CarriedKeyName" | "EncryptionProperties") => false,
                _ => return Err(not_understood(child, "it has no meaning in an EncryptedKey")),
            };
            if repeated {
                return Err(malformed(child, "it stands twice"));
            }
        }
        let (transport, label) = method.ok_or_else(|| malformed(node, "it has no EncryptionMethod"))?;
        self.listed.extend(data.iter().cloned());
        bounded(self.listed.len(), DATA, "entries in its ReferenceLists")?;
        self.keys.push(EncryptedKey {
            id: node.xml_id().map(str::to_owned),
            transport,
            label,
            recipient: recipient.ok_or_else(|| malformed(node, "it has no KeyInfo"))?,
            wrapped: wrapped.ok_or_else(|| malformed(node, "it has no CipherData"))?,
            data,
        });
        Ok(())
    }

    pub(super) fn data(&mut self, node: Node<'_>) -> Result<(), WssError> {
        bounded(self.data.len() + 1, DATA, "EncryptedData elements")?;
        let complete = match node.attribute("Type").map(str::trim) {
            Some(names::SWA_CONTENT_ONLY) | None => false,
            Some(names::SWA_COMPLETE) => true,
            Some(_) => return Err(not_understood(node, "its Type is neither Attachment-Content-Only nor -Complete")),
        };
        let (mut algorithm, mut key, mut uri) = (None, None, None);
        for child in children(node)? {
            let repeated = match (child.namespace(), child.local()) {
                (names::XENC, "EncryptionMethod") => algorithm.replace(data_encryption(child)?).is_some(),
                (names::DS, "KeyInfo") => key.replace(self.data_key(child)?).is_some(),
                (names::XENC, "CipherData") => uri.replace(cipher_reference(child)?).is_some(),
                (names::XENC, "EncryptionProperties") => false,
                _ => return Err(not_understood(child, "it has no meaning in EncryptedData")),
            };
            if repeated {
                return Err(malformed(child, "it stands twice"));
            }
        }
        let (uri, content_id) = uri.ok_or_else(|| malformed(node, "it has no CipherData"))?;
        if self.data.iter().any(|(other, _)| other.content_id == content_id) {
            return Err(malformed(node, "its part is the CipherReference of another EncryptedData too"));
        }
        let data = EncryptedData {
            id: node.xml_id().map(str::to_owned),
            mime_type: node.attribute("MimeType").map(str::to_owned),
            complete,
            algorithm: algorithm.ok_or_else(|| malformed(node, "it has no EncryptionMethod"))?,
            uri,
            content_id,
            key: None,
        };
        self.data.push((data, key.unwrap_or(DataKey::Listed)));
        Ok(())
    }

    fn data_key(&mut self, key_info: Node<'_>) -> Result<DataKey, WssError> {
        let inside = only_child(key_info)?;
        match (inside.namespace(), inside.local()) {
            (names::XENC, "EncryptedKey") => {
                self.key(inside)?;
                Ok(DataKey::Inline(self.keys.len() - 1))
            }
            (names::WSSE, "SecurityTokenReference") => {
                let reference = only_child(inside)?;
                let uri = reference.attribute("URI").map(str::trim).unwrap_or_default();
                match uri.strip_prefix('#') {
                    Some(id) if reference.is(names::WSSE, "Reference") => Ok(DataKey::Id(id.to_owned())),
                    _ => Err(not_understood(reference, "EncryptedData refers to its EncryptedKey by `#id` only")),
                }
            }
            _ => Err(not_understood(inside, "EncryptedData refers to an EncryptedKey or holds one")),
        }
    }

    /// Links data and keys, by Id or by list. What a list names must be here, for nothing else is decrypted.
    pub(super) fn finish(self, security: Node<'_>) -> Result<(Vec<EncryptedKey>, Vec<EncryptedData>), WssError> {
        let by_id: HashMap<&str, usize> =
            self.keys.iter().enumerate().filter_map(|(at, key)| Some((key.id.as_deref()?, at))).collect();
        let mut by_list: HashMap<&str, usize> = HashMap::new();
        for (at, key) in self.keys.iter().enumerate() {
            for id in &key.data {
                by_list.entry(id).or_insert(at);
            }
        }
        let data: Vec<EncryptedData> = self
            .data
            .into_iter()
            .map(|(mut data, key)| {
                data.key = match key {
                    DataKey::Id(id) => by_id.get(id.as_str()).copied(),
                    DataKey::Inline(at) => Some(at),
                    DataKey::Listed => data.id.as_deref().and_then(|id| by_list.get(id)).copied(),
                };
                data
            })
            .collect();
        let known: std::collections::HashSet<&str> = data.iter().filter_map(|data| data.id.as_deref()).collect();
        match self.listed.iter().find(|id| !known.contains(id.as_str())) {
            None => Ok((self.keys, data)),
            Some(id) => Err(not_understood(
                security,
                &format!(
                    "a ReferenceList names `#{id}`, which is no EncryptedData of this header; only attachments are decrypted"
                ),
            )),
        }
    }
}

/// Key agreement is told apart, for people read the error.
fn no_agreement(key_info: Node<'_>) -> Result<(), WssError> {
    match key_info.child(names::XENC, "AgreementMethod") {
        None => Ok(()),
        Some(method) => Err(WssError::Algorithm {
            use_for: "key agreement",
            uri: method.attribute("Algorithm").unwrap_or_default().to_owned(),
        }),
    }
}

fn reference_list(node: Node<'_>) -> Result<Vec<String>, WssError> {
    let entries = children(node)?;
    bounded(entries.len(), DATA, "entries in a ReferenceList")?;
    entries
        .into_iter()
        .map(|entry| {
            let id = entry.attribute("URI").and_then(|uri| uri.trim().strip_prefix('#'));
            match id {
                Some(id) if entry.is(names::XENC, "DataReference") => Ok(id.to_owned()),
                _ => Err(not_understood(entry, "only a DataReference with `#id` belongs here")),
            }
        })
        .collect()
}

fn data_encryption(method: Node<'_>) -> Result<DataEncryption, WssError> {
    let uri = required(method, "Algorithm")?;
    DataEncryption::from_uri(uri).ok_or_else(|| WssError::Algorithm { use_for: "data encryption", uri: uri.to_owned() })
}

/// The OAEP variant and its label. What is absent is SHA-1 (WS-048, FR-042); order is free.
fn key_transport(method: Node<'_>) -> Result<(KeyTransport, Vec<u8>), WssError> {
    let uri = required(method, "Algorithm")?;
    let unknown = |use_for, uri: &str| WssError::Algorithm { use_for, uri: uri.to_owned() };
    let (mut digest, mut mgf, mut label) = (OaepHash::Sha1, OaepHash::Sha1, Vec::new());
    let mut mgf_given = None;
    for child in children(method)? {
        match (child.namespace(), child.local()) {
            (names::DS, "DigestMethod") => {
                let uri = required(child, "Algorithm")?;
                digest = OaepHash::from_digest_uri(uri).ok_or_else(|| unknown("OAEP digest", uri))?;
            }
            (names::XENC11, "MGF") => {
                let uri = required(child, "Algorithm")?;
                mgf = OaepHash::from_mgf_uri(uri).ok_or_else(|| unknown("OAEP mask generation", uri))?;
                mgf_given = Some(child);
            }
            (names::XENC, "OAEPparams") => label = octets(child)?,
            (names::XENC, "KeySize") => {}
            _ => return Err(not_understood(child, "it has no meaning for this algorithm")),
        }
    }
    match (uri, mgf_given) {
        (KeyTransport::RSA_OAEP, _) => Ok((KeyTransport::RsaOaep { digest, mgf }, label)),
        (KeyTransport::RSA_OAEP_MGF1P, Some(child)) if mgf != OaepHash::Sha1 => {
            Err(not_understood(child, "rsa-oaep-mgf1p has MGF1 with SHA-1 always"))
        }
        (KeyTransport::RSA_OAEP_MGF1P, _) => Ok((KeyTransport::RsaOaepMgf1p { digest }, label)),
        _ => Err(unknown("key transport", uri)),
    }
}

fn cipher_value(cipher_data: Node<'_>) -> Result<Vec<u8>, WssError> {
    let value = only_child(cipher_data)?;
    if !value.is(names::XENC, "CipherValue") {
        return Err(not_understood(value, "an encrypted key stands in a CipherValue"));
    }
    octets(value)
}

/// The part of a `CipherReference`: `@URI` as written and as Content-ID (WS-046).
fn cipher_reference(cipher_data: Node<'_>) -> Result<(String, String), WssError> {
    let reference = only_child(cipher_data)?;
    if !reference.is(names::XENC, "CipherReference") {
        return Err(not_understood(reference, "an attachment is named by a CipherReference"));
    }
    let uri = required(reference, "URI")?;
    let id = content_id(uri)
        .ok_or_else(|| WssError::Reference { uri: uri.to_owned(), why: "a CipherReference is `cid:` only" })?;
    let transforms = only_child(reference)?;
    let transform = only_child(transforms)?;
    if !transforms.is(names::XENC, "Transforms") || !transform.is(names::DS, "Transform") {
        return Err(malformed(reference, "it must hold xenc:Transforms with a ds:Transform"));
    }
    let algorithm = required(transform, "Algorithm")?;
    if algorithm != names::SWA_CIPHERTEXT {
        return Err(WssError::Algorithm { use_for: "cipher transform", uri: algorithm.to_owned() });
    }
    Ok((uri.to_owned(), id))
}
