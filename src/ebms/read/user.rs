//! `eb:UserMessage`.

use time::OffsetDateTime;

use super::sequence::Sequence;
use super::{Problem, Reader};
use crate::ebms::message_id::MessageId;
use crate::ebms::model::{AgreementRef, Party, PartyId, Typed, UserMessage};
use crate::ebms::part::{Description, Href, PartInfo, Property, Schema};
use crate::ebms::token::collapse;
use crate::ebms::{timestamp, uri};
use crate::wire::xml::{Node, names};

/// `eb:MessageInfo`.
pub(super) struct MessageInfo {
    pub(super) timestamp: OffsetDateTime,
    pub(super) message_id: MessageId,
    pub(super) ref_to: Option<MessageId>,
}

/// `eb:CollaborationInfo`.
struct Collaboration {
    agreement: Option<AgreementRef>,
    service: Typed,
    action: String,
    conversation_id: String,
}

impl Reader {
    pub(super) fn user_message(&mut self, node: Node<'_>) -> Option<UserMessage> {
        self.attributes(node, &["mpc"], false);
        let mut children = Sequence::open(self, node);
        let info = children.required(self, "MessageInfo").and_then(|n| self.message_info(n, false));
        let parties = children.required(self, "PartyInfo").and_then(|n| self.party_info(n));
        let collaboration = children.required(self, "CollaborationInfo").and_then(|n| self.collaboration(n));
        let properties = children.optional(self, "MessageProperties").map(|n| self.properties(n));
        let parts = children.optional(self, "PayloadInfo").map(|n| self.payload_info(n));
        children.finish(self);
        let (info, (from, to), collaboration) = (info?, parties?, collaboration?);
        Some(UserMessage {
            mpc: node.attribute("mpc").map(|mpc| collapse(mpc).into_owned()),
            timestamp: info.timestamp,
            message_id: info.message_id,
            ref_to: info.ref_to,
            from,
            to,
            agreement: collaboration.agreement,
            service: collaboration.service,
            action: collaboration.action,
            conversation_id: collaboration.conversation_id,
            properties: properties.unwrap_or_default(),
            parts: parts.unwrap_or_default(),
        })
    }

    /// `eb:MessageInfo`. In an Error signal an unreadable `RefToMessageId` counts as none, so that the error itself
    /// is not lost.
    pub(super) fn message_info(&mut self, node: Node<'_>, of_error: bool) -> Option<MessageInfo> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let timestamp = children.required(self, "Timestamp").and_then(|n| self.timestamp(n));
        let message_id = children.required(self, "MessageId").and_then(|n| self.message_id(n));
        let ref_to = children
            .optional(self, "RefToMessageId")
            .and_then(|n| if of_error { MessageId::parse_without_domain(&n.text()).ok() } else { self.message_id(n) });
        children.finish(self);
        Some(MessageInfo { timestamp: timestamp?, message_id: message_id?, ref_to })
    }

    fn timestamp(&mut self, node: Node<'_>) -> Option<OffsetDateTime> {
        let text = self.simple(node, &[]);
        match timestamp::parse(&text) {
            Ok(instant) => Some(instant),
            Err(bad) => {
                self.found.add_value(node, Problem::Timestamp(bad), &text);
                None
            }
        }
    }

    fn party_info(&mut self, node: Node<'_>) -> Option<(Party, Party)> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let from = children.required(self, "From").and_then(|n| self.party(n));
        let to = children.required(self, "To").and_then(|n| self.party(n));
        children.finish(self);
        Some((from?, to?))
    }

    fn party(&mut self, node: Node<'_>) -> Option<Party> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let mut ids = Vec::new();
        let first = children.required(self, "PartyId");
        ids.extend(first.map(|n| self.party_id(n)));
        while let Some(next) = children.next("PartyId") {
            ids.push(self.party_id(next));
        }
        let role = children.required(self, "Role").map(|n| self.non_empty(n, &[]));
        children.finish(self);
        self.distinct_types(node, &ids);
        if ids.is_empty() { None } else { Some(Party { ids, role: role? }) }
    }

    fn party_id(&mut self, node: Node<'_>) -> PartyId {
        let Typed { value, kind } = self.identifier(node, "PartyId", &["type"]);
        PartyId { value, kind }
    }

    /// A type stands once in a party (ebMS3 Core §5.2.2.4). Untyped ids are URIs of their own schemes: there the
    /// value must not repeat.
    fn distinct_types(&mut self, node: Node<'_>, ids: &[PartyId]) {
        let mut keys: Vec<(bool, &str)> =
            ids.iter().map(|id| id.kind.as_deref().map_or((false, id.value.as_str()), |kind| (true, kind))).collect();
        keys.sort_unstable();
        if let Some(pair) = keys.windows(2).find(|pair| pair[0] == pair[1]) {
            self.found.add_value(node, Problem::RepeatedPartyType, pair[0].1);
        }
    }

    /// A value with an optional type; without one it must be an absolute URI (EB-039).
    fn identifier(&mut self, node: Node<'_>, name: &'static str, known: &[&str]) -> Typed {
        let value = self.non_empty(node, known);
        let kind = self.attribute(node, "type");
        if kind.is_none() && !value.is_empty() && !uri::is_absolute(&value) {
            let findings = if self.options.lenient_identifiers { &mut self.tolerated } else { &mut self.found };
            findings.add_value(node, Problem::NotUri(name), &value);
        }
        Typed { value, kind }
    }

    fn collaboration(&mut self, node: Node<'_>) -> Option<Collaboration> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let agreement = children.optional(self, "AgreementRef").map(|n| self.agreement(n));
        let service = children.required(self, "Service").map(|n| self.identifier(n, "Service", &["type"]));
        let action = children.required(self, "Action").map(|n| self.token(n));
        let conversation_id = children.required(self, "ConversationId").map(|n| self.token(n));
        children.finish(self);
        Some(Collaboration { agreement, service: service?, action: action?, conversation_id: conversation_id? })
    }

    fn token(&mut self, node: Node<'_>) -> String {
        let text = self.simple(node, &[]);
        collapse(&text).into_owned()
    }

    /// `eb:AgreementRef`: empty only when `@pmode` alone selects the P-Mode (FR-053).
    fn agreement(&mut self, node: Node<'_>) -> AgreementRef {
        let pmode = self.attribute(node, "pmode");
        if pmode.is_some() && node.text().is_empty() {
            let value = self.simple(node, &["type", "pmode"]);
            return AgreementRef { value, kind: self.attribute(node, "type"), pmode };
        }
        let Typed { value, kind } = self.identifier(node, "AgreementRef", &["type", "pmode"]);
        AgreementRef { value, kind, pmode }
    }

    /// `eb:MessageProperties` or `eb:PartProperties`: at least one property (FR-029).
    fn properties(&mut self, node: Node<'_>) -> Vec<Property> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let mut properties = Vec::new();
        let first = children.required(self, "Property");
        properties.extend(first.map(|n| self.property(n)));
        while let Some(next) = children.next("Property") {
            properties.push(self.property(next));
        }
        children.finish(self);
        properties
    }

    fn property(&mut self, node: Node<'_>) -> Property {
        let value = self.non_empty(node, &["name", "type"]);
        let name = self.required_attribute(node, "name");
        Property { name, kind: self.attribute(node, "type"), value }
    }

    fn required_attribute(&mut self, node: Node<'_>, name: &'static str) -> String {
        self.attribute(node, name).unwrap_or_else(|| {
            self.found.add(node, Problem::MissingAttribute(name));
            String::new()
        })
    }

    fn payload_info(&mut self, node: Node<'_>) -> Vec<PartInfo> {
        self.attributes(node, &[], false);
        let mut children = Sequence::open(self, node);
        let mut parts = Vec::new();
        let first = children.required(self, "PartInfo");
        parts.extend(first.map(|n| self.part_info(n)));
        while let Some(next) = children.next("PartInfo") {
            parts.push(self.part_info(next));
        }
        children.finish(self);
        parts
    }

    fn part_info(&mut self, node: Node<'_>) -> PartInfo {
        self.attributes(node, &["href"], false);
        let mut children = Sequence::open(self, node);
        let schema = children.optional(self, "Schema").map(|n| self.schema(n));
        let description = children.optional(self, "Description").map(|n| self.description(n));
        let properties = children.optional(self, "PartProperties").map(|n| self.properties(n)).unwrap_or_default();
        children.finish(self);
        self.part_properties(node, &properties);
        let href = node.attribute("href").map(collapse);
        PartInfo { href: Href::read(href.as_deref()), schema, description, properties }
    }

    fn schema(&mut self, node: Node<'_>) -> Schema {
        self.attributes(node, &["location", "version", "namespace"], false);
        Sequence::open(self, node).finish(self);
        let location = node.attribute("location").map(collapse);
        if location.is_none() {
            self.found.add(node, Problem::MissingAttribute("location"));
        }
        Schema {
            location: location.unwrap_or_default().into_owned(),
            version: self.attribute(node, "version"),
            namespace: self.attribute(node, "namespace"),
        }
    }

    fn description(&mut self, node: Node<'_>) -> Description {
        let text = self.non_empty(node, &["xml:lang"]);
        let lang = node.attribute_ns(names::XML, "lang");
        if lang.is_none() {
            self.found.add(node, Problem::MissingAttribute("xml:lang"));
        }
        Description { lang: lang.unwrap_or_default().to_owned(), text }
    }

    /// The part properties that the MSH itself acts upon: of one meaning, and an encoding that XML can name.
    fn part_properties(&mut self, node: Node<'_>, properties: &[Property]) {
        for name in ["MimeType", "CharacterSet", "CompressionType"] {
            let mut values = properties.iter().filter(|p| p.name == name).map(|p| p.value.as_str());
            if let Some(first) = values.next()
                && let Some(other) = values.find(|value| *value != first)
            {
                self.found.add_value(node, Problem::AmbiguousProperty(name), other);
            }
        }
        if let Some(property) = properties.iter().find(|p| p.name == "CharacterSet")
            && !encoding_name(&property.value)
        {
            self.found.add_value(node, Problem::CharacterSet, &property.value);
        }
    }
}

/// XML 1.0 production `EncName`.
fn encoding_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}
