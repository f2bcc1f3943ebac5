//! Answers of a partner to a push of ours, and where they leave the sender log.

use std::time::Duration;

use super::expected::{Case, cases, octets};
use crate::support::api::Submission;
use crate::support::http::Message;
use crate::support::keys::pki;
use crate::support::message::element;
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::{PMode, Party};
use crate::support::wait;

/// The id that the files answer to; each is given the real one.
const PUSHED: &str = "push-1@node.example";

fn pmode(id: &str, leg: &str, to: &str) -> PMode {
    // P-Modes of one gateway differ in what they match.
    PMode::new(id, "plain")
        .parties(Party::uri("urn:example:party:b"), Party::uri("urn:example:party:a").certificate("blue"))
        .service(None, &format!("urn:example:{id}"), "Deliver")
        .leg(leg)
        // The first attempt is what counts here: the next would come long after the test.
        .retry(r#"<Retry retries="3" first="1h" multiplier="1" max="1h" jitter="0%" deadline="12h"/>"#)
        .to(to)
}

fn gateway(to: &str) -> Node {
    let callback = "<Security><SendReceipt replyPattern=\"callback\" replyTo=\"http://127.0.0.1:9/as4\" \
                    nonRepudiation=\"false\"/></Security>";
    let signed = "<Security><Signature enabled=\"true\"/><SendReceipt nonRepudiation=\"true\"/></Security>";
    let mut node = Builder::new("b")
        .party("urn:example:party:b", None, Some(&pki().red))
        .certificate("blue", &pki().blue.certificate)
        .pmode(pmode("response", "", to))
        .pmode(pmode("signed", signed, to))
        .pmode(pmode("callback", callback, to))
        .pmode(pmode("none", "<Security><SendReceipt enabled=\"false\"/></Security>", to).without_awareness())
        .start();
    node.leaves_work();
    node
}

/// The file as answer to this very request.
fn answer(file: &[u8], request: &Message) -> Vec<u8> {
    let id = element(&request.text(), "MessageId").expect("a push has an id");
    let split = file.windows(4).position(|w| w == b"\r\n\r\n").map_or(file.len(), |at| at + 4);
    let (head, body) = file.split_at(split);
    let body = String::from_utf8_lossy(body).replace(PUSHED, &id);
    let head = String::from_utf8_lossy(head);
    let lines = head.split_inclusive("\r\n").map(|line| {
        let length = line.to_ascii_lowercase().starts_with("content-length:");
        if length { format!("Content-Length: {}\r\n", body.len()) } else { line.to_owned() }
    });
    (lines.collect::<String>() + &body).into_bytes()
}

#[test]
fn each_answer_leaves_the_sender_log_where_it_belongs() {
    let peer = Peer::start([Act::Drop]);
    let node = gateway(&peer.url());
    let mut faults = Vec::new();
    for (name, case) in cases("-response.http") {
        let file = octets(&name);
        peer.now([Act::made(move |request| answer(&file, request))]);
        faults.extend(judge(&node, &case).into_iter().map(|fault| format!("{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
}

fn judge(node: &Node, case: &Case) -> Vec<String> {
    let pmode = if case.gateway.is_empty() { "response" } else { &case.gateway };
    let id = node.api.submit(&Submission::to(pmode).payload("application/xml", "<order/>"));
    let message = wait("the first attempt", Duration::from_secs(20), || {
        let message = node.api.message(&id)?;
        let tried = message["attempts"].as_array().is_some_and(|a| a.len() == 1);
        (tried && message["state"] != "sending").then_some(message)
    });
    let mut faults = Vec::new();
    if message["state"] != case.state.as_str() {
        faults.push(format!("the message is {}, right is {}", message["state"], case.state));
    }
    let story = node.api.story(&id);
    if case.says.is_empty() || !story.contains(&case.says) {
        faults.push(format!("`{}` is not in its story", case.says));
    }
    if !faults.is_empty() {
        faults.push(format!("its story: {story}"));
    }
    faults
}
