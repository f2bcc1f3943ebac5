//! Attacks on a running gateway that need more than a file: signed messages altered, bombs, floods, slow senders,
//! strangers. Whatever comes in: nothing is delivered, nothing is receipted, nobody else waits.
//!
//! Each scenario ends with a message that is good, so that a gateway which refuses everything fails too. What the
//! parsers and the certificate checks do with hostile input is tested beside them, `at_…`.

mod line;
mod packages;
mod parties;
mod signature;

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use crate::support::http::{self, Message};
use crate::support::message::{self, codes, elements};
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};

/// No answer to an attack takes longer, debug builds on a busy machine included.
const SOON: Duration = Duration::from_secs(5);

/// A gateway without agreed security, for attacks that do not get as far as a signature.
fn open(adjust: impl FnOnce(Builder) -> Builder) -> Node {
    let pmode = PMode::new("open", "plain")
        .parties(Party::uri("urn:example:party:a"), Party::uri("urn:example:party:b"))
        .agreement("urn:example:agreement:1")
        .service(None, "urn:example:service", "Deliver")
        .deliver();
    adjust(Builder::new("open").party("urn:example:party:b", None, None).pmode(pmode)).start()
}

/// Sends an attack and wants it refused, soon, with one of these codes.
fn refused(node: &Node, what: &str, request: &[u8], allowed: &[&str]) -> Message {
    let begun = Instant::now();
    let answer = http::exchange(node.msh, request).unwrap_or_else(|e| panic!("{what}: no answer: {e}"));
    let (found, text) = (codes(&answer), answer.text());
    assert!(begun.elapsed() < SOON, "{what} took {:?}", begun.elapsed());
    assert!(elements(&text, "Receipt").is_empty(), "{what} got a receipt: {text}");
    let right = !found.is_empty() && found.iter().all(|code| allowed.contains(&code.as_str()));
    assert!(!text.contains(|c: char| c.is_control() && c != '\n' && c != '\t'), "{what}: the answer holds {text:?}");
    assert!(right, "{what}: {found:?} is not among {allowed:?}: {} {text}", answer.status());
    answer
}

/// The gateway still takes what is good.
fn still_works(node: &Node) {
    let id = "good@node.example";
    let begun = Instant::now();
    let answer = http::exchange(node.msh, &message::plain(id, "<still/>")).expect("an answer");
    assert!(message::is_receipt(&answer, id), "{}", answer.text());
    assert!(begun.elapsed() < SOON, "a good message waited {:?}", begun.elapsed());
    assert_eq!(node.inbox.take(id).part(1), b"<still/>");
    // What a stranger writes is never what a database cannot hold.
    let log = node.log();
    let failed = log.lines().find(|line| line.contains("store.unavailable"));
    assert_eq!(failed, None, "something could not be written down");
}

/// [`message::plain`] with something in place of a piece of it; its length is told anew.
fn altered(id: &str, from: &str, to: &str) -> Vec<u8> {
    let text = String::from_utf8(message::plain(id, "<payload/>")).expect("it is text");
    let (head, body) = text.split_once("\r\n\r\n").expect("a request has a head");
    assert!(body.contains(from), "{from}");
    let body = body.replacen(from, to, 1);
    let mut request = String::new();
    for line in head.lines().filter(|line| !line.starts_with("Content-Length")) {
        let _ = write!(request, "{line}\r\n");
    }
    let _ = write!(request, "Content-Length: {}\r\n\r\n{body}", body.len());
    request.into_bytes()
}
