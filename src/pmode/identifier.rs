//! The URI rule of identifiers (EB-039).

/// Whether a text is an absolute URI: a scheme, a colon, something behind it, and no blanks (RFC 3986 §3).
#[must_use]
pub fn is_absolute_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else { return false };
    let mut letters = scheme.bytes();
    letters.next().is_some_and(|b| b.is_ascii_alphabetic())
        && letters.all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        && !rest.is_empty()
        && !rest.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '"'))
}

#[cfg(test)]
mod tests {
    use super::is_absolute_uri;

    #[test]
    fn a_scheme_and_something_behind_it_is_an_absolute_uri() {
        for yes in ["urn:example:a", "http://a", "mailto:a@b", "bdx:noprocess"] {
            assert!(is_absolute_uri(yes), "{yes}");
        }
        for no in ["", "node a", "blue", "urn:", "a b:c", "1a:b", ":x", "urn:a b"] {
            assert!(!is_absolute_uri(no), "{no}");
        }
    }
}
