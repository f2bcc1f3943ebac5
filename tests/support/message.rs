//! ebMS messages as text: what a partner without security sends, and what stands in an answer.

use super::http::Message;

/// Codes of all `eb:Error` elements, in order.
pub(crate) fn codes(answer: &Message) -> Vec<String> {
    attributes(&answer.text(), "errorCode")
}

/// Values of an attribute wherever it stands.
pub(crate) fn attributes(xml: &str, name: &str) -> Vec<String> {
    let begin = format!("{name}=\"");
    xml.match_indices(&begin)
        .filter_map(|(at, _)| xml[at + begin.len()..].split('"').next())
        .map(str::to_owned)
        .collect()
}

/// Contents of every element of that local name, markup included.
pub(crate) fn elements(xml: &str, local: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = xml;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        let name: String = rest.chars().take_while(|c| !matches!(c, '>' | '/' | ' ' | '\t' | '\r' | '\n')).collect();
        if name.rsplit(':').next() != Some(local) || name.is_empty() {
            continue;
        }
        let Some(open) = rest.find('>') else { break };
        if rest[..open].ends_with('/') {
            found.push(String::new());
            continue;
        }
        let end = format!("</{name}>");
        if let Some(close) = rest.find(&end) {
            found.push(rest[open + 1..close].to_owned());
        }
    }
    found
}

/// Content of the first element of that local name.
pub(crate) fn element(xml: &str, local: &str) -> Option<String> {
    elements(xml, local).into_iter().next()
}

/// Whether the answer is a receipt for that message.
pub(crate) fn is_receipt(answer: &Message, id: &str) -> bool {
    let text = answer.text();
    answer.status() == 200
        && !elements(&text, "Receipt").is_empty()
        && element(&text, "RefToMessageId").as_deref() == Some(&escaped(id))
}

/// As XML writes a text.
pub(crate) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// A message of urn:example:party:a to urn:example:party:b without security, with one XML payload in a MIME part.
pub(crate) fn plain(id: &str, payload: &str) -> Vec<u8> {
    let now = time::OffsetDateTime::now_utc();
    let at = now.format(&time::format_description::well_known::Rfc3339).expect("now is a date");
    let soap = format!(
        "<S:Envelope xmlns:S=\"http://www.w3.org/2003/05/soap-envelope\" \
         xmlns:eb=\"http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/\"><S:Header>\
         <eb:Messaging S:mustUnderstand=\"true\"><eb:UserMessage><eb:MessageInfo><eb:Timestamp>{at}</eb:Timestamp>\
         <eb:MessageId>{id}</eb:MessageId></eb:MessageInfo><eb:PartyInfo><eb:From><eb:PartyId>urn:example:party:a\
         </eb:PartyId><eb:Role>http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/initiator</eb:Role></eb:From>\
         <eb:To><eb:PartyId>urn:example:party:b</eb:PartyId>\
         <eb:Role>http://docs.oasis-open.org/ebxml-msg/ebms/v3.0/ns/core/200704/responder</eb:Role></eb:To></eb:PartyInfo>\
         <eb:CollaborationInfo><eb:AgreementRef>urn:example:agreement:1</eb:AgreementRef>\
         <eb:Service>urn:example:service</eb:Service><eb:Action>Deliver</eb:Action>\
         <eb:ConversationId>c1</eb:ConversationId></eb:CollaborationInfo><eb:PayloadInfo>\
         <eb:PartInfo href=\"cid:p1@node.example\"><eb:PartProperties><eb:Property name=\"MimeType\">application/xml\
         </eb:Property></eb:PartProperties></eb:PartInfo></eb:PayloadInfo></eb:UserMessage></eb:Messaging></S:Header>\
         <S:Body/></S:Envelope>"
    );
    let body = format!(
        "--b1\r\nContent-Type: application/soap+xml; charset=UTF-8\r\n\r\n{soap}\r\n--b1\r\n\
         Content-Type: application/xml\r\nContent-ID: <p1@node.example>\r\n\r\n{payload}\r\n--b1--\r\n"
    );
    super::http::post("/as4", "multipart/related; boundary=\"b1\"; type=\"application/soap+xml\"", body.as_bytes())
}
