//! `eb:Messaging` to message units: every cardinality, order and value rule of the header (EB-030 … EB-050).
//!
//! The reader holds to the corrected schema (EB-031) with these deliberate differences: `eb:AgreementRef` may be
//! empty when `@pmode` stands alone (FR-053), a Receipt may hold `eb:UserMessage` (EB-068), and `eb:Error` elements
//! are taken as partners send them (FR-024, FR-064). It is stricter in the form of `MessageIds` (EB-037), in the URI
//! rule of identifiers (EB-039) and in what may stand beside each other (EB-033).

mod finding;
mod sequence;
mod signal;
#[cfg(test)]
mod tests;
mod user;

pub use finding::{Finding, HeaderError, Problem};

use finding::Findings;
use sequence::Sequence;

use super::message_id::MessageId;
use super::model::{ErrorSignal, PullRequest, Receipt, Unit, UnitKind, UserMessage};
use super::token::{collapse, is_ncname};
use crate::wire::xml::{Node, NodeId, names};

/// What the reader lets pass. What it let pass is listed in [`Messaging::tolerated`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// Accepts plain words without `@type` as PartyId, Service and `AgreementRef` (EB-039).
    ///
    /// The switch belongs to the P-Mode, which is found by these very values: read with it on, then let the
    /// P-Mode judge what was tolerated.
    pub lenient_identifiers: bool,
    /// Accepts `MessageIds` without `@` (EB-037).
    pub lenient_message_ids: bool,
}

/// One unit and the element it was read from: `eb:UserMessage` or `eb:SignalMessage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlacedUnit {
    /// The unit.
    pub unit: Unit,
    /// Its element; one `SignalMessage` may yield several units.
    pub node: NodeId,
}

/// A valid `eb:Messaging`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Messaging {
    /// The element itself.
    pub node: NodeId,
    /// Its `wsu:Id` or `id`, which a signature refers to.
    pub id: Option<String>,
    /// `S12:role` or `S11:actor`; `None` is the ultimate receiver.
    pub role: Option<String>,
    /// At least one, in document order: signals first, then at most one user message.
    pub units: Vec<PlacedUnit>,
    /// Breaches that [`ReadOptions`] let pass.
    pub tolerated: Vec<Finding>,
}

impl Messaging {
    /// The user message and its element.
    pub fn user(&self) -> Option<(&UserMessage, NodeId)> {
        self.units.iter().find_map(|u| if let Unit::User(m) = &u.unit { Some((&**m, u.node)) } else { None })
    }

    /// The Receipt.
    pub fn receipt(&self) -> Option<&Receipt> {
        self.units.iter().find_map(|u| if let Unit::Receipt(r) = &u.unit { Some(&**r) } else { None })
    }

    /// The Error signals.
    pub fn errors(&self) -> impl Iterator<Item = &ErrorSignal> {
        self.units.iter().filter_map(|u| if let Unit::Error(e) = &u.unit { Some(&**e) } else { None })
    }

    /// The `PullRequest`.
    pub fn pull(&self) -> Option<&PullRequest> {
        self.units.iter().find_map(|u| if let Unit::Pull(p) = &u.unit { Some(&**p) } else { None })
    }
}

/// The one `eb:Messaging` of a SOAP Header (EB-030, AT-03).
///
/// # Errors
/// When there is none or more than one, whatever their roles.
pub fn find_messaging(header: Node<'_>) -> Result<Node<'_>, HeaderError> {
    let mut blocks = header.named(names::EB, "Messaging");
    match (blocks.next(), blocks.count()) {
        (Some(messaging), 0) => Ok(messaging),
        (None, _) => Err(HeaderError::of(header, Problem::NoMessaging)),
        (Some(_), more) => Err(HeaderError::of(header, Problem::SeveralMessaging(more + 1))),
    }
}

/// Reads `eb:Messaging`.
///
/// # Errors
/// When anything in it breaks a rule: all breaches found, up to a bound, and the MessageId where one is readable.
pub fn read_messaging(messaging: Node<'_>, options: ReadOptions) -> Result<Messaging, HeaderError> {
    let mut reader = Reader { options, found: Findings::default(), tolerated: Findings::default() };
    let units = reader.units(messaging);
    let role = messaging.attribute_ns(names::SOAP12, "role").or(messaging.attribute_ns(names::SOAP11, "actor"));
    if reader.found.is_empty() {
        return Ok(Messaging {
            node: messaging.id(),
            id: messaging.xml_id().map(str::to_owned),
            role: role.map(|r| collapse(r).into_owned()),
            units,
            tolerated: reader.tolerated.into_list(),
        });
    }
    Err(HeaderError::new(messaging, reader.found))
}

/// The state of reading one header: nothing but what was found.
struct Reader {
    options: ReadOptions,
    found: Findings,
    tolerated: Findings,
}

impl Reader {
    fn units(&mut self, messaging: Node<'_>) -> Vec<PlacedUnit> {
        if !messaging.is(names::EB, "Messaging") {
            self.found.add(messaging, Problem::NoMessaging);
            return Vec::new();
        }
        self.messaging_attributes(messaging);
        let mut children = Sequence::open(self, messaging);
        let mut units = Vec::new();
        while let Some(node) = children.next("SignalMessage") {
            units.extend(self.signal_message(node).into_iter().map(|unit| PlacedUnit { unit, node: node.id() }));
        }
        let users = messaging.named(names::EB, "UserMessage").count();
        if users > 1 {
            self.found.add(messaging, Problem::SeveralUserMessages(users));
        }
        while let Some(node) = children.next("UserMessage") {
            let unit = self.user_message(node).map(|message| Unit::User(Box::new(message)));
            units.extend(unit.map(|unit| PlacedUnit { unit, node: node.id() }));
        }
        if messaging.named(names::EB, "SignalMessage").next().is_none() && users == 0 {
            self.found.add(messaging, Problem::NoUnit);
        }
        children.foreign(self);
        children.finish(self);
        self.one_of_a_kind(messaging, &units);
        units
    }

    /// EB-033: no two signals of a kind. Several Error signals are harmless, and partners do send them.
    fn one_of_a_kind(&mut self, messaging: Node<'_>, units: &[PlacedUnit]) {
        for (kind, name) in [(UnitKind::Pull, "PullRequest"), (UnitKind::Receipt, "Receipt")] {
            if units.iter().filter(|u| u.unit.kind() == kind).count() > 1 {
                self.found.add(messaging, Problem::SameKind(name));
            }
        }
    }

    fn messaging_attributes(&mut self, messaging: Node<'_>) {
        self.attributes(messaging, &["id"], true);
        if let Some(id) = messaging.attribute("id")
            && !is_ncname(&collapse(id))
        {
            self.found.add_value(messaging, Problem::Id, id);
        }
        for soap in [names::SOAP12, names::SOAP11] {
            if let Some(value) = messaging.attribute_ns(soap, "mustUnderstand")
                && !matches!(&*collapse(value), "0" | "1" | "true" | "false")
            {
                self.found.add_value(messaging, Problem::NotBoolean("mustUnderstand"), value);
            }
        }
    }

    fn message_id(&mut self, node: Node<'_>) -> Option<MessageId> {
        let text = self.simple(node, &[]);
        match MessageId::parse(&text) {
            Ok(id) => Some(id),
            Err(bad) => {
                let lenient = self.options.lenient_message_ids.then(|| MessageId::parse_without_domain(&text).ok());
                let lenient = lenient.flatten();
                let findings = if lenient.is_some() { &mut self.tolerated } else { &mut self.found };
                findings.add_value(node, Problem::MessageId(bad), &text);
                lenient
            }
        }
    }
}
