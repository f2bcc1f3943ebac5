//! What a producer with a webhook of its own name is told: the end of each message, once under one key, however it came.

use std::time::Duration;

use serde_json::Value;

use crate::support::api::Submission;
use crate::support::http::{self, Message, answer};
use crate::support::message::element;
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::wait;

const CALLBACK: &str = "<Security><SendReceipt replyPattern=\"callback\" replyTo=\"http://127.0.0.1:9/as4\" \
                        nonRepudiation=\"false\"/></Security>";

/// A gateway that sends to `partner`, and tells its producer, the token `test`, at `producer`.
fn gateway(partner: &Peer, producer: &Peer) -> Node {
    let pmode = |id: &str, leg: &str, retry: &str| {
        PMode::new(id, "plain")
            .parties(Party::uri("urn:example:party:b"), Party::uri("urn:example:party:a"))
            .service(None, &format!("urn:example:{id}"), "Deliver")
            .leg(leg)
            .retry(retry)
            .to(&partner.url())
    };
    let once = "<Retry retries=\"1\" first=\"300ms\" multiplier=\"1\" max=\"300ms\" jitter=\"0%\" deadline=\"1min\"/>";
    Builder::new("b")
        .party("urn:example:party:b", None, None)
        .pmode(pmode("response", "", once))
        .pmode(pmode("callback", CALLBACK, once))
        .toml(&format!("[[backend]]\nname = \"test\"\nkind = \"webhook\"\nurl = \"{}\"\n", producer.url()))
        .start()
}

fn submitted(node: &Node, pmode: &str) -> String {
    node.api.submit(&Submission::to(pmode).payload("application/xml", "<order/>"))
}

/// The notifications of a message: key, and what they say.
fn told(producer: &Peer, id: &str, state: &str) -> (String, Value) {
    wait(&format!("`{state}` of {id}"), Duration::from_secs(10), || {
        producer.seen_of(id).into_iter().find_map(|seen| {
            let said = json(&seen.request)?;
            (said["state"] == state).then(|| (seen.request.header("idempotency-key").unwrap_or_default(), said))
        })
    })
}

fn accepting() -> Peer {
    Peer::start([Act::Answer(answer(200, "text/plain", b""))])
}

fn signal(request: &Message, content: &str) -> Vec<u8> {
    let id = element(&request.text(), "MessageId").expect("a push has an id");
    signal_of(&id, content).into_bytes()
}

fn signal_of(id: &str, content: &str) -> String {
    format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"><S:Header>\
         <eb:Messaging S:mustUnderstand=\"true\"><eb:SignalMessage><eb:MessageInfo>\
         <eb:Timestamp>2026-07-01T10:00:01Z</eb:Timestamp><eb:MessageId>signal-{id}</eb:MessageId>\
         <eb:RefToMessageId>{id}</eb:RefToMessageId></eb:MessageInfo>{content}</eb:SignalMessage></eb:Messaging>\
         </S:Header><S:Body/></S:Envelope>"
    )
}

const RECEIPT: &str = "<eb:Receipt><x xmlns=\"urn:example:x\"/></eb:Receipt>";
const ERROR: &str =
    "<eb:Error errorCode=\"EBMS:0004\" severity=\"failure\" shortDescription=\"Other\" origin=\"ebMS\"/>";
const SOAP: &str = "application/soap+xml";

#[test]
fn a_receipt_and_a_refusal_on_the_response_are_told() {
    let (partner, producer) = (Peer::start([Act::Drop]), accepting());
    let node = gateway(&partner, &producer);
    partner.now([Act::made(|request| answer(200, SOAP, &signal(request, RECEIPT)))]);
    let id = submitted(&node, "response");
    let (key, said) = told(&producer, &id, "delivered");
    assert_eq!((&said["schema"], said["key"].as_str()), (&"postrider.notification/1".into(), Some(&*key)), "{said}");
    partner.now([Act::made(|request| answer(200, SOAP, &signal(request, ERROR)))]);
    let id = submitted(&node, "response");
    let (_, said) = told(&producer, &id, "failed");
    assert!(said["error"].as_str().is_some_and(|e| e.contains("EBMS:0004")), "{said}");
}

/// The receipt comes after the message was given up: both ends are told, each under a key of its own.
#[test]
fn a_missing_receipt_and_the_late_one_are_told() {
    let (partner, producer) = (Peer::start([Act::Answer(answer(202, SOAP, b""))]), accepting());
    let node = gateway(&partner, &producer);
    let id = submitted(&node, "callback");
    let (failed, said) = told(&producer, &id, "failed");
    assert!(said["error"].as_str().is_some_and(|e| e.contains("EBMS:0301")), "{said}");
    assert_eq!(partner.seen_of(&id).len(), 2, "one retry");
    let receipt = http::post("/as4", SOAP, signal_of(&id, RECEIPT).as_bytes());
    assert_eq!(http::exchange(node.msh, &receipt).expect("it answers").status(), 204);
    let (delivered, _) = told(&producer, &id, "delivered");
    assert_ne!(failed, delivered);
    let message = node.api.message(&id).expect("it is known");
    assert_eq!((&message["state"], &message["late"]), (&"delivered".into(), &true.into()), "{message}");
}

/// Anybody can write an unsigned signal: where none is agreed, or nothing was sent, it changes nothing.
#[test]
fn a_forged_signal_is_only_recorded() {
    let (partner, producer) = (Peer::start([Act::Drop]), accepting());
    let mut node = gateway(&partner, &producer);
    node.leaves_work();
    let id = submitted(&node, "response");
    for content in [RECEIPT, ERROR] {
        let forged = http::post("/as4", SOAP, signal_of(&id, content).as_bytes());
        assert_eq!(http::exchange(node.msh, &forged).expect("it answers").status(), 204);
    }
    let message = node.api.message(&id).expect("it is known");
    assert_ne!(message["state"], "delivered", "{message}");
    let story = node.api.story(&id);
    assert!(story.contains("proves nothing") && story.contains("only recorded"), "{story}");
    let (_, said) = told(&producer, &id, "failed");
    assert!(
        said["error"].as_str().is_some_and(|e| e.contains("EBMS:0301")),
        "by the retries, not by the error: {said}"
    );
}

/// A producer that is down is told when it is back.
#[test]
fn a_notification_is_repeated_under_its_key() {
    let partner = Peer::start([Act::made(|request| answer(200, SOAP, &signal(request, RECEIPT)))]);
    let producer = Peer::start([Act::Drop, Act::Answer(answer(200, "text/plain", b""))]);
    let node = gateway(&partner, &producer);
    let id = submitted(&node, "response");
    let seen =
        wait("two calls", Duration::from_secs(20), || Some(producer.seen_of(&id)).filter(|seen| seen.len() == 2));
    let key = |n: usize| seen[n].request.header("idempotency-key");
    assert!(key(0).is_some());
    assert_eq!(key(0), key(1));
}

/// The JSON part of a call, which is multipart like that of a delivery.
fn json(call: &Message) -> Option<Value> {
    let text = call.text();
    serde_json::from_str(text.get(text.find('{')?..=text.rfind('}')?)?).ok()
}
