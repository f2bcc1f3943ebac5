//! Who is not the party that it says to be, and what was said before (AT-09, AT-10, AT-26, AT-27).

use super::refused;
use crate::support::api::Submission;
use crate::support::keys::{Identity, pki};
use crate::support::message::element;
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party, UNREGISTERED};
use crate::support::{fixture, http};

const PLAN: &str = r#"<Retry retries="2" first="100ms" multiplier="1" max="100ms" jitter="0%" deadline="1min"/>"#;

fn pmode(to: &str) -> PMode {
    PMode::orders("orders", "edelivery-1.15", to).retry(PLAN)
}

/// A gateway that is one of the two, with the key that it has.
fn site(name: &str, key: &Identity, to: &str) -> Node {
    Builder::of_two(name, name, key).anchor("ca", &pki().ca).pmode(pmode(to)).start()
}

const NOWHERE: &str = "http://127.0.0.1:9/as4";

fn order() -> Submission {
    Submission::to("orders").payload("application/xml", "<order/>")
}

#[test]
fn a_certificate_of_the_right_authority_does_not_make_the_right_partner() {
    let red = site("red", &pki().red, NOWHERE);
    for (who, key) in [("another partner", &pki().green), ("a stranger of the same name", &pki().stranger)] {
        let forger = site("blue", key, &red.url());
        let id = forger.api.submit(&order());
        let failed = forger.api.until(&id, "failed");
        assert!(failed["error"].as_str().is_some_and(|e| e.starts_with("EBMS:0101")), "{who}: {failed}");
        assert_eq!(red.inbox.count(&id), 0, "{who}");
    }
    let blue = site("blue", &pki().blue, &red.url());
    let id = blue.api.submit(&order());
    blue.api.until(&id, "delivered");
    red.inbox.take(&id);
}

/// What the sender makes of a receipt: it is told, tried again, and never taken for one.
fn disbelieved(blue: &Node, what: &str) {
    let id = blue.api.submit(&order());
    let failed = blue.api.until(&id, "failed");
    let story = blue.api.story(&id);
    assert!(failed["error"].as_str().is_some_and(|e| e.starts_with("EBMS:0301")), "{what}: {failed}");
    assert!(story.contains("EBMS:0302"), "{what}: {story}");
    assert!(failed["proof"].is_null(), "{what}: {failed}");
}

#[test]
fn a_receipt_of_someone_else_is_none() {
    // Green sits where red should be, and has the key to read what was sent to red: it answers in its own name.
    let Identity { key, .. } = pki().red.clone();
    let green = Builder::new("red")
        .party("red", Some(UNREGISTERED), Some(&pki().green))
        .party("green", Some(UNREGISTERED), Some(&Identity { key, certificate: pki().red.certificate.clone() }))
        .certificate("blue", &pki().blue.certificate)
        .certificate("red", &pki().red.certificate)
        .anchor("ca", &pki().ca)
        .pmode(pmode(NOWHERE))
        .start();
    let relay = Peer::start([Act::Forward(green.msh)]);
    let blue = site("blue", &pki().blue, &relay.url());
    disbelieved(&blue, "signed by another partner");
    let answer = relay.seen().first().and_then(|seen| seen.answer.clone()).expect("green answered");
    assert!(element(&answer.text(), "SignatureValue").is_some(), "it was a signed receipt: {}", answer.text());
    for id in green.inbox.untaken() {
        green.inbox.take(&id);
    }
}

#[test]
fn a_receipt_of_another_message_is_none() {
    let red = site("red", &pki().red, NOWHERE);
    let relay = Peer::start([Act::Forward(red.msh)]);
    let blue = site("blue", &pki().blue, &relay.url());
    let first = blue.api.submit(&order());
    blue.api.until(&first, "delivered");
    red.inbox.take(&first);
    let good = relay.seen_of(&first).remove(0).answer.expect("it was answered").octets;
    // As it is, and with the other message's id written into it.
    relay.now([Act::Answer(good.clone())]);
    disbelieved(&blue, "the receipt of an earlier message");
    let text = String::from_utf8(good).expect("a receipt is text");
    relay.now([Act::about(&first, text.clone().into_bytes())]);
    disbelieved(&blue, "an old receipt with another id");
    let unsigned = {
        let security = text.find("<wsse:Security").expect("it is signed");
        let end = text.find("</wsse:Security>").expect("it is whole") + "</wsse:Security>".len();
        let body = format!("{}{}", &text[..security], &text[end..]);
        let body = body.split_once("\r\n\r\n").expect("it has a head").1.to_owned();
        http::answer(200, "application/soap+xml", body.as_bytes())
    };
    relay.now([Act::about(&first, unsigned)]);
    disbelieved(&blue, "a receipt whose signature was taken away");
}

#[test]
fn what_is_older_than_the_memory_of_duplicates_is_refused() {
    let plain = PMode::new("open", "plain")
        .parties(Party::uri("urn:example:party:a"), Party::uri("urn:example:party:b"))
        .agreement("urn:example:agreement:1")
        .service(None, "urn:example:service", "Deliver")
        .window("1d")
        .deliver();
    let node = Builder::new("open").party("urn:example:party:b", None, None).pmode(plain).start();
    // Captured in July 2026: whether it came before, nobody remembers.
    let old = std::fs::read(fixture("cases/FR-079.http")).expect("the case is there");
    let answer = refused(&node, "a replay", &old, &["EBMS:0004"]);
    assert!(answer.text().contains("older than the duplicate window"), "{}", answer.text());
    // One that is dated ahead would outlive the memory of it.
    let ahead =
        String::from_utf8(old).expect("it is text").replace("2026-07-01T10:00:00.000Z", "2999-07-01T10:00:00.000Z");
    refused(&node, "a message of the future", ahead.as_bytes(), &["EBMS:0004"]);
    let kept = node.api.get("/api/v1/rejected");
    assert_eq!(kept.text().matches("dup-1@node.example").count(), 2, "the evidence is kept: {}", kept.text());
    super::still_works(&node);
}

/// AT-25: a partner's words are told, and write no line of their own.
#[test]
fn an_error_of_a_partner_forges_no_line_of_the_log() {
    let forged = "no&#13;&#10;2026-12-01T00:00:00.000000Z ERROR forged";
    let error = format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"><S:Header>\
         <eb:Messaging S:mustUnderstand=\"true\"><eb:SignalMessage><eb:MessageInfo>\
         <eb:Timestamp>2026-07-01T10:00:01.000Z</eb:Timestamp><eb:MessageId>e1@peer.example</eb:MessageId>\
         </eb:MessageInfo><eb:Error errorCode=\"EBMS:0004\" severity=\"failure\"><eb:Description xml:lang=\"en\">{forged}\
         </eb:Description><eb:ErrorDetail>{forged}</eb:ErrorDetail></eb:Error></eb:SignalMessage></eb:Messaging>\
         </S:Header><S:Body/></S:Envelope>"
    );
    let partner = Peer::start([Act::Answer(http::answer(200, "application/soap+xml", error.as_bytes()))]);
    let blue = site("blue", &pki().blue, &partner.url());
    let id = blue.api.submit(&order());
    let failed = blue.api.until(&id, "failed");
    assert!(failed["error"].as_str().is_some_and(|e| e.contains("ERROR forged")), "it is told: {failed}");
    let own = http::exchange(blue.msh, &http::post("/as4", "application/soap+xml", error.as_bytes()));
    assert_eq!(own.expect("an answer").status(), 204, "in a request of its own, too");
    let log = blue.log();
    assert!(log.contains("ERROR forged"), "{log}");
    let line = log.lines().find(|line| line.starts_with("2026-12-01T00:00:00.000000Z ERROR forged"));
    assert_eq!(line, None);
}
