//! The header of a gzip member, octet by octet (RFC 1952 §2.3): nothing of it is kept.

use flate2::Crc;

use super::GzipError;

const HEADER_CRC: u8 = 2;
const EXTRA: u8 = 4;
const NAME: u8 = 8;
const COMMENT: u8 = 16;
const RESERVED: u8 = 0xE0;

/// Which field the next octet belongs to.
#[derive(Clone, Copy)]
enum Field {
    /// One of the ten fixed octets.
    Fixed(u8),
    ExtraLength(Option<u8>),
    Extra(u16),
    Name,
    Comment,
    HeaderCrc(Option<u8>),
}

/// A header that is being read.
pub(super) struct Header {
    field: Field,
    /// The optional fields still to come.
    flags: u8,
    crc: Crc,
}

impl Header {
    pub(super) fn new() -> Self {
        Self { field: Field::Fixed(0), flags: 0, crc: Crc::new() }
    }

    /// Whether not one octet has been read.
    pub(super) fn is_fresh(&self) -> bool {
        matches!(self.field, Field::Fixed(0))
    }

    /// Reads one octet; `true` when it was the last.
    pub(super) fn step(&mut self, octet: u8) -> Result<bool, GzipError> {
        let checked = self.crc.sum().to_le_bytes();
        self.crc.update(&[octet]);
        match self.field {
            Field::Fixed(at) => return self.fixed(at, octet),
            Field::ExtraLength(None) => self.field = Field::ExtraLength(Some(octet)),
            Field::ExtraLength(Some(low)) => match u16::from_le_bytes([low, octet]) {
                0 => return Ok(self.next_field()),
                length => self.field = Field::Extra(length),
            },
            Field::Extra(1) => return Ok(self.next_field()),
            Field::Extra(left) => self.field = Field::Extra(left - 1),
            Field::Name | Field::Comment if octet == 0 => return Ok(self.next_field()),
            Field::Name | Field::Comment => {}
            Field::HeaderCrc(None) if octet == checked[0] => self.field = Field::HeaderCrc(Some(checked[1])),
            Field::HeaderCrc(Some(expected)) if octet == expected => return Ok(true),
            Field::HeaderCrc(_) => return Err(GzipError::Header("its own checksum (FHCRC) does not match")),
        }
        Ok(false)
    }

    fn fixed(&mut self, at: u8, octet: u8) -> Result<bool, GzipError> {
        match at {
            0 if octet != 0x1F => return Err(GzipError::NotGzip),
            1 if octet != 0x8B => return Err(GzipError::NotGzip),
            2 if octet != 8 => return Err(GzipError::Header("the compression method is not DEFLATE")),
            3 if octet & RESERVED != 0 => return Err(GzipError::Header("a reserved flag is set")),
            3 => self.flags = octet,
            9 => return Ok(self.next_field()),
            _ => {}
        }
        self.field = Field::Fixed(at + 1);
        Ok(false)
    }

    /// Moves on to the next optional field; `true` when there is none.
    fn next_field(&mut self) -> bool {
        let (flag, field) = match self.flags {
            f if f & EXTRA != 0 => (EXTRA, Field::ExtraLength(None)),
            f if f & NAME != 0 => (NAME, Field::Name),
            f if f & COMMENT != 0 => (COMMENT, Field::Comment),
            f if f & HEADER_CRC != 0 => (HEADER_CRC, Field::HeaderCrc(None)),
            _ => return true,
        };
        self.flags &= !flag;
        self.field = field;
        false
    }
}
