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
            _ => None,
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
            _ => None,
        })
    }
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
