//! One `ds:Reference`, as it stands in a signature and is copied into a Receipt (EB-066).

/// A transform of a reference.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Transform {
    /// `@Algorithm`.
    pub algorithm: String,
    /// `ec:InclusiveNamespaces/@PrefixList`, where there is one.
    pub prefix_list: Option<String>,
}

/// A signed part and its digest.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Reference {
    /// `@URI` as written: `#id` or `cid:…`.
    pub uri: String,
    /// In order.
    pub transforms: Vec<Transform>,
    /// `ds:DigestMethod/@Algorithm`.
    pub digest_method: String,
    /// The digest's octets.
    pub digest: Vec<u8>,
}

impl Reference {
    /// Whether two references attest the same octets of the same part: URI, transform algorithms, digest algorithm
    /// and value. Prefix lists are left out, for peers drop them in receipts.
    #[must_use]
    pub fn attests_as(&self, other: &Self) -> bool {
        self.uri == other.uri
            && self.digest_method == other.digest_method
            && self.digest == other.digest
            && self.transforms.iter().map(|t| &t.algorithm).eq(other.transforms.iter().map(|t| &t.algorithm))
    }
}

/// The Content-ID that a `cid:` URL names (RFC 2392): without angle brackets, percent escapes decoded. None where the
/// result can stand in no Content-ID: such a part is not covered by a signature, and not encrypted.
#[must_use]
pub fn content_id(uri: &str) -> Option<String> {
    let escaped = uri.get(..4).filter(|scheme| scheme.eq_ignore_ascii_case("cid:")).map(|_| &uri[4..])?;
    let id = percent_encoding::percent_decode_str(escaped).decode_utf8().ok()?;
    (!id.is_empty() && !id.contains(char::is_control)).then(|| id.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reference_names_what_a_content_id_can_hold() {
        assert_eq!(content_id("CID:a%40b").as_deref(), Some("a@b"));
        for url in ["cid:", "cid:%FF@x", "cid:a%00@x", "cid:a%0A@x", "#a", "http://a"] {
            assert_eq!(content_id(url), None, "{url}");
        }
    }
}
