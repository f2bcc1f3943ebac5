//! Both directions with Oxalis, as4 for Python and phase4 in Peppol's message form: one Standard Business Document,
//! compressed, signed and encrypted, between access points that know each other by the common name of a certificate.
//!
//! The senders judge our receipts: as4 for Python verifies signature, reference and every digest; Oxalis the signature and
//! its certificate; phase4's program here all of these.

use std::io::Write;
use std::time::Duration;

use crate::support::api::Submission;
use crate::support::http;
use crate::support::message::{elements, is_receipt};
use crate::support::node::{Builder, Node};
use crate::support::others::{self, Receiver, Run};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::{fixture, wait};

const AP: &str = "urn:fdc:peppol.eu:2017:identifiers:ap";
const PROCESS: &str = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0";
const DOCUMENT: &str = "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##\
                        urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1";
const TEST_SERVICE: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/service";

/// Our Standard Business Document, between the participants that the peers' programs name.
fn document() -> Vec<u8> {
    let text = std::fs::read_to_string(fixture("documents/sbdh-invoice.xml")).expect("our own document");
    text.replace("0088:5798000000001", "9999:sender").replace("9915:red-waterworks", "9999:receiver").into_bytes()
}

/// Access point partyb, which any other may send to whose certificate the authority issued.
fn access_point() -> Node {
    let own = others::identity("partyb");
    let receive = PMode::new("peppol-receive", "peppol-2.0").responder(Party::typed(AP, "partyb")).deliver();
    Builder::new("b").party("partyb", Some(AP), Some(&own)).anchor("ca", &others::authority()).pmode(receive).start()
}

/// Access point partya with one P-Mode: to `address`, which is partyb's.
fn sender(address: &str, leg: &str) -> Node {
    let (own, partner) = (others::identity("partya"), others::identity("partyb"));
    let send = PMode::new("peppol-send", "peppol-2.0")
        .parties(Party::typed(AP, "partya"), Party::typed(AP, "partyb").certificate("partyb"))
        .service(Some("cenbii-procid-ubl"), PROCESS, DOCUMENT)
        .leg(leg)
        .to(address);
    Builder::new("a")
        .party("partya", Some(AP), Some(&own))
        .certificate("partyb", &partner.certificate)
        .pmode(send)
        .start()
}

fn invoice() -> Submission {
    let scheme = Some("iso6523-actorid-upis");
    Submission::to("peppol-send")
        .typed_property("originalSender", scheme, "9999:sender")
        .typed_property("finalRecipient", scheme, "9999:receiver")
        .payload("application/xml", document())
}

/// One message of a peer's sender, through a relay that keeps it. Gives the run, the request's octets and the id.
fn send(node: &Node, peer: &str, options: &[&str]) -> (Run, Vec<u8>, String) {
    let relay = Peer::start([Act::Forward(node.msh)]);
    let run = others::send(peer, &relay.url(), options);
    let seen = relay.seen();
    assert_eq!(seen.len(), 1, "{peer} sends one request: {}", run.text);
    let id = elements(&seen[0].request.text(), "MessageId").remove(0);
    (run, seen[0].request.octets.clone(), id)
}

/// The peer's message is delivered once; its own octets sent again get the very same receipt, and no effect.
fn received(peer: &str, options: &[&str], delivered: impl Fn(&[u8])) {
    if !others::available(peer) {
        return;
    }
    let node = access_point();
    let (run, octets, id) = send(&node, peer, options);
    assert_eq!((run.ok, run.failed), (1, 0), "{peer}: {}\n{}", run.text, node.log());
    let delivery = node.inbox.take(&id);
    assert_eq!(delivery.parts.len(), 1, "{peer}");
    delivered(delivery.part(1));
    let again: Vec<_> =
        (0..2).map(|_| http::exchange(node.msh, &octets).unwrap_or_else(|e| panic!("{peer}, again: {e}"))).collect();
    assert!(is_receipt(&again[0], &id), "{peer}: {}", again[0].text());
    assert_eq!(again[0].body, again[1].body, "{peer}: one receipt, octet for octet");
    assert_eq!(node.inbox.count(&id), 1, "{peer}: {id} has one effect");
}

/// A signer that the authority did not issue is refused, and the peer understands why.
fn refused(peer: &str, options: &[&str], code: &str) {
    if !others::available(peer) {
        return;
    }
    let node = access_point();
    let (run, _, id) = send(&node, peer, options);
    assert_eq!((run.ok, run.failed), (0, 1), "{peer}: {}", run.text);
    assert_eq!(node.inbox.count(&id), 0, "{peer}");
    let rejected = node.api.get("/api/v1/rejected").text();
    assert!(rejected.contains(&id) && rejected.contains(code), "{peer}: {code} for {id} is not in {rejected}");
}

/// What is submitted reaches the peer octet for octet, and its receipt closes the sender log.
fn delivered(receiver: &Receiver, leg: &str) {
    let node = sender(&receiver.url(), leg);
    let id = node.api.submit(&invoice());
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(20));
    assert_eq!(message["proof"], "receipt", "{message}");
    let document = document();
    let stored = receiver.stored(&id);
    assert!(stored.iter().any(|(_, octets)| *octets == document), "{id}: the peer stored {} files", stored.len());
}

/// The receipt is lost on the way: the peer, which keeps no ids, gives another, and that closes the sender log.
fn asked_again(receiver: &Receiver) {
    let relay = Peer::start([Act::LoseAnswer(receiver.address()), Act::Forward(receiver.address())]);
    let node = sender(&relay.url(), "");
    let id = node.api.submit(&invoice());
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(30));
    assert_eq!(message["proof"], "receipt", "{message}");
    let seen = wait("both attempts", Duration::from_secs(5), || Some(relay.seen_of(&id)).filter(|s| s.len() == 2));
    let signature = |n: usize| elements(&seen[n].request.text(), "SignatureValue");
    assert_eq!(signature(0), signature(1), "the same signature on every attempt");
    assert!(seen.iter().all(|s| s.answer.as_ref().is_some_and(|a| is_receipt(a, &id))), "both were receipted");
}

/// A file that a peer's program reads, kept until the guard is dropped.
fn file(octets: &[u8]) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().expect("a file can be made");
    file.write_all(octets).expect("and written");
    file
}

#[test]
fn what_oxalis_sends_is_received() {
    let document = document();
    let payload = file(&document);
    let options = ["--payload", payload.path().to_str().expect("a path")];
    received("oxalis", &options, |octets| assert_eq!(octets, document));
}

#[test]
fn what_pyas4_sends_is_received() {
    let invoice = std::fs::read(fixture("documents/ubl-invoice.xml")).expect("our own document");
    let path = fixture("documents/ubl-invoice.xml");
    received("pyas4", &["--payload", path.to_str().expect("a path")], |octets| {
        // It makes the Standard Business Document around the invoice itself, and writes the XML anew.
        let text = String::from_utf8_lossy(octets);
        let number = elements(&String::from_utf8_lossy(&invoice), "ID").remove(0);
        assert!(text.contains("StandardBusinessDocumentHeader") && text.contains(&number), "{text}");
    });
}

#[test]
fn what_phase4_sends_as_peppol_is_received() {
    received("phase4", &["--profile", "peppol"], |octets| {
        assert!(String::from_utf8_lossy(octets).contains("StandardBusinessDocumentHeader"));
    });
}

#[test]
fn a_ping_of_oxalis_is_answered_and_not_delivered() {
    if !others::available("oxalis") {
        return;
    }
    let node = access_point();
    let (run, octets, id) = send(&node, "oxalis", &["--ping"]);
    assert!(String::from_utf8_lossy(&octets).contains(TEST_SERVICE), "it is the test service");
    assert_eq!((run.ok, run.failed), (1, 0), "{}\n{}", run.text, node.log());
    assert_eq!(node.inbox.count(&id), 0);
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
fn oxalis_receives_what_is_submitted() {
    if others::available("oxalis") {
        delivered(others::oxalis(), "");
    }
}

#[test]
fn oxalis_receives_what_is_not_encrypted() {
    if others::available("oxalis") {
        delivered(others::oxalis(), "<Security><Encryption enabled=\"false\"/></Security>");
    }
}

#[test]
fn pyas4_receives_what_is_submitted() {
    if others::available("pyas4") {
        delivered(others::pyas4(), "");
    }
}

#[test]
fn a_receipt_of_oxalis_that_is_lost_is_asked_for_again() {
    if others::available("oxalis") {
        asked_again(others::oxalis());
    }
}

#[test]
fn a_receipt_of_pyas4_that_is_lost_is_asked_for_again() {
    if others::available("pyas4") {
        asked_again(others::pyas4());
    }
}
