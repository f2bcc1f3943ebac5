//! Thirty kills of two real gateways: every document exactly once.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

#[test]
fn thirty_kills_lose_and_double_nothing() {
    let program = PathBuf::from(env!("CARGO_BIN_EXE_postrider-conformance"));
    let postrider = program.with_file_name("postrider");
    assert!(postrider.is_file(), "{} is missing: cargo build -p postrider", postrider.display());
    let run = Command::new(&program)
        .args(["crash", "--kills", "30", "--json", "--drain", "60", "--postrider"])
        .arg(&postrider)
        .output()
        .unwrap();
    let words = String::from_utf8_lossy(&run.stderr);
    let report: Value = serde_json::from_slice(&run.stdout).unwrap_or_else(|e| panic!("{e}: {words}"));
    assert!(run.status.success(), "{words}\n{report:#}");
    let count = |value: &Value| value.as_u64().unwrap_or_default();
    assert!(count(&report["between"]) >= 20, "{report:#}");
    let verdict = &report["verdict"];
    let submitted = count(&verdict["submitted"]);
    assert!(submitted >= 30 && count(&verdict["delivered"]) == submitted, "{report:#}");
    assert!(count(&verdict["large"]) > 0 && count(&verdict["large"]) < submitted, "both sides of 64 KiB: {report:#}");
    assert!(count(&verdict["unanswered"]) > 0, "no attempt was interrupted: {report:#}");
}
