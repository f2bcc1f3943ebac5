//! The places of an envelope, and `wsse:Security` put into it without touching another octet.

use super::error::WssError;
use crate::wire::xml::{Document, Limits, Node, names};

/// The elements of an envelope that security speaks of.
pub(super) struct Places<'a> {
    pub(super) envelope: Node<'a>,
    pub(super) messaging: Node<'a>,
    pub(super) body: Node<'a>,
}

impl<'a> Places<'a> {
    /// `/Envelope/Header/eb:Messaging` and `/Envelope/Body`, exactly one each.
    pub(super) fn find(document: &'a Document) -> Result<Self, WssError> {
        let envelope = document.root();
        let soap = envelope.namespace();
        let missing = |what: &str| WssError::Malformed {
            place: envelope.path(),
            why: format!("it must have exactly one {what}"),
        };
        let only = |nodes: Vec<Node<'a>>, what: &str| match nodes.as_slice() {
            [one] => Ok(*one),
            _ => Err(missing(what)),
        };
        if !matches!(soap, names::SOAP11 | names::SOAP12) || envelope.local() != "Envelope" {
            return Err(missing("SOAP envelope around it"));
        }
        let header = only(envelope.named(soap, "Header").collect(), "Header")?;
        let messaging = only(header.named(names::EB, "Messaging").collect(), "eb:Messaging in its Header")?;
        let body = only(envelope.named(soap, "Body").collect(), "Body")?;
        Ok(Self { envelope, messaging, body })
    }
}

/// Puts `wsse:Security` with the given children behind `eb:Messaging` (WS-001, WS-002). Every other octet stays, so a
/// stored signature stays valid under a new encryption. The blocks stand in the order in which they are processed:
/// those of the encryption before those of the signature (WS-003).
///
/// # Errors
/// When the envelope does not parse or has a carriage return in it, which a reader would normalise away.
pub fn compose(envelope: &str, security_blocks: &str) -> Result<String, WssError> {
    let malformed = |why: String| WssError::Malformed { place: "the envelope to be secured".to_owned(), why };
    if memchr::memchr(b'\r', envelope.as_bytes()).is_some() {
        return Err(malformed("it has a carriage return in it".to_owned()));
    }
    let document = Document::parse(envelope, &Limits::ENVELOPE).map_err(|error| malformed(error.to_string()))?;
    let places = Places::find(&document)?;
    let soap = places.envelope.namespace();
    let prefix = places.envelope.element().map_or("", |element| &element.prefix);
    // An attribute is in the SOAP namespace by a prefix only; the default namespace is none for it.
    let (prefix, declaration) =
        if prefix.is_empty() { ("soap", format!(r#" xmlns:soap="{soap}""#)) } else { (prefix, String::new()) };
    let understood = if soap == names::SOAP11 { "1" } else { "true" };
    let (before, after) =
        envelope.split_at_checked(places.messaging.data().end).ok_or_else(|| malformed("cut".into()))?;
    Ok(format!(
        r#"{before}<wsse:Security xmlns:wsse="{}"{declaration} {prefix}:mustUnderstand="{understood}">{security_blocks}</wsse:Security>{after}"#,
        names::WSSE
    ))
}
