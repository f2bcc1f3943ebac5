//! Our own keys, tokens, anchors.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use openssl::pkcs12::Pkcs12;

use super::bench::{Issue, Site};
use crate::cli::check::Severity;

#[test]
fn keys_are_private_and_fit_their_certificates() {
    let site = Site::new();
    std::fs::copy(site.path("keys/blue-decryption.key"), site.path("keys/blue-signing.key")).unwrap();
    std::fs::set_permissions(site.path("keys/admin.token"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = site.findings();
    let told: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("does not belong to the certificate") && found[0].stops, "{told:?}");
    assert!(told[1].contains("can be read by other users"), "{told:?}");
}

#[test]
fn what_is_missing_or_no_key_is_named_with_its_place() {
    let site = Site::new();
    std::fs::remove_file(site.path("keys/blue-signing.pem")).unwrap();
    site.write("keys/blue-decryption.key", "no key");
    let found = site.findings();
    let told = |part: &str| found.iter().filter(|f| f.message.contains(part)).collect::<Vec<_>>();
    assert_eq!(told("blue-signing.pem cannot be read").len(), 1, "{found:#?}");
    assert_eq!(told("holds no private key").len(), 1, "{found:#?}");
    // The P-Mode names the certificate, too.
    assert_eq!(told("keys/blue-signing.pem` cannot be used").len(), 2, "{found:#?}");
    assert!(found.iter().all(|f| f.stops && f.place.is_some() && f.next.is_some()), "{found:#?}");
}

/// A further signing key, made so; what is found about it.
fn second_key(made: &Issue) -> (Site, Vec<crate::cli::check::Finding>) {
    let site = Site::new();
    let (key, certificate) = made.pair();
    site.write("keys/next.key", key);
    site.write("keys/next.pem", certificate);
    std::fs::set_permissions(site.path("keys/next.key"), std::fs::Permissions::from_mode(0o600)).unwrap();
    let first = "signing = [{ key = { file = \"keys/blue-signing.key\" }, certificate = \"keys/blue-signing.pem\" }]";
    let both = first.replace(']', ", { key = { file = \"keys/next.key\" }, certificate = \"keys/next.pem\" }]");
    site.replace(first, &both);
    let found = site.findings();
    (site, found)
}

#[test]
fn a_key_beside_a_good_one_may_be_out_of_date() {
    for (days, told) in
        [(-100..-3, "expired 2 days ago"), (5..100, "is not valid before"), (-100..10, "ends in 10 days")]
    {
        let (_site, found) = second_key(&Issue::new().days(days));
        assert_eq!(found.len(), 1, "{found:#?}");
        assert!(found[0].message.contains(told) && found[0].severity == Severity::Warning, "{found:#?}");
        assert!(found[0].place.as_ref().unwrap().contains("party[0].signing[1].certificate"), "{found:#?}");
    }
}

#[test]
fn weak_keys_and_other_usages_are_errors() {
    let (_site, found) = second_key(&Issue::new().bits(1024).days(-1000..400));
    assert!(found.len() == 1 && found[0].message.contains("too weak (RSA, 1024 bits)"), "{found:#?}");
    let (_site, found) = second_key(&Issue::new().only_for_encryption().days(-1000..400));
    assert!(found.len() == 1 && found[0].message.contains("its key usage lacks digitalSignature"), "{found:#?}");
    assert!(found.iter().all(|f| f.severity == Severity::Error && f.next.is_some()));
}

/// The captured exchanges' keys, out of their stores, under a harmless name: refused as key, anchor and partner.
#[test]
fn published_keys_are_refused_wherever_they_stand() {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys");
    let store = Pkcs12::from_der(&std::fs::read(keys.join("partya.p12")).unwrap()).unwrap().parse2("changeit").unwrap();
    let (key, certificate) = (store.pkey.unwrap(), store.cert.unwrap().to_pem().unwrap());

    let site = Site::new();
    site.write("keys/blue-signing.key", key.private_key_to_pem_pkcs8().unwrap());
    site.write("keys/blue-signing.pem", &certificate);
    let found = site.findings();
    let told = found.iter().filter(|f| f.stops && f.message.contains("throw-away key `partya`")).collect::<Vec<_>>();
    assert!(told.iter().any(|f| f.place.as_ref().unwrap().contains("signing[0].key")), "{found:#?}");
    assert!(told.iter().any(|f| f.place.as_ref().unwrap().contains("self-test.xml:")), "{found:#?}");

    let site = Site::new();
    std::fs::copy(keys.join("ca.cert.pem"), site.path("keys/authority.pem")).unwrap();
    site.replace("#anchors = []", "anchors = [\"keys/authority.pem\"]");
    let one = site.one();
    assert!(one.stops && one.message.contains("throw-away key `AS4 test CA`"), "{one:?}");

    let site = Site::new();
    site.write("keys/red.pem", &certificate);
    let red = "<SigningCertificate file=\"../keys/red.pem\"/><EncryptionCertificate file=\"../keys/red.pem\"/>";
    site.pmode("", red, "");
    let found = site.findings();
    let refused = found.iter().filter(|f| f.stops && f.message.contains("`red`: its key is the throw-away key"));
    assert_eq!(refused.count(), 2, "{found:#?}");
}

#[test]
fn tokens_are_there_and_long() {
    let site = Site::new();
    site.write("keys/admin.token", "short\n");
    let one = site.one();
    assert!(one.message.contains("short enough to be guessed") && one.severity == Severity::Warning, "{one:?}");
    site.write("keys/admin.token", "\n");
    let one = site.one();
    assert!(one.message.contains("token of `admin`") && one.message.contains("is empty") && one.stops, "{one:?}");
    std::fs::remove_file(site.path("keys/admin.token")).unwrap();
    let one = site.one();
    assert!(one.message.contains("admin.token cannot be read") && one.stops, "{one:?}");
}

#[test]
fn anchors_and_revocation_lists_are_read() {
    let site = Site::new();
    site.replace("#anchors = []", "anchors = [\"keys/none.pem\"]");
    assert!(site.one().message.contains("none.pem cannot be read"));
    site.write("keys/none.pem", "no certificate");
    assert!(site.one().message.contains("holds no certificate in PEM"));
    site.write("keys/none.pem", Issue::new().days(-1000..400).certificate());
    let one = site.one();
    assert!(one.message.contains("may not issue certificates") && one.severity == Severity::Warning, "{one:?}");

    let site = Site::new();
    site.replace("#crls = []", "crls = [\"keys/none.crl\"]");
    let one = site.one();
    assert!(one.stops && one.message.contains("none.crl"), "{one:?}");
    site.write("keys/none.crl", "no list");
    let one = site.one();
    assert!(one.stops && one.message.contains("not a revocation list"), "{one:?}");
}
