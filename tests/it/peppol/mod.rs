//! Both directions with Oxalis, as4 for Python and phase4 in Peppol's message form: one Standard Business Document,
//! compressed, signed and encrypted, between access points that know each other by the common name of a certificate.

mod received;
mod sent;

use std::path::Path;

use crate::support::database::Database;
use crate::support::fixture;
use crate::support::http::Message;
use crate::support::message::{elements, is_receipt};
use crate::support::node::{Builder, Node};
use crate::support::others;
use crate::support::pmode::{PMode, Party};

const AP: &str = "urn:fdc:peppol.eu:2017:identifiers:ap";
const PROCESS: &str = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0";
const DOCUMENT: &str = "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##\
                        urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1";
/// The participants that the peers' programs name.
const SENDER: &str = "9999:sender";
const RECIPIENT: &str = "9999:receiver";
const SCHEME: &str = "iso6523-actorid-upis";
/// Less than Peppol asks for.
const NOT_ENCRYPTED: &str = "<Security><Encryption enabled=\"false\"/></Security>";

/// Our Standard Business Document, between these participants.
fn document() -> Vec<u8> {
    let text = std::fs::read_to_string(fixture("documents/sbdh-invoice.xml")).expect("our own document");
    text.replace("0088:5798000000001", SENDER).replace("9915:red-waterworks", RECIPIENT).into_bytes()
}

/// Another one, of some megabytes: larger than any buffer on the way.
fn large_document() -> Vec<u8> {
    let text = String::from_utf8(document()).expect("it is text");
    let lines: String = (0..40_000).map(|n| format!("<Note>{n}: {:x}</Note>\n", n * 2_654_435_761_u64)).collect();
    let end = text.rfind("</Invoice>").expect("it is an invoice");
    format!("{}{lines}{}", &text[..end], &text[end..]).into_bytes()
}

/// Access point partyb, which any other may send to whose certificate the authority issued.
fn access_point(database: Database, leg: &str) -> Node {
    let own = others::identity("partyb");
    let receive = PMode::new("peppol-receive", "peppol-2.0").responder(Party::typed(AP, "partyb")).leg(leg).deliver();
    let builder = Builder::new("b").party("partyb", Some(AP), Some(&own)).anchor("ca", &others::authority());
    builder.pmode(receive).database(database).start()
}

/// An access point with one P-Mode: to `address`, which is partyb's.
fn sender(name: &str, address: &str, leg: &str) -> Node {
    let (own, partner) = (others::identity(name), others::identity("partyb"));
    let send = PMode::new("peppol-send", "peppol-2.0")
        .parties(Party::typed(AP, name), Party::typed(AP, "partyb").certificate("partyb"))
        .service(Some("cenbii-procid-ubl"), PROCESS, DOCUMENT)
        .leg(leg)
        .to(address);
    let builder = Builder::new("a").party(name, Some(AP), Some(&own)).certificate("partyb", &partner.certificate);
    builder.pmode(send).start()
}

/// The digests of what a message signed (in its `SignedInfo`), or of what a receipt attests.
fn digests(message: &Message, of: &str) -> Vec<String> {
    let text = message.text();
    let parts = elements(&text, of);
    parts.first().map(|part| elements(part, "DigestValue")).unwrap_or_default()
}

/// Whether the answer is a signed receipt that attests each digest of the request. The gateways judge this too; here it is
/// seen from outside, for Oxalis takes a receipt with any digests.
fn attests(answer: &Message, request: &Message, id: &str) -> bool {
    let sorted = |mut all: Vec<String>| {
        all.sort();
        all
    };
    let (signed, attested) = (digests(request, "SignedInfo"), digests(answer, "NonRepudiationInformation"));
    // The header, the Body and the one payload, in whatever order.
    let all = signed.len() == 3 && sorted(signed) == sorted(attested);
    all && is_receipt(answer, id) && !elements(&answer.text(), "SignatureValue").is_empty()
}

/// The receipt, with one character of a digest that it attests changed.
fn changed(receipt: &Message) -> Vec<u8> {
    let digest = digests(receipt, "NonRepudiationInformation").remove(0);
    let other = if digest.starts_with('A') { "B" } else { "A" }.to_owned() + &digest[1..];
    again(receipt, &receipt.text().replace(&digest, &other))
}

/// The receipt without its signature.
fn unsigned(receipt: &Message) -> Vec<u8> {
    let text = receipt.text();
    let begin = text.find("Signature ").or_else(|| text.find("Signature>")).expect("it is signed");
    let begin = text[..begin].rfind('<').expect("with an element");
    let end = text.rfind("Signature>").expect("and ends");
    again(receipt, &format!("{}{}", &text[..begin], &text[end + "Signature>".len()..]))
}

fn again(answer: &Message, text: &str) -> Vec<u8> {
    let kind = answer.header("Content-Type").unwrap_or_default();
    crate::support::http::answer(answer.status(), &kind, text.as_bytes())
}

/// A path as an option of a peer's program.
fn text(path: &Path) -> &str {
    path.to_str().expect("paths here are text")
}
