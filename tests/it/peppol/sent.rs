//! From us to a peer: it stores the octets, its receipt closes the sender log, and what is no such receipt does not.

use std::time::Duration;

use super::*;
use crate::support::api::Submission;
use crate::support::others::Receiver;
use crate::support::peer::{Act, Peer};
use crate::support::{http, wait};

fn invoice(document: &[u8]) -> Submission {
    Submission::to("peppol-send")
        .typed_property("originalSender", Some(SCHEME), SENDER)
        .typed_property("finalRecipient", Some(SCHEME), RECIPIENT)
        .payload("application/xml", document)
}

/// What is submitted reaches the peer octet for octet, and its receipt attests what we signed.
fn delivered(receiver: &Receiver, leg: &str, document: &[u8]) {
    let relay = Peer::start([Act::Forward(receiver.address())]);
    let node = sender("partya", &relay.url(), leg);
    let id = node.api.submit(&invoice(document));
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(20));
    assert_eq!(message["proof"], "receipt", "{message}");
    let stored = receiver.stored(&id);
    assert!(stored.iter().any(|(_, octets)| octets == document), "{id}: the peer stored {} files", stored.len());
    let seen = relay.seen_of(&id);
    let answer = seen[0].answer.as_ref().expect("it was answered");
    assert!(attests(answer, &seen[0].request, &id), "{}", answer.text());
    assert_eq!(seen.len(), 1, "one attempt");
}

/// The references to the recipient's certificate that we make besides a `BinarySecurityToken`.
const OTHER_REFERENCES: [&str; 4] = ["SubjectKeyIdentifier", "IssuerSerial", "Thumbprint", "KeyIdentifier"];

/// Every form that the peer reads.
fn every_form(receiver: &Receiver, tokens: &[&str]) {
    delivered(receiver, "", &document());
    delivered(receiver, "", &large_document());
    for token in tokens {
        delivered(receiver, &format!("<Security><Encryption token=\"{token}\"/></Security>"), &document());
    }
}

#[test]
fn oxalis_receives_what_is_submitted() {
    if others::available("oxalis") {
        every_form(others::oxalis(), &OTHER_REFERENCES);
    }
}

#[test]
fn pyas4_receives_what_is_submitted() {
    if others::available("pyas4") {
        every_form(others::pyas4(), &[]);
    }
}

#[test]
fn phase4_receives_what_is_submitted_as_peppol() {
    if others::available("phase4") {
        every_form(others::phase4(), &OTHER_REFERENCES);
    }
}

#[test]
fn oxalis_receives_what_is_not_encrypted() {
    if others::available("oxalis") {
        delivered(others::oxalis(), NOT_ENCRYPTED, &document());
    }
}

/// The receipt is lost on the way: the peer, which keeps no ids, gives another, and that closes the sender log.
fn asked_again(receiver: &Receiver) {
    let relay = Peer::start([Act::LoseAnswer(receiver.address()), Act::Forward(receiver.address())]);
    let node = sender("partya", &relay.url(), "");
    let id = node.api.submit(&invoice(&document()));
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(30));
    assert_eq!(message["proof"], "receipt", "{message}");
    let seen = wait("both attempts", Duration::from_secs(5), || Some(relay.seen_of(&id)).filter(|s| s.len() == 2));
    let signature = |n: usize| elements(&seen[n].request.text(), "SignatureValue");
    assert_eq!(signature(0), signature(1), "the same signature on every attempt");
    assert!(seen.iter().all(|s| s.answer.as_ref().is_some_and(|a| attests(a, &s.request, &id))), "both are receipts");
    let receipt = |n: usize| seen[n].answer.as_ref().map(|a| elements(&a.text(), "MessageId"));
    assert_ne!(receipt(0), receipt(1), "the peer takes the repeat for another message");
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

/// A receipt that was changed, one whose signature is gone, and a good one for another message: none closes the sender log.
/// The attempt after them does.
fn only_a_receipt_proves_delivery(receiver: &Receiver) {
    let to = receiver.address();
    let relay = Peer::start([Act::Forward(to)]);
    let node = sender("partya", &relay.url(), "");
    let first = node.api.submit(&invoice(&document()));
    node.api.until(&first, "delivered");
    let of_another = relay.seen_of(&first)[0].answer.as_ref().expect("it was answered").octets.clone();
    let through = |change: fn(&Message) -> Vec<u8>| {
        Act::made(move |request| change(&http::exchange(to, &request.octets).expect("the peer answers")))
    };
    relay.now([through(changed), through(unsigned), Act::Answer(of_another), Act::Forward(to)]);
    let id = node.api.submit(&invoice(&document()));
    let message = node.api.until_within(&id, "delivered", Duration::from_secs(30));
    assert_eq!(message["proof"], "receipt", "{message}");
    let answers = relay.seen_of(&id).into_iter().map(|s| s.answer.expect("each was answered"));
    let ours: Vec<bool> = answers.map(|answer| is_receipt(&answer, &id)).collect();
    assert_eq!(ours, [true, true, false, true], "{}", node.api.story(&id));
    let story = node.api.story(&id);
    // Each reason is given once.
    for why in ["the digest of", "it is not signed", &format!("it is for {first}")] {
        assert_eq!(story.matches(why).count(), 1, "`{why}` in\n{story}");
    }
    assert_eq!(story.matches("send.receipt_wrong").count(), 3, "{story}");
}

#[test]
fn only_a_receipt_of_oxalis_proves_delivery() {
    if others::available("oxalis") {
        only_a_receipt_proves_delivery(others::oxalis());
    }
}

#[test]
fn only_a_receipt_of_pyas4_proves_delivery() {
    if others::available("pyas4") {
        only_a_receipt_proves_delivery(others::pyas4());
    }
}

/// The peer's refusal ends the message, with the peer's code and words, and the peer stored nothing.
fn refused(receiver: &Receiver, node: &Node, code: &str) {
    let id = node.api.submit(&invoice(&document()));
    node.api.until_within(&id, "failed", Duration::from_secs(20));
    let (story, log) = (node.api.story(&id), node.log());
    assert!(story.contains("send.refused") && story.contains(code), "{code} is not in\n{story}");
    assert!(log.contains("event=\"send.refused\""), "the log names it as the timeline does");
    assert!(receiver.stored(&id).is_empty(), "{id} is stored");
}

#[test]
fn oxalis_refuses_a_stranger_and_that_is_final() {
    if others::available("oxalis") {
        let receiver = others::oxalis();
        refused(receiver, &sender("stranger", &receiver.url(), ""), "EBMS:0009");
    }
}

#[test]
fn pyas4_refuses_a_stranger_and_that_is_final() {
    if others::available("pyas4") {
        let receiver = others::pyas4();
        refused(receiver, &sender("stranger", &receiver.url(), ""), "EBMS:0101");
    }
}

#[test]
fn pyas4_refuses_other_references_and_that_is_final() {
    if others::available("pyas4") {
        let receiver = others::pyas4();
        let leg = "<Security><Encryption token=\"IssuerSerial\"/></Security>";
        refused(receiver, &sender("partya", &receiver.url(), leg), "EBMS:0003");
    }
}

#[test]
fn pyas4_refuses_what_is_not_encrypted_and_that_is_final() {
    if others::available("pyas4") {
        let receiver = others::pyas4();
        refused(receiver, &sender("partya", &receiver.url(), NOT_ENCRYPTED), "EBMS:0009");
    }
}

/// phase4 keeps ids, and answers the repeat by an error that says so: delivered, without the receipt as proof (EB-165).
#[test]
fn a_receipt_of_phase4_that_is_lost_is_not_given_again() {
    if !others::available("phase4") {
        return;
    }
    let receiver = others::phase4();
    let relay = Peer::start([Act::LoseAnswer(receiver.address()), Act::Forward(receiver.address())]);
    let node = sender("partya", &relay.url(), "");
    let id = node.api.submit(&invoice(&document()));
    node.api.until_within(&id, "delivered", Duration::from_secs(20));
    assert!(node.api.story(&id).contains("has this message already"), "{}", node.api.story(&id));
    assert_eq!(relay.seen_of(&id).len(), 2);
}
