use std::os::unix::fs::PermissionsExt;

use openssl::pkey::PKey;

use super::*;
use crate::config::{BackendKind, load};
use crate::wire::xml::{Document, Limits};
use crate::wss::Certificate;

fn args(dir: &std::path::Path) -> InitArgs {
    InitArgs {
        dir: dir.to_path_buf(),
        party: Some("red".to_owned()),
        id: Some("0204:9&1".to_owned()),
        kind: plan::UNREGISTERED.to_owned(),
        host: Some("as4.example.org".to_owned()),
        yes: true,
    }
}

#[test]
fn an_empty_folder_becomes_a_valid_gateway() {
    let folder = tempfile::tempdir().unwrap();
    run(&args(folder.path())).unwrap();

    let config = load(&folder.path().join("postrider.toml"), &[]).unwrap_or_else(|e| panic!("{e}")).config;
    assert_eq!(config.host.name, "as4.example.org");
    let party = &config.party[0];
    assert_eq!((party.name.as_str(), party.id.as_str()), ("red", "0204:9&1"));
    assert_eq!(party.kind.as_deref(), Some(plan::UNREGISTERED));
    assert!(matches!(&config.backend[0].kind, BackendKind::Folder { dir } if dir.ends_with("in")));
    assert_eq!(config.backend.len(), 1);
    assert_eq!(config.admin.token[0].secret.read_text().unwrap().expose().len(), 43);

    for pair in [&party.signing[0], &party.decryption[0]] {
        let key = PKey::private_key_from_pem(&pair.key.read().unwrap()).unwrap();
        let certificates = Certificate::all_from_pem(&std::fs::read(&pair.certificate).unwrap()).unwrap();
        assert!(certificates[0].public_key().public_eq(&key));
        assert_eq!(certificates[0].key_identifier().len(), 20);
    }
}

#[test]
fn secrets_are_for_their_owner_alone() {
    let folder = tempfile::tempdir().unwrap();
    run(&args(folder.path())).unwrap();
    let mode = |name: &str| std::fs::metadata(folder.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("keys"), 0o700);
    for secret in ["keys/admin.token", "keys/red-signing.key", "keys/red-decryption.key"] {
        assert_eq!(mode(secret), 0o600, "{secret}");
    }
}

#[test]
fn the_example_pmodes_are_xml_with_our_names() {
    let folder = tempfile::tempdir().unwrap();
    run(&args(folder.path())).unwrap();
    for name in ["pmodes/self-test.xml", "pmodes/partner.xml.sample"] {
        let text = std::fs::read_to_string(folder.path().join(name)).unwrap();
        assert!(Document::parse(&text, &Limits::PMODE).is_ok(), "{name}");
        assert!(text.contains(">0204:9&amp;1<") && text.contains("keys/red-signing.pem"), "{name}");
        assert!(!text.contains('{'), "{name} has a name that was not filled in");
    }
}

#[test]
fn nothing_is_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("postrider.toml"), "mine").unwrap();
    let failure = run(&args(folder.path())).unwrap_err();
    assert_eq!(failure.exit, exit::CONFLICT);
    assert_eq!(std::fs::read_to_string(folder.path().join("postrider.toml")).unwrap(), "mine");
    assert!(!folder.path().join("keys").exists());
}

#[test]
fn names_that_fit_no_file_are_refused() {
    for name in ["", "a/b", "ü", "a b"] {
        assert!(party_name(name).is_err(), "{name}");
    }
    assert!(plain_text("a\nb").is_err());
}
