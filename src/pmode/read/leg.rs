//! `Leg`: protocol, business information, error handling, delivery. Security and reliability are in `security`.

use super::fields::{Fields, Reader};
use super::{party, security, typed, values};
use crate::pmode::draft::{
    BusinessDraft, ErrorsDraft, LegDraft, Maybe, Properties, ProtocolDraft, ReceptionDraft, Set,
};
use crate::pmode::error::Problem;
use crate::pmode::model::{DeliveryTarget, Framing, PropertySpec, SoapVersion};
use crate::wire::xml::Node;

pub(super) fn leg(reader: &mut Reader<'_>, node: Node<'_>) -> LegDraft {
    let mut fields = Fields::new(node);
    let draft = LegDraft {
        protocol: fields.child(reader, "Protocol").map(|node| protocol(reader, node)).unwrap_or_default(),
        business: fields.child(reader, "BusinessInfo").map(|node| business(reader, node)).unwrap_or_default(),
        errors: fields.child(reader, "ErrorHandling").map(|node| errors(reader, node)).unwrap_or_default(),
        security: fields.child(reader, "Security").map(|node| security::security(reader, node)).unwrap_or_default(),
        compress: fields.child(reader, "PayloadService").and_then(|node| compression(reader, node)),
        reception: fields
            .child(reader, "ReceptionAwareness")
            .map_or_else(ReceptionDraft::default, |node| security::reception(reader, node)),
        deliver: fields.children("Deliver").filter_map(|node| deliver(reader, node)).collect(),
    };
    if let Some(node) = fields.child(reader, "Reliability") {
        reliability(reader, node);
    }
    fields.end(reader);
    draft
}

fn protocol(reader: &mut Reader<'_>, node: Node<'_>) -> ProtocolDraft {
    let mut fields = Fields::new(node);
    let soap = [("1.2", SoapVersion::Soap12), ("1.1", SoapVersion::Soap11)];
    let framing = [("bare", Framing::Bare), ("multipart", Framing::Multipart)];
    let draft = ProtocolDraft {
        address: fields.child(reader, "Address").and_then(|node| reader.text_of(node, values::address)),
        soap: fields.read(reader, "soapVersion", |found| values::word(found, &soap)),
        framing: fields.read(reader, "framing", |found| values::word(found, &framing)),
        timeout: fields.read(reader, "timeout", values::duration),
        tls_anchors: fields
            .children("TlsAnchor")
            .filter_map(|node| {
                let mut fields = Fields::new(node);
                let file = party::file(reader, &mut fields);
                fields.end(reader);
                Some(Set { value: file?, at: reader.place(node) })
            })
            .collect(),
    };
    fields.end(reader);
    draft
}

fn business(reader: &mut Reader<'_>, node: Node<'_>) -> BusinessDraft {
    let mut fields = Fields::new(node);
    let mut draft = BusinessDraft {
        service: fields.child(reader, "Service").and_then(|node| typed(reader, node)),
        action: fields.child(reader, "Action").and_then(|node| reader.text_of(node, values::some_text)),
        mpc: fields.child(reader, "MPC").and_then(|node| reader.text_of(node, values::some_text)),
        ..BusinessDraft::default()
    };
    if let Some(node) = fields.child(reader, "Properties") {
        draft.properties = properties(reader, node);
    }
    if let Some(node) = fields.child(reader, "PayloadProfile") {
        let mut fields = Fields::new(node);
        draft.max_size = fields.read(reader, "maxSize", values::size);
        draft.parts = fields.read(reader, "parts", values::range);
        fields.end(reader);
    }
    fields.end(reader);
    draft
}

fn properties(reader: &mut Reader<'_>, node: Node<'_>) -> Properties {
    let mut fields = Fields::new(node);
    let mut list: Vec<Set<PropertySpec>> = Vec::new();
    for node in fields.children("Property") {
        let mut fields = Fields::new(node);
        let name = fields.required(reader, "name", "the property's name");
        let kind = fields.read(reader, "type", values::some_text).map(|set| set.value);
        let required = fields.read(reader, "required", values::boolean).is_some_and(|set| set.value);
        let default = fields.read(reader, "default", values::some_text).map(|set| set.value);
        fields.end(reader);
        let Some(name) = name.map(str::to_owned) else { continue };
        if list.iter().any(|other| other.value.name == name) {
            reader.report(node, Problem::Repeated { name, parent: "Properties".to_owned() });
            continue;
        }
        list.push(Set { value: PropertySpec { name, kind, required, default }, at: reader.place(node) });
    }
    fields.end(reader);
    Properties(list)
}

fn errors(reader: &mut Reader<'_>, node: Node<'_>) -> ErrorsDraft {
    let mut fields = Fields::new(node);
    let draft = ErrorsDraft {
        as_response: fields.read(reader, "asResponse", values::boolean),
        receiver_errors_to: addresses(reader, fields.children("ReceiverErrorsTo")),
        sender_errors_to: addresses(reader, fields.children("SenderErrorsTo")),
        notify_producer: fields.read(reader, "processErrorNotifyProducer", values::boolean),
        notify_consumer: fields.read(reader, "processErrorNotifyConsumer", values::boolean),
        notify_delivery_failures: fields.read(reader, "deliveryFailuresNotifyProducer", values::boolean),
        notify_missing_receipt: fields.read(reader, "missingReceiptNotifyProducer", values::boolean),
        with_fault: fields.read(reader, "withFault", values::boolean),
    };
    fields.end(reader);
    draft
}

fn addresses<'a>(reader: &mut Reader<'_>, nodes: impl Iterator<Item = Node<'a>>) -> Vec<Set<String>> {
    nodes.filter_map(|node| reader.text_of(node, values::address)).collect()
}

fn compression(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<bool> {
    let mut fields = Fields::new(node);
    let table = [("application/gzip", true), ("gzip", true), ("none", false)];
    let compress = fields.read(reader, "compression", |found| values::word(found, &table));
    fields.end(reader);
    compress
}

fn deliver(reader: &mut Reader<'_>, node: Node<'_>) -> Maybe<DeliveryTarget> {
    let mut fields = Fields::new(node);
    let backend = fields.required(reader, "to", "the name of a backend in postrider.toml").map(str::to_owned);
    fields.end(reader);
    let place = reader.place(node);
    Some(Set { value: DeliveryTarget { backend: backend?, place: place.clone() }, at: place })
}

/// WS-ReliableMessaging is not AS4's: a contract that is switched on is refused (EB-154).
fn reliability(reader: &mut Reader<'_>, node: Node<'_>) {
    let mut fields = Fields::new(node);
    for contract in ["atLeastOnce", "atMostOnce", "inOrder"] {
        if fields.read(reader, contract, values::boolean).is_some_and(|set| set.value) {
            let what = format!("the WS-ReliableMessaging contract `{contract}`");
            let instead = "AS4 does not use it: give ReceptionAwareness with Retry and DuplicateDetection".to_owned();
            reader.report(node, Problem::NotOffered { what, instead });
        }
    }
    fields.end(reader);
}
