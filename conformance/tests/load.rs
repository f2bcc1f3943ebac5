//! The load generator against a throw-away gateway, in every form of security: each message receipted, each receipt
//! verified to the last digest.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

fn load(further: &[&str]) -> (bool, Value) {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_postrider-conformance"));
    let postrider = program.with_file_name("postrider");
    assert!(postrider.is_file(), "{} is missing: cargo build -p postrider", postrider.display());
    let run = Command::new(&program)
        .args(["load", "--self", "--json", "--messages", "40", "--verify", "all", "--bits", "2048", "--postrider"])
        .arg(&postrider)
        .args(further)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stderr);
    (run.status.success(), serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {words}")))
}

#[test]
fn every_form_of_security_is_driven_and_receipted() {
    for security in ["plain", "signed", "encrypted", "full"] {
        let (good, report) = load(&["--security", security, "--size", "70k"]);
        assert!(good, "{security}: {report:#}");
        assert_eq!((report["ok"].as_u64(), report["receipts_verified"].as_u64()), (Some(40), Some(40)), "{report:#}");
        assert!(report["server"]["cpu_ms"].as_f64().unwrap() > 0.0, "{report:#}");
        let ratio = report["server"]["floor_ratio"].as_f64();
        assert_eq!(ratio.is_some(), security != "plain", "{report:#}");
    }
}

#[test]
fn a_server_that_is_not_there_is_a_failure() {
    let wrong = Command::new(env!("CARGO_BIN_EXE_postrider-conformance"))
        .args(["load", "http://127.0.0.1:9/as4", "--security", "plain", "--messages", "3", "--json"])
        .output()
        .unwrap();
    let report: Value = serde_json::from_slice(&wrong.stdout).unwrap();
    assert!(!wrong.status.success() && report["ok"] == 0 && !report["failed"].as_object().unwrap().is_empty());
}
