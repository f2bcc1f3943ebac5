//! Header values as JSON: what is stored with a message, shown by the API and given to consumers.

use serde_json::{Value, json};

use crate::ebms::{Href, MessageId, PartInfo, Party, UserMessage};

/// All values of a user message.
pub(super) fn json(message: &UserMessage) -> Value {
    json!({
        "message_id": message.message_id.as_str(),
        "timestamp": crate::store::At::from(message.timestamp).to_string(),
        "ref_to_message_id": message.ref_to.as_ref().map(MessageId::as_str),
        "mpc": message.mpc,
        "from": party(&message.from),
        "to": party(&message.to),
        "agreement": message.agreement.as_ref().map(|a| json!({"value": a.value, "type": a.kind, "pmode": a.pmode})),
        "service": {"value": message.service.value, "type": message.service.kind},
        "action": message.action,
        "conversation_id": message.conversation_id,
        "properties": message.properties.iter().map(property).collect::<Vec<_>>(),
        "parts": message.parts.iter().map(part).collect::<Vec<_>>(),
    })
}

fn party(party: &Party) -> Value {
    let ids: Vec<_> = party.ids.iter().map(|id| json!({"value": id.value, "type": id.kind})).collect();
    json!({"ids": ids, "role": party.role})
}

fn property(property: &crate::ebms::Property) -> Value {
    json!({"name": property.name, "type": property.kind, "value": property.value})
}

/// `CompressionType` is the MSH's own, and never shown (PR-014).
fn part(part: &PartInfo) -> Value {
    let href = match &part.href {
        Href::Body => "body".to_owned(),
        Href::Attachment(cid) => format!("cid:{}", cid.content_id()),
        Href::Element(id) => format!("#{id}"),
        Href::External(url) => url.clone(),
    };
    let properties: Vec<_> = part.properties.iter().filter(|p| p.name != "CompressionType").map(property).collect();
    json!({"href": href, "media_type": part.mime_type(), "properties": properties})
}

/// The party as people name it: its first id.
pub(super) fn name(party: &Party) -> String {
    party.ids.first().map(|id| id.value.clone()).unwrap_or_default()
}
