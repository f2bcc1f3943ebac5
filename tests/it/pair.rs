//! Two gateways of ours, each a process: documents, lost receipts, copies, kills, forgeries.

use std::time::Duration;

use crate::support::api::Submission;
use crate::support::database::Database;
use crate::support::keys::{Identity, pki};
use crate::support::message::{codes, elements};
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::{fixture, http, ports, wait};

fn pmode(id: &str, to: &str) -> PMode {
    PMode::orders(id, "edelivery-1.15", to)
}

fn site(name: &str, own: &Identity) -> Builder {
    let party = if name == "red" { "red" } else { "blue" };
    Builder::of_two(name, party, own)
}

/// Blue sends to red through a relay.
struct Pair {
    relay: Peer,
    blue: Node,
    red: Node,
}

fn pair(database: Database) -> Pair {
    let address = ports::free();
    let relay = Peer::start([Act::Forward(address)]);
    let red = site("red", &pki().red).pmode(pmode("orders", "http://127.0.0.1:9/as4")).listen(address);
    let blue = site("blue", &pki().blue).pmode(pmode("orders", &relay.url()));
    let blue = blue.pmode(pmode("back", &relay.url()).service(None, "urn:postrider:test:lists", "Submit"));
    Pair { red: red.database(database).start(), blue: blue.database(database).start(), relay }
}

fn invoice() -> Vec<u8> {
    std::fs::read(fixture("documents/ubl-invoice.xml")).expect("our own document")
}

fn four_documents_arrive_octet_for_octet(database: Database) {
    let Pair { blue, red, relay: _relay } = pair(database);
    let documents = [
        ("ubl-invoice.xml", "application/xml"),
        ("cii-invoice.xml", "application/xml"),
        ("edifact-invoic-d96a.edi", "application/EDIFACT"),
        ("x12-810.edi", "application/EDI-X12"),
    ];
    for (name, media_type) in documents {
        let octets = std::fs::read(fixture(&format!("documents/{name}"))).expect("our own document");
        let id = blue.api.submit(&Submission::to("orders").payload(media_type, octets.clone()).key(name));
        blue.api.until(&id, "delivered");
        red.api.until(&id, "delivered");
        assert_eq!(red.inbox.take(&id).part(1), octets, "{name}");
        let again = blue.api.submit_raw(&Submission::to("orders").payload(media_type, octets).key(name));
        assert_eq!(again.status(), 200, "the same key and content: {}", again.text());
        let other = blue.api.submit_raw(&Submission::to("orders").payload(media_type, "other").key(name));
        assert_eq!(other.status(), 422, "the same key, another content: {}", other.text());
    }
}

#[test]
fn four_documents_arrive_octet_for_octet_on_sqlite() {
    four_documents_arrive_octet_for_octet(Database::Sqlite);
}

#[test]
fn four_documents_arrive_octet_for_octet_on_postgresql() {
    four_documents_arrive_octet_for_octet(Database::Postgres);
}

fn a_lost_receipt_is_answered_from_the_inbox(database: Database) {
    let Pair { relay, blue, red } = pair(database);
    relay.now([Act::LoseAnswer(red.msh), Act::LoseAnswer(red.msh), Act::Forward(red.msh)]);
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    blue.api.until_within(&id, "delivered", Duration::from_secs(20));
    red.api.until(&id, "delivered");
    let seen = relay.seen_of(&id);
    assert_eq!(seen.len(), 3);
    let of = |n: usize, name: &str| elements(&seen[n].request.text(), name);
    for n in 1..3 {
        for name in ["SignatureValue", "MessageId", "Timestamp"] {
            assert_eq!(of(0, name), of(n, name), "{name} of attempt {}", n + 1);
        }
        assert_ne!(of(0, "CipherValue"), of(n, "CipherValue"), "encryption is made anew");
    }
    let answers: Vec<_> = seen.iter().map(|s| s.answer.as_ref().map(|a| a.body.clone())).collect();
    assert!(answers[0].is_some() && answers.windows(2).all(|w| w[0] == w[1]), "the same receipt, octet for octet");
    assert_eq!(red.inbox.count(&id), 1);
    red.inbox.take(&id);
}

#[test]
fn a_lost_receipt_is_answered_from_the_inbox_on_sqlite() {
    a_lost_receipt_is_answered_from_the_inbox(Database::Sqlite);
}

#[test]
fn a_lost_receipt_is_answered_from_the_inbox_on_postgresql() {
    a_lost_receipt_is_answered_from_the_inbox(Database::Postgres);
}

fn copies_at_the_same_instant_are_one(database: Database) {
    let Pair { relay, blue, red } = pair(database);
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    blue.api.until(&id, "delivered");
    red.api.until(&id, "delivered");
    red.inbox.take(&id);
    // A second message, caught before it arrives, then sent eight times at once.
    relay.now([Act::Drop, Act::Forward(red.msh)]);
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", "<caught/>"));
    let caught = wait("the request", Duration::from_secs(10), || relay.seen_of(&id).first().cloned()).request.octets;
    let answers: Vec<_> = std::thread::scope(|scope| {
        let copies: Vec<_> = (0..8).map(|_| scope.spawn(|| http::exchange(red.msh, &caught))).collect();
        copies.into_iter().map(|c| c.join().expect("no panic").expect("an answer").body).collect()
    });
    assert!(answers.windows(2).all(|w| w[0] == w[1]), "one and the same receipt");
    blue.api.until_within(&id, "delivered", Duration::from_secs(20));
    red.api.until(&id, "delivered");
    assert_eq!(red.inbox.count(&id), 1);
    red.inbox.take(&id);
}

#[test]
fn copies_at_the_same_instant_are_one_on_sqlite() {
    copies_at_the_same_instant_are_one(Database::Sqlite);
}

#[test]
fn copies_at_the_same_instant_are_one_on_postgresql() {
    copies_at_the_same_instant_are_one(Database::Postgres);
}

#[test]
fn a_killed_receiver_goes_on_where_it_was() {
    let Pair { relay, blue, mut red } = pair(Database::Sqlite);
    relay.now([Act::LoseAnswer(red.msh), Act::Late(Duration::from_millis(400), Box::new(Act::Forward(red.msh)))]);
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    wait("the first attempt", Duration::from_secs(10), || relay.seen_of(&id).first().cloned());
    red.kill();
    red.run();
    blue.api.until_within(&id, "delivered", Duration::from_secs(20));
    red.api.until(&id, "delivered");
    assert_eq!(red.inbox.count(&id), 1);
    red.inbox.take(&id);
}

#[test]
fn a_killed_sender_sends_the_same_message_again() {
    let Pair { relay, mut blue, red } = pair(Database::Sqlite);
    relay.now([Act::Drop, Act::Forward(red.msh)]);
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    wait("the first attempt", Duration::from_secs(10), || relay.seen_of(&id).first().cloned());
    blue.kill();
    blue.run();
    blue.api.until_within(&id, "delivered", Duration::from_secs(20));
    red.api.until(&id, "delivered");
    let seen = relay.seen_of(&id);
    let signature = |n: usize| elements(&seen[n].request.text(), "SignatureValue");
    assert!(seen.len() >= 2 && signature(0) == signature(seen.len() - 1));
    red.inbox.take(&id);
}

#[test]
fn a_forged_sender_is_refused_with_the_reason() {
    let red = site("red", &pki().red).pmode(pmode("orders", "http://127.0.0.1:9/as4")).start();
    let forger = site("blue", &pki().stranger).pmode(pmode("orders", &red.url())).start();
    let id = forger.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    let failed = forger.api.until(&id, "failed");
    assert!(failed["error"].as_str().is_some_and(|e| e.contains("EBMS:0101")), "{failed}");
    assert_eq!(red.inbox.count(&id), 0);
    let rejected = crate::support::api::json(&red.api.get("/api/v1/rejected"));
    assert!(rejected.to_string().contains("not one of the certificates agreed"), "{rejected}");
}

#[test]
fn other_content_under_the_same_id_is_told_and_changes_nothing() {
    let address = ports::free();
    let open = |pmode: PMode| {
        pmode
            .parties(Party::uri("urn:example:party:a"), Party::uri("urn:example:party:b"))
            .agreement("urn:example:agreement:1")
            .service(None, "urn:example:service", "Deliver")
            .window("400d")
            .deliver()
    };
    let node = Builder::new("open")
        .party("urn:example:party:b", None, None)
        .pmode(open(PMode::new("open", "plain")))
        .listen(address)
        .start();
    let first = crate::support::message::plain("same@node.example", "<one/>");
    let other = crate::support::message::plain("same@node.example", "<two/>");
    let answer = http::exchange(address, &first).expect("an answer");
    assert!(crate::support::message::is_receipt(&answer, "same@node.example"), "{}", answer.text());
    let again = http::exchange(address, &first).expect("an answer");
    assert_eq!(again.body, answer.body, "the same receipt, octet for octet");
    let refused = http::exchange(address, &other).expect("an answer");
    assert_eq!(codes(&refused), ["EBMS:0004"], "{}", refused.text());
    assert!(refused.text().contains("message id reused with other content"));
    node.api.until("same@node.example", "delivered");
    assert_eq!(node.inbox.take("same@node.example").part(1), b"<one/>");
}

#[test]
fn a_partner_that_never_answers_ends_in_ebms_0301() {
    let silent = Peer::start([Act::Answer(http::answer(503, "text/plain", b"later"))]);
    let plan = r#"<Retry retries="2" first="100ms" multiplier="1" max="100ms" jitter="0%" deadline="1min"/>"#;
    let blue = site("blue", &pki().blue).pmode(pmode("orders", &silent.url()).retry(plan)).start();
    let id = blue.api.submit(&Submission::to("orders").payload("application/xml", invoice()));
    let failed = blue.api.until(&id, "failed");
    assert!(failed["error"].as_str().is_some_and(|e| e.starts_with("EBMS:0301")), "{failed}");
    assert_eq!(silent.seen_of(&id).len(), 3, "the first attempt and two retries");
}

/// A key names one message: the same document to another partner, or with other properties, is another one.
#[test]
fn a_key_is_not_reused_for_another_message() {
    let pair = pair(Database::Sqlite);
    let first = Submission::to("orders").payload("application/xml", invoice()).key("LIST-7").property("round", "1");
    let id = pair.blue.api.submit(&first);
    assert_eq!(pair.blue.api.submit_raw(&first).status(), 200, "a repeat is the first one");
    let mut others = vec![first.clone().property("round", "2"), first.clone().property("more", "x")];
    others.push(Submission { json: serde_json::json!({ "pmode": "back" }), ..first });
    for other in others {
        let answer = pair.blue.api.submit_raw(&other);
        assert_eq!(answer.status(), 422, "{}", answer.text());
        assert!(answer.text().contains(&id) && answer.text().contains("LIST-7"), "{}", answer.text());
    }
    pair.blue.api.until(&id, "delivered");
    pair.red.inbox.take(&id);
    assert_eq!(pair.blue.api.messages("").len(), 1);
}
