//! Strict reading of small elements: exactly these children, text only where text belongs.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use super::super::error::WssError;
use crate::wire::xml::{Kind, Node};

/// Child elements of an element that has no text of its own.
pub(super) fn children(node: Node<'_>) -> Result<Vec<Node<'_>>, WssError> {
    let mut found = Vec::new();
    for child in node.nodes() {
        match &child.data().kind {
            Kind::Element(_) => found.push(child),
            Kind::Text(text) if !text.trim_matches([' ', '\t', '\r', '\n']).is_empty() => {
                return Err(malformed(node, "text between its child elements"));
            }
            Kind::Text(_) | Kind::Comment(_) | Kind::Instruction(..) => {}
        }
    }
    Ok(found)
}

/// The one child element.
pub(super) fn only_child(node: Node<'_>) -> Result<Node<'_>, WssError> {
    match children(node)?.as_slice() {
        [one] => Ok(*one),
        _ => Err(malformed(node, "it must have exactly one child element")),
    }
}

/// The text of an element that has no child elements.
pub(super) fn text(node: Node<'_>) -> Result<String, WssError> {
    if node.elements().next().is_some() {
        return Err(malformed(node, "child elements where text belongs"));
    }
    Ok(node.text())
}

/// The octets of an `xs:base64Binary`: white space anywhere, CR from a character reference too (FR-026).
pub(super) fn octets(node: Node<'_>) -> Result<Vec<u8>, WssError> {
    let mut text = text(node)?;
    text.retain(|c| !matches!(c, ' ' | '\t' | '\r' | '\n'));
    STANDARD.decode(text).map_err(|error| malformed(node, &format!("not Base64: {error}")))
}

/// An attribute that must be there.
pub(super) fn required<'a>(node: Node<'a>, attribute: &str) -> Result<&'a str, WssError> {
    node.attribute(attribute).ok_or_else(|| malformed(node, &format!("it has no `{attribute}`")))
}

pub(super) fn malformed(node: Node<'_>, why: &str) -> WssError {
    WssError::Malformed { place: node.path(), why: why.to_owned() }
}

pub(super) fn not_understood(node: Node<'_>, why: &str) -> WssError {
    WssError::NotUnderstood { place: node.path(), why: why.to_owned() }
}

/// Keeps a count within its bound.
pub(super) fn bounded(count: usize, limit: usize, what: &'static str) -> Result<(), WssError> {
    if count > limit { Err(WssError::TooMany { what, limit }) } else { Ok(()) }
}
