//! Which octets of a part are digested: SOAP Messages with Attachments profile 1.1 §5.4.2, in the two readings of WS-032.

/// What the Attachment-Content-Signature-Transform makes of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DigestRule {
    /// Its octets.
    Raw,
    /// Its octets with every line end made CR LF (WS-033).
    Crlf,
    /// Its exclusive canonical form without comments.
    Canonical,
}

/// The rule when signing: WSS4J's, which looks at how the value begins, parameters and all.
#[must_use]
pub fn rule_for_signing(media_type: Option<&str>) -> DigestRule {
    let value = folded(media_type);
    let suffixed = value.starts_with("application/") || value.starts_with("image/");
    if value.starts_with("text/xml") || value.starts_with("application/xml") || (suffixed && value.contains("+xml")) {
        DigestRule::Canonical
    } else if value.starts_with("text/") {
        DigestRule::Crlf
    } else {
        DigestRule::Raw
    }
}

/// The rule when verifying: the exact type, without parameters (FR-037).
#[must_use]
pub fn rule_for_verifying(media_type: Option<&str>) -> DigestRule {
    let value = folded(media_type);
    let exact = value.split([';', ' ', '\t', '\r', '\n']).next().unwrap_or_default();
    let suffixed = exact.starts_with("application/") || exact.starts_with("image/");
    if matches!(exact, "text/xml" | "application/xml") || (suffixed && exact.ends_with("+xml")) {
        DigestRule::Canonical
    } else if exact.starts_with("text/") {
        DigestRule::Crlf
    } else {
        DigestRule::Raw
    }
}

/// Whether two gateways could read the type differently: such a type must never be sent (WS-037).
#[must_use]
pub fn readings_differ(media_type: Option<&str>) -> bool {
    rule_for_signing(media_type) != rule_for_verifying(media_type)
}

fn folded(media_type: Option<&str>) -> String {
    media_type.unwrap_or_default().trim().to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::DigestRule::{Canonical, Crlf, Raw};
    use super::*;

    #[test]
    fn the_two_readings_of_a_type() {
        let cases = [
            (None, Raw, Raw),
            (Some(""), Raw, Raw),
            (Some("application/xml; charset=utf-8"), Canonical, Canonical),
            (Some(" TEXT/XML"), Canonical, Canonical),
            (Some("image/svg+xml"), Canonical, Canonical),
            (Some("Application/Vnd.Example+XML;version=1"), Canonical, Canonical),
            (Some("application/xml-dtd"), Canonical, Raw),
            (Some("text/xml-external-parsed-entity"), Canonical, Crlf),
            (Some("application/octet-stream; name=a+xml"), Canonical, Raw),
            (Some("text/plain"), Crlf, Crlf),
            (Some("model/x3d+xml"), Raw, Raw),
            (Some("application/gzip"), Raw, Raw),
            (Some("multipart/mixed"), Raw, Raw),
        ];
        for (media_type, signing, verifying) in cases {
            assert_eq!(rule_for_signing(media_type), signing, "{media_type:?}");
            assert_eq!(rule_for_verifying(media_type), verifying, "{media_type:?}");
            assert_eq!(readings_differ(media_type), signing != verifying);
        }
    }
}
