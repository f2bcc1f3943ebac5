//! Business documents, each in a message whose header is the same.

use super::expected::{Book, Kind, octets};
use super::outcome::{self, Wanted};
use super::sites::{A, AGREEMENT, B};
use super::{Faults, none, settle, sites};
use crate::support::database::Database;
use crate::support::http;

const PROCESS: &str = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0";
const TYPE: &str = "busdox-docid-qns::urn:oasis:names:specification:ubl:schema:xsd:Invoice-2::Invoice##\
                    urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0::2.1";

/// A message from 9915:a to 9915:b with that payload.
fn request(id: &str, document: &[u8]) -> Vec<u8> {
    let now = time::OffsetDateTime::now_utc();
    let at = now.format(&time::format_description::well_known::Rfc3339).expect("now is a date");
    let role = "http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704";
    let soap = format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"><S:Header>\
         <eb:Messaging S:mustUnderstand=\"true\"><eb:UserMessage><eb:MessageInfo><eb:Timestamp>{at}</eb:Timestamp>\
         <eb:MessageId>{id}</eb:MessageId></eb:MessageInfo><eb:PartyInfo>\
         <eb:From><eb:PartyId>{A}</eb:PartyId><eb:Role>{role}/initiator</eb:Role></eb:From>\
         <eb:To><eb:PartyId>{B}</eb:PartyId><eb:Role>{role}/responder</eb:Role></eb:To></eb:PartyInfo>\
         <eb:CollaborationInfo><eb:AgreementRef>{AGREEMENT}</eb:AgreementRef>\
         <eb:Service type=\"cenbii-procid-ubl\">{PROCESS}</eb:Service><eb:Action>{TYPE}</eb:Action>\
         <eb:ConversationId>c1</eb:ConversationId></eb:CollaborationInfo><eb:MessageProperties>\
         <eb:Property name=\"originalSender\" type=\"iso6523-actorid-upis\">9915:a</eb:Property>\
         <eb:Property name=\"finalRecipient\" type=\"iso6523-actorid-upis\">9915:b</eb:Property></eb:MessageProperties>\
         <eb:PayloadInfo><eb:PartInfo href=\"cid:p1@node.example\"><eb:PartProperties><eb:Property name=\"MimeType\">\
         application/xml</eb:Property></eb:PartProperties></eb:PartInfo></eb:PayloadInfo></eb:UserMessage>\
         </eb:Messaging></S:Header><S:Body/></S:Envelope>"
    );
    let mut body = format!(
        "--b1\r\nContent-Type: application/soap+xml; charset=UTF-8\r\n\r\n{soap}\r\n--b1\r\n\
         Content-Type: application/xml\r\nContent-ID: <p1@node.example>\r\n\r\n"
    )
    .into_bytes();
    body.extend_from_slice(document);
    body.extend_from_slice(b"\r\n--b1--\r\n");
    http::post("/as4", "multipart/related; boundary=\"b1\"; type=\"application/soap+xml\"", &body)
}

#[test]
fn standard_business_documents_against_the_header() {
    let book = Book::read();
    let node = sites::site("documents", Database::Sqlite);
    let mut faults = Faults::new();
    for case in &book.document {
        let (document, id) = (octets(&case.file), format!("{}@node.example", case.file));
        let answer = http::exchange(node.msh, &request(&id, &document)).expect("an answer");
        let wanted = Wanted { kind: case.answer, status: None, codes: &case.codes, says: &case.says, id: &id };
        let mut found = outcome::answer(&answer, &wanted);
        if found.is_empty() && case.answer == Kind::Receipt {
            found.extend(outcome::delivery(&node.inbox.take(&id), &[document], &case.header));
        }
        settle(&mut faults, &case.file, &found);
    }
    none(faults);
}
