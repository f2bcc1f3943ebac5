//! Lexical forms of the schema that the header uses.

use std::borrow::Cow;

/// XML's white space.
pub(super) const SPACE: [char; 4] = [' ', '\t', '\n', '\r'];

/// A value of type `xs:token` or `xs:anyURI`: white space collapsed (EB-048).
pub(super) fn collapse(text: &str) -> Cow<'_, str> {
    let neat =
        !text.starts_with(' ') && !text.ends_with(' ') && !text.contains("  ") && !text.contains(['\t', '\n', '\r']);
    if neat {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.split(SPACE).filter(|w| !w.is_empty()).collect::<Vec<_>>().join(" "))
}

/// Whether it is an `NCName`, as an `xs:ID` must be.
pub(super) fn is_ncname(text: &str) -> bool {
    let start = |c: char| c.is_alphabetic() || c == '_';
    let rest = |c: char| start(c) || c.is_numeric() || matches!(c, '-' | '.' | '\u{B7}' | '\u{300}'..='\u{36F}');
    text.starts_with(start) && text.chars().all(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_collapsed() {
        for (text, token) in
            [("a", "a"), ("\n  Deliver\t", "Deliver"), ("a  b", "a b"), (" ", ""), ("", ""), ("a\nb", "a b")]
        {
            assert_eq!(collapse(text), token);
        }
        assert!(matches!(collapse("a b"), Cow::Borrowed(_)));
    }

    #[test]
    fn an_ncname_starts_with_a_letter_and_has_no_colon() {
        for good in ["a", "_1", "phase4-msg-1.2", "\u{E9}t\u{E9}"] {
            assert!(is_ncname(good), "{good}");
        }
        for bad in ["", "1a", "-a", "a:b", "a b", "a@b"] {
            assert!(!is_ncname(bad), "{bad}");
        }
    }
}
