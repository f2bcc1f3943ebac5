//! The ebMS3 message model: what `eb:Messaging` holds, as values that cannot be half valid.

use time::OffsetDateTime;

use super::code::{Code, Severity};
use crate::wss::Reference;

/// An ebMS MessageId: RFC 2822 `msg-id` without angle brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct MessageId(String);

/// Why a text is no MessageId.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadMessageId {
    /// Nothing there.
    #[error("the message id is empty")]
    Empty,
    /// Longer than 255 characters cannot be stored and answered whole (FR-064).
    #[error("the message id has {0} characters, at most 255 are accepted")]
    TooLong(usize),
    /// EB-037.
    #[error("the message id `{0}` is not of the form local@domain (RFC 2822 msg-id without angle brackets)")]
    NoAt(String),
    /// Blanks, control characters or angle brackets.
    #[error("the message id holds {0:?}, which an RFC 2822 msg-id cannot")]
    Character(char),
}

impl MessageId {
    /// Parses an id as it stands on the wire (EB-037).
    ///
    /// # Errors
    /// When it is empty, too long, has no `@`, or holds white space, control characters or angle brackets.
    pub fn parse(text: &str) -> Result<Self, BadMessageId> {
        if text.is_empty() {
            return Err(BadMessageId::Empty);
        }
        let length = text.chars().count();
        if length > 255 {
            return Err(BadMessageId::TooLong(length));
        }
        if let Some(bad) = text.chars().find(|c| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>')) {
            return Err(BadMessageId::Character(bad));
        }
        match text.split_once('@') {
            Some((left, right)) if !left.is_empty() && !right.is_empty() => Ok(Self(text.to_owned())),
            _ => Err(BadMessageId::NoAt(text.to_owned())),
        }
    }

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for MessageId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A party identifier with its type.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// At least one, with distinct types.
    pub ids: Vec<PartyId>,
    /// Never empty.
    pub role: String,
}

/// A value with an optional `@type`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Typed {
    /// The value.
    pub value: String,
    /// `@type`.
    pub kind: Option<String>,
}

/// `eb:AgreementRef`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgreementRef {
    /// The agreement; empty only if `pmode` stands alone.
    pub value: String,
    /// `@type`.
    pub kind: Option<String>,
    /// `@pmode`: the P-Mode id of the sender.
    pub pmode: Option<String>,
}

/// `eb:Property`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property {
    /// `@name`, never empty.
    pub name: String,
    /// `@type`.
    pub kind: Option<String>,
    /// Never empty.
    pub value: String,
}

/// Where a payload is.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Href {
    /// No `@href`: the SOAP Body.
    Body,
    /// `cid:`: the decoded Content-ID, without angle brackets.
    Attachment(String),
    /// `#id`: an element of the envelope.
    Element(String),
    /// Anything else; never fetched (EB-016).
    External(String),
}

/// `eb:Schema` of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// `@location`.
    pub location: String,
    /// `@version`.
    pub version: Option<String>,
    /// `@namespace`.
    pub namespace: Option<String>,
}

/// `eb:PartInfo`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartInfo {
    /// `@href`.
    pub href: Href,
    /// `eb:Schema`.
    pub schema: Option<Schema>,
    /// `eb:Description`: language and text.
    pub description: Option<(String, String)>,
    /// `eb:PartProperties`.
    pub properties: Vec<Property>,
}

impl PartInfo {
    /// Value of the part property with that name.
    #[must_use]
    pub fn property(&self, name: &str) -> Option<&str> {
        self.properties.iter().find(|p| p.name == name).map(|p| p.value.as_str())
    }

    /// `MimeType` (EB-171).
    #[must_use]
    pub fn mime_type(&self) -> Option<&str> {
        self.property("MimeType")
    }

    /// Whether it is an AS4-compressed part (EB-171); the value is checked on reading the payload (EB-095).
    #[must_use]
    pub fn compression(&self) -> Option<&str> {
        self.property("CompressionType")
    }
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
    /// Reception awareness: the `eb:UserMessage` as received (EB-068), as a self-contained XML fragment.
    ReceptionAwareness(String),
    /// Only elements that we do not know.
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
    /// `eb:Description`: language and text.
    pub description: Option<(String, String)>,
    /// `eb:ErrorDetail`.
    pub detail: Option<String>,
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

/// A PullRequest signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequest {
    /// Its own `eb:MessageId`.
    pub message_id: MessageId,
    /// `eb:Timestamp`, UTC.
    pub timestamp: OffsetDateTime,
    /// `@mpc`; `None` is the default channel.
    pub mpc: Option<String>,
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
    /// `eb:SignalMessage` with a PullRequest.
    Pull(Box<PullRequest>),
}
