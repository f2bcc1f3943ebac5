//! Requests, each written to the gateway's socket as it is.

use std::collections::BTreeSet;
use std::io::Read;

use super::expected::{Case, cases, octets, part};
use crate::support::http::{self, Message};
use crate::support::inbox::Delivery;
use crate::support::keys::pki;
use crate::support::message::{codes, elements, is_receipt, plain};
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};

const TEST: &str = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704";
const AGREEMENT: &str = "urn:example:agreement:1";

/// The cases are of July 2026, and remain so.
const WINDOW: &str = "20000d";

fn pmode(id: &str, profile: &str) -> PMode {
    PMode::new(id, profile)
        .parties(
            Party::uri("urn:example:party:a").certificate("blue"),
            Party::uri("urn:example:party:b").certificate("red"),
        )
        .service(None, "urn:example:service", "Deliver")
        .window(WINDOW)
        .deliver()
}

fn gateway(name: &str) -> Builder {
    Builder::new(name)
        .party("urn:example:party:b", None, Some(&pki().red))
        .certificate("blue", &pki().blue.certificate)
        .certificate("red", &pki().red.certificate)
}

/// Without security: what the cases are about lies before it.
fn open() -> Node {
    let service = format!("{TEST}/service");
    let action = format!("{TEST}/test");
    gateway("open")
        .pmode(pmode("pm-1", "plain").agreement(AGREEMENT))
        .pmode(pmode("two-ids", "plain").agreement(AGREEMENT).initiator_too("urn:example:party:a2"))
        .pmode(pmode("ping", "plain").agreement(AGREEMENT).service(None, &service, &action))
        .pmode(pmode("half-a", "plain").agreement(AGREEMENT).service(None, &service, "Deliver"))
        .pmode(pmode("half-b", "plain").agreement(AGREEMENT).service(None, "urn:example:service", &action))
        .start()
}

/// Of any agreement, or none.
fn loose() -> Node {
    gateway("loose").pmode(pmode("no-agreement", "plain")).start()
}

/// Signed and encrypted.
fn strict() -> Node {
    gateway("strict").pmode(pmode("strict", "edelivery-1.15").agreement(AGREEMENT)).start()
}

#[test]
fn each_request_gets_what_is_right() {
    let (open, loose, strict) = (open(), loose(), strict());
    let mut faults = Vec::new();
    // Several cases are of one id: a repeat has no further effect, and is receipted.
    let mut delivered = BTreeSet::new();
    for (name, case) in cases(".http").into_iter().filter(|(name, _)| !name.ends_with("-response.http")) {
        let node = match case.gateway.as_str() {
            "strict" => &strict,
            "loose" => &loose,
            _ => &open,
        };
        let octets = octets(&name);
        let mut found = judge(node, &case, &octets, &mut delivered);
        if name == "FR-079.http" {
            found.extend(again(node, &octets));
        }
        faults.extend(found.into_iter().map(|fault| format!("{name}: {fault}")));
    }
    for node in [&open, &loose, &strict] {
        let untaken = node.inbox.untaken();
        if !untaken.is_empty() {
            faults.push(format!("delivered, and not expected: {untaken:?}"));
        }
    }
    // After all that the gateway still does what it is for.
    let last = plain("after-all@node.example", "<order/>");
    let answer = http::exchange(open.msh, &http::post("/as4", MULTIPART, &last)).expect("it answers");
    assert!(is_receipt(&answer, "after-all@node.example"), "{}", answer.text());
    open.inbox.take("after-all@node.example");
    for node in [open, loose, strict] {
        let log = node.log();
        faults.extend(log.lines().filter(|l| l.starts_with("ERROR forged")).map(|l| format!("forged log line: {l}")));
        assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
    }
}

const MULTIPART: &str = "multipart/related; type=\"application/soap+xml\"; boundary=b1";

fn judge(node: &Node, case: &Case, octets: &[u8], delivered: &mut BTreeSet<String>) -> Vec<String> {
    let mut faults = Vec::new();
    let answer = match answer(node, case, octets) {
        Ok(answer) => answer,
        Err(fault) => return vec![fault],
    };
    let text = String::from_utf8_lossy(octets);
    let id = case.id.clone().or_else(|| elements(&text, "MessageId").into_iter().next()).unwrap_or_default();
    let kind = kind(&answer, &id);
    if kind != case.answer {
        faults.push(format!("answered by {kind}, right is {}", case.answer));
    }
    let status = if case.answer == "receipt" && case.status.is_empty() { vec![200] } else { case.status.clone() };
    if !status.is_empty() && !status.contains(&answer.status()) {
        faults.push(format!("HTTP {}, right is {status:?}", answer.status()));
    }
    let found = codes(&answer);
    if found.iter().any(|code| !case.codes.contains(code)) {
        faults.push(format!("{found:?}, right is {:?}", case.codes));
    }
    let effect = case.effect.unwrap_or(case.answer == "receipt");
    if !effect {
        if !id.is_empty() && !delivered.contains(&id) && node.inbox.count(&id) > 0 {
            faults.push(format!("{id} is delivered"));
        }
    } else if kind == "receipt" {
        delivered.insert(id.clone());
        faults.extend(consumer(&node.inbox.take(&id), case, &text));
    }
    if !faults.is_empty() {
        let text: String = answer.text().chars().take(1200).collect();
        faults.push(format!("it was answered: {}\n    {text}", answer.start()));
    }
    faults
}

/// The one answer; where the connection has to be closed, that it is, and that nothing else was answered.
fn answer(node: &Node, case: &Case, octets: &[u8]) -> Result<Message, String> {
    if !case.closes {
        let answer = http::exchange(node.msh, octets).map_err(|e| format!("no answer: {e}"))?;
        return Ok(answer);
    }
    let (mut answers, closed) = http::converse(node.msh, octets).map_err(|e| format!("no answer: {e}"))?;
    match (closed, answers.len()) {
        (true, 1) => Ok(answers.remove(0)),
        (false, _) => Err("the connection stays open".to_owned()),
        (true, n) => Err(format!("{n} answers")),
    }
}

/// The identical octets again: the same answer, and no effect.
fn again(node: &Node, octets: &[u8]) -> Vec<String> {
    let answers: Vec<_> = (0..2).map(|_| http::exchange(node.msh, octets).expect("it answers").body).collect();
    let id = elements(&String::from_utf8_lossy(octets), "MessageId").remove(0);
    let count = node.inbox.count(&id);
    if answers[0] == answers[1] && count == 1 { vec![] } else { vec![format!("a repeat differs, or {count} effects")] }
}

fn kind(answer: &Message, id: &str) -> &'static str {
    let text = answer.text();
    if is_receipt(answer, id) {
        "receipt"
    } else if !elements(&text, "Error").is_empty() || text.contains("errorCode=") {
        "error"
    } else if !elements(&text, "Fault").is_empty() {
        "fault"
    } else if answer.body.is_empty() && answer.status() < 300 {
        "none"
    } else {
        "http"
    }
}

/// What reached the consumer.
fn consumer(delivery: &Delivery, case: &Case, request: &str) -> Vec<String> {
    let mut faults = Vec::new();
    let parts: Vec<_> = case.parts.iter().map(|name| named(name)).collect();
    let found: Vec<_> = delivery.parts.iter().map(|(_, octets)| inflated(octets, &case.parts)).collect();
    if parts != found {
        faults.push(format!("delivered {:?}", found.iter().map(|o| String::from_utf8_lossy(o)).collect::<Vec<_>>()));
    }
    for (name, value) in &case.properties {
        if delivery.property(name) != Some(value) {
            faults.push(format!("property {name} is {:?}", delivery.property(name)));
        }
    }
    for name in &case.same {
        let found = delivery.property(name).unwrap_or_default();
        if found.is_empty() || !request.contains(&format!("<eb:Property name=\"{name}\">{found}</eb:Property>")) {
            faults.push(format!("property {name} is not what was sent: {found:?}"));
        }
    }
    for (name, value) in &case.fields {
        if delivery.message["header"][name].as_str() != Some(value) {
            faults.push(format!("{name} is {}", delivery.message["header"][name]));
        }
    }
    faults
}

const GZIP: &str = "gzip of ";

fn named(name: &str) -> Vec<u8> {
    part(name.strip_prefix(GZIP).unwrap_or(name)).unwrap_or_else(|| panic!("no octets are named {name}"))
}

/// A payload that is gzip itself is compared by what it holds, once; whatever else is, as it is.
fn inflated(octets: &[u8], names: &[String]) -> Vec<u8> {
    if !names.iter().any(|name| name.starts_with(GZIP)) {
        return octets.to_owned();
    }
    let mut all = Vec::new();
    flate2::read::GzDecoder::new(octets).read_to_end(&mut all).map(|_| all).unwrap_or_default()
}
