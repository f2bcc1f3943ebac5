//! UN/EDIFACT: the interchange, and of its messages what keys are made of (OUT-44, OUT-45).
//!
//! All is read to `UNZ`, in constant memory for a message, for a count that is wrong means that something is missing.

mod read;

use super::error::NoKey;
use super::key::BusinessKey;
use super::kind::Kind;
use super::sbdh::Typed;

pub(super) use read::{Reading, counted, filled, same};

/// `UCI`, and what `UCF` and `UCM` say below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uci {
    /// 0020 of the interchange that is answered.
    pub control: String,
    /// 0083 of the interchange: 4, 7 or 8.
    pub action: String,
    /// Its groups and messages.
    pub parts: Vec<UciPart>,
}

/// `UCF` or `UCM`: what is said of a group or a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UciPart {
    /// Which reference it is: `0048` of a group, `0062` of a message.
    pub name: &'static str,
    /// That reference.
    pub reference: String,
    /// Its 0083.
    pub action: String,
}

/// A message, `UNH` to `UNT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    /// 0062.
    pub reference: String,
    /// S009/0065: `INVOIC` …
    pub message_type: String,
    /// S009/0052, 0054, 0051 and 0057: `D.96A.UN.EAN008`.
    pub version: String,
    /// `BGM` C002/1001.
    pub code: String,
    /// `BGM` 1004, which stands alone in D.96A and in C106 later.
    pub number: String,
    /// `BGM` 1225.
    pub function: String,
    /// `DTM` 137, where it has a date.
    pub date: Option<String>,
    /// `RFF` C506 of an `APERAK`: 1153 and 1154.
    pub references: Vec<(String, String)>,
    /// `ERC` C901/9321 of an `APERAK`.
    pub errors: Vec<String>,
    /// `UCI` of a `CONTRL`.
    pub uci: Option<Uci>,
}

/// An interchange, `UNB` to `UNZ`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interchange {
    /// S001/0001: `UNOA` …
    pub syntax: String,
    /// S002: 0004, with the qualifier 0007 as scheme.
    pub sender: Typed,
    /// S003: 0010, with the qualifier 0007 as scheme.
    pub recipient: Typed,
    /// 0020.
    pub control: String,
    /// 0035 is 1: the interchange is a test.
    pub test: bool,
    /// Its messages, in order.
    pub messages: Vec<Message>,
}

impl Interchange {
    /// OUT-44: sender and recipient with their qualifiers, 0020.
    pub fn key(&self) -> BusinessKey {
        let [sender, recipient] = [&self.sender, &self.recipient].map(|p| (qualifier(p), p.value.as_str()));
        let source = ["edifact-interchange", sender.0, sender.1, recipient.0, recipient.1];
        BusinessKey::new(&source, &[&self.control])
    }

    /// OUT-45: sender, 1001, 1004, 1225.
    ///
    /// # Errors
    /// When the message has no number, or answers another.
    pub fn message_key(&self, message: &Message) -> Result<BusinessKey, NoKey> {
        let kind = message.kind();
        if kind == Kind::Acknowledgement || message.number.is_empty() {
            let why = if kind == Kind::Acknowledgement { "it answers another" } else { "its BGM has no 1004" };
            let name = format!("message {} {}", message.reference, message.message_type);
            return Err(NoKey::NoBusinessDocument(format!("{name} has no business key: {why}")));
        }
        let source = ["edifact", qualifier(&self.sender), &self.sender.value];
        Ok(BusinessKey::new(&source, &[&message.code, &message.number, &message.function]))
    }
}

fn qualifier(party: &Typed) -> &str {
    party.scheme.as_deref().unwrap_or_default()
}

impl Message {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match self.message_type.as_str() {
            "INVOIC" => Kind::of_invoice(&self.code),
            "ORDERS" => Kind::Order,
            "ORDRSP" => Kind::OrderResponse,
            "DESADV" => Kind::DespatchAdvice,
            "CONTRL" | "APERAK" => Kind::Acknowledgement,
            _ => Kind::Other,
        }
    }
}
