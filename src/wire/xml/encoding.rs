//! Octets of an XML document to text: byte order mark, else MIME charset, else XML declaration (EB-006, FR-027).

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};

/// Why octets are no text.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodingError {
    /// An encoding that we do not read.
    #[error("the character encoding `{name}` (from {source_of_name}) is not supported; send UTF-8")]
    Unsupported {
        /// Its name, shortened.
        name: String,
        /// Where the name comes from.
        source_of_name: &'static str,
    },
    /// Octets that the encoding does not allow.
    #[error("the document is not valid {encoding} (determined by {source_of_name}); first bad octet near {offset}")]
    Malformed {
        /// Name of the encoding.
        encoding: &'static str,
        /// What determined it.
        source_of_name: &'static str,
        /// Octets before the bad one, where known.
        offset: usize,
    },
}

/// The encodings that are read.
#[derive(Clone, Copy)]
pub(crate) enum Charset {
    Utf8,
    Utf16(&'static Encoding),
    Ascii,
    Latin1,
}

const MARK: &str = "the byte order mark";
const PARAMETER: &str = "the charset parameter";
const DECLARATION: &str = "the XML declaration";
const DEFAULT: &str = "the first octets";

/// Decodes a document; `charset` is the MIME parameter. A byte order mark wins and is stripped; an XML declaration that
/// differs from what wins is ignored (RFC 7303 §3.2). UTF-8 and UTF-16 are read whoever names them, US-ASCII and
/// ISO-8859-1 too. UTF-8 is passed through without a copy.
///
/// # Errors
/// When the encoding is another one, or the octets are not what they should be: never a replacement character.
pub fn decode<'b>(bytes: &'b [u8], charset: Option<&str>) -> Result<Cow<'b, str>, EncodingError> {
    let found = detect(bytes, charset)?;
    read(&bytes[found.mark..], found.charset, found.source_of_name)
}

/// What the first octets of a document tell of its encoding.
pub(crate) struct Detected {
    pub(crate) charset: Charset,
    /// Octets of the byte order mark.
    pub(crate) mark: usize,
    source_of_name: &'static str,
}

/// Finds the encoding as [`decode`] does; the first 300 octets are enough.
pub(crate) fn detect(bytes: &[u8], charset: Option<&str>) -> Result<Detected, EncodingError> {
    let found = |charset, mark, source_of_name| Ok(Detected { charset, mark, source_of_name });
    if bytes.starts_with(&[0, 0, 0xFE, 0xFF]) || bytes.starts_with(&[0xFF, 0xFE, 0, 0]) {
        return Err(EncodingError::Unsupported { name: "UTF-32".to_owned(), source_of_name: MARK });
    }
    if bytes.starts_with(b"\xEF\xBB\xBF") {
        return found(Charset::Utf8, 3, MARK);
    }
    if bytes.starts_with(b"\xFF\xFE") {
        return found(Charset::Utf16(UTF_16LE), 2, MARK);
    }
    if bytes.starts_with(b"\xFE\xFF") {
        return found(Charset::Utf16(UTF_16BE), 2, MARK);
    }
    if let Some(name) = charset.map(str::trim).filter(|name| !name.is_empty()) {
        return found(named(name, bytes, PARAMETER)?, 0, PARAMETER);
    }
    if let Some(wide) = sixteen_bits(bytes) {
        return found(Charset::Utf16(wide), 0, DEFAULT);
    }
    match declared(bytes) {
        Some(name) => found(named(name, bytes, DECLARATION)?, 0, DECLARATION),
        None => found(Charset::Utf8, 0, DEFAULT),
    }
}

/// UTF-16 without a mark shows in the first `<` (XML 1.0 appendix F.1).
fn sixteen_bits(bytes: &[u8]) -> Option<&'static Encoding> {
    match bytes {
        [b'<', 0, ..] => Some(UTF_16LE),
        [0, b'<', ..] => Some(UTF_16BE),
        _ => None,
    }
}

fn named(name: &str, bytes: &[u8], source_of_name: &'static str) -> Result<Charset, EncodingError> {
    match name.to_ascii_lowercase().as_str() {
        "utf-8" | "utf8" => Ok(Charset::Utf8),
        // A declaration that could be read octet by octet is not UTF-16: reading it as such then fails, as it should.
        "utf-16" => Ok(Charset::Utf16(sixteen_bits(bytes).unwrap_or(UTF_16BE))),
        "utf-16le" => Ok(Charset::Utf16(UTF_16LE)),
        "utf-16be" => Ok(Charset::Utf16(UTF_16BE)),
        "us-ascii" | "ascii" => Ok(Charset::Ascii),
        "iso-8859-1" | "latin1" => Ok(Charset::Latin1),
        _ => Err(EncodingError::Unsupported { name: name.chars().take(40).collect(), source_of_name }),
    }
}

fn read<'b>(bytes: &'b [u8], charset: Charset, source_of_name: &'static str) -> Result<Cow<'b, str>, EncodingError> {
    let malformed = |encoding, offset| EncodingError::Malformed { encoding, source_of_name, offset };
    match charset {
        Charset::Utf8 => match std::str::from_utf8(bytes) {
            Ok(text) => Ok(Cow::Borrowed(text)),
            Err(error) => Err(malformed("UTF-8", error.valid_up_to())),
        },
        Charset::Utf16(encoding) => {
            let text = encoding.decode_without_bom_handling_and_without_replacement(bytes);
            text.filter(|text| text.trim_start().starts_with('<')).ok_or_else(|| malformed(encoding.name(), 0))
        }
        Charset::Ascii => match bytes.iter().position(|b| !b.is_ascii()) {
            None => Ok(encoding_rs::mem::decode_latin1(bytes)),
            Some(offset) => Err(malformed("US-ASCII", offset)),
        },
        Charset::Latin1 => Ok(encoding_rs::mem::decode_latin1(bytes)),
    }
}

/// The encoding that an XML declaration names, the declaration being readable octet by octet.
pub(crate) fn declared(bytes: &[u8]) -> Option<&str> {
    let rest = bytes.strip_prefix(b"<?xml").filter(|rest| rest.first().is_some_and(u8::is_ascii_whitespace))?;
    let rest = rest.get(..256).unwrap_or(rest);
    let end = rest.windows(2).position(|pair| pair == b"?>")?;
    let declaration = std::str::from_utf8(&rest[..end]).ok()?;
    let blank = |c: char| c.is_ascii_whitespace();
    let (before, after) = declaration.split_once("encoding")?;
    let value = before.ends_with(blank).then(|| after.trim_start_matches(blank).strip_prefix('='))??;
    let value = value.trim_start_matches(blank);
    let quote = value.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    value[1..].split_once(quote).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wide(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(unit).collect()
    }

    #[test]
    fn a_mark_wins_and_is_stripped() {
        assert_eq!(decode(b"\xEF\xBB\xBF<a>\xC3\xB6</a>", Some("iso-8859-1")).unwrap(), "<a>ö</a>");
        let little = wide("\u{FEFF}<a>ö🧾</a>", u16::to_le_bytes);
        let big = wide("\u{FEFF}<a>ö🧾</a>", u16::to_be_bytes);
        for charset in [None, Some("utf-16"), Some("utf-8")] {
            assert_eq!(decode(&little, charset).unwrap(), "<a>ö🧾</a>");
            assert_eq!(decode(&big, charset).unwrap(), "<a>ö🧾</a>");
        }
        assert!(matches!(decode(b"\xFF\xFE\0\0<\0\0\0", None), Err(EncodingError::Unsupported { .. })));
    }

    #[test]
    fn the_parameter_wins_over_the_declaration() {
        let text = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><a>Köln</a>";
        assert_eq!(decode(text.as_bytes(), Some("UTF-8")).unwrap(), text);
        assert!(matches!(decode(text.as_bytes(), Some("utf-8")), Ok(Cow::Borrowed(_))));
        assert_eq!(decode(b"<a>K\xF6ln</a>", Some("ISO-8859-1")).unwrap(), "<a>Köln</a>");
        assert_eq!(
            decode(b"<a>K\xF6ln</a>", Some("us-ascii")),
            Err(EncodingError::Malformed { encoding: "US-ASCII", source_of_name: PARAMETER, offset: 4 })
        );
        assert!(matches!(decode(b"<a/>", Some("EBCDIC")), Err(EncodingError::Unsupported { .. })));
    }

    #[test]
    fn the_declaration_counts_when_nothing_else_does() {
        assert_eq!(
            decode(b"<?xml version='1.0' encoding = 'iso-8859-1' ?><a>\xF6</a>", None).unwrap(),
            "<?xml version='1.0' encoding = 'iso-8859-1' ?><a>ö</a>"
        );
        let big = wide("<?xml version='1.0' encoding='utf-8'?><a>ö</a>", u16::to_be_bytes);
        assert!(decode(&big, None).unwrap().ends_with("<a>ö</a>"));
        assert!(matches!(
            decode(b"<?xml version='1.0' encoding='utf-16'?><a>four</a>", None),
            Err(EncodingError::Malformed { encoding: "UTF-16BE", .. })
        ));
        assert!(matches!(
            decode(b"<?xml version='1.0' encoding='x'?><a/>", None),
            Err(EncodingError::Unsupported { .. })
        ));
        assert!(decode(b"<?xml version='1.0' myencoding='x'?><a/>", None).is_ok());
    }

    #[test]
    fn malformed_octets_are_an_error_never_a_replacement() {
        assert_eq!(
            decode(b"<a>K\xF6ln</a>", None),
            Err(EncodingError::Malformed { encoding: "UTF-8", source_of_name: DEFAULT, offset: 4 })
        );
        for bad in [&b"\xFF\xFE<\0a"[..], b"\xFF\xFE<\0\x00\xD8", b"\xEF\xBB\xBF\xED\xA0\x80", b"\xC0\xBC"] {
            assert!(matches!(decode(bad, None), Err(EncodingError::Malformed { .. })), "{}", bad.escape_ascii());
        }
    }
}
