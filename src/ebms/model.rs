//! The ebMS3 message model: what `eb:Messaging` holds, as values that cannot be half valid.

use time::OffsetDateTime;

use super::code::{Code, Severity};
use super::message_id::MessageId;
use super::part::{Description, Href, PartInfo, Property};
use crate::wss::Reference;

/// A party identifier with its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct PartyId {
    /// The value, compared exactly.
    pub value: String,
    /// `@type`.
    pub kind: Option<String>,
}

impl std::fmt::Display for PartyId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.kind {
            Some(kind) => write!(f, "{kind}:{}", self.value),
            None => f.write_str(&self.value),
        }
    }
}

/// `eb:From` or `eb:To`: one party, by one or several ids, in a role.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Party {
    /// At least one, with distinct types.
    pub ids: Vec<PartyId>,
    /// Never empty.
    pub role: String,
}

/// A value with an optional `@type`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Typed {
    /// The value.
    pub value: String,
    /// `@type`.
    pub kind: Option<String>,
}

/// `eb:AgreementRef`.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct AgreementRef {
    /// The agreement; empty only if `pmode` stands alone.
    pub value: String,
    /// `@type`.
    pub kind: Option<String>,
    /// `@pmode`: the P-Mode id of the sender.
    pub pmode: Option<String>,
}

/// `eb:UserMessage`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UserMessage {
    /// `@mpc`; `None` is the default channel.
    pub mpc: Option<String>,
    /// `eb:Timestamp`, UTC.
    pub timestamp: OffsetDateTime,
    /// `eb:MessageId`.
    pub message_id: MessageId,
    /// `eb:RefToMessageId`.
    pub ref_to: Option<MessageId>,
    /// `eb:From`.
    pub from: Party,
    /// `eb:To`.
    pub to: Party,
    /// `eb:AgreementRef`.
    pub agreement: Option<AgreementRef>,
    /// `eb:Service`.
    pub service: Typed,
    /// `eb:Action`.
    pub action: String,
    /// `eb:ConversationId`, may be empty.
    pub conversation_id: String,
    /// `eb:MessageProperties`.
    pub properties: Vec<Property>,
    /// `eb:PayloadInfo`.
    pub parts: Vec<PartInfo>,
}

impl UserMessage {
    /// Value of the message property with that name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|p| p.name == name).map(|p| p.value.as_str())
    }

    /// The first two parts, counted from 0, that name one and the same payload (EB-016).
    ///
    /// Reading does not refuse them: a package whose MIME parts share a Content-ID is another error (FR-002), and
    /// that is known only after the parts.
    #[must_use]
    pub fn repeated_part(&self) -> Option<(usize, usize)> {
        use std::collections::HashMap;
        let mut seen: HashMap<(u8, &str), usize> = HashMap::new();
        self.parts.iter().enumerate().find_map(|(at, part)| {
            let name = match &part.href {
                Href::Body => (0, ""),
                Href::Attachment(cid) => (1, cid.content_id()),
                Href::Element(id) => (2, id.as_str()),
                Href::External(url) => (3, url.as_str()),
            };
            seen.insert(name, at).map(|first| (first, at))
        })
    }

    /// Whether it addresses the ebMS3 test service: both values, not one (EB-041, FR-063).
    #[must_use]
    pub fn is_test(&self) -> bool {
        use crate::wire::xml::names;
        self.service.value == names::TEST_SERVICE && self.action == names::TEST_ACTION
    }
}

/// What a Receipt holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReceiptContent {
    /// Non-repudiation: a copy of each `ds:Reference` (EB-066).
    NonRepudiation(Vec<Reference>),
    /// Reception awareness: the `eb:UserMessage` as received (EB-068), as `fragment::copy` writes it.
    ReceptionAwareness(String),
    /// Only elements that we do not know; never written.
    Other,
}

/// A Receipt signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// Its own `eb:MessageId`.
    pub message_id: MessageId,
    /// `eb:Timestamp`, UTC.
    pub timestamp: OffsetDateTime,
    /// `eb:RefToMessageId`: the acknowledged message.
    pub ref_to: MessageId,
    /// What it attests.
    pub content: ReceiptContent,
}

/// One `eb:Error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EbmsError {
    /// `@errorCode`, known or not.
    pub code: Code,
    /// `@severity`; unknown spellings read as failure (FR-024).
    pub severity: Severity,
    /// `@category`.
    pub category: Option<String>,
    /// `@origin`.
    pub origin: Option<String>,
    /// `@shortDescription`.
    pub short_description: Option<String>,
    /// `@refToMessageInError`.
    pub ref_to_message_in_error: Option<String>,
    /// `eb:Description`.
    pub description: Option<Description>,
    /// `eb:ErrorDetail`, white space collapsed.
    pub detail: Option<String>,
}

impl EbmsError {
    /// An error of the table: severity, category, origin, short description and description are the standard's;
    /// `detail` says what was met in this message (FR-061), and may be empty.
    ///
    /// A code that the table does not hold becomes a failure with its text alone.
    #[must_use]
    pub fn new(code: Code, detail: impl Into<String>) -> Self {
        let entry = code.entry();
        let detail = detail.into();
        Self {
            severity: entry.map_or(Severity::Failure, |e| e.severity),
            category: entry.map(|e| e.category.to_owned()),
            origin: entry.map(|e| e.origin.to_owned()),
            short_description: entry.map(|e| e.short_description.to_owned()),
            ref_to_message_in_error: None,
            description: entry.map(|e| Description { lang: "en".to_owned(), text: e.meaning.to_owned() }),
            detail: (!detail.is_empty()).then_some(detail),
            code,
        }
    }

    /// What a SOAP Fault without Error signal amounts to: `EBMS:0004` with the Fault's code and reason (EB-085).
    #[must_use]
    pub fn of_fault(fault_code: &str, reason: &str) -> Self {
        Self::new(Code::OTHER, format!("SOAP Fault {fault_code}: {reason}"))
    }

    /// The same error about the message with that id.
    #[must_use]
    pub fn about(mut self, message: &MessageId) -> Self {
        self.ref_to_message_in_error = Some(message.as_str().to_owned());
        self
    }

    /// The same error in another severity: `EBMS:0002` is a failure where the message cannot go on (EB-033).
    #[must_use]
    pub fn with_severity(mut self, severity: Severity) -> Self {
        self.severity = severity;
        self
    }
}

/// An Error signal: one or more errors about at most one message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ErrorSignal {
    /// Its own `eb:MessageId`.
    pub message_id: MessageId,
    /// `eb:Timestamp`, UTC.
    pub timestamp: OffsetDateTime,
    /// `eb:RefToMessageId`.
    pub ref_to: Option<MessageId>,
    /// At least one.
    pub errors: Vec<EbmsError>,
}

/// A `PullRequest` signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its own `eb:MessageId`.
    pub message_id: MessageId,
    /// `eb:Timestamp`, UTC.
    pub timestamp: OffsetDateTime,
    /// `@mpc`; `None` is the default channel.
    pub mpc: Option<String>,
}

/// The kinds of message unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnitKind {
    /// A user message.
    User,
    /// A Receipt signal.
    Receipt,
    /// An Error signal.
    Error,
    /// A `PullRequest` signal.
    Pull,
}

/// One unit of `eb:Messaging`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// `eb:UserMessage`.
    User(Box<UserMessage>),
    /// `eb:SignalMessage` with a Receipt.
    Receipt(Box<Receipt>),
    /// `eb:SignalMessage` with Errors.
    Error(Box<ErrorSignal>),
    /// `eb:SignalMessage` with a `PullRequest`.
    Pull(Box<PullRequest>),
}

impl Unit {
    /// Its kind.
    #[must_use]
    pub const fn kind(&self) -> UnitKind {
        match self {
            Self::User(_) => UnitKind::User,
            Self::Receipt(_) => UnitKind::Receipt,
            Self::Error(_) => UnitKind::Error,
            Self::Pull(_) => UnitKind::Pull,
        }
    }

    /// Its own MessageId.
    #[must_use]
    pub fn message_id(&self) -> &MessageId {
        match self {
            Self::User(message) => &message.message_id,
            Self::Receipt(receipt) => &receipt.message_id,
            Self::Error(signal) => &signal.message_id,
            Self::Pull(request) => &request.message_id,
        }
    }
}
