//! Both directions with phase4, in every security variant. What phase4 reports as `ok` is a receipt that refers to the
//! message, is signed by a trusted certificate, and has the digests of what was sent.

use std::time::Duration;

use crate::support::api::Submission;
use crate::support::database::Database;
use crate::support::node::{Builder, Node};
use crate::support::others::{self, Run};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::{fixture, wait};

const PARTY: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered:as4-test";
const AGREEMENT: &str = "urn:as4-test:agreement:1";

/// A gateway that is partyb towards phase4's sender, and partya towards its receiver.
fn gateway(database: Database, receiver: &str) -> Node {
    let (a, b) = (others::identity("partya"), others::identity("partyb"));
    let mut builder = Builder::new("postrider")
        .party("partyb", Some(PARTY), Some(&b))
        .party("partya", Some(PARTY), Some(&a))
        .certificate("partya", &a.certificate)
        .certificate("partyb", &b.certificate)
        .database(database);
    let parties = |pmode: PMode| {
        pmode.parties(
            Party::typed(PARTY, "partya").certificate("partya"),
            Party::typed(PARTY, "partyb").certificate("partyb"),
        )
    };
    let security = [
        ("plain", "plain", ""),
        ("signed", "as4", "<Security><Signature/></Security>"),
        ("signenc", "as4", "<Security><Signature/><Encryption/></Security>"),
    ];
    for (id, profile, leg) in security {
        let pmode = parties(PMode::new(id, profile).named().agreement(AGREEMENT));
        let pmode = pmode.service(Some("urn:as4-test:services"), "urn:as4-test:service:exchange", "submit");
        builder = builder.pmode(pmode.leg(leg).deliver());
    }
    let leg = "<Security><Signature/></Security>";
    builder = builder.pmode(parties(PMode::new("ping", "test-service").agreement(AGREEMENT)).leg(leg));
    let references = ["BinarySecurityToken", "SubjectKeyIdentifier", "IssuerSerial", "Thumbprint", "KeyIdentifier"];
    let ours = [("plain", "plain", String::new(), ""), ("signenc", "as4", SIGNENC.to_owned(), "")];
    let compressed = "<PayloadService compression=\"application/gzip\"/>";
    let mut legs: Vec<(String, &str, String, &str)> =
        ours.into_iter().map(|(p, profile, leg, pay)| (format!("to-{p}"), profile, leg, pay)).collect();
    legs.push(("to-plain-gzip".into(), "plain", String::new(), compressed));
    legs.push(("to-signenc-gzip".into(), "as4", SIGNENC.to_owned(), compressed));
    for token in references {
        let leg = format!("<Security><Signature token=\"{token}\"/></Security>");
        legs.push((format!("to-signed-{token}"), "as4", leg, ""));
    }
    for (id, profile, leg, pay) in legs {
        let peers = id.split('-').nth(1).unwrap_or_default();
        let pmode = parties(PMode::new(&id, profile).agreement(&format!("urn:postrider:agreement:{peers}")));
        let pmode = pmode.service(None, &format!("urn:postrider:test:{id}"), "submit");
        builder = builder.pmode(pmode.leg(&leg).leg(pay).to(receiver));
    }
    builder.start()
}

const SIGNENC: &str = "<Security><Signature/><Encryption/></Security>";

/// One message of phase4's sender; gives its id.
fn one(node: &Node, options: &[&str]) -> (Run, String) {
    let id = format!("{}@phase4.example", uuid::Uuid::new_v4().simple());
    let mut all = options.to_vec();
    all.extend(["--message-id", &id]);
    (others::send("phase4", &node.url(), &all), id)
}

fn accepted(node: &Node, options: &[&str], parts: usize) {
    let (run, id) = one(node, options);
    assert_eq!((run.ok, run.failed), (1, 0), "{options:?}: {}\n{}", run.text, node.log());
    let delivery = node.inbox.take(&id);
    assert_eq!(delivery.parts.len(), parts, "{options:?}");
    let payload = std::fs::read(fixture("documents/ubl-invoice.xml")).expect("our own document");
    assert!(delivery.parts.iter().all(|(_, octets)| *octets == payload), "{options:?}: delivered octets differ");
}

fn refused(node: &Node, options: &[&str], code: &str) {
    let (run, id) = one(node, options);
    assert_eq!((run.ok, run.failed), (0, 1), "{options:?}: {}", run.text);
    assert!(run.text.contains(code), "{options:?}: {code} is not in {}", run.text);
    assert_eq!(node.inbox.count(&id), 0, "{options:?}");
}

fn what_phase4_sends_is_received(database: Database) {
    if !others::available("phase4") {
        return;
    }
    let node = gateway(database, "http://127.0.0.1:9/as4");
    let file = fixture("documents/ubl-invoice.xml");
    let payload = ["--payload", file.to_str().expect("a path")];
    let with = |more: &[&'static str]| -> Vec<&str> { payload.iter().copied().chain(more.iter().copied()).collect() };
    for variant in ["plain", "compressed", "signed", "signenc", "edelivery"] {
        accepted(&node, &with(&["--profile", variant]), 1);
    }
    for token in ["ISSUER_SERIAL", "SKI_KEY_IDENTIFIER", "X509_KEY_IDENTIFIER", "THUMBPRINT_IDENTIFIER"] {
        accepted(&node, &with(&["--profile", "signed", "--signing-key-id", token]), 1);
    }
    for token in ["ISSUER_SERIAL", "SKI_KEY_IDENTIFIER"] {
        accepted(&node, &with(&["--profile", "signenc", "--encryption-key-id", token]), 1);
    }
    accepted(&node, &with(&["--profile", "edelivery", "--attachments", "2"]), 2);
    accepted(&node, &["--profile", "signed", "--attachments", "0"], 0);
    let (ping, id) = one(&node, &["--profile", "signed", "--ping", "--no-pmode-id"]);
    assert_eq!((ping.ok, node.inbox.count(&id)), (1, 0), "a ping is answered and not delivered: {}", ping.text);
}

#[test]
fn what_phase4_sends_is_received_on_sqlite() {
    what_phase4_sends_is_received(Database::Sqlite);
}

#[test]
fn what_phase4_sends_is_received_on_postgresql() {
    what_phase4_sends_is_received(Database::Postgres);
}

#[test]
fn what_phase4_may_not_send_is_refused() {
    if !others::available("phase4") {
        return;
    }
    let node = gateway(Database::Sqlite, "http://127.0.0.1:9/as4");
    refused(&node, &["--profile", "signed", "--party", "stranger", "--from", "partya"], "EBMS:0101");
    refused(&node, &["--profile", "signed", "--pmode-id", "nobody-agreed"], "EBMS:0001");
    refused(&node, &["--profile", "signed", "--service", "urn:as4-test:service:other"], "EBMS:0001");
    refused(&node, &["--profile", "plain", "--pmode-id", "signed"], "EBMS:0103");
    refused(&node, &["--profile", "signed", "--pmode-id", "signenc"], "EBMS:0103");
}

#[test]
fn a_duplicate_of_phase4_gets_its_receipt_and_no_effect() {
    if !others::available("phase4") {
        return;
    }
    let node = gateway(Database::Sqlite, "http://127.0.0.1:9/as4");
    let (run, id) = one(&node, &["--profile", "edelivery", "--count", "3"]);
    assert_eq!((run.ok, run.failed), (3, 0), "{}", run.text);
    assert_eq!(node.inbox.count(&id), 1);
    node.inbox.take(&id);
}

#[test]
fn phase4_receives_what_is_submitted() {
    if !others::available("phase4") {
        return;
    }
    let receiver = others::phase4();
    let node = gateway(Database::Sqlite, &receiver.url());
    let invoice = std::fs::read(fixture("documents/ubl-invoice.xml")).expect("our own document");
    let edifact = std::fs::read(fixture("documents/edifact-invoic-d96a.edi")).expect("our own document");
    let pmodes = [
        "to-plain",
        "to-plain-gzip",
        "to-signenc",
        "to-signenc-gzip",
        "to-signed-BinarySecurityToken",
        "to-signed-SubjectKeyIdentifier",
        "to-signed-IssuerSerial",
        "to-signed-Thumbprint",
        "to-signed-KeyIdentifier",
    ];
    for pmode in pmodes {
        let submission = Submission::to(pmode).payload("application/xml", invoice.clone());
        let id = node.api.submit(&submission.payload("application/EDIFACT", edifact.clone()));
        node.api.until(&id, "delivered");
        let stored = receiver.stored(&id);
        for octets in [&invoice, &edifact] {
            assert!(stored.iter().any(|(_, s)| s == octets), "{pmode}: phase4 stored {} files", stored.len());
        }
    }
    let id = node.api.submit(&Submission::to("to-signed-BinarySecurityToken"));
    node.api.until(&id, "delivered");
}

#[test]
fn an_answer_of_phase4_that_is_lost_is_asked_for_again() {
    if !others::available("phase4") {
        return;
    }
    let receiver = others::phase4();
    let relay = Peer::start([Act::LoseAnswer(receiver.address()), Act::Forward(receiver.address())]);
    let node = gateway(Database::Sqlite, &relay.url());
    let id = node.api.submit(&Submission::to("to-signenc-gzip").payload("application/xml", "<order/>"));
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(20));
    let seen = wait("both attempts", Duration::from_secs(5), || Some(relay.seen_of(&id)).filter(|s| s.len() == 2));
    let signature = |n: usize| crate::support::message::elements(&seen[n].request.text(), "SignatureValue");
    assert_eq!(signature(0), signature(1), "the same signature on every attempt");
    // phase4 answers a repeat by a signed error: delivered, but without the receipt as proof (EB-165).
    assert!(node.api.story(&id).contains("has this message already"), "{message}: {}", node.api.story(&id));
    assert_eq!(receiver.stored(&id).iter().filter(|(name, _)| name.starts_with("part")).count(), 1);
}
