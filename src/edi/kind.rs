//! What a business document is, whatever format it is written in.

/// Kinds of business documents and answers to them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Kind {
    /// Invoice: UBL `Invoice`, CII, `INVOIC`, 810.
    Invoice,
    /// Credit note: UBL `CreditNote`, or an invoice document with a type code of credit.
    CreditNote,
    /// Order: UBL `Order`, `ORDERS`, 850.
    Order,
    /// Answer to an order: `ORDRSP`, 855.
    OrderResponse,
    /// Despatch advice, ship notice: `DESADV`, 856.
    DespatchAdvice,
    /// An answer to a document or an interchange: `CONTRL`, `APERAK`, 997, 999, TA1, MDN, UBL `ApplicationResponse`.
    Acknowledgement,
    /// Another message that has a number of its own.
    Other,
}

impl Kind {
    /// The document type of OUT-05 keys: [`super::revision_key`].
    pub fn doctype(self) -> &'static str {
        match self {
            Self::Invoice => "EDI-INV",
            Self::CreditNote => "EDI-CRN",
            Self::Order => "EDI-ORD",
            Self::OrderResponse => "EDI-ORR",
            Self::DespatchAdvice => "EDI-DES",
            Self::Acknowledgement => "EDI-ACK",
            Self::Other => "EDI-DOC",
        }
    }

    /// Of an invoice document, by UNTDID 1001.
    pub(super) fn of_invoice(code: &str) -> Self {
        match code {
            "81" | "83" | "261" | "262" | "296" | "308" | "381" | "396" | "420" | "458" | "532" => Self::CreditNote,
            _ => Self::Invoice,
        }
    }
}
