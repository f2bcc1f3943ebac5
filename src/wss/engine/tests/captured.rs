//! Reads captured exchanges: HTTP framing, MIME parts, and decryption with the openssl crate alone.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openssl::encrypt::Decrypter;
use openssl::hash::MessageDigest;
use openssl::pkcs12::Pkcs12;
use openssl::pkey::{PKey, Private};
use openssl::rsa::Padding;
use openssl::symm::{Cipher, decrypt_aead};

use super::{OpenPart, PartReader, PartUnreadable};
use crate::wire::xml::names::{DS, EXC_C14N, SWA_CONTENT_SIGNATURE, WSSE, XENC};
use crate::wire::xml::{Document, Limits, Node};
use crate::wss::{Certificate, Reference, Transform};

/// A message as the first engine leaves it: the envelope, and the parts in their signed form.
#[derive(Clone)]
pub(super) struct Captured {
    pub(super) envelope: String,
    pub(super) parts: Parts,
}

/// Parts by `cid:` URI, given out in chunks of an odd size.
#[derive(Clone, Default)]
pub(super) struct Parts {
    pub(super) by_cid: HashMap<String, (String, Vec<u8>)>,
    pub(super) opened: Vec<String>,
    open: Vec<u8>,
    at: usize,
    pub(super) tell_length: bool,
}

impl Parts {
    /// The one part `cid:big@x`.
    pub(super) fn one(media_type: &str, octets: &[u8]) -> Self {
        let part = (media_type.to_owned(), octets.to_vec());
        Self { by_cid: [("cid:big@x".to_owned(), part)].into(), ..Self::default() }
    }
}

impl PartReader for Parts {
    fn open(&mut self, cid: &str) -> Result<Option<OpenPart>, PartUnreadable> {
        self.opened.push(cid.to_owned());
        let Some((media_type, octets)) = self.by_cid.get(cid) else { return Ok(None) };
        self.open.clone_from(octets);
        self.at = 0;
        let length = self.tell_length.then_some(octets.len() as u64);
        Ok(Some(OpenPart { media_type: media_type.clone(), length }))
    }

    fn chunk(&mut self) -> Result<&[u8], PartUnreadable> {
        let start = self.at;
        self.at = self.open.len().min(start + 13);
        Ok(&self.open[start..self.at])
    }
}

fn file(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/fixtures/captured/{name}", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// The certificate of `partya`, `partyb` or `stranger`.
pub(super) fn certificate(party: &str) -> Certificate {
    Certificate::all_from_pem(&file(&format!("keys/{party}.cert.pem"))).unwrap().remove(0)
}

/// The private key of a party.
pub(super) fn private_key(party: &str) -> PKey<Private> {
    let store = Pkcs12::from_der(&file(&format!("keys/{party}.p12"))).unwrap();
    store.parse2("changeit").unwrap().pkey.unwrap()
}

/// Reads `<peer>/<case>.request.http` or `.response.http`.
pub(super) fn read(name: &str) -> Captured {
    let octets = file(name);
    let (head, body) = split(&octets, b"\r\n\r\n");
    let head = String::from_utf8_lossy(head).into_owned();
    let body =
        if head.to_ascii_lowercase().contains("transfer-encoding: chunked") { dechunk(body) } else { body.to_vec() };
    let content_type = header(&head, "content-type");
    let Some(boundary) = content_type.split("boundary=").nth(1) else {
        return Captured { envelope: String::from_utf8(body).unwrap(), parts: Parts::default() };
    };
    let boundary = boundary.trim_start_matches('"').split(['"', ';']).next().unwrap();
    let mut pieces = mime_parts(&body, boundary);
    let envelope = String::from_utf8(pieces.remove(0).1).unwrap();
    let mut parts = Parts::default();
    for (head, octets) in pieces {
        let id = header(&head, "content-id");
        let cid = format!("cid:{}", id.trim_matches(['<', '>']));
        parts.by_cid.insert(cid, (header(&head, "content-type"), octets));
    }
    decrypt(&envelope, &mut parts);
    Captured { envelope, parts }
}

fn split<'a>(octets: &'a [u8], at: &[u8]) -> (&'a [u8], &'a [u8]) {
    let found = memchr::memmem::find(octets, at).expect("separator");
    (&octets[..found], &octets[found + at.len()..])
}

fn header(head: &str, name: &str) -> String {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    let line = unfolded.lines().find(|l| l.to_ascii_lowercase().starts_with(&format!("{name}:")));
    line.and_then(|l| l.split_once(':')).map(|(_, v)| v.trim().to_owned()).unwrap_or_default()
}

fn dechunk(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    loop {
        let (size, rest) = split(body, b"\r\n");
        let size = usize::from_str_radix(std::str::from_utf8(size).unwrap().trim(), 16).unwrap();
        if size == 0 {
            return out;
        }
        out.extend_from_slice(&rest[..size]);
        body = &rest[size + 2..];
    }
}

fn mime_parts(body: &[u8], boundary: &str) -> Vec<(String, Vec<u8>)> {
    let delimiter = format!("--{boundary}");
    let starts: Vec<usize> = memchr::memmem::find_iter(body, delimiter.as_bytes()).collect();
    let part = |w: &[usize]| {
        let (head, octets) = split(&body[w[0] + delimiter.len()..w[1]], b"\r\n\r\n");
        (String::from_utf8_lossy(head).into_owned(), octets.strip_suffix(b"\r\n").unwrap().to_vec())
    };
    starts.windows(2).map(part).collect()
}

fn decode(node: Node<'_>) -> Vec<u8> {
    STANDARD.decode(node.text().split_ascii_whitespace().collect::<String>()).unwrap()
}

fn security(document: &Document) -> Option<Node<'_>> {
    let root = document.root();
    root.child(root.namespace(), "Header")?.elements().find(|n| n.is(WSSE, "Security"))
}

fn descend<'a>(node: Node<'a>, local: &str, found: &mut Vec<Node<'a>>) {
    for child in node.elements() {
        if child.local() == local {
            found.push(child);
        }
        descend(child, local, found);
    }
}

fn decrypt(envelope: &str, parts: &mut Parts) {
    let document = Document::parse(envelope, &Limits::ENVELOPE).unwrap();
    let Some(security) = security(&document) else { return };
    let Some(wrapped) = security.child(XENC, "EncryptedKey") else { return };
    let wrapped = decode(wrapped.child(XENC, "CipherData").unwrap().child(XENC, "CipherValue").unwrap());
    let key = private_key("partyb");
    let mut decrypter = Decrypter::new(&key).unwrap();
    decrypter.set_rsa_padding(Padding::PKCS1_OAEP).unwrap();
    decrypter.set_rsa_oaep_md(MessageDigest::sha256()).unwrap();
    decrypter.set_rsa_mgf1_md(MessageDigest::sha256()).unwrap();
    let mut content_key = vec![0; decrypter.decrypt_len(&wrapped).unwrap()];
    let length = decrypter.decrypt(&wrapped, &mut content_key).unwrap();
    content_key.truncate(length);
    for data in security.named(XENC, "EncryptedData") {
        let cipher_data = data.child(XENC, "CipherData").unwrap();
        let cid = cipher_data.child(XENC, "CipherReference").unwrap().attribute("URI").unwrap();
        let (media_type, octets) = parts.by_cid.get_mut(cid).unwrap();
        let (iv, sealed) = octets.split_at(12);
        let (ciphertext, tag) = sealed.split_at(sealed.len() - 16);
        *octets = decrypt_aead(Cipher::aes_128_gcm(), &content_key, Some(iv), &[], ciphertext, tag).unwrap();
        data.attribute("MimeType").unwrap().clone_into(media_type);
    }
}

/// The references of the signature, read by our own tree: what the first engine would expect.
pub(super) fn references(envelope: &str) -> Vec<Reference> {
    let document = Document::parse(envelope, &Limits::ENVELOPE).unwrap();
    let mut found = Vec::new();
    descend(security(&document).unwrap().child(DS, "Signature").unwrap(), "Reference", &mut found);
    found.into_iter().filter(|n| n.is(DS, "Reference")).map(reference).collect()
}

fn reference(node: Node<'_>) -> Reference {
    let transforms = node.child(DS, "Transforms").unwrap();
    let transform = |t: Node<'_>| Transform {
        algorithm: t.attribute("Algorithm").unwrap().to_owned(),
        prefix_list: t
            .child(EXC_C14N, "InclusiveNamespaces")
            .and_then(|l| l.attribute("PrefixList"))
            .map(str::to_owned),
    };
    Reference {
        uri: node.attribute("URI").unwrap().to_owned(),
        transforms: transforms.elements().map(transform).collect(),
        digest_method: node.child(DS, "DigestMethod").unwrap().attribute("Algorithm").unwrap().to_owned(),
        digest: decode(node.child(DS, "DigestValue").unwrap()),
    }
}

/// A template for signing: an envelope with Messaging and Body, and an unsigned `ds:Signature` over them and `cids`.
pub(super) fn template(method: &str, digest: &str, cids: &[&str]) -> String {
    let reference = |uri: &str, transform: &str| {
        format!(
            "<ds:Reference URI=\"{uri}\"><ds:Transforms><ds:Transform Algorithm=\"{transform}\"/></ds:Transforms>\
             <ds:DigestMethod Algorithm=\"{digest}\"/><ds:DigestValue/></ds:Reference>"
        )
    };
    let mut references = reference("#messaging", EXC_C14N) + &reference("#body", EXC_C14N);
    for cid in cids {
        references += &reference(cid, SWA_CONTENT_SIGNATURE);
    }
    format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" xmlns:wsu=\"{wsu}\"><S:Header>\
         <wsse:Security xmlns:wsse=\"{WSSE}\"><ds:Signature xmlns:ds=\"{DS}\"><ds:SignedInfo>\
         <ds:CanonicalizationMethod Algorithm=\"{EXC_C14N}\"/><ds:SignatureMethod Algorithm=\"{method}\"/>{references}\
         </ds:SignedInfo><ds:SignatureValue/></ds:Signature></wsse:Security>\
         <eb:Messaging xmlns:eb=\"urn:eb\" wsu:Id=\"messaging\"><eb:Thing>m1@example</eb:Thing></eb:Messaging></S:Header>\
         <S:Body wsu:Id=\"body\"/></S:Envelope>",
        wsu = crate::wire::xml::names::WSU,
    )
}
