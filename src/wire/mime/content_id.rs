//! Content-IDs and the `cid:` URLs that name them (RFC 2392, EB-009).

use std::fmt;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// What a `cid:` URL leaves unencoded: RFC 3986 `unreserved` and the `@` of every Content-ID.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');

/// The identifier of a part, without angle brackets.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentId(String);

impl ContentId {
    /// From a `Content-ID` header or a `start` parameter. Brackets may be missing and blanks may stand inside them: both
    /// are read as if written properly (FR-015). `None` when nothing is left.
    pub fn from_header(value: &str) -> Option<Self> {
        let value = value.trim();
        let inner = match (value.find('<'), value.rfind('>')) {
            (Some(open), Some(close)) if open < close => &value[open + 1..close],
            _ => value,
        };
        Self::some(inner.trim())
    }

    /// From a `cid:` URL, percent-decoded. `None` for another URL, for octets that are no UTF-8 and for an empty id.
    pub fn from_cid(url: &str) -> Option<Self> {
        Self::some(&percent_decode_str(after_scheme(url)?).decode_utf8().ok()?)
    }

    fn some(text: &str) -> Option<Self> {
        (!text.is_empty()).then(|| Self(text.to_owned()))
    }

    /// The identifier.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its `cid:` URL: the one spelling that we emit everywhere (FR-001).
    pub fn to_cid(&self) -> String {
        format!("cid:{}", utf8_percent_encode(&self.0, PLAIN))
    }
}

/// Displays it as a header value, in angle brackets.
impl fmt::Display for ContentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}>", self.0)
    }
}

/// Whether a `cid:` URL names the part with that Content-ID (without brackets): percent-decoded, or as it stands, for
/// peers that put the id into the URL unencoded (FR-001). Case counts (EB-009).
pub fn names_part(href_cid: &str, content_id: &str) -> bool {
    let Some(id) = after_scheme(href_cid) else { return false };
    !id.is_empty() && (id == content_id || percent_decode_str(id).eq(content_id.bytes()))
}

fn after_scheme(url: &str) -> Option<&str> {
    let url = url.trim();
    url.get(..4).filter(|scheme| scheme.eq_ignore_ascii_case("cid:")).map(|_| &url[4..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_names_the_same_part() {
        for url in
            ["cid:pl-1%40node.example", "cid:pl-1@node.example", "CID:pl-1@node.example", " cid:pl-1@node.example\n"]
        {
            assert!(names_part(url, "pl-1@node.example"), "{url}");
        }
        for url in ["cid:a%25b@node.example", "cid:a%2525b@node.example"] {
            assert!(names_part(url, "a%25b@node.example"), "{url}");
        }
        for url in ["cid:PL-1@node.example", "pl-1@node.example", "cid:", "mid:pl-1@node.example", "ü", ""] {
            assert!(!names_part(url, "pl-1@node.example"), "{url}");
        }
        assert!(!names_part("cid:", ""));
    }

    #[test]
    fn headers_with_and_without_brackets_and_blanks() {
        for header in ["<p1@node.example>", "p1@node.example", "< p1@node.example >", "<p1@node.example> (payload)"] {
            assert_eq!(ContentId::from_header(header).unwrap().as_str(), "p1@node.example", "{header}");
        }
        assert_eq!(ContentId::from_header(" < > "), None);
        assert_eq!(ContentId::from_header("<../../x@a>").unwrap().as_str(), "../../x@a");
    }

    #[test]
    fn a_url_made_names_its_own_part() {
        for id in ["p1@node.example", "a%b@x", "ü/ö @x", "o'brien#1&x={1}@y"] {
            let id = ContentId::from_header(id).unwrap();
            assert_eq!(ContentId::from_cid(&id.to_cid()), Some(id.clone()));
            assert!(names_part(&id.to_cid(), id.as_str()));
        }
        assert_eq!(ContentId::from_header("p-1.a_b~@x").unwrap().to_cid(), "cid:p-1.a_b~@x");
        assert_eq!(ContentId::from_header("<p1@x>").unwrap().to_string(), "<p1@x>");
    }
}
