//! A signed message, altered on the way (AT-01 … AT-08, AT-14).

use std::net::TcpListener;
use std::time::Duration;

use super::refused;
use crate::support::api::Submission;
use crate::support::keys::{Identity, pki};
use crate::support::node::{Builder, Node};
use crate::support::peer::{Act, Peer};
use crate::support::pmode::PMode;
use crate::support::{http, message, wait};

/// Its payload.
const LINES: &str = "<Lines><Line><ID>1</ID></Line></Lines>";

fn pmode(to: &str) -> PMode {
    PMode::orders("signed", "as4", to)
}

fn site(name: &str, key: &Identity, to: &str) -> Node {
    Builder::of_two(name, name, key).pmode(pmode(to)).start()
}

/// A request that blue signed, and that never got to red: its media type, and its body as text.
struct Captured {
    content_type: String,
    body: String,
}

impl Captured {
    fn make() -> Self {
        Self::of("application/xml", LINES)
    }

    fn of(media_type: &str, payload: &str) -> Self {
        let relay = Peer::start([Act::Drop]);
        let mut blue = site("blue", &pki().blue, &relay.url());
        blue.leaves_work();
        let order = Submission::to("signed").payload(media_type, payload).property("finalRecipient", "urn:example:c4");
        let id = blue.api.submit(&order);
        let seen = wait("the request", Duration::from_secs(10), || relay.seen_of(&id).into_iter().next());
        let content_type = seen.request.header("Content-Type").expect("it has a media type");
        Self { content_type, body: seen.request.text() }
    }

    /// From one text to the end of another, both in it.
    fn between(&self, from: &str, to: &str) -> &str {
        let start = self.body.find(from).unwrap_or_else(|| panic!("{from} is not in the message"));
        let end = self.body[start..].find(to).unwrap_or_else(|| panic!("{to} is not in the message"));
        &self.body[start..start + end + to.len()]
    }

    /// With another text in place of one that stands in it.
    fn with(&self, from: &str, to: &str) -> Vec<u8> {
        assert!(self.body.contains(from), "{from} is not in the message");
        http::post("/as4", &self.content_type, self.body.replacen(from, to, 1).as_bytes())
    }
}

/// The MIME head chooses how a part is digested, and is not signed: as text, CR LF and LF are one.
#[test]
fn a_media_type_that_is_changed_on_the_way_loosens_nothing() {
    let (lines, bare) = ("UNB+UNOC:3+A+B'\r\nUNZ+1+1'\r\n", "UNB+UNOC:3+A+B'\nUNZ+1+1'\n");
    let captured = Captured::of("application/edifact", lines);
    let red = site("red", &pki().red, "http://127.0.0.1:9/as4");
    let head = "Content-Type: application/edifact";
    assert!(captured.body.contains(head) && captured.body.contains(lines), "{}", captured.body);
    let altered = captured.body.replacen(head, "Content-Type: text/plain", 1).replacen(lines, bare, 1);
    let request = http::post("/as4", &captured.content_type, altered.as_bytes());
    refused(&red, "text in place of EDIFACT", &request, &["EBMS:0007"]);
    // As it was signed it is good.
    let request = http::post("/as4", &captured.content_type, captured.body.as_bytes());
    let answer = http::exchange(red.msh, &request).expect("it answers");
    let id = message::element(&captured.body, "MessageId").expect("it has an id");
    assert!(message::is_receipt(&answer, &id), "{}", answer.text());
    assert_eq!(red.inbox.take(&id).part(1), lines.as_bytes());
}

const OTHER_DIGEST: &str = "<ds:DigestValue>AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=</ds:DigestValue>";
const UNSIGNED: &[&str] = &["EBMS:0101", "EBMS:0103", "EBMS:0009"];

#[test]
fn a_signed_message_that_was_altered_is_refused() {
    let (node, captured) = (site("red", &pki().red, "http://127.0.0.1:9/as4"), Captured::make());
    wrapped(&node, &captured);
    structure(&node, &captured);
    content(&node, &captured);
    elsewhere(&node, &captured);
    let id = message::element(&captured.body, "MessageId").expect("it has an id");
    let answer = http::exchange(node.msh, &captured.with("", "")).expect("an answer");
    assert!(message::is_receipt(&answer, &id), "as it was signed it is good: {}", answer.text());
    assert_eq!(node.inbox.take(&id).part(1), LINES.as_bytes(), "what was signed is what is delivered");
}

/// AT-01 … AT-03: another header than the one that was signed.
fn wrapped(node: &Node, captured: &Captured) {
    let signed = captured.between("<eb:Messaging", "</eb:Messaging>");
    let id = captured.between("wsu:Id=\"msg-", "\"");
    let forged = signed.replace("urn:example:c4", "urn:example:forged");
    let wrap = |inside: &str| format!("<x:Wrap xmlns:x=\"urn:x\">{inside}</x:Wrap>");
    for (other, how) in [("", "no id"), ("wsu:Id=\"other\"", "another id")] {
        let forged = forged.replace(id, other);
        for both in [format!("{}{forged}", wrap(signed)), format!("{forged}{}", wrap(signed))] {
            refused(node, &format!("wrapped, {how}"), &captured.with(signed, &both), UNSIGNED);
        }
        for both in [format!("{signed}{forged}"), format!("{forged}{signed}")] {
            refused(node, &format!("two headers, {how}"), &captured.with(signed, &both), UNSIGNED);
        }
        let moved = captured.body.replacen(signed, &forged, 1);
        let moved = moved.replacen("></env:Body>", &format!(">{signed}</env:Body>"), 1);
        let request = http::post("/as4", &captured.content_type, moved.as_bytes());
        refused(node, &format!("moved to the Body, {how}"), &request, UNSIGNED);
    }
    for both in [format!("{}{forged}", wrap(signed)), format!("{forged}{}", wrap(signed))] {
        refused(node, "the same id twice", &captured.with(signed, &both), UNSIGNED);
    }
    let aside = forged.replace(id, "env:role=\"urn:example:another\"");
    refused(node, "a header for another role", &captured.with(signed, &format!("{aside}{signed}")), UNSIGNED);
}

/// AT-04, AT-06, AT-14: another signature than the schema's.
fn structure(node: &Node, captured: &Captured) {
    let info = captured.between("<ds:SignedInfo>", "</ds:SignedInfo>");
    let forged = info.replace(captured.between("<ds:DigestValue>", "</ds:DigestValue>"), OTHER_DIGEST);
    for both in [format!("{info}{forged}"), format!("{forged}{info}")] {
        refused(node, "two SignedInfo", &captured.with(info, &both), UNSIGNED);
    }
    refused(node, "SignedInfo in KeyInfo", &captured.with("</ds:KeyInfo>", &format!("{info}</ds:KeyInfo>")), UNSIGNED);
    let plain = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"></ds:Transform>";
    let xpath = "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xpath-19991116\"><ds:XPath>not(true())</ds:XPath>\
                 </ds:Transform>";
    let xslt = "<ds:Transform Algorithm=\"http://www.w3.org/TR/1999/REC-xslt-19991116\"/>";
    for (transforms, what) in [(xpath.to_owned(), "XPath"), (xslt.to_owned(), "XSLT"), (plain.repeat(10_000), "many")] {
        refused(node, &format!("{what} as transform"), &captured.with(plain, &transforms), UNSIGNED);
    }
    let reference = captured.between("<ds:Reference URI=\"cid:", "</ds:Reference>");
    refused(node, "a flood of references", &captured.with(reference, &reference.repeat(2_000)), UNSIGNED);
    let token = captured.between("<wsse:SecurityTokenReference", "</wsse:SecurityTokenReference>");
    let circle = "<ds:RetrievalMethod Id=\"R\" URI=\"#R\"/>";
    refused(node, "a key that refers to itself", &captured.with(token, circle), UNSIGNED);
    refused(node, "a bare key", &captured.with(token, "<ds:KeyValue/>"), UNSIGNED);
    let hmac = captured.with("xmldsig-more#rsa-sha256", "xmldsig-more#hmac-sha256");
    refused(node, "a MAC in place of a signature", &hmac, UNSIGNED);
    refused(node, "SHA-1", &captured.with("xmldsig-more#rsa-sha256", "xmldsig#rsa-sha1"), UNSIGNED);
    let all = captured.between("<wsse:Security ", "</wsse:Security>");
    refused(node, "the signature taken away", &captured.with(all, ""), UNSIGNED);
}

/// AT-08: other content than was signed.
fn content(node: &Node, captured: &Captured) {
    let digest = captured.between("<ds:DigestValue>", "</ds:DigestValue>");
    for (from, to, what) in [
        ("urn:example:c4", "urn:example:forged", "a property"),
        ("<Line><ID>1</ID>", "<Line><ID>7</ID>", "the payload"),
        ("</Lines>", " </Lines>", "a blank in the payload"),
        (digest, OTHER_DIGEST, "a digest"),
    ] {
        refused(node, what, &captured.with(from, to), &["EBMS:0101"]);
    }
    let extra = "\r\n\r\n<extra/>\r\n--";
    let boundary = captured.body[captured.body.rfind("\r\n--").expect("it is multipart") + 4..].trim_end();
    let boundary = boundary.trim_end_matches("--");
    let part = format!("{boundary}\r\nContent-Type: application/xml\r\nContent-ID: <extra@x>{extra}{boundary}--");
    // EB-015: a part that nobody names, beside signed ones.
    refused(node, "a part that nobody signed", &captured.with(&format!("{boundary}--"), &part), &["EBMS:0011"]);
}

/// AT-07, AT-24: octets that stand elsewhere.
fn elsewhere(node: &Node, captured: &Captured) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    let there = format!("http://{}/x", listener.local_addr().expect("it is bound"));
    let reference = captured.between("URI=\"#msg-", "\"");
    for uri in [there.as_str(), "file:///etc/hostname", "", "#xpointer(/)", "#xpointer(id('x'))"] {
        refused(node, uri, &captured.with(reference, &format!("URI=\"{uri}\"")), UNSIGNED);
    }
    refused(node, "a reference to nothing", &captured.with(reference, ""), UNSIGNED);
    let token = captured.between("URI=\"#X509-", "\"");
    refused(node, "a token elsewhere", &captured.with(token, &format!("URI=\"{there}\"")), UNSIGNED);
    let value = captured.between("<ds:SignatureValue>", "</ds:SignatureValue>");
    let include = format!("<xop:Include xmlns:xop=\"http://www.w3.org/2004/08/xop/include\" href=\"{there}\"/>");
    let included = format!("<ds:SignatureValue>{include}</ds:SignatureValue>");
    refused(node, "a signature elsewhere", &captured.with(value, &included), UNSIGNED);
    let certificate = captured.between("<wsse:BinarySecurityToken", "</wsse:BinarySecurityToken>");
    let open = captured.between("<wsse:BinarySecurityToken", ">");
    let included = format!("{open}{include}</wsse:BinarySecurityToken>");
    refused(node, "a certificate elsewhere", &captured.with(certificate, &included), UNSIGNED);
    listener.set_nonblocking(true).expect("it can be asked");
    assert!(listener.accept().is_err(), "somebody came to fetch what a stranger named");
}
