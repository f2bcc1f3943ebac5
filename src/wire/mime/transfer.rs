//! Undoes transfer encodings as octets flow (EB-008, FR-007): digests, keys and gzip work on what comes out.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;

use super::head::TransferEncoding;

/// Octets decoded at a time: bounds one decoded piece, whatever the size of the pieces that arrive.
const BLOCK: usize = 16 * 1024;

/// Blanks in a row inside a quoted-printable line; more of them would have to be held.
const BLANKS: usize = 1024;

/// Undoes one part's transfer encoding.
pub(super) enum Decoder {
    /// 7bit, 8bit, binary: passed through without a copy.
    Identity,
    Base64(Base64),
    QuotedPrintable(QuotedPrintable),
}

impl Decoder {
    pub(super) fn new(encoding: TransferEncoding) -> Self {
        match encoding {
            TransferEncoding::SevenBit | TransferEncoding::EightBit | TransferEncoding::Binary => Self::Identity,
            TransferEncoding::Base64 => Self::Base64(Base64::default()),
            TransferEncoding::QuotedPrintable => Self::QuotedPrintable(QuotedPrintable::default()),
        }
    }

    /// The encoding's name in messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Identity => "binary",
            Self::Base64(_) => "base64",
            Self::QuotedPrintable(_) => "quoted-printable",
        }
    }

    /// Decodes more octets; empty pieces are not given out.
    pub(super) fn push(&mut self, data: Bytes, out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        match self {
            Self::Identity => out(data),
            Self::Base64(decoder) => data.chunks(BLOCK).try_for_each(|block| decoder.push(block, out))?,
            Self::QuotedPrintable(decoder) => data.chunks(BLOCK).try_for_each(|block| decoder.push(block, out))?,
        }
        Ok(())
    }

    /// The part has ended.
    pub(super) fn finish(&mut self, out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        match self {
            Self::Identity => Ok(()),
            Self::Base64(decoder) => decoder.finish(out),
            Self::QuotedPrintable(decoder) => decoder.finish(),
        }
    }
}

/// Base64 with white space anywhere; padding only at the end.
#[derive(Default)]
pub(super) struct Base64 {
    /// Characters not decoded yet: an unfinished group, or the padded one that must be the last.
    group: Vec<u8>,
}

impl Base64 {
    fn push(&mut self, block: &[u8], out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        self.group.extend(block.iter().filter(|b| !matches!(b, b' ' | b'\t' | b'\r' | b'\n')));
        let padding = memchr::memchr(b'=', &self.group);
        let whole = padding.unwrap_or(self.group.len()) / 4 * 4;
        self.decode(whole, out)?;
        if padding.is_some() && self.group.len() > 4 { Err("characters after the padding") } else { Ok(()) }
    }

    fn finish(&mut self, out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        if !self.group.len().is_multiple_of(4) {
            return Err("it ends inside a group of four characters");
        }
        self.decode(self.group.len(), out)
    }

    fn decode(&mut self, characters: usize, out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        let octets = STANDARD.decode(&self.group[..characters]).map_err(|_| "a character or padding out of place")?;
        self.group.drain(..characters);
        if !octets.is_empty() {
            out(octets.into());
        }
        Ok(())
    }
}

/// Quoted-printable: strict about what it lets through, lenient about lower-case digits and line length. (The crate of
/// that name either drops octets it does not know or refuses these, and wants the whole text.)
#[derive(Default)]
pub(super) struct QuotedPrintable {
    state: Quoted,
    /// Blanks that are content if something other than a line break follows (RFC 2045 §6.7 rule 3).
    blanks: Vec<u8>,
}

#[derive(Clone, Copy, Default)]
enum Quoted {
    #[default]
    Text,
    /// After `=`.
    Equals,
    /// After `=` and a digit of that value.
    Digit(u8),
    /// After `=` and blanks that were added in transport.
    SoftBreak,
    /// After `=` and a carriage return.
    SoftReturn,
}

impl QuotedPrintable {
    fn push(&mut self, block: &[u8], out: &mut impl FnMut(Bytes)) -> Result<(), &'static str> {
        let mut decoded = Vec::with_capacity(block.len());
        for octet in block {
            self.state = self.step(*octet, &mut decoded)?;
        }
        if !decoded.is_empty() {
            out(decoded.into());
        }
        Ok(())
    }

    fn step(&mut self, octet: u8, decoded: &mut Vec<u8>) -> Result<Quoted, &'static str> {
        match (self.state, octet) {
            (Quoted::Text, b' ' | b'\t') => {
                if self.blanks.len() == BLANKS {
                    return Err("a line with too many blanks in a row");
                }
                self.blanks.push(octet);
            }
            (Quoted::Text, b'\r' | b'\n') => {
                self.blanks.clear();
                decoded.push(octet);
            }
            (Quoted::Text, b'!'..=b'~') => {
                decoded.append(&mut self.blanks);
                if octet == b'=' {
                    return Ok(Quoted::Equals);
                }
                decoded.push(octet);
            }
            (Quoted::Text, _) => return Err("an octet that is no printable ASCII"),
            (Quoted::Equals | Quoted::SoftBreak, b' ' | b'\t') => return Ok(Quoted::SoftBreak),
            (Quoted::Equals | Quoted::SoftBreak, b'\r') => return Ok(Quoted::SoftReturn),
            (Quoted::Equals | Quoted::SoftBreak | Quoted::SoftReturn, b'\n') => {}
            (Quoted::Equals, _) => return Ok(Quoted::Digit(digit(octet)?)),
            (Quoted::Digit(high), _) => decoded.push(high << 4 | digit(octet)?),
            (Quoted::SoftBreak | Quoted::SoftReturn, _) => return Err("text after a `=` at the end of a line"),
        }
        Ok(Quoted::Text)
    }

    fn finish(&self) -> Result<(), &'static str> {
        match self.state {
            // The line break of a soft break may be the one that belongs to the delimiter.
            Quoted::Text | Quoted::Equals | Quoted::SoftBreak => Ok(()),
            Quoted::Digit(_) | Quoted::SoftReturn => Err("it ends inside an encoded octet"),
        }
    }
}

fn digit(octet: u8) -> Result<u8, &'static str> {
    let value = char::from(octet).to_digit(16).and_then(|value| u8::try_from(value).ok());
    value.ok_or("a `=` that two hexadecimal digits do not follow")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(encoding: TransferEncoding, text: &[u8], piece: usize) -> Result<Vec<u8>, &'static str> {
        let mut decoder = Decoder::new(encoding);
        let mut all = Vec::new();
        let mut out = |octets: Bytes| {
            assert!(!octets.is_empty());
            all.extend_from_slice(&octets);
        };
        for piece in text.chunks(piece) {
            decoder.push(Bytes::copy_from_slice(piece), &mut out)?;
        }
        decoder.finish(&mut out)?;
        Ok(all)
    }

    #[test]
    fn base64_in_pieces_with_white_space() {
        for piece in 1..12 {
            let read = |text: &[u8]| decode(TransferEncoding::Base64, text, piece);
            assert_eq!(read(b"cGF5 bG9h\r\nZA=\t="), Ok(b"payload".to_vec()));
            assert_eq!(read(b"\r\n"), Ok(vec![]));
            for bad in [
                &b"cGF5bG9hZA"[..],
                b"cGF5bG9hZA=",
                b"cGF5=bG9h",
                b"cGF5bG9hZA==cGF5",
                b"cG*5",
                b"====",
                b"cGF5bG9hZA===",
            ] {
                assert!(read(bad).is_err(), "{}", bad.escape_ascii());
            }
        }
    }

    #[test]
    fn base64_over_many_blocks() {
        let octets: Vec<u8> = (0..100_000_u32).flat_map(u32::to_le_bytes).collect();
        assert_eq!(decode(TransferEncoding::Base64, STANDARD.encode(&octets).as_bytes(), 70_001), Ok(octets));
    }

    #[test]
    fn quoted_printable_in_pieces() {
        for piece in 1..9 {
            let read = |text: &[u8]| decode(TransferEncoding::QuotedPrintable, text, piece);
            assert_eq!(read(b"caf=C3=a9 =\r\nand more=20"), Ok("café and more ".into()));
            assert_eq!(read(b"a  \r\nb\t\nc = \t\r\nd  "), Ok(b"a\r\nb\nc d".to_vec()));
            assert_eq!(read(b"x=3D="), Ok(b"x=".to_vec()));
            for bad in [&b"=4"[..], b"=4x", b"=x4", b"= x", b"=\rx", b"caf\xC3\xA9", b"\0"] {
                assert!(read(bad).is_err(), "{}", bad.escape_ascii());
            }
        }
    }

    #[test]
    fn held_blanks_are_bounded() {
        let blanks = vec![b' '; BLANKS + 1];
        assert!(decode(TransferEncoding::QuotedPrintable, &blanks, 7).is_err());
        assert_eq!(decode(TransferEncoding::QuotedPrintable, &blanks[1..], 7), Ok(vec![]));
    }
}
