//! Structured header values: a first word and parameters (RFC 2045 §5.1, FR-004).

use super::error::{MimeError, excerpt};

/// A media type with its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContentType {
    /// `type/subtype` in lower case.
    pub essence: String,
    /// Parameters in order: name in lower case, value unquoted.
    pub parameters: Vec<(String, String)>,
}

impl ContentType {
    /// Reads a `Content-Type` value: parameters in any order and case, quoted or not, comments skipped.
    ///
    /// # Errors
    /// Without `type/subtype`, with an unterminated quote or comment, or with a parameter of two values.
    pub fn parse(value: &str) -> Result<Self, MimeError> {
        let (essence, parameters) = parameterized(value)?;
        match essence.split_once('/') {
            Some((kind, subtype)) if is_token(kind) && is_token(subtype) => Ok(Self { essence, parameters }),
            _ => Err(MimeError::MediaType(excerpt(value))),
        }
    }

    /// The value of a parameter; `name` in lower case.
    pub fn param(&self, name: &str) -> Option<&str> {
        self.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    /// The `charset` parameter.
    pub fn charset(&self) -> Option<&str> {
        self.param("charset")
    }
}

/// Splits `word; name=value; …`: the word in lower case, names in lower case, values unquoted. Also for
/// `Content-Disposition`.
pub(super) fn parameterized(value: &str) -> Result<(String, Vec<(String, String)>), MimeError> {
    let mut at = Scanner { whole: value, rest: value };
    at.blanks()?;
    let word = at.until(|c| c == ';' || c == '(' || is_blank(c)).to_ascii_lowercase();
    let mut parameters: Vec<(String, String)> = Vec::new();
    loop {
        at.blanks()?;
        if at.rest.is_empty() {
            return Ok((word, parameters));
        }
        if !at.skip(';') {
            return Err(at.problem("expected `;` before the next parameter"));
        }
        let Some((name, value)) = at.parameter()? else { continue };
        match parameters.iter().find(|(n, _)| *n == name) {
            Some((_, before)) if *before != value => return Err(MimeError::RepeatedParameter(excerpt(&name))),
            Some(_) => {}
            None => parameters.push((name, value)),
        }
    }
}

/// Removes comments and surrounding blanks, for values that are one word (FR-014).
pub(super) fn without_comments(value: &str) -> Result<String, MimeError> {
    let mut at = Scanner { whole: value, rest: value };
    let mut words: Vec<&str> = Vec::new();
    loop {
        at.blanks()?;
        if at.rest.is_empty() {
            return Ok(words.join(" "));
        }
        words.push(at.until(|c| c == '(' || is_blank(c)));
    }
}

/// RFC 2045 §5.1 `token`.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_graphic() && !br#"()<>@,;:\"/[]?="#.contains(&b))
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

struct Scanner<'a> {
    whole: &'a str,
    rest: &'a str,
}

impl<'a> Scanner<'a> {
    fn problem(&self, problem: &'static str) -> MimeError {
        MimeError::Value { value: excerpt(self.whole), problem }
    }

    fn until(&mut self, stop: impl Fn(char) -> bool) -> &'a str {
        let (taken, rest) = self.rest.split_at(self.rest.find(stop).unwrap_or(self.rest.len()));
        self.rest = rest;
        taken
    }

    fn skip(&mut self, c: char) -> bool {
        let after = self.rest.strip_prefix(c);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Skips white space and comments, which nest (RFC 5322 §3.2.2).
    fn blanks(&mut self) -> Result<(), MimeError> {
        let mut depth = 0_usize;
        let mut characters = self.rest.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '(' => depth += 1,
                ')' if depth > 0 => depth -= 1,
                '\\' if depth > 0 => drop(characters.next()),
                c if depth > 0 || is_blank(c) => {}
                _ => {
                    self.rest = &self.rest[at..];
                    return Ok(());
                }
            }
        }
        if depth > 0 {
            return Err(self.problem("a comment is not closed"));
        }
        self.rest = "";
        Ok(())
    }

    /// What stands after a `;`. Nothing, or a word without `=`, says nothing and is passed over.
    fn parameter(&mut self) -> Result<Option<(String, String)>, MimeError> {
        self.blanks()?;
        let name = self.until(|c| matches!(c, '=' | ';' | '(') || is_blank(c)).to_ascii_lowercase();
        self.blanks()?;
        if !self.skip('=') {
            return Ok(None);
        }
        self.blanks()?;
        // Values such as application/soap+xml or ----=_Part_0 come without the quotes that a `/` or `=` asks for.
        let value = if self.skip('"') {
            self.quoted()?
        } else {
            self.until(|c| matches!(c, ';' | '"' | '(') || is_blank(c)).to_owned()
        };
        if name.is_empty() {
            return Err(self.problem("a parameter has no name"));
        }
        Ok(Some((name, value)))
    }

    /// The rest of a quoted string, its opening quote taken.
    fn quoted(&mut self) -> Result<String, MimeError> {
        let mut value = String::new();
        let mut characters = self.rest.char_indices();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(value);
                }
                '\\' => value.extend(characters.next().map(|(_, c)| c)),
                '\r' | '\n' => {}
                c => value.push(c),
            }
        }
        Err(self.problem("a quote is not closed"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_in_any_case_and_order_quoted_or_not() {
        let read = ContentType::parse(concat!(
            r#"Multipart/Related;start-info="application/soap+xml"; BOUNDARY="=_x y:1/2?"; type="application/soap+xml""#,
            r#";charset=UTF-8;action="urn:a;b""#
        ))
        .unwrap();
        assert_eq!(read.essence, "multipart/related");
        assert_eq!(read.param("boundary"), Some("=_x y:1/2?"));
        assert_eq!(read.param("action"), Some("urn:a;b"));
        assert_eq!(read.charset(), Some("UTF-8"));
        assert_eq!(read.parameters.len(), 5);
    }

    #[test]
    fn unquoted_values_with_specials_comments_and_escapes() {
        let read = ContentType::parse(
            "multipart/related (a (nested) \\) comment) ; boundary=----=_Part_0_1.2 (x); type = application/soap+xml; \
             start=<root@x>; x=\"a\\\"b\\\\c\"; flag;;",
        )
        .unwrap();
        assert_eq!(read.param("boundary"), Some("----=_Part_0_1.2"));
        assert_eq!(read.param("type"), Some("application/soap+xml"));
        assert_eq!(read.param("start"), Some("<root@x>"));
        assert_eq!(read.param("x"), Some(r#"a"b\c"#));
        assert_eq!(read.param("flag"), None);
    }

    #[test]
    fn what_is_no_media_type_is_refused() {
        for bad in ["", "xml", "a/", "/b", "a b/c", "text/xml/x", "text /xml"] {
            assert!(ContentType::parse(bad).is_err(), "{bad}");
        }
        for bad in ["text/xml; charset=\"utf-8", "text/xml (open", "text/xml; a=b c=d", "text/xml; =b"] {
            assert!(matches!(ContentType::parse(bad), Err(MimeError::Value { .. })), "{bad}");
        }
        assert_eq!(
            ContentType::parse("a/b; boundary=1; boundary=2"),
            Err(MimeError::RepeatedParameter("boundary".into()))
        );
        assert!(ContentType::parse("a/b; boundary=1; Boundary=\"1\"").is_ok());
    }
}
