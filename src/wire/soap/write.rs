//! Writes envelopes around header blocks and a Body that are XML already.

use super::version::Version;
use crate::wire::xml::names;
use crate::wire::xml::write::Value;

/// An envelope in UTF-8, without XML declaration or byte order mark (EB-006). Header blocks and Body content must be
/// well-formed and declare the prefixes they use; `env` is SOAP's, and they may use it. `body_id` becomes the Body's
/// `wsu:Id`, for signatures. Without header blocks there is no Header.
pub fn envelope(version: Version, header_xml: &str, body_id: Option<&str>, body_xml: &str) -> String {
    let (namespace, wsu) = (version.namespace(), names::WSU);
    let (header_start, header_end) = if header_xml.is_empty() { ("", "") } else { ("<env:Header>", "</env:Header>") };
    let body_start = match body_id {
        Some(id) => format!("<env:Body xmlns:wsu=\"{wsu}\" wsu:Id=\"{}\">", Value(id)),
        None => "<env:Body>".to_owned(),
    };
    format!(
        "<env:Envelope xmlns:env=\"{namespace}\">{header_start}{header_xml}{header_end}{body_start}{body_xml}\
         </env:Body></env:Envelope>"
    )
}

/// Header blocks that say which ones were not understood, beside a `MustUnderstand` fault (SOAP 1.2 §5.4.8); SOAP 1.1 has
/// no such thing.
pub fn not_understood(version: Version, blocks: &[(&str, &str)]) -> String {
    let block = |(namespace, local): &(&str, &str)| {
        let (soap, namespace, local) = (names::SOAP12, Value(namespace), Value(local));
        format!("<env:NotUnderstood xmlns:env=\"{soap}\" xmlns:q=\"{namespace}\" qname=\"q:{local}\"/>")
    };
    match version {
        Version::Soap11 => String::new(),
        Version::Soap12 => blocks.iter().map(block).collect::<Vec<_>>().concat(),
    }
}

/// The header block that says which SOAP we understand, beside a `VersionMismatch` fault (SOAP 1.2 §5.4.7).
pub fn upgrade() -> String {
    format!(
        "<env:Upgrade xmlns:env=\"{}\"><env:SupportedEnvelope xmlns:s=\"{}\" qname=\"s:Envelope\"/></env:Upgrade>",
        names::SOAP12,
        names::SOAP12
    )
}
