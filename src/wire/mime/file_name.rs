//! `Content-Disposition` file names (EB-017). Advisory: nonsense is ignored, and a name is never a path (FR-011).

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

use super::content_type::parameterized;

/// RFC 5987 `attr-char`, the others being encoded.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// The file name in a `Content-Disposition` value: `filename*` before `filename` (RFC 6266 §4.3). As the peer wrote it:
/// it may hold separators, dots and anything else.
pub fn file_name(disposition: &str) -> Option<String> {
    let (_, parameters) = parameterized(disposition).ok()?;
    let value = |name: &str| parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    value("filename*")
        .and_then(extended)
        .or_else(|| value("filename").map(str::to_owned))
        .filter(|name| !name.is_empty())
}

/// RFC 5987 `charset'language'percent-encoded`.
fn extended(value: &str) -> Option<String> {
    let (charset, rest) = value.split_once('\'')?;
    let (_language, encoded) = rest.split_once('\'')?;
    let octets: Cow<'_, [u8]> = percent_decode_str(encoded).into();
    match charset.to_ascii_lowercase().as_str() {
        "utf-8" => String::from_utf8(octets.into_owned()).ok(),
        "iso-8859-1" => Some(encoding_rs::mem::decode_latin1(&octets).into_owned()),
        _ => None,
    }
}

/// A `Content-Disposition` value that carries a file name, with an ASCII stand-in for old readers where it needs one.
pub fn content_disposition(file_name: &str) -> String {
    let plain = |c: char| (c.is_ascii_graphic() || c == ' ') && c != '"' && c != '\\';
    let stand_in: String = file_name.chars().map(|c| if plain(c) { c } else { '_' }).collect();
    if stand_in == file_name {
        return format!(r#"attachment; filename="{file_name}""#);
    }
    format!(r#"attachment; filename="{stand_in}"; filename*=UTF-8''{}"#, utf8_percent_encode(file_name, ENCODED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_and_nonsense_is_ignored() {
        let of = |value| file_name(value);
        assert_eq!(of("attachment; filename=\"a b.xml\"").as_deref(), Some("a b.xml"));
        assert_eq!(of("attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.xml").as_deref(), Some("résumé.xml"));
        assert_eq!(of("attachment; filename=x; filename*=iso-8859-1'de'%FC.xml").as_deref(), Some("ü.xml"));
        assert_eq!(of("attachment; filename=x.xml; filename*=klingon''%FC").as_deref(), Some("x.xml"));
        assert_eq!(of("attachment; filename=x.xml; filename*=UTF-8''%FC").as_deref(), Some("x.xml"));
        for nonsense in ["attachment", "attachment; filename=\"open", "", ";;;", "filename", "attachment; filename="] {
            assert_eq!(of(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn a_name_written_is_the_name_read() {
        for name in ["order.xml", "résumé 1.xml", "a\"b\\c", "x\r\ny: z"] {
            let value = content_disposition(name);
            assert!(value.is_ascii() && !value.contains(['\r', '\n']), "{value}");
            assert_eq!(file_name(&value).as_deref(), Some(name));
        }
        assert_eq!(content_disposition("order.xml"), "attachment; filename=\"order.xml\"");
    }
}
