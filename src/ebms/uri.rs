//! URIs of the header: the absolute URI of an untyped identifier (EB-039), and `cid:` (RFC 2392).

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Whether `text` is an absolute URI as an identifier without `@type` must be: a scheme, a colon, and something
/// after it made of URI characters. Characters beyond ASCII pass, for partners write IRIs.
#[must_use]
pub fn is_absolute(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let scheme_fits = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
    scheme_fits && !rest.is_empty() && rest.chars().all(uri_character) && percents_are_whole(rest)
}

fn uri_character(c: char) -> bool {
    if c.is_ascii() {
        c.is_ascii_graphic() && !matches!(c, '<' | '>' | '"' | '{' | '}' | '|' | '\\' | '^' | '`')
    } else {
        !c.is_whitespace() && !c.is_control()
    }
}

fn percents_are_whole(text: &str) -> bool {
    text.split('%').skip(1).all(|after| {
        let mut digits = after.bytes();
        let mut hex = || digits.next().is_some_and(|b| b.is_ascii_hexdigit());
        hex() && hex()
    })
}

/// What a Content-ID may keep in a `cid:` URL: unreserved characters and those that RFC 2392 does not ask to escape.
const KEPT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~')
    .remove(b'@')
    .remove(b'!')
    .remove(b'$')
    .remove(b'*')
    .remove(b'+')
    .remove(b'=')
    .remove(b':');

/// A `cid:` URL: the Content-ID of a MIME part, and the way the URL spells it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cid {
    written: String,
    content_id: String,
}

impl Cid {
    /// Reads a URL whose scheme is `cid`, in any case.
    #[must_use]
    pub fn parse(url: &str) -> Option<Self> {
        let (scheme, written) = url.split_once(':')?;
        if !scheme.eq_ignore_ascii_case("cid") {
            return None;
        }
        // What is no UTF-8 after decoding, or acts, cannot stand in a Content-ID; the spelling is all there is.
        let decoded = percent_decode_str(written).decode_utf8().ok().filter(|id| !id.contains(char::is_control));
        let content_id = decoded.map_or_else(|| written.to_owned(), Into::into);
        Some(Self { written: written.to_owned(), content_id })
    }

    /// The URL of a part with that Content-ID, which is given without angle brackets.
    #[must_use]
    pub fn of(content_id: &str) -> Self {
        Self { written: utf8_percent_encode(content_id, KEPT).to_string(), content_id: content_id.to_owned() }
    }

    /// The Content-ID, decoded, without angle brackets.
    #[must_use]
    pub fn content_id(&self) -> &str {
        &self.content_id
    }

    /// What stands after `cid:`, as written.
    #[must_use]
    pub fn written(&self) -> &str {
        &self.written
    }

    /// Whether it names the part with that Content-ID, which is given without angle brackets: decoded as RFC 2392
    /// says, or undecoded as some write it (FR-001).
    #[must_use]
    pub fn names(&self, content_id: &str) -> bool {
        self.content_id == content_id || self.written == content_id
    }
}

impl std::fmt::Display for Cid {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "cid:{}", self.written)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_absolute_uri_has_a_scheme_and_uri_characters() {
        for good in ["urn:example:a", "http://node.example/x?y#z", "a+b-1.0:x", "partya:1", "urn:\u{E9}", "urn:a%20b"] {
            assert!(is_absolute(good), "{good}");
        }
        for bad in
            ["", "node", "node a", "My Service", "9915:test", ":x", "urn:", "urn:a b", " urn:a", "urn:a\n", "C:\\x"]
        {
            assert!(!is_absolute(bad), "{bad}");
        }
        assert!(!is_absolute("urn:a%2") && !is_absolute("urn:%zz"));
    }

    #[test]
    fn three_spellings_name_one_part() {
        for url in ["cid:pl-1%40node.example", "cid:pl-1@node.example", "CID:pl-1@node.example"] {
            assert!(Cid::parse(url).unwrap().names("pl-1@node.example"), "{url}");
        }
        // A percent sign of the Content-ID itself, escaped or not.
        for url in ["cid:a%25b@node.example", "cid:a%2525b@node.example"] {
            assert!(Cid::parse(url).unwrap().names("a%25b@node.example"), "{url}");
        }
        assert!(!Cid::parse("cid:a@node.example").unwrap().names("A@node.example"));
        assert!(Cid::parse("http://node.example/cid:x").is_none() && Cid::parse("cid").is_none());
    }

    #[test]
    fn what_we_write_is_read_back() {
        for id in ["p1@node.example", "a/b?c#d%e@node.example", "r\u{E9}sum\u{E9} 1@node.example"] {
            let cid = Cid::of(id);
            assert_eq!(Cid::parse(&cid.to_string()), Some(cid.clone()));
            assert_eq!(cid.content_id(), id);
        }
        assert_eq!(Cid::of("a/b@c").to_string(), "cid:a%2Fb@c");
    }

    #[test]
    fn what_no_content_id_can_hold_leaves_the_spelling() {
        for id in ["%FF@x", "a%00@x", "a%0D%0A@x"] {
            assert_eq!(Cid::parse(&format!("cid:{id}")).unwrap().content_id(), id);
        }
    }
}
