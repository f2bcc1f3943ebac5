//! Writes the frame of a `multipart/related` package: delimiters and header sections around content that the caller
//! streams. Boundary and Content-IDs are given; nothing here is random.

use bytes::Bytes;

use super::content_type::is_token;
use super::error::{MimeError, excerpt};

/// Writes one package: [`part_head`](Self::part_head), content, again for each part, then [`close`](Self::close).
#[derive(Clone, Debug)]
pub struct MultipartWriter {
    boundary: String,
    parts: usize,
}

impl MultipartWriter {
    /// A writer with a boundary that must not occur at the start of a line of any part.
    ///
    /// # Errors
    /// When the boundary is not one of RFC 2046 §5.1.1.
    pub fn new(boundary: &str) -> Result<Self, MimeError> {
        let allowed = |b: u8| b.is_ascii_alphanumeric() || b"'()+_,-./:=? ".contains(&b);
        if boundary.is_empty() || boundary.len() > 70 || !boundary.bytes().all(allowed) || boundary.ends_with(' ') {
            return Err(MimeError::Boundary(excerpt(boundary)));
        }
        Ok(Self { boundary: boundary.to_owned(), parts: 0 })
    }

    /// The outer `Content-Type` (EB-003, EB-004): `root_type` is the root part's media type, `start` its Content-ID
    /// without brackets. Values are quoted, and there is no charset: firewalls stumble over one (FR-004).
    ///
    /// # Errors
    /// When a value cannot stand in a header.
    pub fn content_type(&self, root_type: &str, start: &str) -> Result<String, MimeError> {
        for value in [root_type, start] {
            check("Content-Type", value)?;
        }
        Ok(format!(
            "multipart/related; boundary={}; type={}; start={}",
            quoted(&self.boundary),
            quoted(root_type),
            quoted(&format!("<{start}>"))
        ))
    }

    /// The delimiter and header section before a part's content.
    ///
    /// # Errors
    /// When a name is no token, or a value holds a line break or another octet that a header must not have.
    pub fn part_head(&mut self, headers: &[(&str, &str)]) -> Result<Bytes, MimeError> {
        let mut head = String::with_capacity(256);
        head.push_str(if self.parts == 0 { "--" } else { "\r\n--" });
        head.push_str(&self.boundary);
        head.push_str("\r\n");
        for (name, value) in headers {
            check(name, value)?;
            for piece in [*name, ": ", *value, "\r\n"] {
                head.push_str(piece);
            }
        }
        head.push_str("\r\n");
        self.parts += 1;
        Ok(head.into())
    }

    /// The closing delimiter.
    pub fn close(&self) -> Bytes {
        format!("{}--{}--\r\n", if self.parts == 0 { "" } else { "\r\n" }, self.boundary).into()
    }

    /// `Content-Length` of the package made of these heads, each with the length of its content, and of `close`.
    pub fn content_length<'a>(parts: impl IntoIterator<Item = (&'a Bytes, u64)>, close: &Bytes) -> u64 {
        parts.into_iter().fold(close.len() as u64, |sum, (head, content)| sum + head.len() as u64 + content)
    }
}

fn check(name: &str, value: &str) -> Result<(), MimeError> {
    let refused = |problem| Err(MimeError::Unwritable { name: excerpt(name), problem });
    if !is_token(name) {
        return refused("its name is not a token");
    }
    if !value.bytes().all(|b| b == b' ' || b.is_ascii_graphic()) {
        return refused("its value has a line break, a control or a non-ASCII character");
    }
    Ok(())
}

fn quoted(value: &str) -> String {
    let mut quoted = String::with_capacity(value.len() + 2);
    quoted.push('"');
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::mime::{ContentType, Related};

    #[test]
    fn a_package_octet_by_octet() {
        let mut writer = MultipartWriter::new("b1").unwrap();
        let root = writer.part_head(&[("Content-Type", "application/soap+xml"), ("Content-ID", "<r@x>")]).unwrap();
        let part = writer.part_head(&[("Content-ID", "<p@x>")]).unwrap();
        let close = writer.close();
        assert_eq!(root, "--b1\r\nContent-Type: application/soap+xml\r\nContent-ID: <r@x>\r\n\r\n");
        assert_eq!(part, "\r\n--b1\r\nContent-ID: <p@x>\r\n\r\n");
        assert_eq!(close, "\r\n--b1--\r\n");
        let length = MultipartWriter::content_length([(&root, 5), (&part, 1 << 40)], &close);
        assert_eq!(length, (root.len() + part.len() + close.len() + 5) as u64 + (1 << 40));
    }

    #[test]
    fn the_outer_header_is_read_back() {
        let writer = MultipartWriter::new("=_x y:1/2?").unwrap();
        let outer = writer.content_type("application/soap+xml", "root\"@x").unwrap();
        assert!(!outer.contains("charset"));
        let read = Related::read(&ContentType::parse(&outer).unwrap()).unwrap();
        assert_eq!(read.boundary, "=_x y:1/2?");
        assert_eq!(read.start.as_deref(), Some("root\"@x"));
        assert_eq!(read.root_type.as_deref(), Some("application/soap+xml"));
    }

    #[test]
    fn injected_lines_and_bad_boundaries_are_refused() {
        let mut writer = MultipartWriter::new("b1").unwrap();
        for (name, value) in [
            ("Content-ID", "<a>\r\nX: y"),
            ("A\r\nB", "c"),
            ("A", "\n"),
            ("A", "ü"),
            ("", "x"),
            ("A:", "x"),
            ("A", "\0"),
        ] {
            assert!(matches!(writer.part_head(&[(name, value)]), Err(MimeError::Unwritable { .. })), "{name:?}");
        }
        assert!(writer.content_type("text/xml", "a\r\n@x").is_err());
        for bad in ["", "b ", "a\r\nb", "ü", "a\"b", &"b".repeat(71)] {
            assert!(MultipartWriter::new(bad).is_err(), "{bad:?}");
        }
    }
}
