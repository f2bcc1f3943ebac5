//! ANSI X12: the interchange, and of its transaction sets what keys are made of (OUT-46, OUT-47).
//!
//! The separators are where `ISA` has them, at fixed places. All is read to `IEA`, in constant memory for a set.

mod read;

use super::error::NoKey;
use super::key::BusinessKey;
use super::kind::Kind;
use super::sbdh::Typed;

pub(super) use read::Reading;

/// Answer to a functional group: `AK1` to `AK9` of a 997 or 999.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupAnswer {
    /// AK101: functional identifier code of the group that is answered.
    pub functional: String,
    /// AK102: its group control number.
    pub control: String,
    /// AK901: A, E, P, R, M, W or X.
    pub code: String,
    /// AK201 and AK202 of its sets, with AK501 or IK501.
    pub sets: Vec<(String, String, String)>,
}

/// Answer to an interchange: `TA1`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ta1 {
    /// TA101: interchange control number of what is answered.
    pub control: String,
    /// TA104: A, E or R.
    pub code: String,
    /// TA105: note code.
    pub note: String,
}

/// A transaction set, `ST` to `SE`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Set {
    /// ST01: 810 …
    pub set_type: String,
    /// ST02.
    pub control: String,
    /// GS06 of its group.
    pub group: String,
    /// BIG02, BEG03, BAK03, BSN02.
    pub number: String,
    /// BEG04: the release of a blanket order.
    pub release: String,
    /// BIG01, BEG05, BAK04, BSN03: `2026-11-02`, or as written.
    pub date: String,
    /// BIG07, BEG02, BAK02.
    pub type_code: String,
    /// Purpose: BIG08, BEG01, BAK01, BSN01; a cancellation is 01.
    pub purpose: String,
    /// Of a 997 or 999.
    pub answers: Vec<GroupAnswer>,
}

impl Set {
    /// What it is.
    pub fn kind(&self) -> Kind {
        match (self.set_type.as_str(), self.type_code.as_str()) {
            // BIG07: CR is a credit memo, CN a credit invoice.
            ("810", "CR" | "CN") => Kind::CreditNote,
            ("810", _) => Kind::Invoice,
            ("850", _) => Kind::Order,
            ("855", _) => Kind::OrderResponse,
            ("856", _) => Kind::DespatchAdvice,
            ("997" | "999", _) => Kind::Acknowledgement,
            _ => Kind::Other,
        }
    }
}

/// An interchange, `ISA` to `IEA`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct X12 {
    /// ISA06, with the qualifier ISA05 as scheme.
    pub sender: Typed,
    /// ISA08, with the qualifier ISA07 as scheme.
    pub recipient: Typed,
    /// ISA13.
    pub control: String,
    /// ISA15 is T: the interchange is a test.
    pub test: bool,
    /// Its transaction sets, in order.
    pub sets: Vec<Set>,
    /// Its `TA1` segments.
    pub answers: Vec<Ta1>,
}

impl X12 {
    /// OUT-46 for the interchange: ISA05/06, ISA07/08, ISA13.
    pub fn key(&self) -> BusinessKey {
        let [sender, recipient] = [&self.sender, &self.recipient].map(|p| (qualifier(p), p.value.as_str()));
        BusinessKey::new(&["x12-interchange", sender.0, sender.1, recipient.0, recipient.1], &[&self.control])
    }

    /// OUT-46: ISA05/06, document type, number, date. The type is ST01 with its type code and purpose, so that a credit
    /// memo and a cancellation are not the invoice.
    ///
    /// # Errors
    /// When the set has no number that is known, or answers another.
    pub fn set_key(&self, set: &Set) -> Result<BusinessKey, NoKey> {
        if set.number.is_empty() {
            let why = match set.kind() {
                Kind::Acknowledgement => "it answers another",
                _ => "no BIG02, BEG03, BAK03 or BSN02",
            };
            let name = format!("transaction set {} {}", set.control, set.set_type);
            return Err(NoKey::NoBusinessDocument(format!("{name} has no business key: {why}")));
        }
        let key = [&set.set_type, &set.type_code, &set.purpose, &set.number, &set.release, &set.date];
        Ok(BusinessKey::new(&["x12", qualifier(&self.sender), &self.sender.value], &key.map(String::as_str)))
    }
}

fn qualifier(party: &Typed) -> &str {
    party.scheme.as_deref().unwrap_or_default()
}
