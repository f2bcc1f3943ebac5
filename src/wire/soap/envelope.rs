//! A SOAP envelope that has been read.

use super::error::SoapError;
use super::version::Version;
use crate::wire::xml::{Document, Kind, Limits, Node, NodeId};

/// A SOAP message: optional Header, then Body, nothing else.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The whole document.
    pub document: Document,
    /// By the namespace of the Envelope; the media type may only agree.
    pub version: Version,
    /// The Header.
    pub header: Option<NodeId>,
    /// The Body.
    pub body: NodeId,
}

impl Envelope {
    /// Reads an envelope.
    ///
    /// # Errors
    /// When the text is no acceptable XML, or its structure is not that of a SOAP message.
    pub fn parse(text: &str, limits: &Limits) -> Result<Self, SoapError> {
        let document = Document::parse(text, limits)?;
        let root = document.root();
        if root.local() != "Envelope" {
            return Err(SoapError::NotSoap(excerpt(root.local())));
        }
        let Some(version) = Version::of_namespace(root.namespace()) else {
            return Err(SoapError::Version(excerpt(root.namespace())));
        };
        let (header, body) = parts(root, version)?;
        let (header, body) = (header.map(Node::id), body.id());
        let read = Self { document, version, header, body };
        for block in read.header_blocks() {
            if block.namespace().is_empty() {
                return Err(SoapError::UnqualifiedBlock(excerpt(block.local())));
            }
            if let Some(value) = block.attribute_ns(version.namespace(), "mustUnderstand")
                && boolean(value).is_none()
            {
                return Err(SoapError::MustUnderstand { block: excerpt(block.local()), value: excerpt(value) });
            }
        }
        Ok(read)
    }

    /// The Body.
    pub fn body(&self) -> Node<'_> {
        self.document.node(self.body)
    }

    /// The Header.
    pub fn header(&self) -> Option<Node<'_>> {
        self.header.map(|id| self.document.node(id))
    }

    /// The header blocks in order, whomever they address.
    pub fn header_blocks(&self) -> impl DoubleEndedIterator<Item = Node<'_>> {
        self.header().into_iter().flat_map(Node::elements)
    }

    /// The role (SOAP 1.1: actor) that a header block addresses, white space collapsed; `None` for the ultimate
    /// receiver, unnamed.
    pub fn role<'a>(&self, block: Node<'a>) -> Option<&'a str> {
        let role = block.attribute_ns(self.version.namespace(), self.version.role_attribute())?;
        Some(role.trim_matches([' ', '\t', '\r', '\n'])).filter(|role| !role.is_empty())
    }

    /// Whether a header block addresses the ultimate receiver: by no role, by its name, or as the next node.
    pub fn for_ultimate_receiver(&self, block: Node<'_>) -> bool {
        self.role(block).is_none_or(|role| self.version.receiver_roles().contains(&role))
    }

    /// Whether a header block must be understood: any spelling of xsd:boolean (FR-031), absent meaning no.
    pub fn must_understand(&self, block: Node<'_>) -> bool {
        block.attribute_ns(self.version.namespace(), "mustUnderstand").and_then(boolean).unwrap_or(false)
    }

    /// The header blocks that address the ultimate receiver, must be understood, and are none of these namespaces and
    /// local names: the message is not processed then (EB-086).
    pub fn not_understood(&self, understood: &[(&str, &str)]) -> Vec<Node<'_>> {
        self.header_blocks()
            .filter(|block| self.must_understand(*block) && self.for_ultimate_receiver(*block))
            .filter(|block| !understood.iter().any(|(namespace, local)| block.is(namespace, local)))
            .collect()
    }
}

/// Header and Body in their places. SOAP 1.1 would allow more after the Body; nobody needs it, and a wrapped signature
/// hides there.
fn parts(root: Node<'_>, version: Version) -> Result<(Option<Node<'_>>, Node<'_>), SoapError> {
    let unexpected = |place, found: &str, expected| SoapError::Unexpected { place, found: excerpt(found), expected };
    no_text(root, "the Envelope")?;
    let mut children = root.elements();
    let mut next = children.next();
    let header = next.filter(|node| node.is(version.namespace(), "Header"));
    if let Some(header) = header {
        no_text(header, "the Header")?;
        next = children.next();
    }
    let body = next.ok_or(SoapError::MissingBody)?;
    if !body.is(version.namespace(), "Body") {
        let expected = if header.is_some() { "a Body" } else { "a Header or a Body" };
        return Err(unexpected("the Envelope", body.local(), expected));
    }
    match children.next() {
        None => Ok((header, body)),
        Some(extra) => Err(unexpected("the Envelope, after its Body,", extra.local(), "its end tag")),
    }
}

fn no_text(node: Node<'_>, place: &'static str) -> Result<(), SoapError> {
    for child in node.nodes() {
        if let Kind::Text(text) = &child.data().kind
            && !text.trim_matches([' ', '\t', '\r', '\n']).is_empty()
        {
            return Err(SoapError::Unexpected { place, found: excerpt(text.trim()), expected: "elements" });
        }
    }
    Ok(())
}

/// xsd:boolean, white space collapsed.
fn boolean(value: &str) -> Option<bool> {
    match value.trim_matches([' ', '\t', '\r', '\n']) {
        "1" | "true" => Some(true),
        "0" | "false" => Some(false),
        _ => None,
    }
}

fn excerpt(text: &str) -> String {
    text.chars().take(80).flat_map(char::escape_debug).collect()
}
