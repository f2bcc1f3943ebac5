use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::Parser;

use super::*;
use crate::cli::Cli;
use crate::config::load;

/// A gateway as `init` leaves it.
fn gateway() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let dir = folder.path().to_str().unwrap().to_owned();
    let cli = Cli::parse_from(["postrider", "init", &dir, "--party", "blue", "--yes"]);
    let crate::cli::Command::Init(args) = cli.command else { panic!("init") };
    crate::cli::init::run(&args).unwrap();
    folder
}

fn findings(folder: &Path, now: OffsetDateTime) -> Vec<Finding> {
    let loaded = load(&folder.join("postrider.toml"), &[]).unwrap();
    examine(&Context { loaded: &loaded, now })
}

#[test]
fn what_init_wrote_is_without_findings_until_its_certificates_end() {
    let folder = gateway();
    let now = OffsetDateTime::now_utc();
    assert_eq!(findings(folder.path(), now), []);

    let soon = findings(folder.path(), now + time::Duration::days(700));
    assert_eq!(soon.len(), 2);
    assert!(soon.iter().all(|f| f.severity == Severity::Warning && f.message.contains("ends in ")), "{soon:?}");
    let late = findings(folder.path(), now + time::Duration::days(800));
    assert!(late.iter().all(|f| f.severity == Severity::Error && f.message.contains("days ago")), "{late:?}");
    assert!(late[0].place.as_ref().is_some_and(|p| p.contains("postrider.toml:")), "{late:?}");
}

#[test]
fn keys_are_private_and_fit_their_certificates() {
    let folder = gateway();
    let keys = folder.path().join("keys");
    std::fs::copy(keys.join("blue-decryption.key"), keys.join("blue-signing.key")).unwrap();
    std::fs::set_permissions(keys.join("admin.token"), std::fs::Permissions::from_mode(0o644)).unwrap();
    let found = findings(folder.path(), OffsetDateTime::now_utc());
    let told: Vec<&str> = found.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].contains("does not belong to the certificate"), "{told:?}");
    assert!(told[1].contains("can be read by other users"), "{told:?}");
}

#[test]
fn what_is_missing_is_named_with_its_place() {
    let folder = gateway();
    std::fs::remove_file(folder.path().join("keys/blue-signing.pem")).unwrap();
    std::fs::remove_dir_all(folder.path().join("pmodes")).unwrap();
    std::fs::write(folder.path().join("keys/blue-decryption.key"), "no key").unwrap();
    let found = findings(folder.path(), OffsetDateTime::now_utc());
    let told: Vec<String> = found.iter().map(|f| f.message.clone()).collect();
    assert!(told.iter().any(|m| m.contains("blue-signing.pem cannot be read")), "{told:?}");
    assert!(told.iter().any(|m| m.contains("holds no private key")), "{told:?}");
    assert!(told.iter().any(|m| m.contains("P-Mode folder")), "{told:?}");
    assert_eq!(told.len(), 3, "{told:?}");
}

#[test]
fn warnings_are_errors_when_asked() {
    let warning = [Finding { severity: Severity::Warning, place: None, message: "x".into(), next: None }];
    assert!(verdict(&warning, false).is_ok());
    assert_eq!(verdict(&warning, true).unwrap_err().exit, exit::NO);
}
