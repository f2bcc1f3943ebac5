//! Signatures by libxmlsec1 with every algorithm of the list.

use openssl::asn1::Asn1Time;
use openssl::ec::{EcGroup, EcKey};
use openssl::hash::MessageDigest;
use openssl::nid::Nid;
use openssl::pkey::{PKey, Private};
use openssl::x509::{X509, X509NameBuilder};

use super::*;
use crate::wss::{Certificate, PrivateKey};

fn self_signed(key: PKey<Private>) -> PrivateKey {
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "cross").unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(4_000_000_000).unwrap()).unwrap();
    builder.sign(&key, MessageDigest::sha256()).unwrap();
    let certificate = Certificate::from_der(&builder.build().to_der().unwrap()).unwrap();
    PrivateKey { key, certificate: certificate.into(), chain: Vec::new() }
}

fn ec(curve: Nid) -> PrivateKey {
    let group = EcGroup::from_curve_name(curve).unwrap();
    self_signed(PKey::from_ec_key(EcKey::generate(&group).unwrap()).unwrap())
}

#[test]
fn signs_and_agrees_with_every_algorithm_of_the_list() {
    let rsa = || PrivateKey {
        key: captured::private_key("partya"),
        certificate: captured::certificate("partya").into(),
        chain: Vec::new(),
    };
    let table = [
        ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha256", "http://www.w3.org/2001/04/xmlenc#sha256", rsa()),
        ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha384", "http://www.w3.org/2001/04/xmldsig-more#sha384", rsa()),
        ("http://www.w3.org/2001/04/xmldsig-more#rsa-sha512", "http://www.w3.org/2001/04/xmlenc#sha512", rsa()),
        (
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
            "http://www.w3.org/2001/04/xmlenc#sha256",
            ec(Nid::X9_62_PRIME256V1),
        ),
        (
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256",
            "http://www.w3.org/2001/04/xmlenc#sha256",
            ec(Nid::BRAINPOOL_P256R1),
        ),
        (
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha384",
            "http://www.w3.org/2001/04/xmldsig-more#sha384",
            ec(Nid::SECP384R1),
        ),
        (
            "http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha512",
            "http://www.w3.org/2001/04/xmlenc#sha512",
            ec(Nid::SECP521R1),
        ),
    ];
    for (method, digest, key) in table {
        let mut parts = captured::Parts::default();
        let template = captured::template(method, digest, &[]);
        let envelope = super::super::sign(&template, &key, &mut parts, 0).unwrap_or_else(|e| panic!("{method}: {e}"));
        let expected = captured::references(&envelope);
        let opinion = second_opinion(&envelope, &key.certificate, &mut parts, &expected, 0);
        assert_eq!(opinion, Opinion::Agrees, "{method}");
        let other = captured::certificate("partyb");
        why(second_opinion(&envelope, &other, &mut parts, &expected, 0));
    }
}

#[test]
fn a_key_of_another_kind_does_not_sign() {
    let mut parts = captured::Parts::default();
    let template = captured::template(
        "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256",
        "http://www.w3.org/2001/04/xmlenc#sha256",
        &[],
    );
    let failed = super::super::sign(&template, &ec(Nid::X9_62_PRIME256V1), &mut parts, 0).unwrap_err();
    assert!(failed.to_string().contains("did not sign"), "{failed}");
}

#[test]
fn a_key_that_libxmlsec1_does_not_know_is_left_open() {
    let key = PKey::generate_ed25519().unwrap();
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", "ed").unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(&name).unwrap();
    builder.set_pubkey(&key).unwrap();
    builder.set_not_before(&Asn1Time::from_unix(0).unwrap()).unwrap();
    builder.set_not_after(&Asn1Time::from_unix(4_000_000_000).unwrap()).unwrap();
    builder.sign(&key, MessageDigest::null()).unwrap();
    let certificate = Certificate::from_der(&builder.build().to_der().unwrap()).unwrap();
    let mut message = captured::read("phase4/push-signed.request.http");
    let expected = captured::references(&message.envelope);
    let opinion = second_opinion(&message.envelope, &certificate, &mut message.parts, &expected, 0);
    let Opinion::CouldNotJudge { why } = opinion else { panic!("{opinion:?}") };
    assert!(why.contains("CN=ed"), "{why}");
}
