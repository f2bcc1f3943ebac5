//! Bounds of one parsed document: what a stranger may make us hold.

/// Bounds that [`super::Document::parse`] keeps.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Elements within each other.
    pub depth: usize,
    /// Elements, texts, comments and instructions in all.
    pub nodes: usize,
    /// Attributes and namespace declarations of one element.
    pub attributes: usize,
    /// Octets of one name.
    pub name: usize,
}

impl Limits {
    /// A SOAP envelope: room for 100 signed, encrypted parts with their properties (FR-010).
    pub const ENVELOPE: Self = Self { depth: 64, nodes: 60_000, attributes: 128, name: 512 };
    /// A P-Mode file.
    pub const PMODE: Self = Self { depth: 32, nodes: 20_000, attributes: 64, name: 256 };
}
