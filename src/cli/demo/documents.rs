//! The documents of the demonstration: real ones, in four formats.

/// A document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Document {
    /// File name.
    pub(super) name: &'static str,
    /// What it is, for people.
    pub(super) title: &'static str,
    /// Media type.
    pub(super) media_type: &'static str,
    /// Its octets.
    pub(super) octets: &'static [u8],
}

/// A UBL 2.1 invoice.
pub(super) const UBL: Document = Document {
    name: "ubl-invoice.xml",
    title: "UBL 2.1 invoice",
    media_type: "application/xml",
    octets: include_bytes!("../../../tests/fixtures/documents/ubl-invoice.xml"),
};

/// A Cross Industry Invoice.
pub(super) const CII: Document = Document {
    name: "cii-invoice.xml",
    title: "Cross Industry Invoice",
    media_type: "application/xml",
    octets: include_bytes!("../../../tests/fixtures/documents/cii-invoice.xml"),
};

/// An EDIFACT D.96A INVOIC.
pub(super) const EDIFACT: Document = Document {
    name: "edifact-invoic-d96a.edi",
    title: "EDIFACT D.96A INVOIC",
    media_type: "application/EDIFACT",
    octets: include_bytes!("../../../tests/fixtures/documents/edifact-invoic-d96a.edi"),
};

/// An X12 810.
pub(super) const X12: Document = Document {
    name: "x12-810.edi",
    title: "X12 810 invoice",
    media_type: "application/EDI-X12",
    octets: include_bytes!("../../../tests/fixtures/documents/x12-810.edi"),
};
