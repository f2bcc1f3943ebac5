//! A message that phase4 signed, altered on the way (AT-01 … AT-08, AT-14).

use std::net::TcpListener;

use openssl::pkcs12::Pkcs12;

use super::refused;
use crate::support::keys::Identity;
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};
use crate::support::{fixture, http, message};

const PARTY: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered:as4-test";

/// A party of the captured exchanges.
fn identity(name: &str) -> Identity {
    let read =
        |end: &str| std::fs::read(fixture(&format!("captured/keys/{name}.{end}"))).expect("a key of the captures");
    let parsed = Pkcs12::from_der(&read("p12")).and_then(|p12| p12.parse2("changeit")).expect("it opens");
    let key = parsed.pkey.expect("it holds a key").private_key_to_pem_pkcs8().expect("a key is PEM");
    Identity { key, certificate: read("cert.pem") }
}

fn gateway() -> Node {
    let (a, b) = (identity("partya"), identity("partyb"));
    let pmode = PMode::new("signed", "as4")
        .named()
        .parties(
            Party::typed(PARTY, "partya").certificate("partya"),
            Party::typed(PARTY, "partyb").certificate("partyb"),
        )
        .agreement("urn:as4-test:agreement:1")
        .service(Some("urn:as4-test:services"), "urn:as4-test:service:exchange", "submit")
        .window("36500d")
        .deliver();
    Builder::new("captured")
        .party("partyb", Some(PARTY), Some(&b))
        .certificate("partya", &a.certificate)
        .certificate("partyb", &b.certificate)
        .pmode(pmode)
        .start()
}

/// The captured request: its media type, and its body as text.
struct Captured {
    content_type: String,
    body: String,
}

impl Captured {
    fn read() -> Self {
        let octets = std::fs::read(fixture("captured/phase4/push-signed.request.http")).expect("the capture is there");
        let request = http::read(&mut &*octets, false).expect("it is whole").expect("it is a request");
        let content_type = request.header("Content-Type").expect("it has a media type");
        Self { content_type, body: String::from_utf8(request.body).expect("it is text") }
    }

    /// From one text to the end of another, both in it.
    fn between(&self, from: &str, to: &str) -> &str {
        let start = self.body.find(from).unwrap_or_else(|| panic!("{from} is not in the capture"));
        let end = self.body[start..].find(to).unwrap_or_else(|| panic!("{to} is not in the capture"));
        &self.body[start..start + end + to.len()]
    }

    /// With another text in place of one that stands in it.
    fn with(&self, from: &str, to: &str) -> Vec<u8> {
        assert!(self.body.contains(from), "{from} is not in the capture");
        http::post("/as4", &self.content_type, self.body.replacen(from, to, 1).as_bytes())
    }
}

const UNSIGNED: &[&str] = &["EBMS:0101", "EBMS:0103", "EBMS:0009"];

#[test]
fn a_signed_message_that_was_altered_is_refused() {
    let (node, captured) = (gateway(), Captured::read());
    wrapped(&node, &captured);
    structure(&node, &captured);
    content(&node, &captured);
    elsewhere(&node, &captured);
    let id = message::element(&captured.body, "MessageId").expect("it has an id");
    let answer = http::exchange(node.msh, &captured.with("", "")).expect("an answer");
    assert!(message::is_receipt(&answer, &id), "as it was captured it is good: {}", answer.text());
    let payload = captured.between("<Lines>", "</Lines>");
    let delivered = node.inbox.take(&id);
    assert!(String::from_utf8_lossy(delivered.part(1)).contains(payload), "what was signed is what is delivered");
}

/// AT-01 … AT-03: another header than the one that was signed.
fn wrapped(node: &Node, captured: &Captured) {
    let signed = captured.between("<eb:Messaging", "</eb:Messaging>");
    let id = captured.between("wsu:Id=\"phase4-msg-", "\"");
    let forged = signed.replace("urn:as4-test:c4", "urn:example:forged");
    let wrap = |inside: &str| format!("<x:Wrap xmlns:x=\"urn:x\">{inside}</x:Wrap>");
    for (other, how) in [("", "no id"), ("wsu:Id=\"other\"", "another id")] {
        let forged = forged.replace(id, other);
        for both in [format!("{}{forged}", wrap(signed)), format!("{forged}{}", wrap(signed))] {
            refused(node, &format!("wrapped, {how}"), &captured.with(signed, &both), UNSIGNED);
        }
        for both in [format!("{signed}{forged}"), format!("{forged}{signed}")] {
            refused(node, &format!("two headers, {how}"), &captured.with(signed, &both), UNSIGNED);
        }
        let to_body = captured.body.replacen(signed, &forged, 1);
        let end = to_body.find("<S12:Body").expect("it has a Body");
        let close = end + to_body[end..].find("/>").expect("the Body is empty");
        let moved = format!("{}>{signed}</S12:Body{}", &to_body[..close], &to_body[close + 1..]);
        let request = http::post("/as4", &captured.content_type, moved.as_bytes());
        refused(node, &format!("moved to the Body, {how}"), &request, UNSIGNED);
    }
    for both in [format!("{}{forged}", wrap(signed)), format!("{forged}{}", wrap(signed))] {
        refused(node, "the same id twice", &captured.with(signed, &both), UNSIGNED);
    }
    let aside = forged.replace(id, "ns3:role=\"urn:example:another\"");
    refused(node, "a header for another role", &captured.with(signed, &format!("{aside}{signed}")), UNSIGNED);
}

/// AT-04, AT-06, AT-14: another signature than the schema's.
fn structure(node: &Node, captured: &Captured) {
    let info = captured.between("<ds:SignedInfo>", "</ds:SignedInfo>");
    let forged = info.replace("DigestValue>r", "DigestValue>s");
    for both in [format!("{info}{forged}"), format!("{forged}{info}")] {
        refused(node, "two SignedInfo", &captured.with(info, &both), UNSIGNED);
    }
    refused(node, "SignedInfo in KeyInfo", &captured.with("</ds:KeyInfo>", &format!("{info}</ds:KeyInfo>")), UNSIGNED);
    let plain = "<ds:Transform Algorithm=\"http://www.w3.org/2001/10/xml-exc-c14n#\"/>";
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
    for (from, to, what) in [
        ("urn:as4-test:c4", "urn:example:forged", "a property"),
        ("<Line><ID>1</ID>", "<Line><ID>7</ID>", "the payload"),
        ("</Lines>", " </Lines>", "a blank in the payload"),
        ("DigestValue>r", "DigestValue>s", "a digest"),
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
    let reference = captured.between("URI=\"#phase4-msg-", "\"");
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
