//! Writes envelopes around header blocks and a Body that are XML already.

use super::version::Version;
use crate::wire::xml::names;
use crate::wire::xml::write::Value;

/// An envelope in UTF-8, without XML declaration or byte order mark (EB-006). Header blocks and Body content must be
/// well-formed and declare the prefixes they use; `env` is SOAP's, and they may use it. `body_id` becomes the Body's
/// `wsu:Id`, for signatures. Without header blocks there is no Header.
pub fn envelope(version: Version, header_xml: &str, body_id: Option<&str>, body_xml: &str) -> String {
    let mut xml = String::with_capacity(header_xml.len() + body_xml.len() + 384);
    xml.push_str(&format!("<env:Envelope xmlns:env=\"{}\">", version.namespace()));
    if !header_xml.is_empty() {
        xml.push_str("<env:Header>");
        xml.push_str(header_xml);
        xml.push_str("</env:Header>");
    }
    match body_id {
        Some(id) => xml.push_str(&format!("<env:Body xmlns:wsu=\"{}\" wsu:Id=\"{}\">", names::WSU, Value(id))),
        None => xml.push_str("<env:Body>"),
    }
    xml.push_str(body_xml);
    xml.push_str("</env:Body></env:Envelope>");
    xml
}

/// Header blocks that say which ones were not understood, beside a MustUnderstand fault (SOAP 1.2 §5.4.8); SOAP 1.1 has
/// no such thing.
pub fn not_understood(version: Version, blocks: &[(&str, &str)]) -> String {
    match version {
        Version::Soap11 => String::new(),
        Version::Soap12 => blocks
            .iter()
            .map(|(namespace, local)| {
                format!(
                    "<env:NotUnderstood xmlns:env=\"{}\" xmlns:q=\"{}\" qname=\"q:{}\"/>",
                    names::SOAP12,
                    Value(namespace),
                    Value(local)
                )
            })
            .collect(),
    }
}

/// The header block that says which SOAP we understand, beside a VersionMismatch fault (SOAP 1.2 §5.4.7).
pub fn upgrade() -> String {
    format!(
        "<env:Upgrade xmlns:env=\"{}\"><env:SupportedEnvelope xmlns:s=\"{}\" qname=\"s:Envelope\"/></env:Upgrade>",
        names::SOAP12,
        names::SOAP12
    )
}
