//! Hostile headers, each refused for the right reason. The message they start from is accepted.

use std::sync::Arc;

use super::fixture::{self, ENVELOPE};
use super::round_trip::{read_header, receive, signed};
use crate::wire::xml::names::EXC_C14N;
use crate::wss::suite::{SignatureAlgorithm, TokenReference};
use crate::wss::*;

fn message() -> (String, [Arc<Certificate>; 1]) {
    let key = fixture::private_key("partya");
    let signed = signed(&key, SignatureAlgorithm::RsaSha256, TokenReference::BinarySecurityToken);
    let text = compose(ENVELOPE, &signed.blocks).unwrap();
    let known = [Arc::clone(&key.certificate)];
    receive(&text, &known).unwrap();
    (text, known)
}

/// The message with `from` replaced by `to`, once; `from` must be there.
fn altered(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from}");
    text.replacen(from, to, 1)
}

fn refused(text: &str) -> WssError {
    let (_, known) = message();
    receive(text, &known).expect_err("must be refused")
}

fn between<'t>(text: &'t str, from: &str, to: &str) -> &'t str {
    let start = text.find(from).unwrap();
    &text[start..start + text[start..].find(to).unwrap() + to.len()]
}

#[test]
fn at_01_wrapped_header() {
    let (text, _) = message();
    let messaging = between(&text, "<eb:Messaging", "</eb:Messaging>");
    for forged_id in ["", r#" wsu:Id="msg-2""#] {
        let forged = messaging.replace(r#" wsu:Id="msg-1""#, forged_id).replace("m1@a.example", "forged@a.example");
        let moved = altered(&text, messaging, &format!(r#"{forged}<x:Wrap xmlns:x="urn:x">{messaging}</x:Wrap>"#));
        assert_eq!(refused(&moved), WssError::NotCovered { what: "eb:Messaging".into() });
    }
    // The Body likewise.
    let body = altered(
        &text,
        r#"<S12:Body wsu:Id="body-1"/>"#,
        r#"<S12:Body><x:Wrap xmlns:x="urn:x"><S12:Body wsu:Id="body-1"/></x:Wrap></S12:Body>"#,
    );
    assert_eq!(refused(&body), WssError::NotCovered { what: "the SOAP Body".into() });
}

#[test]
fn at_02_same_id_twice() {
    let (text, _) = message();
    let messaging = between(&text, "<eb:Messaging", "</eb:Messaging>");
    let forged = messaging.replace("m1@a.example", "forged@a.example");
    for both in [format!("{forged}{messaging}"), format!("{messaging}{forged}")] {
        let error = refused(&altered(&text, messaging, &both)).to_string();
        assert!(error.contains("`msg-1` stands twice"), "{error}");
    }
    // Another spelling of the attribute does not help.
    let body =
        altered(&text, r#"<S12:Body wsu:Id="body-1"/>"#, r#"<S12:Body wsu:Id="body-1"><x Id="msg-1"/></S12:Body>"#);
    assert!(refused(&body).to_string().contains("`msg-1` stands twice"));
}

#[test]
fn at_04_several_signed_infos() {
    let (text, _) = message();
    let info = between(&text, "<ds:SignedInfo>", "</ds:SignedInfo>");
    let forged = info.replace("#body-1", "#body-2");
    for both in [format!("{forged}{info}"), format!("{info}{forged}")] {
        assert!(matches!(refused(&altered(&text, info, &both)), WssError::NotUnderstood { .. }));
    }
    for at in ["</ds:KeyInfo>", "</wsse:SecurityTokenReference>", "</ds:SignatureValue>", "</ds:Transforms>"] {
        let nested = altered(&text, at, &format!("{info}{at}"));
        assert!(matches!(refused(&nested), WssError::NotUnderstood { .. } | WssError::Malformed { .. }), "{at}");
    }
    let object = altered(&text, "</ds:Signature>", &format!("<ds:Object>{info}</ds:Object></ds:Signature>"));
    assert!(matches!(refused(&object), WssError::NotUnderstood { .. }));
    let signature = between(&text, "<ds:Signature ", "</ds:Signature>");
    let two = altered(&text, signature, &format!("{signature}{}", signature.replace("SIG-1", "SIG-2")));
    assert_eq!(refused(&two), WssError::TooMany { what: "signatures", limit: 1 });
}

#[test]
fn at_06_hostile_transforms() {
    let (text, _) = message();
    let transform = r#"<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform>"#;
    for uri in [
        "http://www.w3.org/TR/1999/REC-xpath-19991116",
        "http://www.w3.org/TR/1999/REC-xslt-19991116",
        "http://www.w3.org/2000/09/xmldsig#base64",
        "http://www.w3.org/2000/09/xmldsig#enveloped-signature",
        "http://www.w3.org/TR/2001/REC-xml-c14n-20010315",
        "http://www.w3.org/2001/10/xml-exc-c14n#WithComments",
        "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-soap-message-security-1.0#STR-Transform",
        "http://docs.oasis-open.org/wss/oasis-wss-SwAProfile-1.1#Attachment-Content-Signature-Transform",
    ] {
        let other = format!(r#"<ds:Transform Algorithm="{uri}"><x>not(true())</x></ds:Transform>"#);
        let error = refused(&altered(&text, transform, &other));
        assert_eq!((error.code(), error), ("EBMS:0103", WssError::Algorithm { use_for: "transform", uri: uri.into() }));
        let error = refused(&altered(&text, transform, &format!("{transform}{other}")));
        assert!(matches!(error, WssError::NotUnderstood { .. }), "{error}");
    }
    let many = refused(&altered(&text, transform, &transform.repeat(10_000)));
    assert!(matches!(many, WssError::NotUnderstood { .. }), "{many}");
    // FR-035: Attachment-Complete must not pass for a part.
    let complete = refused(&altered(&text, "Attachment-Content-Signature", "Attachment-Complete-Signature"));
    assert_eq!(complete.code(), "EBMS:0103");
    let canonicalization = refused(&altered(
        &text,
        r#"<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#">"#,
        r#"<ds:CanonicalizationMethod Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315">"#,
    ));
    assert!(matches!(canonicalization, WssError::Algorithm { use_for: "canonicalisation", .. }));
}

#[test]
fn at_07_external_and_empty_references() {
    let (text, _) = message();
    for uri in [
        "file:///etc/hostname",
        "http://127.0.0.1:9/x",
        "",
        "#",
        "#xpointer(/)",
        "#xpointer(id('msg-1'))",
        "#nobody",
        "cid:",
        "msg-1",
    ] {
        let error = refused(&altered(&text, r##"URI="#msg-1""##, &format!(r#"URI="{uri}""#)));
        assert!(matches!(&error, WssError::Reference { uri: named, .. } if named == uri), "{uri}: {error}");
        assert_eq!(error.code(), "EBMS:0103");
    }
    let without = refused(&altered(&text, r##"<ds:Reference URI="#msg-1">"##, "<ds:Reference>"));
    assert!(matches!(without, WssError::Reference { .. }));
    let token = refused(&altered(&text, r##"URI="#X509-1""##, r#"URI="http://127.0.0.1:9/cert""#));
    assert!(matches!(token, WssError::Reference { .. }));
}

#[test]
fn at_08_a_changed_attribute_of_an_empty_element() {
    let (text, _) = message();
    let error = refused(&altered(&text, r#"pmode="x""#, r#"pmode="y""#));
    let WssError::Digest { uri, expected, found } = &error else { panic!("{error}") };
    assert_eq!((uri.as_str(), error.code()), ("#msg-1", "EBMS:0101"));
    assert_ne!(expected, found);
    let body = refused(&altered(&text, r#"<S12:Body wsu:Id="body-1"/>"#, r#"<S12:Body wsu:Id="body-1"> </S12:Body>"#));
    assert!(matches!(body, WssError::Digest { uri, .. } if uri == "#body-1"));
}

#[test]
fn a_changed_signature_or_signed_info_does_not_hold() {
    let (text, _) = message();
    for (from, to) in [("cid:p2@x", "cid:p3@x"), ("<ds:SignatureValue>", "<ds:SignatureValue>AAAA")] {
        let error = refused(&altered(&text, from, to));
        assert!(matches!(error, WssError::Signature { .. }), "{error}");
        assert_eq!(error.code(), "EBMS:0101");
    }
    // Another's certificate in the token.
    let stranger =
        base64::Engine::encode(&base64::engine::general_purpose::STANDARD, fixture::certificate("partyb").der());
    let token = between(&text, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let start = token.rfind('"').unwrap() + 2;
    let swapped = format!("{}{stranger}</wsse:BinarySecurityToken>", &token[..start]);
    assert!(matches!(refused(&altered(&text, token, &swapped)), WssError::Signature { .. }));
    let garbage = format!("{}AAAA</wsse:BinarySecurityToken>", &token[..start]);
    assert!(matches!(refused(&altered(&text, token, &garbage)), WssError::Certificate(_)));
}

#[test]
fn at_11_truncated_hmac() {
    let (text, _) = message();
    let method = r#"<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256">"#;
    for length in ["8", "0", "-1"] {
        let parameter = format!("{method}<ds:HMACOutputLength>{length}</ds:HMACOutputLength>");
        assert!(matches!(refused(&altered(&text, method, &parameter)), WssError::NotUnderstood { .. }));
    }
    let hmac = refused(&altered(&text, "xmldsig-more#rsa-sha256", "xmldsig-more#hmac-sha256"));
    assert!(matches!(hmac, WssError::Algorithm { use_for: "signature", .. }));
}

#[test]
fn at_12_weak_algorithms() {
    let (text, _) = message();
    for weak in [
        "http://www.w3.org/2000/09/xmldsig#rsa-sha1",
        "http://www.w3.org/2001/04/xmldsig-more#rsa-md5",
        "http://www.w3.org/2000/09/xmldsig#dsa-sha1",
    ] {
        let error = refused(&altered(&text, "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", weak));
        assert_eq!(error, WssError::Algorithm { use_for: "signature", uri: weak.into() });
        assert_eq!(error.code(), "EBMS:0103");
    }
    for weak in ["http://www.w3.org/2000/09/xmldsig#sha1", "http://www.w3.org/2001/04/xmldsig-more#md5"] {
        let error = refused(&altered(&text, "http://www.w3.org/2001/04/xmlenc#sha256", weak));
        assert_eq!(error, WssError::Algorithm { use_for: "digest", uri: weak.into() });
    }
    // A short key: ours refuses to sign with it, so its signature is made by hand.
    struct Short(Arc<PrivateKey>);
    impl Signer for Short {
        fn certificate(&self) -> &Arc<Certificate> {
            &self.0.certificate
        }
        fn chain(&self) -> &[Arc<Certificate>] {
            &[]
        }
        fn sign(&self, algorithm: SignatureAlgorithm, data: &[u8]) -> Result<Vec<u8>, WssError> {
            Ok(crate::wss::signature_value::sign(&self.0.key, algorithm, data).unwrap())
        }
    }
    let short = fixture::rsa(1024);
    let options = super::round_trip::options(SignatureAlgorithm::RsaSha256, TokenReference::BinarySecurityToken);
    assert!(matches!(sign(ENVELOPE, &[], &*short, &options), Err(WssError::Key { .. })));
    let blocks = sign(ENVELOPE, &[], &Short(short), &options).unwrap().blocks;
    let error = refused(&compose(ENVELOPE, &blocks).unwrap());
    assert!(matches!(&error, WssError::Key { why, .. } if why.contains("1024 bits")), "{error}");
    // A key of another kind than the algorithm says.
    let ecdsa = refused(&altered(&text, "xmldsig-more#rsa-sha256", "xmldsig-more#ecdsa-sha256"));
    assert!(matches!(ecdsa, WssError::Key { .. }));
}

#[test]
fn at_12_weak_encryption() {
    let recipient = fixture::certificate("partyb");
    let options = EncryptOptions {
        algorithm: crate::wss::suite::DataEncryption::Aes128Gcm,
        transport: crate::wss::suite::KeyTransport::DEFAULT,
        token: TokenReference::BinarySecurityToken,
        ids: EncryptIds { key: "EK-1", token: "X509-2" },
    };
    let parts = [PartToEncrypt { uri: "cid:p1@x", mime_type: "text/xml", id: "ED-1" }];
    let (blocks, _) = encrypt_header(&recipient, &options, &parts).unwrap();
    for (from, weak) in [
        ("http://www.w3.org/2009/xmlenc11#aes128-gcm", "http://www.w3.org/2001/04/xmlenc#aes128-cbc"),
        ("http://www.w3.org/2009/xmlenc11#aes128-gcm", "http://www.w3.org/2001/04/xmlenc#tripledes-cbc"),
        ("http://www.w3.org/2009/xmlenc11#rsa-oaep", "http://www.w3.org/2001/04/xmlenc#rsa-1_5"),
        ("http://www.w3.org/2009/xmlenc11#mgf1sha256", "http://www.w3.org/2009/xmlenc11#mgf1md5"),
    ] {
        let error = read_header(&altered(&blocks, from, weak)).unwrap_err();
        assert!(matches!(&error, WssError::Algorithm { uri, .. } if uri == weak), "{error}");
        assert_eq!(error.code(), "EBMS:0103");
    }
    // FR-052: key agreement is refused by name.
    let key_info = between(&blocks, "<ds:KeyInfo", "</ds:KeyInfo>");
    let agreement =
        r#"<ds:KeyInfo><xenc:AgreementMethod Algorithm="http://www.w3.org/2009/xmlenc11#ECDH-ES"/></ds:KeyInfo>"#;
    let error = read_header(&altered(&blocks, key_info, agreement)).unwrap_err();
    assert!(matches!(error, WssError::Algorithm { use_for: "key agreement", .. }), "{error}");
    // SHA-1 by absence (WS-048) is SHA-1.
    let digest = between(&blocks, "<ds:DigestMethod", "/>");
    let header = read_header(&altered(&blocks, digest, "")).unwrap();
    assert!(header.encrypted_keys[0].transport.uses_sha1());
}

#[test]
fn at_14_loops_and_floods() {
    let (text, _) = message();
    let reference = between(&text, "<wsse:SecurityTokenReference", "</wsse:SecurityTokenReference>");
    for other in [
        r##"<ds:RetrievalMethod Id="R" URI="#R"/>"##,
        r##"<wsse:SecurityTokenReference wsu:Id="S"><wsse:Reference URI="#S"/></wsse:SecurityTokenReference>"##,
        "<ds:KeyValue/>",
        "",
    ] {
        let error = refused(&altered(&text, reference, other));
        assert!(matches!(error, WssError::NotUnderstood { .. } | WssError::Malformed { .. }), "{other}: {error}");
    }
    let started = std::time::Instant::now();
    let one = between(&text, r#"<ds:Reference URI="cid:p2@x">"#, "</ds:Reference>");
    let many: String = (0..5_000).map(|n| one.replace("p2@x", &format!("p{n}@y"))).collect();
    assert_eq!(
        refused(&altered(&text, one, &many)),
        WssError::TooMany { what: "references in its signature", limit: 1_000 }
    );
    let flood = refused(&altered(&text, one, &one.repeat(50_000)));
    assert!(flood.to_string().contains("60000"), "{flood}");
    assert!(matches!(refused(&altered(&text, one, &one.repeat(2))), WssError::Malformed { .. }));
    let token = between(&text, "<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let tokens: String = (0..100).map(|n| token.replace("X509-1", &format!("T-{n}"))).collect();
    assert!(matches!(refused(&altered(&text, token, &tokens)), WssError::TooMany { what: "BinarySecurityTokens", .. }));
    let element = between(&text, r##"<ds:Reference URI="#body-1">"##, "</ds:Reference>");
    let nested: String = (0..40).map(|n| element.replace("body-1", &format!("e{n}"))).collect();
    let elements: String = (0..40).map(|n| format!(r#"<x Id="e{n}">"#)).collect::<String>() + &"</x>".repeat(40);
    let overlapping =
        altered(&altered(&text, element, &nested), "</eb:UserMessage>", &format!("{elements}</eb:UserMessage>"));
    assert_eq!(refused(&overlapping), WssError::TooMany { what: "signed elements", limit: 32 });
    let list = format!(r#"<ec:InclusiveNamespaces xmlns:ec="{}" PrefixList="{}"/>"#, EXC_C14N, "a ".repeat(65));
    let prefixes = altered(&text, "</ds:CanonicalizationMethod>", &format!("{list}</ds:CanonicalizationMethod>"));
    assert_eq!(refused(&prefixes), WssError::TooMany { what: "prefixes in a PrefixList", limit: 64 });
    assert!(started.elapsed().as_secs() < 10);
}

#[test]
fn what_is_not_signed_is_named() {
    // FR-046
    let key = fixture::private_key("partya");
    let options = super::round_trip::options(SignatureAlgorithm::RsaSha256, TokenReference::BinarySecurityToken);
    let one = [PartToSign { uri: "cid:p1@x", digest: &[7; 32] }];
    let blocks = sign(ENVELOPE, &one, &*key, &options).unwrap().blocks;
    let error = refused(&compose(ENVELOPE, &blocks).unwrap());
    assert_eq!((error.code(), error), ("EBMS:0103", WssError::NotCovered { what: "cid:p2@x".into() }));
    assert_eq!(refused(&compose(ENVELOPE, "").unwrap()), WssError::NotSigned);
}

#[test]
fn blocks_that_mean_nothing_are_refused() {
    for block in [
        "<x/>",
        r#"<wsse:SecurityTokenReference xmlns:wsse="http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"/>"#,
    ] {
        assert!(matches!(read_header(block), Err(WssError::NotUnderstood { .. })));
    }
    assert!(matches!(read_header("text"), Err(WssError::Malformed { .. })));
}
