//! From a peer to us. Each peer judges our receipt: as4 for Python verifies its signature, its reference and every digest; Oxalis
//! its signature and that the authority issued the certificate, and nothing else; phase4's program here all of these. What Oxalis
//! does not look at is compared here.

use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::*;
use crate::support::http;
use crate::support::others::Run;
use crate::support::peer::{Act, Peer, Seen};

const TEST_SERVICE: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service";

/// A run of a peer's sender, through a relay that keeps what goes by.
struct Sent {
    run: Run,
    seen: Vec<Seen>,
}

impl Sent {
    fn by(relay: &Peer, peer: &str, options: &[&str]) -> Self {
        let run = others::send(peer, &relay.url(), options);
        Self { run, seen: relay.seen() }
    }

    fn to(node: &Node, peer: &str, options: &[&str]) -> Self {
        Self::by(&Peer::start([Act::Forward(node.msh)]), peer, options)
    }

    /// The one message id of all its requests.
    fn id(&self) -> String {
        let ids = self.seen.iter().flat_map(|s| elements(&s.request.text(), "MessageId"));
        let mut ids: Vec<_> = ids.collect();
        ids.dedup();
        assert_eq!(ids.len(), 1, "one message id: {}", self.run.text);
        ids.remove(0)
    }

    fn ended(&self, ok: u32, failed: u32, node: &Node) {
        assert_eq!((self.run.ok, self.run.failed), (ok, failed), "{}\n{}", self.run.text, node.log());
    }
}

/// A folder with files for a peer's program.
struct Files(TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder can be made"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn with(&self, name: &str, octets: &[u8]) -> PathBuf {
        std::fs::write(self.path(name), octets).expect("a file can be written");
        self.path(name)
    }
}

/// The peer's message is delivered once, with the octets of the file `expected`, which may be there only after the run. Its own
/// octets sent again get the very same receipt, and have no effect.
fn received(node: &Node, peer: &str, options: &[&str], expected: &Path) {
    let sent = Sent::to(node, peer, options);
    sent.ended(1, 0, node);
    let id = sent.id();
    let Seen { request, answer, .. } = &sent.seen[0];
    let answer = answer.as_ref().expect("it was answered");
    assert!(attests(answer, request, &id), "{peer}: {}", answer.text());
    let delivery = node.inbox.take(&id);
    assert_eq!(delivery.parts.len(), 1, "{peer}");
    let octets = std::fs::read(expected).unwrap_or_else(|e| panic!("{}: {e}", expected.display()));
    assert!(delivery.part(1) == octets, "{peer}: delivered octets differ");
    assert_eq!(delivery.property("originalSender"), Some(SENDER), "{peer}");
    assert_eq!(delivery.property("finalRecipient"), Some(RECIPIENT), "{peer}");
    let repeat = http::exchange(node.msh, &request.octets).unwrap_or_else(|e| panic!("{peer}, again: {e}"));
    assert_eq!(repeat.text(), answer.text(), "{peer}: one receipt, octet for octet");
    assert_eq!(node.inbox.count(&id), 1, "{peer}: {id} has one effect");
}

/// The message is refused and delivered nowhere, and the peer reads our error: its own words have the code.
fn refused(peer: &str, options: &[&str], code: &str) {
    if !others::available(peer) {
        return;
    }
    let node = access_point(Database::Sqlite, "");
    let sent = Sent::to(&node, peer, options);
    sent.ended(0, 1, &node);
    let id = sent.id();
    assert_eq!(node.inbox.count(&id), 0, "{peer}");
    let rejected = node.api.get("/api/v1/rejected").text();
    assert!(rejected.contains(&id) && rejected.contains(code), "{peer}: {code} for {id} is not in {rejected}");
    assert!(sent.run.text.contains(code), "{peer}: {code} is not in {}", sent.run.text);
}

fn what_oxalis_sends_is_received(database: Database, document: &[u8]) {
    if others::available("oxalis") {
        let files = Files::new();
        let payload = files.with("document.xml", document);
        received(&access_point(database, ""), "oxalis", &["--payload", text(&payload)], &payload);
    }
}

#[test]
fn what_oxalis_sends_is_received_on_sqlite() {
    what_oxalis_sends_is_received(Database::Sqlite, &document());
}

#[test]
fn what_oxalis_sends_is_received_on_postgresql() {
    what_oxalis_sends_is_received(Database::Postgres, &large_document());
}

fn what_pyas4_sends_is_received(database: Database) {
    if !others::available("pyas4") {
        return;
    }
    let (node, files) = (access_point(database, ""), Files::new());
    // It makes the Standard Business Document around the invoice itself.
    let (invoice, kept) = (fixture("documents/ubl-invoice.xml"), files.path("sent.xml"));
    received(&node, "pyas4", &["--payload", text(&invoice), "--keep", text(&kept)], &kept);
    let sent = std::fs::read_to_string(&kept).expect("it was read before");
    assert!(sent.contains("StandardBusinessDocumentHeader") && sent.contains("BP-2026"), "{sent}");
}

#[test]
fn what_pyas4_sends_is_received_on_sqlite() {
    what_pyas4_sends_is_received(Database::Sqlite);
}

#[test]
fn what_pyas4_sends_is_received_on_postgresql() {
    what_pyas4_sends_is_received(Database::Postgres);
}

#[test]
fn what_phase4_sends_as_peppol_is_received() {
    if !others::available("phase4") {
        return;
    }
    // So does phase4's program, which leaves it beside its generated payloads.
    let (invoice, made) = (fixture("documents/ubl-invoice.xml"), others::home().join("payloads/ubl-invoice.xml.sbd"));
    let options = ["--profile", "peppol", "--payload", text(&invoice)];
    received(&access_point(Database::Sqlite, ""), "phase4", &options, &made);
}

#[test]
fn a_ping_of_oxalis_is_answered_and_not_delivered() {
    if !others::available("oxalis") {
        return;
    }
    let node = access_point(Database::Sqlite, "");
    let sent = Sent::to(&node, "oxalis", &["--ping"]);
    assert!(sent.seen[0].request.text().contains(TEST_SERVICE), "it is the test service");
    sent.ended(1, 0, &node);
    assert_eq!(node.inbox.count(&sent.id()), 0);
}

/// The peer packs a message with the same id and content anew, as it does when it tries again: other digests, so another
/// receipt, but no second effect.
#[test]
fn a_duplicate_of_oxalis_gets_its_receipt_and_no_effect() {
    if !others::available("oxalis") {
        return;
    }
    let node = access_point(Database::Sqlite, "");
    let id = format!("{}@oxalis.example", uuid::Uuid::new_v4().simple());
    let sent = Sent::to(&node, "oxalis", &["--message-id", &id, "--count", "2"]);
    sent.ended(2, 0, &node);
    assert_eq!((sent.id(), sent.seen.len()), (id.clone(), 2));
    let signed: Vec<_> = sent.seen.iter().map(|s| digests(&s.request, "SignedInfo")).collect();
    assert_ne!(signed[0], signed[1], "it is packed anew");
    for Seen { request, answer, .. } in &sent.seen {
        assert!(answer.as_ref().is_some_and(|a| attests(a, request, &id)), "a receipt of its own for each");
    }
    assert_eq!(node.inbox.count(&id), 1);
    node.inbox.take(&id);
}

/// The peer sends the same octets three times, and is as strict with each receipt.
#[test]
fn a_duplicate_of_pyas4_gets_its_receipt_and_no_effect() {
    if !others::available("pyas4") {
        return;
    }
    let node = access_point(Database::Sqlite, "");
    let sent = Sent::to(&node, "pyas4", &["--times", "3"]);
    sent.ended(1, 0, &node);
    assert_eq!((sent.seen.len(), node.inbox.count(&sent.id())), (3, 1));
    node.inbox.take(&sent.id());
}

/// The same id for another document is no repeat: refused, and the first delivery stands.
#[test]
fn an_id_of_pyas4_with_another_document_is_refused() {
    if !others::available("pyas4") {
        return;
    }
    let (node, files) = (access_point(Database::Sqlite, ""), Files::new());
    let relay = Peer::start([Act::Forward(node.msh)]);
    let id = format!("{}@pyas4.example", uuid::Uuid::new_v4().simple());
    let (first, other) = (files.with("1.xml", b"<order>1</order>"), files.with("2.xml", b"<order>2</order>"));
    let sent = Sent::by(&relay, "pyas4", &["--message-id", &id, "--payload", text(&first)]);
    sent.ended(1, 0, &node);
    let again = Sent::by(&relay, "pyas4", &["--message-id", &id, "--payload", text(&other)]);
    again.ended(0, 1, &node);
    assert!(again.run.text.contains("EBMS:0004"), "{}", again.run.text);
    let delivery = node.inbox.take(&id);
    assert!(String::from_utf8_lossy(delivery.part(1)).contains("<order>1</order>"));
}

#[test]
fn what_oxalis_signs_as_a_stranger_is_refused() {
    refused("oxalis", &["--party", "stranger"], "EBMS:0101");
}

#[test]
fn what_pyas4_signs_as_a_stranger_is_refused() {
    refused("pyas4", &["--party", "stranger"], "EBMS:0101");
}

#[test]
fn what_phase4_signs_as_a_stranger_is_refused() {
    refused("phase4", &["--profile", "peppol", "--party", "stranger"], "EBMS:0101");
}

#[test]
fn what_oxalis_does_not_sign_is_refused() {
    refused("oxalis", &["--security", "none"], "EBMS:0103");
}

#[test]
fn what_oxalis_does_not_encrypt_is_refused_unless_that_is_agreed() {
    if !others::available("oxalis") {
        return;
    }
    refused("oxalis", &["--security", "signed"], "EBMS:0103");
    let files = Files::new();
    let payload = files.with("document.xml", &document());
    let options = ["--security", "signed", "--payload", text(&payload)];
    received(&access_point(Database::Sqlite, NOT_ENCRYPTED), "oxalis", &options, &payload);
}

/// That a peer reports our receipt as good means something: it reports one that was changed on the way as bad.
fn notices_a_changed_receipt(peer: &str) {
    if !others::available(peer) {
        return;
    }
    let node = access_point(Database::Sqlite, "");
    let to = node.msh;
    let relay = Peer::start([Act::made(move |request| {
        changed(&http::exchange(to, &request.octets).expect("the gateway answers"))
    })]);
    let sent = Sent::by(&relay, peer, &[]);
    sent.ended(0, 1, &node);
    node.inbox.take(&sent.id());
}

#[test]
fn oxalis_notices_a_changed_receipt() {
    notices_a_changed_receipt("oxalis");
}

#[test]
fn pyas4_notices_a_changed_receipt() {
    notices_a_changed_receipt("pyas4");
}
