//! What we sign verifies and what we encrypt decrypts, in every form; and the forms of others that we only read.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use openssl::nid::Nid;

use super::fixture::{self, ENVELOPE};
use crate::wire::xml::{Document, Limits, names};
use crate::wss::compose::Places;
use crate::wss::header::KeyName;
use crate::wss::suite::{DataEncryption, DigestAlgorithm, KeyTransport, OaepHash, SignatureAlgorithm, TokenReference};
use crate::wss::*;

const TOKENS: [TokenReference; 6] = [
    TokenReference::BinarySecurityToken,
    TokenReference::PkiPath,
    TokenReference::SubjectKeyIdentifier,
    TokenReference::IssuerSerial,
    TokenReference::Thumbprint,
    TokenReference::KeyIdentifier,
];

pub(super) fn options(algorithm: SignatureAlgorithm, token: TokenReference) -> SignOptions<'static> {
    SignOptions {
        algorithm,
        hash: algorithm.digest(),
        token,
        also: &[],
        ids: SignIds { signature: "SIG-1", token: "X509-1" },
    }
}

pub(super) fn signed(key: &PrivateKey, algorithm: SignatureAlgorithm, token: TokenReference) -> Signed {
    let digest = vec![7; algorithm.digest().length()];
    let parts = [PartToSign { uri: "cid:p1%40x", digest: &digest }, PartToSign { uri: "cid:p2@x", digest: &digest }];
    sign(ENVELOPE, &parts, key, &options(algorithm, token)).unwrap()
}

/// Reads, verifies and checks the coverage of Messaging, Body and both parts, as a receiver does.
pub(super) fn receive(text: &str, known: &[Arc<Certificate>]) -> Result<Verified, WssError> {
    let document = Document::parse(text, &Limits::ENVELOPE)
        .map_err(|error| WssError::Malformed { place: "envelope".into(), why: error.to_string() })?;
    let places = Places::find(&document)?;
    let header = document.root().elements().next().unwrap();
    let security = header.child(names::WSSE, "Security").ok_or(WssError::NotSigned)?;
    let header = header::read(&document, security)?;
    let verified = verify(&document, &header, &known.to_vec(), &CertificateCache::default(), &VerifyPolicy::default())?;
    let hrefs = ["cid:p1@x", "cid:p2@x"];
    require_coverage(&verified, places.messaging.id(), places.body.id(), hrefs, BodyRule::Required)?;
    Ok(verified)
}

#[test]
fn every_token_form_and_algorithm_verifies() {
    let partya = fixture::private_key("partya");
    let p521 = fixture::curve(Nid::SECP521R1);
    let brainpool = fixture::curve(Nid::BRAINPOOL_P256R1);
    let p256 = fixture::curve(Nid::X9_62_PRIME256V1);
    for token in TOKENS {
        for (key, algorithm) in [
            (&partya, SignatureAlgorithm::RsaSha256),
            (&partya, SignatureAlgorithm::RsaSha384),
            (&partya, SignatureAlgorithm::RsaSha512),
            (&p256, SignatureAlgorithm::EcdsaSha256),
            (&brainpool, SignatureAlgorithm::EcdsaSha256),
            (&p521, SignatureAlgorithm::EcdsaSha512),
            (&fixture::curve(Nid::SECP384R1), SignatureAlgorithm::EcdsaSha384),
        ] {
            let signed = signed(key, algorithm, token);
            let text = compose(ENVELOPE, &signed.blocks).unwrap();
            let known = [fixture::certificate("partyb"), Arc::clone(&key.certificate)];
            let verified = receive(&text, &known).unwrap_or_else(|error| panic!("{token:?} {algorithm:?}: {error}"));
            assert_eq!(verified.signer, key.certificate);
            assert_eq!(verified.references, signed.references);
            assert_eq!(verified.algorithm, algorithm);
            assert_eq!(verified.part("cid:p1@x").unwrap().digest, vec![7; algorithm.digest().length()]);
            let path = token == TokenReference::PkiPath;
            assert_eq!(verified.chain.len(), if path { key.chain.len() } else { 0 });
            // A stranger's certificate in the place of a name does not verify.
            let embedded = path || matches!(token, TokenReference::BinarySecurityToken | TokenReference::KeyIdentifier);
            assert_eq!(receive(&text, &[]).is_ok(), embedded, "{token:?}");
        }
    }
}

#[test]
fn ecdsa_values_have_a_fixed_length() {
    let key = fixture::curve(Nid::SECP521R1);
    for _ in 0..40 {
        let value = Signer::sign(&*key, SignatureAlgorithm::EcdsaSha512, b"x").unwrap();
        assert_eq!(value.len(), 132);
    }
}

#[test]
fn composing_changes_no_other_octet_and_a_signature_outlives_an_encryption() {
    let (key, recipient) = (fixture::private_key("partya"), fixture::private_key("partyb"));
    let signed = signed(&key, SignatureAlgorithm::RsaSha256, TokenReference::BinarySecurityToken);
    for algorithm in DataEncryption::ALL {
        let (blocks, _) = encrypt(&recipient.certificate, algorithm, KeyTransport::DEFAULT, TOKENS[0]);
        let text = compose(ENVELOPE, &(blocks + &signed.blocks)).unwrap();
        receive(&text, &[]).unwrap();
        let (from, to) = (text.find("<wsse:Security").unwrap(), text.find("</wsse:Security>").unwrap());
        assert_eq!(format!("{}{}", &text[..from], &text[to + "</wsse:Security>".len()..]), ENVELOPE);
        assert!(text[from..to].contains(r#"S12:mustUnderstand="true""#));
        assert!(text[..from].ends_with("</eb:Messaging>"));
    }
}

#[test]
fn an_envelope_of_soap_1_1_and_one_without_prefix() {
    let key = fixture::private_key("partya");
    let eleven = ENVELOPE.replace("http://www.w3.org/2003/05/soap-envelope", names::SOAP11);
    let plain = ENVELOPE
        .replace("xmlns:S12", "xmlns")
        .replace("<S12:", "<")
        .replace("</S12:", "</")
        .replace("S12:mustUnderstand", "mustUnderstand");
    for (envelope, attribute) in [(eleven, r#" S12:mustUnderstand="1""#), (plain, r#" soap:mustUnderstand="true""#)] {
        let digest = [7; 32];
        let parts = ["cid:p1@x", "cid:p2@x"].map(|uri| PartToSign { uri, digest: &digest });
        let signed = sign(&envelope, &parts, &*key, &options(SignatureAlgorithm::RsaSha256, TOKENS[0])).unwrap();
        let text = compose(&envelope, &signed.blocks).unwrap();
        assert!(text.contains(attribute), "{text}");
        receive(&text, &[]).unwrap();
    }
    assert!(compose(&ENVELOPE.replace("<S12:Header>", "<S12:Header>\r\n"), "").is_err());
}

fn encrypt(
    recipient: &Certificate,
    algorithm: DataEncryption,
    transport: KeyTransport,
    token: TokenReference,
) -> (String, ContentKey) {
    let options = EncryptOptions { algorithm, transport, token, ids: EncryptIds { key: "EK-1", token: "X509-2" } };
    let parts = [
        PartToEncrypt { uri: "cid:p1%40x", mime_type: "application/gzip", id: "ED-1" },
        PartToEncrypt { uri: "cid:p2@x", mime_type: "text/plain; charset=\"utf-8\"", id: "ED-2" },
    ];
    encrypt_header(recipient, &options, &parts).unwrap()
}

pub(super) fn read_header(blocks: &str) -> Result<SecurityHeader, WssError> {
    let text = compose(ENVELOPE, blocks).unwrap();
    let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
    let security = document.root().elements().next().unwrap().child(names::WSSE, "Security").unwrap();
    header::read(&document, security)
}

fn unwrap(blocks: &str, policy: &DecryptPolicy) -> Result<Vec<EncryptedPart>, WssError> {
    unwrap_keys(&read_header(blocks)?, &vec![fixture::private_key("partyb")], policy)
}

fn decrypt(key: &ContentKey, octets: &[u8], piece: usize) -> Result<Vec<u8>, WssError> {
    let mut plain = Vec::new();
    let mut decryptor = PartDecryptor::new(key)?;
    for octets in octets.chunks(piece) {
        decryptor.update(octets, &mut plain)?;
    }
    decryptor.finish(&mut plain).map(|()| plain)
}

fn encrypted(key: &ContentKey, plain: &[u8], piece: usize) -> Vec<u8> {
    let mut octets = Vec::new();
    let mut encryptor = PartEncryptor::new(key).unwrap();
    for plain in plain.chunks(piece) {
        encryptor.update(plain, &mut octets).unwrap();
    }
    encryptor.finish(&mut octets).unwrap();
    octets
}

#[test]
fn every_token_form_transport_and_cipher_decrypts() {
    let recipient = fixture::certificate("partyb");
    let lenient = DecryptPolicy { sha1_oaep: true, ..DecryptPolicy::default() };
    for token in TOKENS {
        for algorithm in DataEncryption::ALL {
            for transport in [
                KeyTransport::DEFAULT,
                KeyTransport::RsaOaep { digest: OaepHash::Sha512, mgf: OaepHash::Sha256 },
                KeyTransport::RsaOaep { digest: OaepHash::Sha1, mgf: OaepHash::Sha1 },
                KeyTransport::RsaOaepMgf1p { digest: OaepHash::Sha1 },
                // FR-042
                KeyTransport::RsaOaepMgf1p { digest: OaepHash::Sha256 },
            ] {
                let (blocks, key) = encrypt(&recipient, algorithm, transport, token);
                let octets = encrypted(&key, b"payload", 3);
                assert_eq!(octets.len(), 12 + 7 + 16);
                let strict = unwrap(&blocks, &DecryptPolicy::default());
                if transport.uses_sha1() {
                    assert_eq!(strict.unwrap_err().code(), "EBMS:0103");
                } else {
                    assert!(strict.is_ok());
                }
                let parts = unwrap(&blocks, &lenient).unwrap();
                assert_eq!(parts[0].content_id, "p1@x");
                assert_eq!(parts[1].mime_type.as_deref(), Some("text/plain; charset=\"utf-8\""));
                assert_eq!(decrypt(&parts[1].key, &octets, 5).unwrap(), b"payload");
            }
        }
    }
}

#[test]
fn parts_of_every_size_in_pieces_of_every_size() {
    let key = ContentKey::generate(DataEncryption::Aes128Gcm).unwrap();
    for size in [0usize, 1, 15, 16, 17, 28, 1000] {
        let plain: Vec<u8> = (0..size).map(|n| u8::try_from(n % 251).unwrap()).collect();
        for piece in [1, 2, 11, 12, 13, 16, 17, 29, 5000] {
            let octets = encrypted(&key, &plain, piece);
            assert_eq!(decrypt(&key, &octets, piece).unwrap(), plain);
        }
    }
    let (one, two) = (encrypted(&key, b"x", 1), encrypted(&key, b"x", 1));
    assert_ne!(one[..12], two[..12], "an IV is never used twice");
    let mut again = Vec::new();
    let mut encryptor = PartEncryptor::with_iv(&key, one[..12].try_into().unwrap()).unwrap();
    encryptor.update(b"x", &mut again).unwrap();
    encryptor.finish(&mut again).unwrap();
    assert_eq!(again, one, "stored IV and key give the same octets again");
}

#[test]
fn every_failure_of_decryption_reads_the_same() {
    // FR-038, WS-049
    let recipient = fixture::certificate("partyb");
    let (blocks, key) = encrypt(&recipient, DataEncryption::Aes128Gcm, KeyTransport::DEFAULT, TOKENS[0]);
    let octets = encrypted(&key, b"payload", 100);
    let mut failures = Vec::new();
    for length in [0, 11, 12, 27] {
        failures.push((decrypt(&key, &octets[..length], 7).unwrap_err(), DecryptionCause::Short));
    }
    for at in [0, 13, octets.len() - 1] {
        let mut altered = octets.clone();
        altered[at] ^= 1;
        failures.push((decrypt(&key, &altered, 7).unwrap_err(), DecryptionCause::Tag));
    }
    failures.push((decrypt(&key, &octets[..octets.len() - 1], 7).unwrap_err(), DecryptionCause::Tag));
    // A key that is wrapped for us but altered: decryption goes on to the end and fails there.
    let from = blocks.find("<xenc:CipherValue>").unwrap() + "<xenc:CipherValue>".len();
    let broken = format!("{}{}{}", &blocks[..from], STANDARD.encode([9u8; 3]), &blocks[from + 4..]);
    let parts = unwrap(&broken, &DecryptPolicy::default()).unwrap();
    failures.push((decrypt(&parts[0].key, &octets, 7).unwrap_err(), DecryptionCause::Unwrap));
    for (error, cause) in failures {
        assert_eq!(error.to_string(), "the message could not be decrypted");
        assert_eq!(error.code(), "EBMS:0102");
        assert!(error.operator_detail().ends_with(&cause.to_string()), "{}", error.operator_detail());
    }
    let stranger =
        unwrap_keys(&read_header(&blocks).unwrap(), &vec![fixture::private_key("partya")], &DecryptPolicy::default());
    assert!(matches!(stranger, Err(WssError::Decryption(DecryptionCause::KeyUnknown(_)))));
}

#[test]
fn keys_and_data_are_found_wherever_they_stand() {
    // FR-050, WS-016, WS-042
    let recipient = fixture::certificate("partyb");
    let (blocks, key) = encrypt(&recipient, DataEncryption::Aes128Gcm, KeyTransport::DEFAULT, TOKENS[0]);
    let end = |tag: &str| blocks.find(tag).unwrap() + tag.len();
    let (token, after) = blocks.split_at(end("</wsse:BinarySecurityToken>"));
    let (wrapped, data) = after.split_at(end("</xenc:EncryptedKey>") - token.len());
    let list_from = wrapped.find("<xenc:ReferenceList>").unwrap();
    let list_to = wrapped.find("</xenc:EncryptedKey>").unwrap();
    let without_list = format!("{}{}", &wrapped[..list_from], &wrapped[list_to..]);
    let alone = wrapped[list_from..list_to].replacen('>', &format!(" xmlns:xenc=\"{}\">", names::XENC), 1);
    let key_info = {
        let (from, to) = (data.find("<ds:KeyInfo>").unwrap(), data.find("</ds:KeyInfo>").unwrap());
        &data[from..to + "</ds:KeyInfo>".len()]
    };
    let inline = data.replacen(key_info, &format!("<ds:KeyInfo>{without_list}</ds:KeyInfo>"), 1).replacen(
        key_info,
        &format!("<ds:KeyInfo>{}</ds:KeyInfo>", without_list.replace("EK-1", "EK-2")),
        1,
    );
    let octets = encrypted(&key, b"payload", 100);
    for text in [
        format!("{data}{wrapped}{token}"),
        format!("{data}{alone}{without_list}{token}"),
        format!("{token}{}{wrapped}", data.replace(key_info, "")),
        format!("{inline}{token}"),
        blocks.replace(" wsse11:TokenType", " wsse11:Other"),
    ] {
        let parts = unwrap(&text, &DecryptPolicy::default()).unwrap_or_else(|e| panic!("{e}: {text}"));
        assert_eq!(parts.len(), 2);
        for part in parts {
            assert_eq!(decrypt(&part.key, &octets, 100).unwrap(), b"payload", "{text}");
        }
    }
    let header = read_header(&format!("{inline}{token}")).unwrap();
    assert_eq!(header.encrypted_keys.len(), 2);
    assert!(require_encryption(&header, ["cid:p1@x", "cid:p2@x"]).is_ok());
    assert_eq!(require_encryption(&header, ["cid:p3@x"]), Err(WssError::NotEncrypted("cid:p3@x".into())));
    // No key at all, and a list that names something else.
    assert!(matches!(
        unwrap(data, &DecryptPolicy::default()),
        Err(WssError::Decryption(DecryptionCause::NoKey(uri))) if uri == "cid:p1%40x"
    ));
    assert_eq!(read_header(&format!("{token}{wrapped}")).unwrap_err().code(), "EBMS:0103");
}

#[test]
fn forms_of_others_are_read() {
    let key = fixture::private_key("partya");
    let known = [Arc::clone(&key.certificate)];
    let signed = signed(&key, SignatureAlgorithm::RsaSha256, TokenReference::BinarySecurityToken);
    let blocks = &signed.blocks;
    let certificate = STANDARD.encode(key.certificate.der());
    let (from, to) = (blocks.find("<wsse:SecurityTokenReference").unwrap(), blocks.find("</ds:KeyInfo>").unwrap());
    let named = |key_info: &str| format!("{}{key_info}{}", &blocks[..from], &blocks[to..]);
    let issuer_serial = |issuer: &str| {
        let serial = key.certificate.serial();
        named(&format!(
            "<ds:X509Data><ds:X509IssuerSerial><ds:X509IssuerName>{issuer}</ds:X509IssuerName>\n<ds:X509SerialNumber> 0{serial}\n</ds:X509SerialNumber></ds:X509IssuerSerial></ds:X509Data>"
        ))
    };
    let ski = STANDARD.encode(key.certificate.key_identifier());
    let line_wrapped = {
        // FR-026: broken lines, some with a carriage return by reference; DigestValue is signed, so it stays.
        let (before, after) = certificate.split_at(76);
        blocks.replace(&certificate, &format!("{before}&#13;\n{after}\n"))
    };
    let token_end = blocks.find("</wsse:BinarySecurityToken>").unwrap() + "</wsse:BinarySecurityToken>".len();
    for text in [
        issuer_serial("CN=AS4 test CA,O=AS4 test,C=XX"),
        issuer_serial("C = XX, O = AS4 test, CN = AS4 test CA"),
        issuer_serial("/C=XX/O=AS4 test/CN=AS4 test CA"),
        named(&format!("<ds:X509Data><ds:X509SKI>{ski}</ds:X509SKI></ds:X509Data>")),
        named(&format!("<ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data>")),
        named(&format!(
            "<wsse:SecurityTokenReference><wsse:Embedded>{}</wsse:Embedded></wsse:SecurityTokenReference>",
            blocks[..token_end].replace("X509-1", "X509-9")
        )),
        line_wrapped,
        // BST after the signature, and one more that nobody refers to.
        format!("{}{}{}", &blocks[token_end..], &blocks[..token_end], blocks[..token_end].replace("X509-1", "X509-9")),
        // WS-018
        blocks.replace("#X509v3", "#X509PKIPathv1"),
    ] {
        let text = compose(ENVELOPE, &text).unwrap();
        let verified = receive(&text, &known).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(verified.signer, key.certificate);
    }
    let unknown = compose(ENVELOPE, &issuer_serial("CN=Other CA")).unwrap();
    assert!(matches!(receive(&unknown, &known), Err(WssError::SignerUnknown(CertificateQuery::IssuerSerial { .. }))));
}

#[test]
fn a_pki_path_ends_with_the_signer() {
    // FR-041
    let key = fixture::private_key("partya");
    let signed = signed(&key, SignatureAlgorithm::RsaSha256, TokenReference::PkiPath);
    let header = read_header(&signed.blocks).unwrap();
    let Some(KeyName::Certificate(path)) = header.signature.map(|signature| signature.key) else { panic!("a path") };
    assert_eq!(path.certificates, [key.certificate.der(), key.chain[0].der()]);
}

#[test]
fn digests_of_another_length_are_refused() {
    let key = fixture::private_key("partya");
    let mut options = options(SignatureAlgorithm::RsaSha256, TokenReference::Thumbprint);
    options.hash = DigestAlgorithm::Sha384;
    let blocks = sign(ENVELOPE, &[PartToSign { uri: "cid:p1@x", digest: &[1; 32] }], &*key, &options).unwrap().blocks;
    assert_eq!(read_header(&blocks).unwrap_err().code(), "EBMS:0009");
}

#[test]
fn the_authorisation_header_is_signed_too() {
    // WS-111
    let key = fixture::private_key("partya");
    let security = format!(
        r#"<wsse:Security xmlns:wsse="{}" S12:role="ebms" wsu:Id="auth-1"><wsse:UsernameToken/></wsse:Security></S12:Header>"#,
        names::WSSE
    );
    let envelope = ENVELOPE.replace("</S12:Header>", &security);
    let options = SignOptions { also: &["auth-1"], ..options(SignatureAlgorithm::RsaSha256, TOKENS[0]) };
    let signed = sign(&envelope, &[], &*key, &options).unwrap();
    let text = compose(&envelope, &signed.blocks).unwrap();
    let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
    let main = document.by_id("SIG-1").unwrap().parent().unwrap();
    let header = header::read(&document, main).unwrap();
    let verified =
        verify(&document, &header, &Vec::new(), &CertificateCache::default(), &VerifyPolicy::default()).unwrap();
    assert!(verified.covers.contains(&document.by_id("auth-1").unwrap().id()));
    let nobody = SignOptions { also: &["auth-2"], ..options };
    assert_eq!(sign(&envelope, &[], &*key, &nobody).unwrap_err().code(), "EBMS:0009");
}

#[test]
fn the_head_of_a_complete_part_is_split_off() {
    // WS-045
    let plain = b"Content-Type: text/xml;\r\n charset=utf-8\r\nContent-ID: <a@b>\r\n\r\n<a/>\r\n\r\n";
    for piece in [1, 2, 7, 500] {
        let (mut head, mut content) = (CompleteHead::default(), Vec::new());
        for octets in plain.chunks(piece) {
            content.extend_from_slice(head.push(octets).unwrap());
        }
        assert_eq!(content, b"<a/>\r\n\r\n");
        assert_eq!(head.header("content-type"), Some("text/xml; charset=utf-8"));
        assert_eq!(head.header("Content-ID"), Some("<a@b>"));
        assert!(head.finish().is_ok());
    }
    let mut empty = CompleteHead::default();
    assert_eq!(empty.push(b"\n<a/>").unwrap(), b"<a/>");
    for hostile in [b"x".repeat(1000), b"a: b\n".repeat(101), b"no colon\n".to_vec()] {
        assert_eq!(
            CompleteHead::default().push(&hostile).unwrap_err().to_string(),
            "the message could not be decrypted"
        );
    }
    let mut cut = CompleteHead::default();
    cut.push(b"a: b\r\n").unwrap();
    assert_eq!(cut.finish().unwrap_err().code(), "EBMS:0102");
}

#[test]
fn the_oaep_parameters_are_those_of_the_message() {
    // FR-042: wrapped by `openssl pkeyutl` with rsa_oaep_md:sha256 and rsa_mgf1_md:sha1.
    const WRAPPED: &str = "3YNxIUJBNWiXZYfVXtpwHDHkxn8cWcc5C7sj3mLSXghf1XKEPjr8tIZOvZXmYfQOuO9wtXp11rqcjC6+5CD0sa+6DdQGLtb9UMW900n7NcP6JHx1THdZLQWjCk+JDsoQNaJfUlxK6EXKHTLrD3l9GeugKx8h6WY5iL0tY35z8CZMFOKJLd/ePMf9TQOIeGraSAsyeqKHKVeewCSHEKtVuF8DSLTW0oSKAckTypFrFi46uDHJbkH8Mdi4hb8w/DMPuRWfxuLBXrsE1iykQjGp+/bHsb3sJHYTPN+vC1S56YhDlnnuLV1zh+eWqH51l8bO7DF74Zo+cOGc7aUwV+V0Fg==";
    let wrapped = STANDARD.decode(WRAPPED).unwrap();
    let own = fixture::private_key("partyb");
    let fits = KeyTransport::RsaOaepMgf1p { digest: OaepHash::Sha256 };
    assert_eq!(own.unwrap_key(fits, &[], &wrapped).unwrap().as_slice(), b"0123456789abcdef");
    let same = KeyTransport::RsaOaep { digest: OaepHash::Sha256, mgf: OaepHash::Sha1 };
    assert!(own.unwrap_key(same, &[], &wrapped).is_some());
    for other in [KeyTransport::DEFAULT, KeyTransport::RsaOaepMgf1p { digest: OaepHash::Sha1 }] {
        assert!(own.unwrap_key(other, &[], &wrapped).is_none());
    }
    assert!(own.unwrap_key(fits, b"label", &wrapped).is_none());
}

#[test]
fn only_what_the_policy_lists_is_accepted() {
    // WS-090
    let key = fixture::private_key("partya");
    let text = compose(ENVELOPE, &signed(&key, SignatureAlgorithm::RsaSha384, TOKENS[0]).blocks).unwrap();
    let document = Document::parse(&text, &Limits::ENVELOPE).unwrap();
    let security = document.by_id("SIG-1").unwrap().parent().unwrap();
    let header = header::read(&document, security).unwrap();
    let judge = |policy: &VerifyPolicy| {
        verify(&document, &header, &Vec::new(), &CertificateCache::default(), policy).map(|_| ())
    };
    assert_eq!(judge(&VerifyPolicy::default()), Ok(()));
    let signature = VerifyPolicy { signatures: vec![SignatureAlgorithm::RsaSha256], ..VerifyPolicy::default() };
    assert!(matches!(judge(&signature), Err(WssError::Algorithm { use_for: "signature", .. })));
    let digest = VerifyPolicy { digests: vec![DigestAlgorithm::Sha256], ..VerifyPolicy::default() };
    assert!(matches!(judge(&digest), Err(WssError::Algorithm { use_for: "digest", .. })));
    let long = VerifyPolicy { min_rsa_bits: 3072, ..VerifyPolicy::default() };
    assert!(matches!(judge(&long), Err(WssError::Key { .. })));
    let (blocks, _) =
        encrypt(&fixture::certificate("partyb"), DataEncryption::Aes128Gcm, KeyTransport::DEFAULT, TOKENS[0]);
    let strong = DecryptPolicy { data: vec![DataEncryption::Aes256Gcm], sha1_oaep: false };
    assert_eq!(unwrap(&blocks, &strong).unwrap_err().code(), "EBMS:0103");
}
