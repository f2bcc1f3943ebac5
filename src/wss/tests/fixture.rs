//! Captured exchanges and test keys, read with as little code as they need.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use openssl::pkey::PKey;

use crate::wss::{Certificate, PrivateKey};

pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured")
}

pub(super) fn certificate(name: &str) -> Arc<Certificate> {
    let pem = std::fs::read(folder().join(format!("keys/{name}.cert.pem"))).unwrap();
    Arc::new(Certificate::all_from_pem(&pem).unwrap().remove(0))
}

pub(super) fn private_key(name: &str) -> Arc<PrivateKey> {
    let p12 = std::fs::read(folder().join(format!("keys/{name}.p12"))).unwrap();
    let parsed = openssl::pkcs12::Pkcs12::from_der(&p12).unwrap().parse2("changeit").unwrap();
    let key: PKey<openssl::pkey::Private> = parsed.pkey.unwrap();
    Arc::new(PrivateKey { key, certificate: certificate(name), chain: vec![certificate("ca")] })
}

/// One MIME part, or the whole body of a message without parts.
pub(super) struct Part {
    pub(super) head: String,
    pub(super) body: Vec<u8>,
}

impl Part {
    pub(super) fn header(&self, name: &str) -> Option<String> {
        header(&self.head, name)
    }

    pub(super) fn content_id(&self) -> String {
        self.header("Content-ID").unwrap_or_default().trim_matches(['<', '>']).to_owned()
    }
}

fn header(head: &str, name: &str) -> Option<String> {
    let unfolded = head.replace("\r\n ", " ").replace("\r\n\t", " ");
    unfolded.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.trim().eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
    })
}

fn split(octets: &[u8], at: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
    let found = memchr::memmem::find(octets, at)?;
    Some((octets[..found].to_vec(), octets[found + at.len()..].to_vec()))
}

/// The parts of a captured request or response: the SOAP part first. `None` when there is no body.
pub(super) fn parts(path: &Path) -> Option<Vec<Part>> {
    let (head, mut body) = split(&std::fs::read(path).unwrap(), b"\r\n\r\n")?;
    let head = String::from_utf8(head).unwrap();
    if header(&head, "Transfer-Encoding").is_some_and(|e| e.eq_ignore_ascii_case("chunked")) {
        body = unchunk(&body);
    }
    if header(&head, "Content-Encoding").is_some_and(|e| e.contains("gzip")) {
        let mut plain = Vec::new();
        flate2::read::GzDecoder::new(body.as_slice()).read_to_end(&mut plain).unwrap();
        body = plain;
    }
    if body.is_empty() {
        return None;
    }
    let content_type = header(&head, "Content-Type")?;
    if !content_type.starts_with("multipart/") {
        return Some(vec![Part { head, body }]);
    }
    let boundary = content_type.split("boundary=").nth(1)?.trim_start_matches('"').split(['"', ';']).next()?;
    let mut rest = [b"\r\n".as_slice(), &body].concat();
    let delimiter = format!("\r\n--{boundary}");
    let mut parts = Vec::new();
    rest = split(&rest, delimiter.as_bytes())?.1;
    while let Some((part, after)) = split(&rest, delimiter.as_bytes()) {
        let (head, body) = split(&part, b"\r\n\r\n").unwrap();
        parts.push(Part { head: String::from_utf8(head).unwrap(), body });
        rest = after;
    }
    Some(parts)
}

fn unchunk(mut rest: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = memchr::memmem::find(rest, b"\r\n") {
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).unwrap().trim(), 16).unwrap();
        body.extend_from_slice(&rest[end + 2..end + 2 + size]);
        rest = &rest[end + 2 + size + 2..];
        if size == 0 {
            break;
        }
    }
    body
}

/// A self-signed certificate with a fresh key.
pub(super) fn issue(key: PKey<openssl::pkey::Private>) -> Arc<PrivateKey> {
    use openssl::asn1::Asn1Time;
    use openssl::bn::BigNum;
    let mut name = openssl::x509::X509Name::builder().unwrap();
    name.append_entry_by_text("C", "DE").unwrap();
    name.append_entry_by_text("O", "Muster, Söhne + Co").unwrap();
    name.append_entry_by_text("CN", "party c").unwrap();
    let name = name.build();
    let mut builder = openssl::x509::X509::builder().unwrap();
    builder.set_version(2).unwrap();
    builder.set_serial_number(&BigNum::from_dec_str("9007199254740993").unwrap().to_asn1_integer().unwrap()).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(1_700_000_000).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(2_400_000_000).unwrap()).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.sign(&key, openssl::hash::MessageDigest::sha256()).unwrap();
    let der = builder.build().to_der().unwrap();
    Arc::new(PrivateKey { key, certificate: Arc::new(Certificate::from_der(&der).unwrap()), chain: vec![] })
}

pub(super) fn rsa(bits: u32) -> Arc<PrivateKey> {
    issue(PKey::from_rsa(openssl::rsa::Rsa::generate(bits).unwrap()).unwrap())
}

pub(super) fn curve(nid: openssl::nid::Nid) -> Arc<PrivateKey> {
    let group = openssl::ec::EcGroup::from_curve_name(nid).unwrap();
    issue(PKey::from_ec_key(openssl::ec::EcKey::generate(&group).unwrap()).unwrap())
}

/// An envelope with two parts, as it is before it is secured.
pub(super) const ENVELOPE: &str = concat!(
    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
    r#"<S12:Envelope xmlns:S12="http://www.w3.org/2003/05/soap-envelope" xmlns:eb="http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/""#,
    r#" xmlns:wsu="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"><S12:Header>"#,
    r#"<eb:Messaging S12:mustUnderstand="true" wsu:Id="msg-1"><eb:UserMessage><eb:MessageInfo><eb:MessageId>m1@a.example</eb:MessageId>"#,
    r#"</eb:MessageInfo><eb:AgreementRef pmode="x"/><eb:Property name="a&gt;'b">x &gt; y "z"</eb:Property></eb:UserMessage></eb:Messaging>"#,
    r#"</S12:Header><S12:Body wsu:Id="body-1"/></S12:Envelope>"#
);
