//! `postrider explain` over every exchange that was captured or made: never a panic, always an answer with its reason.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::site::{Ran, exit, program, run};

const PARTY: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered:as4-test";

fn fixtures(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn files(folder: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(fixtures(folder)).unwrap().map(|entry| entry.unwrap().path());
    let named = |path: &PathBuf| path.extension().is_some_and(|end| end == "http" || end == "xml");
    let mut all: Vec<_> = all.filter(named).collect();
    all.sort();
    assert!(!all.is_empty(), "{folder}");
    all
}

/// What phase4's sender and receiver agreed on when they were captured.
fn p_modes() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let party = |name: &str| {
        let certificate = fixtures(&format!("captured/keys/{name}.cert.pem"));
        let file = certificate.display();
        format!(
            "<Party type=\"{PARTY}\">{name}</Party><SigningCertificate file=\"{file}\"/>\
             <EncryptionCertificate file=\"{file}\"/>"
        )
    };
    let signed = "<Security><Signature/></Security>";
    for (id, profile, leg) in [
        ("plain", "plain", ""),
        ("signed", "as4", signed),
        ("signenc", "as4", "<Security><Signature/><Encryption/></Security>"),
        ("ping", "test-service", signed),
    ] {
        let text = format!(
            "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"{id}\" profile=\"{profile}\" sendPModeId=\"{}\">\
             <Agreement>urn:as4-test:agreement:1</Agreement><Initiator>{}</Initiator><Responder>{}</Responder>\
             <Leg>{leg}</Leg></PMode>",
            id != "ping",
            party("partya"),
            party("partyb"),
        );
        std::fs::write(dir.path().join(format!("{id}.xml")), text).unwrap();
    }
    dir
}

fn explained(capture: &Path, pmodes: &Path, format: &str) -> Ran {
    let dir = pmodes.parent().unwrap();
    let key = fixtures("captured/keys/partyb.p12");
    let words =
        ["explain", capture.to_str().unwrap(), "--pmodes", pmodes.to_str().unwrap(), "--key", key.to_str().unwrap()];
    let password = pmodes.join("password");
    std::fs::write(&password, "changeit\n").unwrap();
    let more = ["--password-file", password.to_str().unwrap(), "--at", "2026-11-30T19:00:00Z", "--output", format];
    run(dir, &[&words[..], &more].concat())
}

/// What every explanation has: steps with a finding each, the verdict last, and a reason where it is no.
fn judge(capture: &Path, ran: &Ran) -> Value {
    let shown = capture.display();
    assert!([exit::OK, exit::NO].contains(&ran.code), "{shown}: {ran:#?}");
    let told = ran.json();
    let steps = told["steps"].as_array().unwrap();
    for step in steps {
        assert!(
            !step["step"].as_str().unwrap().is_empty() && !step["text"].as_str().unwrap().is_empty(),
            "{shown}: {step}"
        );
    }
    assert_eq!(steps.last().unwrap()["step"], "verdict", "{shown}");
    let refused = told["verdict"] == "refused";
    assert_eq!(ran.code == exit::NO, refused, "{shown}: {ran:#?}");
    if refused {
        let failed = steps.iter().filter(|step| step["pass"] == false).count();
        assert!(failed >= 2, "{shown}: the step that failed is named beside the verdict: {told:#}");
        assert!(ran.err.starts_with("error: ") && ran.err.len() > 20, "{shown}: the reason is told: {ran:#?}");
    } else {
        assert!(steps.iter().all(|step| step["pass"] != false), "{shown}: {told:#}");
        assert_eq!(ran.err, "", "{shown}");
    }
    told
}

#[test]
fn every_captured_exchange_is_explained() {
    let pmodes = p_modes();
    let mut verified = 0;
    for capture in ["oxalis", "phase4", "pyas4"].iter().flat_map(|peer| files(&format!("captured/{peer}"))) {
        let told = judge(&capture, &explained(&capture, pmodes.path(), "json"));
        let step = |name: &str| told["steps"].as_array().unwrap().iter().find(|step| step["step"] == name).cloned();
        let octets = std::fs::read(&capture).unwrap();
        let holds = |text: &[u8]| octets.windows(text.len()).any(|window| window == text);
        // In an answer that HTTP compressed, nobody sees it from outside.
        let signed = holds(b"SignatureValue>") || holds(b"Content-Encoding: gzip\r\n");
        let signature = step("signature");
        assert_eq!(signature.is_some(), signed, "{}: {told:#}", capture.display());
        if let Some(signature) = signature {
            let text = signature["text"].as_str().unwrap();
            assert!(text.starts_with("verified: "), "{}: {text}", capture.display());
            verified += 1;
        }
    }
    assert!(verified >= 50, "{verified}");
}

#[test]
fn signed_messages_of_known_p_modes_are_accepted() {
    let pmodes = p_modes();
    let requests = files("captured/phase4").into_iter().filter(|path| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.ends_with(".request.http") && (name.starts_with("push-sign") || name.starts_with("ping-signed"))
    });
    let mut count = 0;
    for capture in requests {
        let told = judge(&capture, &explained(&capture, pmodes.path(), "json"));
        assert_eq!(told["verdict"], "accepted", "{}: {told:#}", capture.display());
        let wanted = ["pmode", "security", "signature", "coverage", "signer", "second_opinion"];
        for name in wanted {
            let step = told["steps"].as_array().unwrap().iter().find(|step| step["step"] == name);
            assert_eq!(step.map(|step| &step["pass"]), Some(&true.into()), "{name} of {}: {told:#}", capture.display());
        }
        let encrypted = capture.to_string_lossy().contains("signenc");
        let decrypted =
            told["steps"].as_array().unwrap().iter().any(|s| s["step"] == "encryption" && s["pass"] == true);
        assert_eq!(decrypted, encrypted, "{}: {told:#}", capture.display());
        count += 1;
    }
    assert!(count >= 14, "{count}");
}

/// A message that was changed on its way is told where.
#[test]
fn what_was_changed_is_named() {
    let pmodes = p_modes();
    let good = std::fs::read(fixtures("captured/phase4/push-signed.request.http")).unwrap();
    for (from, to, step) in [("Action>submit<", "Action>forget<", "reference"), ("<ID>1</ID>", "<ID>9</ID>", "part")] {
        let at = good.windows(from.len()).position(|window| window == from.as_bytes()).unwrap();
        let mut changed = good.clone();
        changed[at..at + to.len()].copy_from_slice(to.as_bytes());
        let file = pmodes.path().join("changed.http");
        std::fs::write(&file, changed).unwrap();
        let told = judge(&file, &explained(&file, pmodes.path(), "json"));
        let steps = told["steps"].as_array().unwrap();
        assert!(steps.iter().any(|s| s["step"] == step && s["pass"] == false), "{from}: {told:#}");
    }
}

#[test]
fn every_case_is_explained() {
    let pmodes = p_modes();
    for capture in files("cases") {
        judge(&capture, &explained(&capture, pmodes.path(), "json"));
    }
}

/// Without an agreement, too, each part is held against the digest that was signed.
#[test]
fn digests_are_checked_without_p_modes() {
    let dir = tempfile::tempdir().unwrap();
    let good = std::fs::read(fixtures("captured/phase4/push-signed.request.http")).unwrap();
    let (from, to) = (b"<ID>1</ID>", b"<ID>9</ID>");
    let at = good.windows(from.len()).position(|window| window == from).unwrap();
    let changed = [&good[..at], to, &good[at + to.len()..]].concat();
    for (octets, pass, told) in [(good, true, "digest agrees"), (changed, false, "differs: signed")] {
        std::fs::write(dir.path().join("capture.http"), octets).unwrap();
        let steps = run(dir.path(), &["explain", "capture.http", "--output", "json"]).json()["steps"].clone();
        let part = steps.as_array().unwrap().iter().find(|step| step["step"] == "part").unwrap();
        assert_eq!(part["pass"], pass, "{steps:#}");
        assert!(part["text"].as_str().unwrap().contains(told), "{steps:#}");
    }
}

/// As people read it: a mark, a step, a finding; the first failure says why, and control characters are shown.
#[test]
fn the_page_for_people() {
    let pmodes = p_modes();
    let good = explained(&fixtures("captured/phase4/push-signenc.request.http"), pmodes.path(), "table");
    assert_eq!(good.code, exit::OK, "{good:#?}");
    for line in
        ["ok    signature       verified: ", "ok    encryption", "ok    coverage", "ok    verdict         accepted: "]
    {
        assert!(good.out.contains(line), "{line}: {}", good.out);
    }
    assert!(good.out.contains("of 2026-11-30T18:02:28.57Z"), "{}", good.out);
    let bad = explained(&fixtures("captured/phase4/error-untrusted-signer.request.http"), pmodes.path(), "table");
    assert_eq!(bad.code, exit::NO, "{bad:#?}");
    assert!(
        bad.out.contains("FAIL  candidate") && bad.out.contains("`stranger") && bad.err.contains("EBMS:"),
        "{bad:#?}"
    );
    let strange = pmodes.path().join("strange.xml");
    std::fs::write(&strange, "<a\u{85}b xmlns:x='\u{9b}2J'/>").unwrap();
    let strange = explained(&strange, pmodes.path(), "table");
    assert!(!strange.out.contains('\u{9b}') && !strange.err.contains('\u{9b}'), "{strange:#?}");
}

/// Without P-Modes and keys it says what is missing, and not that something is wrong.
#[test]
fn what_cannot_be_judged_stays_open() {
    let dir = tempfile::tempdir().unwrap();
    let capture = fixtures("captured/phase4/push-signenc.request.http");
    let output =
        program(dir.path()).args(["explain", capture.to_str().unwrap(), "--output", "table"]).output().unwrap();
    let page = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(exit::OK), "{page}");
    for part in ["give their folder by --pmodes", "give it by --key", "-     verdict         open: "] {
        assert!(page.contains(part), "{part}: {page}");
    }
}
