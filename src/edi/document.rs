//! A payload that was understood, in whatever format: what its keys are made of.

use super::cii::Cii;
use super::edifact::Interchange;
use super::error::NoKey;
use super::key::BusinessKey;
use super::kind::Kind;
use super::mdn::Mdn;
use super::sbdh::Typed;
use super::template::{MissingValue, Placeholder, Template, revision_key};
use super::ubl::Ubl;
use super::x12::X12;

/// What a payload is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Document {
    /// UBL 2.
    Ubl(Ubl),
    /// UN/CEFACT Cross Industry Invoice.
    Cii(Cii),
    /// UN/EDIFACT interchange.
    Edifact(Interchange),
    /// ANSI X12 interchange.
    X12(X12),
    /// AS2 disposition notification.
    Mdn(Mdn),
}

/// One business document of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Business {
    /// What it is.
    pub kind: Kind,
    /// The document number: `cbc:ID`, 1004, BIG02 …
    pub number: String,
    /// Document type code: 380 …; of X12 the set, 810 …
    pub type_code: String,
    /// Message function: 1225; of X12 the purpose. A cancellation has another than the original.
    pub function: Option<String>,
    /// Who gave the number: the seller of an invoice, the buyer of an order; in an interchange its sender.
    pub issuer: Typed,
    /// Issue date.
    pub date: Option<String>,
    /// Control references, outermost first: 0020 and 0062; ISA13, GS06 and ST02. An XML document has none.
    pub control: Vec<String>,
    /// Its key.
    pub key: BusinessKey,
}

impl Business {
    /// The key of OUT-05 under which a revision of it is sent: `EDI-INV-2026-0001234-v1`.
    ///
    /// # Errors
    /// When the partner is empty.
    pub fn revision_key(&self, revision: u32, partner: Option<&str>) -> Result<String, MissingValue> {
        revision_key(self.kind.doctype(), &self.number, revision, partner)
    }

    /// The value of a placeholder; the partner is not in the document.
    pub fn value<'v>(&'v self, placeholder: Placeholder, partner: Option<&'v str>) -> Option<&'v str> {
        match placeholder {
            Placeholder::Number => Some(&self.number),
            Placeholder::Type => Some(&self.type_code),
            Placeholder::Function => self.function.as_deref(),
            Placeholder::Issuer => Some(&self.issuer.value),
            Placeholder::Date => self.date.as_deref(),
            Placeholder::Partner => partner,
            Placeholder::Control => self.control.first().map(String::as_str),
        }
    }
}

impl Document {
    /// Each business document, or why it has no key.
    pub fn documents(&self) -> Vec<Result<Business, NoKey>> {
        match self {
            Self::Ubl(ubl) => vec![Ok(of_ubl(ubl))],
            Self::Cii(cii) => vec![Ok(of_cii(cii))],
            Self::Edifact(interchange) => edifact(interchange),
            Self::X12(interchange) => x12(interchange),
            Self::Mdn(_) => Vec::new(),
        }
    }

    /// The one business document.
    ///
    /// # Errors
    /// When there is none, or several.
    pub fn business(&self) -> Result<Business, NoKey> {
        let mut all = self.documents();
        match (all.len(), all.pop()) {
            (1, Some(one)) => one,
            (0, _) | (_, None) => Err(NoKey::NoBusinessDocument("the payload holds no business document".to_owned())),
            (several, _) => Err(NoKey::Several(several)),
        }
    }

    /// The key of the one business document.
    ///
    /// # Errors
    /// As [`Self::business`].
    pub fn business_key(&self) -> Result<BusinessKey, NoKey> {
        self.business().map(|business| business.key)
    }

    /// The key of the interchange (OUT-44, OUT-46); XML documents and MDNs are in none.
    pub fn interchange_key(&self) -> Option<BusinessKey> {
        match self {
            Self::Edifact(interchange) => Some(interchange.key()),
            Self::X12(interchange) => Some(interchange.key()),
            Self::Ubl(_) | Self::Cii(_) | Self::Mdn(_) => None,
        }
    }

    /// The key under which the one business document is sent to a partner (OUT-03). An interchange of several documents
    /// has one only if the template asks for nothing but its control reference, sender and partner.
    ///
    /// # Errors
    /// When the document does not have what the template asks for.
    pub fn send_key(&self, template: &Template, partner: Option<&str>) -> Result<String, NoKey> {
        let one = self.business();
        let missing = |error: MissingValue| match &one {
            Err(reason) => reason.clone(),
            Ok(_) => NoKey::NoBusinessDocument(error.to_string()),
        };
        let value = |placeholder| match (&one, placeholder) {
            (Ok(business), _) => business.value(placeholder, partner),
            (Err(_), Placeholder::Partner) => partner,
            (Err(_), Placeholder::Control) => self.envelope().map(|(control, _)| control),
            (Err(_), Placeholder::Issuer) => self.envelope().map(|(_, sender)| sender),
            (Err(_), _) => None,
        };
        template.fill(value).map_err(missing)
    }

    /// Control reference and sender of the interchange.
    fn envelope(&self) -> Option<(&str, &str)> {
        match self {
            Self::Edifact(interchange) => Some((&interchange.control, &interchange.sender.value)),
            Self::X12(interchange) => Some((&interchange.control, &interchange.sender.value)),
            Self::Ubl(_) | Self::Cii(_) | Self::Mdn(_) => None,
        }
    }

    /// What it is: of several documents, what all of them are.
    pub fn kind(&self) -> Kind {
        let mut kinds: Vec<Kind> = match self {
            Self::Ubl(ubl) => vec![ubl.kind()],
            Self::Cii(cii) => vec![cii.kind()],
            Self::Edifact(interchange) => interchange.messages.iter().map(super::edifact::Message::kind).collect(),
            Self::X12(interchange) if interchange.sets.is_empty() => vec![Kind::Acknowledgement],
            Self::X12(interchange) => interchange.sets.iter().map(super::x12::Set::kind).collect(),
            Self::Mdn(_) => vec![Kind::Acknowledgement],
        };
        kinds.dedup();
        match kinds[..] {
            [kind] => kind,
            _ => Kind::Other,
        }
    }
}

fn of_ubl(ubl: &Ubl) -> Business {
    Business {
        kind: ubl.kind(),
        number: ubl.number.clone(),
        type_code: ubl.type_code.clone().unwrap_or_else(|| ubl.ubl.name().to_owned()),
        function: None,
        issuer: ubl.issuer.clone(),
        date: Some(ubl.date.clone()),
        control: Vec::new(),
        key: ubl.business_key(),
    }
}

fn of_cii(cii: &Cii) -> Business {
    Business {
        kind: cii.kind(),
        number: cii.number.clone(),
        type_code: cii.type_code.clone(),
        function: None,
        issuer: cii.seller.clone(),
        date: Some(cii.date.clone()),
        control: Vec::new(),
        key: cii.business_key(),
    }
}

fn edifact(interchange: &Interchange) -> Vec<Result<Business, NoKey>> {
    let one = |message: &super::edifact::Message| {
        Ok(Business {
            key: interchange.message_key(message)?,
            kind: message.kind(),
            number: message.number.clone(),
            type_code: message.code.clone(),
            function: Some(message.function.clone()).filter(|function| !function.is_empty()),
            issuer: interchange.sender.clone(),
            date: message.date.clone(),
            control: vec![interchange.control.clone(), message.reference.clone()],
        })
    };
    interchange.messages.iter().map(one).collect()
}

fn x12(interchange: &X12) -> Vec<Result<Business, NoKey>> {
    let one = |set: &super::x12::Set| {
        Ok(Business {
            key: interchange.set_key(set)?,
            kind: set.kind(),
            number: set.number.clone(),
            type_code: set.set_type.clone(),
            function: Some(set.purpose.clone()).filter(|purpose| !purpose.is_empty()),
            issuer: interchange.sender.clone(),
            date: Some(set.date.clone()).filter(|date| !date.is_empty()),
            control: vec![interchange.control.clone(), set.group.clone(), set.control.clone()],
        })
    };
    interchange.sets.iter().map(one).collect()
}
