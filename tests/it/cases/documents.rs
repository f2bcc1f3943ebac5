//! Standard Business Documents, held against the header of the message that carries them.

use super::expected::{cases, octets};
use crate::support::http;
use crate::support::message::{codes, is_receipt};
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};

const PROCESS: &str = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0";
const DOCUMENT: &str = "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##\
                        urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1";

fn gateway() -> Node {
    let pmode = PMode::new("sbdh", "plain")
        .parties(Party::uri("urn:example:party:a"), Party::uri("urn:example:party:b"))
        .service(Some("cenbii-procid-ubl"), PROCESS, DOCUMENT)
        .checks("<Checks sbdh=\"enforce\"/>")
        .deliver();
    Builder::new("b").party("urn:example:party:b", None, None).pmode(pmode).start()
}

/// A message whose header names 9915:a, 9915:b, the process and the document type.
fn message(id: &str, document: &[u8]) -> Vec<u8> {
    let text = String::from_utf8(crate::support::message::plain(id, "PAYLOAD")).expect("it is text");
    let text = text
        .replace("<eb:AgreementRef>urn:example:agreement:1</eb:AgreementRef>", "")
        .replace("<eb:Service>urn:example:service", &format!("<eb:Service type=\"cenbii-procid-ubl\">{PROCESS}"))
        .replace("<eb:Action>Deliver", &format!("<eb:Action>{DOCUMENT}"))
        .replace(
            "<eb:PayloadInfo>",
            "<eb:MessageProperties><eb:Property name=\"originalSender\" type=\"iso6523-actorid-upis\">9915:a\
             </eb:Property><eb:Property name=\"finalRecipient\" type=\"iso6523-actorid-upis\">9915:b</eb:Property>\
             </eb:MessageProperties><eb:PayloadInfo>",
        );
    text.replace("PAYLOAD", &String::from_utf8_lossy(document)).into_bytes()
}

#[test]
fn each_document_is_judged_rightly() {
    let node = gateway();
    let mut faults = Vec::new();
    for (name, case) in cases(".xml") {
        let (document, id) = (octets(&name), format!("{name}@node.example"));
        let body = message(&id, &document);
        let content_type = "multipart/related; type=\"application/soap+xml\"; boundary=b1";
        let answer = http::exchange(node.msh, &http::post("/as4", content_type, &body)).expect("it answers");
        let accepted = is_receipt(&answer, &id);
        if accepted {
            let delivery = node.inbox.take(&id);
            if delivery.part(1) != document {
                faults.push(format!("{name}: the document is delivered changed"));
            }
        }
        let (found, text) = (codes(&answer), answer.text());
        let right = if case.answer == "receipt" {
            accepted
        } else {
            node.inbox.count(&id) == 0 && found.iter().any(|c| case.codes.contains(c)) && text.contains(&case.says)
        };
        if !right {
            faults.push(format!("{name}: {text}"));
        }
    }
    assert!(faults.is_empty(), "{} cases differ:\n{}", faults.len(), faults.join("\n"));
}
