//! `serve` where it cannot.

use std::net::TcpListener;
use std::path::Path;

use openssl::pkcs12::Pkcs12;

use super::site::{Site, exit};

#[test]
fn a_taken_address_is_named_and_the_database_left() {
    let site = Site::new();
    for (address, told) in [(site.msh, "[[msh]] listen"), (site.admin, "[admin] listen")] {
        let _taken = TcpListener::bind(address).unwrap();
        let ran = site.run(&["serve"]);
        ran.fails(exit::CONFIG, &[&format!("cannot listen on {address}"), told, "next: "]);
        assert_eq!(site.data(), []);
    }
}

#[test]
fn a_data_folder_in_use_is_told() {
    let site = Site::new();
    let _serving = site.serve();
    let before = site.data();
    let (msh, admin) = (super::ports::free().to_string(), super::ports::free().to_string());
    let ran = site.run(&["serve", "--listen", &msh, "--admin", &admin]);
    ran.fails(exit::CONFLICT, &["data/postrider.db` is in use", "stop that first"]);
    site.run(&["db", "migrate"]).fails(exit::CONFLICT, &["is in use", "stop that first"]);
    // To look needs no lock.
    site.run(&["db", "status"]).good();
    site.run(&["check"]).good();
    assert_eq!(site.data(), before);
}

#[test]
fn keys_that_everybody_has_are_refused() {
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys");
    let store = std::fs::read(keys.join("partyb.p12")).unwrap();
    let store = Pkcs12::from_der(&store).unwrap().parse2("changeit").unwrap();
    let (key, certificate) = (store.pkey.unwrap(), store.cert.unwrap().to_pem().unwrap());
    let key = key.private_key_to_pem_pkcs8().unwrap();

    let own = Site::new();
    own.write("keys/blue-decryption.key", &key);
    own.write("keys/blue-decryption.pem", &certificate);
    let tls = Site::new();
    tls.write("keys/harmless.key", &key);
    tls.write("keys/harmless.pem", &certificate);
    tls.edit(
        "postrider.toml",
        "[msh.limits]",
        "[msh.tls]\ncertificate = \"keys/harmless.pem\"\nkey = { file = \"keys/harmless.key\" }\n[msh.limits]",
    );
    let anchor = Site::new();
    std::fs::copy(keys.join("ca.cert.pem"), anchor.path("keys/root.pem")).unwrap();
    anchor.edit("postrider.toml", "#anchors = []", "anchors = [\"keys/root.pem\"]");
    for site in [own, tls, anchor] {
        site.run(&["serve"]).fails(exit::CONFIG, &["does not start", "throw-away key", "postrider.toml:"]);
        site.run(&["check", "--output", "table"]).fails(exit::NO, &["throw-away key", "postrider.toml:"]);
        assert_eq!(site.data(), []);
    }
}

/// A partner pinned by such a certificate is anybody: refused at start, and when it is loaded later.
#[test]
fn a_partner_whose_key_everybody_has_is_refused() {
    let site = Site::new();
    let serving = site.serve();
    let keys = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/captured/keys");
    std::fs::copy(keys.join("partya.cert.pem"), site.path("keys/red.pem")).unwrap();
    let text = std::fs::read_to_string(site.path("pmodes/self-test.xml")).unwrap();
    let text = text.replace("id=\"self-test\"", "id=\"red\"").replace("blue-signing.pem", "red.pem");
    let text = text.replace("urn:postrider:self-test", "urn:postrider:red");
    site.write("pmodes/red.xml", text);
    let token = std::fs::read_to_string(site.path("keys/admin.token")).unwrap();
    let request = format!(
        "POST /api/v1/pmodes/reload HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {}\r\nContent-Length: 0\r\n\r\n",
        token.trim()
    );
    let answer = super::http::exchange(site.admin, request.as_bytes()).unwrap();
    let answer: serde_json::Value = serde_json::from_slice(&answer.body).unwrap();
    assert_eq!(answer["status"], 422, "{answer}");
    assert!(answer.to_string().contains("throw-away key `partya`"), "{answer}");
    drop(serving);
    site.run(&["serve"]).fails(exit::CONFIG, &["red.xml:8:5", "throw-away key `partya`"]);
}

#[test]
fn a_folder_that_cannot_be_made_is_told() {
    let site = Site::new();
    site.write("data", "a file");
    site.run(&["serve"]).fails(exit::UNREACHABLE, &["data", "next: "]);
    assert_eq!(std::fs::read_to_string(site.path("data")).unwrap(), "a file");
}
