//! What is wrong with a header, where, and what the sender is told.

use std::fmt;

use crate::ebms::code::{Code, Severity};
use crate::ebms::message_id::{BadMessageId, MessageId};
use crate::ebms::model::{EbmsError, UnitKind};
use crate::ebms::timestamp::BadTimestamp;
use crate::wire::visible;
use crate::wire::xml::{Node, names};

/// A rule of the header that was broken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// EB-030.
    #[error("the SOAP Header holds no eb:Messaging")]
    NoMessaging,
    /// EB-030, AT-03.
    #[error("the SOAP Header holds {0} eb:Messaging blocks, exactly one is allowed")]
    SeveralMessaging(usize),
    /// The schema needs a unit.
    #[error("eb:Messaging holds neither eb:SignalMessage nor eb:UserMessage")]
    NoUnit,
    /// EB-033: bundling is not supported.
    #[error("eb:Messaging holds {0} eb:UserMessage units, bundling is not supported")]
    SeveralUserMessages(usize),
    /// EB-033, EB-032.
    #[error("eb:Messaging holds more than one eb:{0} signal")]
    SameKind(&'static str),
    /// Cardinality.
    #[error("eb:{0} is missing")]
    Missing(&'static str),
    /// Cardinality or order.
    #[error("eb:{0} stands out of the schema's order, or too often")]
    Misplaced(String),
    /// EB-028, EB-049.
    #[error("the element {0} is not allowed here")]
    UnknownElement(String),
    /// FR-028.
    #[error("the attribute {0} is not allowed here")]
    UnknownAttribute(String),
    /// Text between elements.
    #[error("text is not allowed between the elements of eb:{0}")]
    StrayText(String),
    /// An element whose content is a value.
    #[error("eb:{0} must hold text only, it holds elements")]
    NotSimple(String),
    /// FR-029.
    #[error("eb:{0} is empty")]
    Empty(String),
    /// A required attribute.
    #[error("the attribute {0} is missing")]
    MissingAttribute(&'static str),
    /// FR-058.
    #[error("the attribute {0} is empty")]
    EmptyAttribute(&'static str),
    /// `xs:ID`.
    #[error("the attribute id is no XML name")]
    Id,
    /// FR-031.
    #[error("the attribute {0} is no xsd:boolean")]
    NotBoolean(&'static str),
    /// EB-037.
    #[error("{0}")]
    MessageId(BadMessageId),
    /// FR-023.
    #[error("eb:Timestamp is {0}")]
    Timestamp(BadTimestamp),
    /// EB-039.
    #[error("eb:{0} has no type attribute and is no absolute URI")]
    NotUri(&'static str),
    /// FR-054.
    #[error("two eb:PartyId elements of one party have the same type")]
    RepeatedPartyType,
    /// §3, part properties.
    #[error("the property CharacterSet is no encoding name")]
    CharacterSet,
    /// A property that the MSH itself acts upon has two values.
    #[error("the part property {0} stands twice with different values")]
    AmbiguousProperty(&'static str),
    /// A signal of another specification.
    #[error("eb:SignalMessage holds neither eb:PullRequest nor eb:Receipt nor eb:Error")]
    UnknownSignal,
    /// EB-065.
    #[error("the eb:Receipt has no eb:RefToMessageId")]
    ReceiptWithoutReference,
    /// EB-066.
    #[error("the non-repudiation information is not readable: {0}")]
    NonRepudiation(&'static str),
}

impl Problem {
    /// The code that the sender is answered with.
    #[must_use]
    pub fn code(&self) -> Code {
        match self {
            Self::SeveralUserMessages(_) | Self::UnknownSignal => Code::FEATURE_NOT_SUPPORTED,
            Self::NotUri(_) | Self::RepeatedPartyType | Self::CharacterSet | Self::AmbiguousProperty(_) => {
                Code::VALUE_INCONSISTENT
            }
            Self::ReceiptWithoutReference | Self::NonRepudiation(_) => Code::INVALID_RECEIPT,
            Self::NoMessaging
            | Self::SeveralMessaging(_)
            | Self::NoUnit
            | Self::SameKind(_)
            | Self::Missing(_)
            | Self::Misplaced(_)
            | Self::UnknownElement(_)
            | Self::UnknownAttribute(_)
            | Self::StrayText(_)
            | Self::NotSimple(_)
            | Self::Empty(_)
            | Self::MissingAttribute(_)
            | Self::EmptyAttribute(_)
            | Self::Id
            | Self::NotBoolean(_)
            | Self::MessageId(_)
            | Self::Timestamp(_) => Code::INVALID_HEADER,
        }
    }
}

/// One breach: what, where, and the value met there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The rule.
    pub problem: Problem,
    /// The path of the element, such as `/Envelope/Header/Messaging/UserMessage/PayloadInfo/PartInfo[2]`.
    pub place: String,
    /// The value, cut where it is long.
    pub value: Option<String>,
}

impl Finding {
    /// The code that the sender is answered with.
    #[must_use]
    pub fn code(&self) -> Code {
        self.problem.code()
    }

    /// As an error of a signal: always a failure, for the header is refused (EB-033).
    #[must_use]
    pub fn error(&self) -> EbmsError {
        EbmsError::new(self.code(), self.to_string()).with_severity(Severity::Failure)
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at {}", self.problem, self.place)?;
        match &self.value {
            Some(value) => write!(f, ", found \"{value}\")"),
            None => f.write_str(")"),
        }
    }
}

/// Findings up to a bound: a hostile header cannot make us hold one for each of its nodes.
#[derive(Debug, Default)]
pub(super) struct Findings {
    list: Vec<Finding>,
}

impl Findings {
    const MOST: usize = 16;

    pub(super) fn add(&mut self, node: Node<'_>, problem: Problem) {
        if self.list.len() < Self::MOST {
            self.list.push(Finding { problem, place: place(node), value: None });
        }
    }

    pub(super) fn add_value(&mut self, node: Node<'_>, problem: Problem, value: &str) {
        if self.list.len() < Self::MOST {
            self.list.push(Finding { problem, place: place(node), value: Some(excerpt(value)) });
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn into_list(self) -> Vec<Finding> {
        self.list
    }
}

/// The path of an element, counted among its namesakes where it has any.
fn place(node: Node<'_>) -> String {
    let mut steps = Vec::new();
    let mut at = Some(node);
    while let Some(node) = at {
        at = node.parent();
        let (mut index, mut namesakes) = (0, 0);
        for namesake in at.into_iter().flat_map(|parent| parent.named(node.namespace(), node.local())) {
            namesakes += 1;
            if namesake == node {
                index = namesakes;
            }
        }
        steps.push(if namesakes > 1 { format!("/{}[{index}]", node.local()) } else { format!("/{}", node.local()) });
    }
    steps.reverse();
    steps.concat()
}

fn excerpt(value: &str) -> String {
    const MOST: usize = 120;
    let mut cut = visible(&value.chars().take(MOST).collect::<String>()).into_owned();
    if value.chars().nth(MOST).is_some() {
        cut.push('…');
    }
    cut
}

/// A header that is refused as a whole.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}", .findings.iter().map(Finding::to_string).collect::<Vec<_>>().join("; "))]
pub struct HeaderError {
    /// At least one, in document order.
    pub findings: Vec<Finding>,
    /// The MessageId of the refused user message, or else of the first signal, where it is readable: what an error
    /// signal refers to (EB-082).
    pub message_id: Option<MessageId>,
    /// The first readable `RefToMessageId` of a signal: whose answer this broken header was.
    pub ref_to: Option<MessageId>,
    /// The kinds of unit that stand in the header.
    pub kinds: Vec<UnitKind>,
}

impl HeaderError {
    pub(super) fn of(node: Node<'_>, problem: Problem) -> Self {
        let mut findings = Findings::default();
        findings.add(node, problem);
        let messaging = node.child(names::EB, "Messaging").unwrap_or(node);
        Self::new(messaging, findings)
    }

    pub(super) fn new(messaging: Node<'_>, findings: Findings) -> Self {
        let signals = || messaging.named(names::EB, "SignalMessage");
        let units = || messaging.named(names::EB, "UserMessage").chain(signals());
        let mut kinds: Vec<UnitKind> = Vec::new();
        for unit in units() {
            let kind = [("Receipt", UnitKind::Receipt), ("Error", UnitKind::Error), ("PullRequest", UnitKind::Pull)];
            let of_signal = kind.into_iter().filter(|(name, _)| unit.child(names::EB, name).is_some());
            let of_user = (unit.local() == "UserMessage").then_some(UnitKind::User);
            for kind in of_signal.map(|(_, kind)| kind).chain(of_user) {
                if !kinds.contains(&kind) {
                    kinds.push(kind);
                }
            }
        }
        let id = |unit: Node<'_>, name: &str| {
            let info = unit.child(names::EB, "MessageInfo")?;
            MessageId::parse_without_domain(&info.child(names::EB, name)?.text()).ok()
        };
        Self {
            findings: findings.into_list(),
            message_id: units().find_map(|unit| id(unit, "MessageId")),
            ref_to: signals().find_map(|unit| id(unit, "RefToMessageId")),
            kinds,
        }
    }

    /// The code of the first finding.
    #[must_use]
    pub fn code(&self) -> Code {
        self.findings.first().map_or(Code::INVALID_HEADER, Finding::code)
    }

    /// One error for each finding, about the refused message (FR-060).
    #[must_use]
    pub fn errors(&self) -> Vec<EbmsError> {
        let about = |error: EbmsError| match &self.message_id {
            Some(id) => error.about(id),
            None => error,
        };
        self.findings.iter().map(|finding| about(finding.error())).collect()
    }

    /// Whether an error signal may answer it: never one about Receipts and Errors alone (EB-072, EB-089).
    #[must_use]
    pub fn may_be_answered(&self) -> bool {
        self.kinds.is_empty() || self.kinds.iter().any(|kind| matches!(kind, UnitKind::User | UnitKind::Pull))
    }
}
