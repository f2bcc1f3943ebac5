//! Escaping for the XML that we emit.

use std::fmt::{self, Display, Write};

/// Displays text as XML character data, in the canonical escapes (C14N §2.3).
pub struct Text<'a>(pub &'a str);

/// Displays text as the content of a double-quoted attribute value, in the canonical escapes (C14N §2.3).
pub struct Value<'a>(pub &'a str);

impl Display for Text<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '>' => Some("&gt;"),
            '\r' => Some("&#xD;"),
            other => unfit(other),
        })
    }
}

impl Display for Value<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        escape(f, self.0, |c| match c {
            '&' => Some("&amp;"),
            '<' => Some("&lt;"),
            '"' => Some("&quot;"),
            '\t' => Some("&#x9;"),
            '\n' => Some("&#xA;"),
            '\r' => Some("&#xD;"),
            other => unfit(other),
        })
    }
}

/// What XML 1.0 §2.2 has no place for, in whatever form: what we write can always be read.
fn unfit(c: char) -> Option<&'static str> {
    let fits = !c.is_ascii_control() || matches!(c, '\t' | '\n' | '\r' | '\u{7F}');
    (!fits || matches!(c, '\u{FFFE}' | '\u{FFFF}')).then_some("\u{FFFD}")
}

fn escape(f: &mut fmt::Formatter<'_>, text: &str, rule: impl Fn(char) -> Option<&'static str>) -> fmt::Result {
    let mut rest = 0;
    for (at, c) in text.char_indices() {
        if let Some(escaped) = rule(c) {
            f.write_str(&text[rest..at])?;
            f.write_str(escaped)?;
            rest = at + c.len_utf8();
        }
    }
    f.write_str(&text[rest..])
}

/// Appends ` name="value"` to `out` if there is a value.
pub fn attribute(out: &mut String, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        // Writing to a String cannot fail.
        let _ = write!(out, r#" {name}="{}""#, Value(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::xml::{Document, Limits};

    #[test]
    fn whatever_is_written_can_be_read() {
        let wild = "a&b<c>\"d'\t\n\r\0\u{1b}\u{7f}\u{9b}\u{FFFE}\u{FFFF}\u{1F9FE}";
        let tame = "a&b<c>\"d'\t\n\r\u{FFFD}\u{FFFD}\u{7f}\u{9b}\u{FFFD}\u{FFFD}\u{1F9FE}";
        let text = format!("<x y=\"{}\">{}</x>", Value(wild), Text(wild));
        let document = Document::parse(&text, &Limits::PMODE).unwrap();
        assert_eq!((document.root().text().as_str(), document.root().attribute("y")), (tame, Some(tame)));
    }
}
