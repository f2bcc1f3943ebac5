//! P-Modes: their files, partners' certificates, and what they ask of us.

use super::bench::{Issue, Site};
use crate::cli::check::Severity;

fn both(name: &str) -> String {
    format!("<SigningCertificate file=\"../keys/{name}.pem\"/>\n<EncryptionCertificate file=\"../keys/{name}.pem\"/>\n")
}

/// A gateway with a good P-Mode to red.
fn site() -> Site {
    let site = Site::new();
    site.write("keys/red.pem", Issue::new().certificate());
    site.pmode("", &both("red"), "");
    assert_eq!(site.findings(), []);
    site
}

#[test]
fn every_fault_of_every_file_is_told() {
    let site = site();
    site.write("pmodes/a.xml", "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"a\">\n<Legg/>\n<MEP>up</MEP></PMode>");
    site.write("pmodes/b.xml", "");
    site.write("pmodes/c.xml", b"\xff\xfe\x00\x00");
    site.write("pmodes/d.xml", b"<PMode>\xc3\x28</PMode>");
    std::os::unix::fs::symlink("nowhere", site.path("pmodes/e.xml")).unwrap();
    let found = site.findings();
    for (place, told) in [
        ("a.xml:2:1", "did you mean `Leg`?"),
        ("a.xml:3:", "`MEP` is `up`"),
        ("b.xml:1:1", ""),
        ("c.xml:1:1", "UTF-32"),
        ("d.xml:1:1", "save it as UTF-8"),
        ("e.xml:1:1", "cannot be read"),
    ] {
        let hit = |f: &&crate::cli::check::Finding| {
            f.place.as_ref().is_some_and(|p| p.contains(place)) && f.message.contains(told)
        };
        assert!(found.iter().any(|f| hit(&f)), "{place} {told}: {found:#?}");
    }
    assert!(found.iter().all(|f| f.stops && f.next.is_some()), "{found:#?}");
}

/// XML may come in UTF-16, with a byte order mark; an editor may have put one before UTF-8.
#[test]
fn encodings_of_xml_are_read() {
    let site = site();
    let text = std::fs::read_to_string(site.path("pmodes/red.xml")).unwrap();
    site.write("pmodes/red.xml", format!("\u{feff}{text}"));
    assert_eq!(site.findings(), []);
    let wide: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(u16::to_le_bytes).collect();
    site.write("pmodes/red.xml", wide);
    assert_eq!(site.findings(), []);
}

#[test]
fn a_folder_without_p_modes_is_told() {
    let site = Site::new();
    std::fs::remove_dir_all(site.path("pmodes")).unwrap();
    let one = site.one();
    assert!(one.stops && one.message.contains("the P-Mode folder"), "{one:?}");
    std::fs::create_dir(site.path("pmodes")).unwrap();
    let one = site.one();
    assert!(one.severity == Severity::Warning && one.message.contains("no P-Mode in"), "{one:?}");
}

#[test]
fn certificates_of_partners_are_judged_where_they_are_named() {
    let site = site();
    let found = |made: Issue| {
        site.write("keys/red.pem", made.certificate());
        site.findings()
    };
    for (days, severity, told) in [
        (-100..-3, Severity::Error, "expired 2 days ago"),
        (3..100, Severity::Error, "is not valid before"),
        (-100..29, Severity::Warning, "ends in 29 days"),
    ] {
        let found = found(Issue::new().days(days));
        let dated = found.iter().filter(|f| f.message.contains(told)).collect::<Vec<_>>();
        assert_eq!(dated.len(), 2, "signing and encryption: {found:#?}");
        assert!(
            dated.iter().all(|f| f.severity == severity && f.place.as_ref().unwrap().contains("red.xml:5")
                || f.place.as_ref().unwrap().contains("red.xml:6")),
            "{found:#?}"
        );
        // What follows from it: nothing to encrypt to, no receipt that is believed.
        assert_eq!(found.len(), if severity == Severity::Error { 4 } else { 2 }, "{found:#?}");
    }
    assert_eq!(found(Issue::new().days(-100..31)), []);
    let signing = found(Issue::new().only_for_encryption());
    assert!(signing.len() == 1 && signing[0].message.contains("lacks digitalSignature"), "{signing:#?}");
    let encryption = found(Issue::new().only_for_signing());
    assert!(encryption.len() == 1 && encryption[0].message.contains("lacks keyEncipherment"), "{encryption:#?}");
    let weak = found(Issue::new().bits(1024));
    assert!(weak.iter().all(|f| f.stops && f.message.contains("1024 bits")) && weak.len() == 2, "{weak:#?}");
}

/// In a roll-over the old one may run out.
#[test]
fn an_expired_certificate_beside_a_good_one_is_a_warning() {
    let site = site();
    site.write("keys/old.pem", Issue::new().days(-100..-3).certificate());
    site.pmode("", &format!("<SigningCertificate file=\"../keys/old.pem\"/>\n{}", both("red")), "");
    let one = site.one();
    assert!(one.severity == Severity::Warning && one.message.contains("expired 2 days ago"), "{one:?}");
}

#[test]
fn our_keys_are_those_that_were_agreed() {
    let site = site();
    site.write("keys/blue-other.pem", Issue::new().certificate());
    site.pmode(&both("blue-other"), &both("red"), "");
    let one = site.one();
    assert!(one.severity == Severity::Error && one.message.contains("not a SigningCertificate agreed"), "{one:?}");
    // The other way round: they encrypt to us.
    let text = std::fs::read_to_string(site.path("pmodes/red.xml")).unwrap();
    let turned = text.replace("Initiator>", "X>").replace("Responder>", "Initiator>").replace("X>", "Responder>");
    let parties = turned.find("<Responder>").unwrap()..turned.find("</Responder>").unwrap() + "</Responder>".len();
    let responder = turned[parties.clone()].to_owned();
    let turned = turned.replace(&responder, "").replace("<Leg>", &format!("{responder}<Leg>"));
    site.write("pmodes/red.xml", turned);
    let found = site.findings();
    assert!(found.iter().any(|f| f.message.contains("has no decryption key for it")), "{found:#?}");
    assert!(found.iter().any(|f| f.message.contains("signs receipts with")), "{found:#?}");
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn keys_that_a_p_mode_needs_are_there() {
    let site = site();
    let signing = "signing = [{ key = { file = \"keys/blue-signing.key\" }, certificate = \"keys/blue-signing.pem\" }]";
    let decryption =
        "decryption = [{ key = { file = \"keys/blue-decryption.key\" }, certificate = \"keys/blue-decryption.pem\" }]";
    site.replace(signing, "");
    site.replace(decryption, "");
    let found = site.findings();
    for told in [
        "`red` signs messages, and party `blue` has no valid",
        "`self-test` encrypts, and party `blue` has no decryption",
    ] {
        assert!(found.iter().any(|f| f.message.contains(told)), "{told}: {found:#?}");
    }
    assert!(found.iter().all(|f| f.severity == Severity::Error && f.place.as_ref().unwrap().contains(".xml:")));
}

#[test]
fn a_p_mode_of_others_is_told() {
    let site = site();
    site.replace("id = \"blue\"", "id = \"bleu\"");
    let found = site.findings();
    assert!(
        found.iter().all(|f| f.severity == Severity::Warning && f.message.contains("none of our parties")),
        "{found:#?}"
    );
    assert_eq!(found.len(), 2, "{found:#?}");
}

#[test]
fn the_duplicate_window_outlasts_the_retries() {
    let site = site();
    let leg = "<ReceptionAwareness><Retry retries=\"9\" first=\"1h\" multiplier=\"1\" max=\"1h\" jitter=\"0%\" \
               deadline=\"1d\"/>\n<DuplicateDetection window=\"9h\"/></ReceptionAwareness>";
    site.pmode("", &both("red"), leg);
    let one = site.one();
    assert!(one.message.contains("the duplicate window of 9h is not longer than the 9h"), "{one:?}");
    assert!(one.place.as_ref().unwrap().contains("red.xml:"), "{one:?}");
    site.pmode("", &both("red"), &leg.replace("9h\"/></R", "10h\"/></R"));
    assert_eq!(site.findings(), []);
}

#[test]
fn backends_and_producers_lead_somewhere() {
    let site = site();
    site.pmode("", &both("red"), "<Deliver to=\"inbx\"/>");
    let one = site.one();
    assert!(
        one.message.contains("delivers to `inbx`") && one.next.as_deref() == Some("did you mean `inbox`?"),
        "{one:?}"
    );
    assert!(one.place.as_ref().unwrap().contains("red.xml:"), "{one:?}");
    site.pmode("", &both("red"), "");
    std::fs::create_dir(site.path("out")).unwrap();
    site.configure("[[folder]]\nname = \"erp\"\nwatch = \"out\"\npmode = \"redd\"");
    let one = site.one();
    assert!(one.message.contains("`redd`, which does not exist"), "{one:?}");
    assert_eq!(one.next.as_deref(), Some("did you mean `red`?"));
}
