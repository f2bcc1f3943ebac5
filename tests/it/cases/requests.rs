//! Requests, each on a socket of its own, to a gateway that must be as good as new after all of them.

use std::io::{Read, Write};
use std::time::Duration;

use super::expected::{Book, Kind, Request, octets};
use super::outcome::{self, Wanted};
use super::{Faults, none, settle, sites};
use crate::support::database::Database;
use crate::support::http::{self, Message};
use crate::support::inbox::Inbox;
use crate::support::message;
use crate::support::node::Node;

#[test]
fn what_the_plain_gateway_is_sent_on_sqlite() {
    replay("open", Database::Sqlite);
}

#[test]
fn what_the_plain_gateway_is_sent_on_postgresql() {
    replay("open", Database::Postgres);
}

#[test]
fn what_the_gateway_of_looser_agreements_is_sent() {
    replay("loose", Database::Sqlite);
}

#[test]
fn what_the_gateway_that_wants_security_is_sent() {
    replay("secured", Database::Sqlite);
}

/// All requests of a site: on one gateway, but for those whose id another has.
fn replay(site: &str, database: Database) {
    let book = Book::read();
    let (alone, together): (Vec<_>, Vec<_>) =
        book.request.iter().filter(|r| r.site == site).partition(|request| request.alone);
    assert!(!together.is_empty(), "nothing is sent to {site}");
    let mut faults = on_one(&book, site, database, &together);
    for request in alone {
        faults.extend(on_one(&book, site, database, &[request]));
    }
    none(faults);
}

fn on_one(book: &Book, site: &str, database: Database, requests: &[&Request]) -> Faults {
    let node = sites::site(site, database);
    let outside = surroundings(&node);
    let mut faults = Faults::new();
    // First every answer, then the deliveries: one broken case does not hide another's.
    let answered: Vec<Vec<String>> = requests.iter().map(|request| answers(&node, request)).collect();
    for (request, mut found) in requests.iter().zip(answered) {
        if found.is_empty() {
            found.extend(effect(&node, book, request));
        }
        settle(&mut faults, &request.file, &found);
    }
    if site != "secured" {
        let good = http::exchange(node.msh, &message::plain("good@node.example", "<still/>")).expect("an answer");
        if !message::is_receipt(&good, "good@node.example") {
            faults.push(format!("after all cases a good message is answered {}", good.text()));
        }
        node.inbox.take("good@node.example");
    }
    faults.extend(harm(&node, &outside));
    if !faults.is_empty() {
        // The faults tell more than what dropping the node would find.
        none(faults);
    }
    Faults::new()
}

/// Sends one case, as often as it says, and looks at the answers.
fn answers(node: &Node, request: &Request) -> Vec<String> {
    let octets = octets(&request.file);
    let mut found = Vec::new();
    let mut first: Option<Vec<u8>> = None;
    for _ in 0..request.times {
        let answer = match send(node, request, &octets) {
            Ok(answer) => answer,
            Err(error) => return vec![error],
        };
        found.extend(judge(node, request, &octets, &answer));
        if first.get_or_insert_with(|| answer.body.clone()) != &answer.body {
            found.push("the same message gets another answer".to_owned());
        }
    }
    found
}

fn send(node: &Node, request: &Request, octets: &[u8]) -> Result<Message, String> {
    if request.closes {
        let (mut answers, closed) = http::converse(node.msh, octets).map_err(|e| e.to_string())?;
        return match (answers.pop(), answers.is_empty(), closed) {
            (Some(answer), true, true) => Ok(answer),
            (last, ..) => Err(format!("{} answers, closed: {closed}; the last: {last:?}", answers.len() + 1)),
        };
    }
    let asks = String::from_utf8_lossy(octets).contains("Expect: 100-continue");
    let answer = if asks { withheld(node, octets) } else { http::exchange(node.msh, octets) };
    answer.map_err(|e| format!("no answer: {e}"))
}

/// Sends the body only once it is asked for.
fn withheld(node: &Node, octets: &[u8]) -> std::io::Result<Message> {
    let head = octets.windows(4).position(|w| w == b"\r\n\r\n").expect("a request has a head") + 4;
    let mut stream = http::connect(node.msh)?;
    stream.set_read_timeout(Some(Duration::from_secs(5)))?;
    stream.write_all(&octets[..head])?;
    let mut asked = [0; 25];
    stream.read_exact(&mut asked)?;
    assert_eq!(&asked, b"HTTP/1.1 100 Continue\r\n\r\n", "the body is asked for");
    stream.write_all(&octets[head..])?;
    http::read(&mut stream, true)?.ok_or_else(|| std::io::ErrorKind::UnexpectedEof.into())
}

fn judge(node: &Node, request: &Request, octets: &[u8], answer: &Message) -> Vec<String> {
    let id = id(request);
    let Request { answer: kind, status, codes, says, .. } = request;
    let mut found = outcome::answer(answer, &Wanted { kind: *kind, status: *status, codes, says, id: &id });
    let text = answer.text();
    found.extend(request.copies.iter().filter(|c| !text.contains(*c)).map(|c| format!("`{c}` is not in {text}")));
    for (name, value) in &request.fields {
        if answer.header(name).as_ref() != Some(value) {
            found.push(format!("the field {name} is {:?}", answer.header(name)));
        }
    }
    if let Some(count) = request.errors.filter(|count| message::codes(answer).len() != *count) {
        found.push(format!("there are not {count} errors in {text}"));
    }
    if request.signed && message::elements(&text, "SignatureValue").len() != 1 {
        found.push(format!("the answer is not signed: {text}"));
    }
    // RFC 9112 §6.1: such a client knows no chunks.
    let old = octets.split(|b| *b == b'\r').next().is_some_and(|line| line.ends_with(b"HTTP/1.0"));
    if old && answer.header("Transfer-Encoding").is_some() {
        found.push("HTTP/1.0 is answered in chunks".to_owned());
    }
    found.extend(request.about.as_ref().map(|id| outcome::about(answer, id)).unwrap_or_default());
    if *kind == Kind::Error {
        found.extend(outcome::recorded(node, codes));
    }
    found.extend(
        request.recorded.as_ref().map(|c| outcome::recorded(node, std::slice::from_ref(c))).unwrap_or_default(),
    );
    found
}

/// What the consumer got. Whatever nobody asks for here fails when the node is dropped.
fn effect(node: &Node, book: &Book, request: &Request) -> Vec<String> {
    let id = id(request);
    if request.answer != Kind::Receipt {
        return Vec::new();
    }
    let state = node.api.until(&id, "delivered");
    let mut found = Vec::new();
    if let Some(pmode) = request.pmode.as_ref().filter(|pmode| state["pmode"] != pmode.as_str()) {
        found.push(format!("taken by {} in place of {pmode}", state["pmode"]));
    }
    if let Some(delivered) = &request.delivered {
        let payloads: Vec<Vec<u8>> = delivered.iter().map(|name| book.payload(name)).collect();
        found.extend(outcome::delivery(&node.inbox.take(&id), &payloads, &request.header));
    }
    found
}

/// The MessageId: said, or what stands in the file.
fn id(request: &Request) -> String {
    let said = request.id.clone();
    said.or_else(|| message::element(&String::from_utf8_lossy(&octets(&request.file)), "MessageId")).unwrap_or_default()
}

/// Names beside the gateway's folder that a path in a message could have meant (AT-23).
fn surroundings(node: &Node) -> Vec<bool> {
    node.dir().ancestors().skip(1).take(3).map(|folder| folder.join("x").exists()).collect()
}

/// What must not have happened meanwhile.
fn harm(node: &Node, outside: &[bool]) -> Faults {
    let mut faults = Faults::new();
    if surroundings(node) != outside {
        faults.push("a file was written outside of the gateway's folder".to_owned());
    }
    let known = ["data", "in", "keys", "pmodes", "postrider.toml", "postrider.log"];
    for file in Inbox::files(node.dir()) {
        let relative = file.strip_prefix(node.dir()).expect("it is in the folder");
        if !known.iter().any(|name| relative.starts_with(name)) {
            faults.push(format!("{} is nobody's", relative.display()));
        }
    }
    let log = node.log();
    // AT-25: a line that a partner wrote.
    faults.extend(log.lines().filter(|l| l.starts_with("ERROR forged")).map(|l| format!("forged: {l}")));
    let bad = ["panicked", "store.unavailable"];
    faults.extend(log.lines().filter(|l| bad.iter().any(|word| l.contains(word))).map(str::to_owned));
    faults
}
