//! The header section of a part (RFC 2045 §3, FR-014).

use bytes::{Bytes, BytesMut};
use memchr::memchr_iter;

use super::content_id::ContentId;
use super::content_type::{ContentType, without_comments};
use super::error::{MimeError, excerpt};
use super::file_name::file_name;
use super::reader::MimeLimits;

/// How a part's content is written on the wire (EB-008).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum TransferEncoding {
    /// ASCII lines; what is meant when nothing is said.
    #[default]
    SevenBit,
    /// Lines.
    EightBit,
    /// Octets.
    Binary,
    /// RFC 2045 §6.7.
    QuotedPrintable,
    /// RFC 2045 §6.8.
    Base64,
}

/// What the header section of a part says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartHead {
    /// Every field in order: name as written, value unfolded and trimmed.
    pub headers: Vec<(String, String)>,
    /// `Content-Type`, where it can be read.
    pub content_type: Option<ContentType>,
    /// `Content-Type` as written.
    pub content_type_raw: Option<String>,
    /// `Content-ID` without brackets.
    pub content_id: Option<String>,
    /// `Content-Transfer-Encoding`; already undone in the data events that follow.
    pub encoding: TransferEncoding,
    /// `Content-Disposition` file name as the peer wrote it: advisory, never a path (FR-011).
    pub file_name: Option<String>,
    /// The octets as received, with the empty line at the end.
    pub raw: Bytes,
}

impl PartHead {
    /// The value of a header field, whatever the case of its name.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Reads the header section of part number `part` (from 1).
    pub(super) fn parse(raw: Bytes, part: usize) -> Result<Self, MimeError> {
        let headers = fields(&raw, part)?;
        let one = |name: &'static str| {
            let mut values = headers.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value);
            let first = values.next();
            match values.find(|value| Some(*value) != first) {
                Some(_) => Err(MimeError::RepeatedHeader { part, name }),
                None => Ok(first),
            }
        };
        let content_type_raw = one("Content-Type")?.cloned();
        let content_id = one("Content-ID")?.and_then(|v| ContentId::from_header(v)).map(|id| id.as_str().to_owned());
        let encoding = match one("Content-Transfer-Encoding")? {
            Some(value) => transfer_encoding(value, part)?,
            None => TransferEncoding::default(),
        };
        let named = headers.iter().find(|(n, _)| n.eq_ignore_ascii_case("Content-Disposition"));
        Ok(Self {
            content_type: content_type_raw.as_deref().and_then(|v| ContentType::parse(v).ok()),
            content_type_raw,
            content_id,
            encoding,
            file_name: named.and_then(|(_, value)| file_name(value)),
            headers,
            raw,
        })
    }
}

fn transfer_encoding(value: &str, part: usize) -> Result<TransferEncoding, MimeError> {
    match without_comments(value)?.to_ascii_lowercase().as_str() {
        "7bit" => Ok(TransferEncoding::SevenBit),
        "8bit" => Ok(TransferEncoding::EightBit),
        "binary" => Ok(TransferEncoding::Binary),
        "quoted-printable" => Ok(TransferEncoding::QuotedPrintable),
        "base64" => Ok(TransferEncoding::Base64),
        _ => Err(MimeError::TransferEncoding { part, value: excerpt(value) }),
    }
}

/// Splits a header section into fields, folded lines joined.
fn fields(raw: &[u8], part: usize) -> Result<Vec<(String, String)>, MimeError> {
    let mut fields: Vec<(String, String)> = Vec::new();
    for line in raw.split(|b| *b == b'\n') {
        let line = text(line.strip_suffix(b"\r").unwrap_or(line));
        let refused = || MimeError::HeaderLine { part, line: excerpt(&line) };
        if line.chars().any(|c| c.is_control() && c != '\t') {
            return Err(refused());
        }
        if line.is_empty() {
            continue;
        }
        if line.starts_with([' ', '\t']) {
            let (_, value) = fields.last_mut().ok_or_else(refused)?;
            let more = line.trim();
            if !value.is_empty() && !more.is_empty() {
                value.push(' ');
            }
            value.push_str(more);
            continue;
        }
        let (name, value) = line.split_once(':').ok_or_else(refused)?;
        let name = name.trim_end();
        if name.is_empty() || !name.bytes().all(|b| b.is_ascii_graphic()) {
            return Err(refused());
        }
        fields.push((name.to_owned(), value.trim().to_owned()));
    }
    Ok(fields)
}

/// Header octets should be ASCII; UTF-8 and Latin-1 are what peers put there otherwise.
fn text(line: &[u8]) -> String {
    match std::str::from_utf8(line) {
        Ok(text) => text.to_owned(),
        Err(_) => encoding_rs::mem::decode_latin1(line).into_owned(),
    }
}

/// Collects one header section up to its empty line, within limits (FR-009).
#[derive(Default)]
pub(super) struct Collector {
    held: BytesMut,
    line: Line,
    lines: usize,
}

/// What the line that is being read consists of.
#[derive(Clone, Copy, Default, PartialEq)]
enum Line {
    #[default]
    Empty,
    OneReturn,
    Text,
}

impl Line {
    fn with(self, more: &[u8]) -> Self {
        match (self, more) {
            (_, []) => self,
            (Self::Empty, [b'\r']) => Self::OneReturn,
            _ => Self::Text,
        }
    }
}

impl Collector {
    /// Takes octets off the front of `rest`; gives the section once it is whole.
    pub(super) fn take(
        &mut self,
        rest: &mut Bytes,
        limits: &MimeLimits,
        part: usize,
    ) -> Result<Option<Bytes>, MimeError> {
        let too_long = MimeError::HeaderOctets { part, limit: limits.header_octets };
        let room = limits.header_octets.saturating_sub(self.held.len());
        let mut from = 0;
        for feed in memchr_iter(b'\n', rest) {
            if feed >= room {
                return Err(too_long);
            }
            if self.line.with(&rest[from..feed]) != Line::Text {
                return Ok(Some(self.complete(rest.split_to(feed + 1))));
            }
            self.lines += 1;
            if self.lines > limits.header_lines {
                return Err(MimeError::HeaderLines { part, limit: limits.header_lines });
            }
            self.line = Line::Empty;
            from = feed + 1;
        }
        if rest.len() > room {
            return Err(too_long);
        }
        self.line = self.line.with(&rest[from..]);
        self.held.extend_from_slice(rest);
        rest.clear();
        Ok(None)
    }

    fn complete(&mut self, last: Bytes) -> Bytes {
        let mut held = std::mem::take(self).held;
        if held.is_empty() {
            return last;
        }
        held.extend_from_slice(&last);
        held.freeze()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &'static str) -> Result<PartHead, MimeError> {
        PartHead::parse(Bytes::from_static(text.as_bytes()), 2)
    }

    #[test]
    fn case_folding_comments_and_missing_blanks() {
        let head = parse(concat!(
            "CONTENT-type:\r\n\tapplication/gzip;\r\n  name=\"x\"\r\ncontent-id:<p1@node.example>\r\n",
            "Content-Transfer-Encoding: BINARY (raw)\r\nX-Unknown : y\r\n",
            "Content-Disposition: attachment; filename=\"a.xml\"\r\n\r\n"
        ))
        .unwrap();
        assert_eq!(head.content_type.as_ref().unwrap().essence, "application/gzip");
        assert_eq!(head.content_type_raw.as_deref(), Some("application/gzip; name=\"x\""));
        assert_eq!(head.content_id.as_deref(), Some("p1@node.example"));
        assert_eq!(head.encoding, TransferEncoding::Binary);
        assert_eq!(head.header("x-unknown"), Some("y"));
        assert_eq!(head.file_name.as_deref(), Some("a.xml"));
        assert_eq!(head.headers.len(), 5);
    }

    #[test]
    fn bare_line_feeds_and_no_headers_at_all() {
        let head = parse("Content-Type: text/xml\nContent-Transfer-Encoding: quoted-printable\n\n").unwrap();
        assert_eq!(head.encoding, TransferEncoding::QuotedPrintable);
        let head = parse("\r\n").unwrap();
        assert_eq!((head.headers.len(), head.encoding), (0, TransferEncoding::SevenBit));
    }

    #[test]
    fn contradictions_and_unknown_encodings_are_refused() {
        assert_eq!(
            parse("Content-Transfer-Encoding: base64\r\ncontent-transfer-encoding: binary\r\n\r\n"),
            Err(MimeError::RepeatedHeader { part: 2, name: "Content-Transfer-Encoding" })
        );
        assert!(parse("Content-ID: <a@x>\r\nContent-ID: <b@x>\r\n\r\n").is_err());
        assert!(parse("Content-ID: <a@x>\r\nContent-ID: <a@x>\r\n\r\n").is_ok());
        assert_eq!(
            parse("Content-Transfer-Encoding: x-uuencode\r\n\r\n"),
            Err(MimeError::TransferEncoding { part: 2, value: "x-uuencode".into() })
        );
        assert!(parse("Content-Transfer-Encoding:\r\n\r\n").is_err());
    }

    #[test]
    fn lines_that_are_no_header_are_refused() {
        for bad in [
            "no colon here\r\n\r\n",
            " folded first\r\n\r\n",
            ": x\r\n\r\n",
            "a b: x\r\n\r\n",
            "a: x\ry\r\n\r\n",
            "a: \0\r\n\r\n",
        ] {
            assert!(matches!(parse(bad), Err(MimeError::HeaderLine { part: 2, .. })), "{bad:?}");
        }
    }

    #[test]
    fn octets_beyond_ascii_are_text() {
        let head = PartHead::parse(Bytes::from_static(b"X: K\xC3\xB6ln\r\nY: K\xF6ln\r\n\r\n"), 1).unwrap();
        assert_eq!((head.header("x"), head.header("Y")), (Some("Köln"), Some("Köln")));
    }
}
