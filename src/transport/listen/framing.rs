//! Where a request ends.
//!
//! Hyper is kind to requests whose length can be read in two ways: it prefers one reading and goes on. A front proxy
//! may prefer the other, and then the rest of one sender's request becomes another sender's (AT-29). So the head is
//! judged here first, by hyper's own parser, and the body is counted beside hyper.

use thiserror::Error;

/// Extension and trailer octets that one chunked body may carry.
const CHUNK_OVERHEAD: u32 = 16 << 10;

/// How long the body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Length {
    /// By `Content-Length`, or zero without one.
    Known(u64),
    /// By `Transfer-Encoding: chunked`.
    Chunked,
}

/// Why a head is refused before anything of it is believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum HeadFault {
    /// Not a request of HTTP/1.
    #[error("the request head cannot be read: {0}")]
    Unreadable(httparse::Error),
    /// RFC 9112 §6.1.
    #[error("Transfer-Encoding must be exactly one `chunked`")]
    TransferEncoding,
    /// RFC 9112 §6.3: the mark of a smuggled request.
    #[error("Content-Length stands beside Transfer-Encoding")]
    TwoLengths,
    /// Repeated, signed, a list or no number.
    #[error("Content-Length must be one decimal number, once")]
    ContentLength,
    /// `max_head` or `max_headers`.
    #[error("the request head is larger than this server takes")]
    TooLarge,
    /// `header_time`.
    #[error("the request head did not arrive in time")]
    TooSlow,
}

impl HeadFault {
    /// The status that answers it. The connection closes after every one.
    pub fn status(self) -> u16 {
        match self {
            Self::Unreadable(httparse::Error::Version) => 505,
            Self::Unreadable(_) | Self::TransferEncoding | Self::TwoLengths | Self::ContentLength => 400,
            Self::TooLarge => 431,
            Self::TooSlow => 408,
        }
    }
}

/// What the octets at the start of a connection's turn are.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Screened {
    /// The blank line is yet to come.
    Partial,
    /// A head of that many octets.
    Head(usize, Length),
}

/// Looks for one request head at the start of `octets`.
pub(super) fn screen(octets: &[u8], max_head: usize, max_headers: usize) -> Result<Screened, HeadFault> {
    if !holds_blank_line(octets) {
        // Hyper parses from the start on each arrival; we only once there is an end to find, or to name a hopeless start.
        return if octets.len() >= max_head { Err(HeadFault::TooLarge) } else { partial(octets) };
    }
    let mut fields = vec![httparse::EMPTY_HEADER; max_headers];
    let mut request = httparse::Request::new(&mut fields);
    match request.parse(octets) {
        Ok(httparse::Status::Complete(end)) if end > max_head => Err(HeadFault::TooLarge),
        Ok(httparse::Status::Complete(end)) => Ok(Screened::Head(end, measure(&request)?)),
        Ok(httparse::Status::Partial) if octets.len() >= max_head => Err(HeadFault::TooLarge),
        Ok(httparse::Status::Partial) => Ok(Screened::Partial),
        Err(httparse::Error::TooManyHeaders) => Err(HeadFault::TooLarge),
        Err(error) => Err(HeadFault::Unreadable(error)),
    }
}

/// A TLS `ClientHello` on the port for plain HTTP never gets to a blank line: refuse it by its first octet.
fn partial(octets: &[u8]) -> Result<Screened, HeadFault> {
    match octets.iter().find(|octet| !matches!(octet, b'\r' | b'\n')) {
        Some(first) if !first.is_ascii_graphic() => Err(HeadFault::Unreadable(httparse::Error::Token)),
        _ => Ok(Screened::Partial),
    }
}

/// Whether a line end is followed by an empty line, in either spelling of the line end (RFC 9112 §2.2).
fn holds_blank_line(octets: &[u8]) -> bool {
    let start = octets.iter().position(|octet| !matches!(octet, b'\r' | b'\n')).unwrap_or(octets.len());
    let head = &octets[start..];
    memchr::memchr_iter(b'\n', head).any(|at| matches!(&head[at + 1..], [b'\n', ..] | [b'\r', b'\n', ..]))
}

/// RFC 9112 §6.3, with every doubtful case refused.
fn measure(request: &httparse::Request<'_, '_>) -> Result<Length, HeadFault> {
    let named = |name: &'static str| {
        request.headers.iter().filter(move |field| field.name.eq_ignore_ascii_case(name)).map(|field| field.value)
    };
    let mut codings = named("transfer-encoding");
    let mut lengths = named("content-length");
    let (coding, length) = (codings.next(), lengths.next());
    if let Some(coding) = coding {
        if length.is_some() {
            return Err(HeadFault::TwoLengths);
        }
        let chunked = coding.trim_ascii().eq_ignore_ascii_case(b"chunked");
        if !chunked || codings.next().is_some() || request.version == Some(0) {
            return Err(HeadFault::TransferEncoding);
        }
        return Ok(Length::Chunked);
    }
    let Some(length) = length else { return Ok(Length::Known(0)) };
    if lengths.next().is_some() {
        return Err(HeadFault::ContentLength);
    }
    content_length(length).map(Length::Known).ok_or(HeadFault::ContentLength)
}

fn content_length(value: &[u8]) -> Option<u64> {
    let digits = std::str::from_utf8(value.trim_ascii()).ok()?;
    // `u64::from_str` takes a plus sign; RFC 9110 §8.6 does not.
    if !digits.bytes().all(|octet| octet.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok().filter(|length| i64::try_from(*length).is_ok())
}

/// The chunked coding is broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the chunked coding is broken: {0}")]
pub(super) struct ChunkFault(&'static str);

/// Follows a body to its end without touching its octets.
#[derive(Debug)]
pub(super) enum Framing {
    /// Octets still to come.
    Counted(u64),
    /// RFC 9112 §7.1.
    Chunked(Chunked),
}

impl Framing {
    pub(super) fn new(length: Length) -> Self {
        match length {
            Length::Known(octets) => Self::Counted(octets),
            Length::Chunked => Self::Chunked(Chunked { state: State::Size { size: 0, digits: 0 }, overhead: 0 }),
        }
    }

    /// Whether the body ended with the octets seen.
    pub(super) fn is_complete(&self) -> bool {
        matches!(self, Self::Counted(0) | Self::Chunked(Chunked { state: State::End, .. }))
    }

    /// How many of the octets that arrived belong to this body.
    pub(super) fn advance(&mut self, octets: &[u8]) -> Result<usize, ChunkFault> {
        match self {
            Self::Counted(left) => {
                let taken = usize::try_from(*left).map_or(octets.len(), |left| left.min(octets.len()));
                *left -= taken as u64;
                Ok(taken)
            }
            Self::Chunked(chunked) => chunked.advance(octets),
        }
    }
}

/// A scanner over the chunked coding.
#[derive(Debug)]
pub(super) struct Chunked {
    state: State,
    overhead: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Size { size: u64, digits: u8 },
    Blank(u64),
    Extension(u64),
    SizeEnd(u64),
    Data(u64),
    DataCr,
    DataLf,
    Trailers,
    Trailer,
    TrailerEnd,
    LastLf,
    End,
}

impl Chunked {
    fn advance(&mut self, octets: &[u8]) -> Result<usize, ChunkFault> {
        let mut at = 0;
        while at < octets.len() && self.state != State::End {
            if let State::Data(left) = self.state {
                let rest = (octets.len() - at) as u64;
                let taken = left.min(rest);
                self.state = if taken == left { State::DataCr } else { State::Data(left - taken) };
                at += usize::try_from(taken).unwrap_or(octets.len());
                continue;
            }
            self.state = self.step(octets[at])?;
            at += 1;
        }
        Ok(at)
    }

    fn step(&mut self, octet: u8) -> Result<State, ChunkFault> {
        Ok(match (self.state, octet) {
            (State::Size { size, digits }, _) if octet.is_ascii_hexdigit() => add_digit(size, digits, octet)?,
            (State::Size { digits: 0, .. }, _) => return Err(ChunkFault("a chunk has no size")),
            (State::Size { size, .. } | State::Blank(size) | State::Extension(size), b'\r') => State::SizeEnd(size),
            (State::Size { size, .. } | State::Blank(size), b';') => State::Extension(size),
            (State::Size { size, .. } | State::Blank(size), b' ' | b'\t') => self.spend(State::Blank(size))?,
            (State::Size { .. } | State::Blank(_), _) => {
                return Err(ChunkFault("a chunk size is no hexadecimal number"));
            }
            (State::Extension(_), b'\n') => return Err(ChunkFault("a chunk extension holds a bare line feed")),
            (State::Extension(size), _) => self.spend(State::Extension(size))?,
            (State::SizeEnd(0) | State::TrailerEnd, b'\n') => State::Trailers,
            (State::SizeEnd(size), b'\n') => State::Data(size),
            (State::DataCr, b'\r') => State::DataLf,
            (State::DataLf, b'\n') => State::Size { size: 0, digits: 0 },
            (State::DataCr | State::DataLf, _) => return Err(ChunkFault("a chunk is longer than its size")),
            (State::Trailers, b'\r') => State::LastLf,
            (State::Trailer, b'\r') => State::TrailerEnd,
            (State::Trailers | State::Trailer, b'\n') => return Err(ChunkFault("a trailer holds a bare line feed")),
            (State::Trailers | State::Trailer, _) => self.spend(State::Trailer)?,
            (State::LastLf, b'\n') | (State::End, _) => State::End,
            (State::SizeEnd(_) | State::TrailerEnd | State::LastLf, _) => {
                return Err(ChunkFault("a carriage return stands alone"));
            }
            (State::Data(left), _) => State::Data(left),
        })
    }

    fn spend(&mut self, next: State) -> Result<State, ChunkFault> {
        self.overhead += 1;
        if self.overhead > CHUNK_OVERHEAD { Err(ChunkFault("extensions or trailers are too long")) } else { Ok(next) }
    }
}

fn add_digit(size: u64, digits: u8, octet: u8) -> Result<State, ChunkFault> {
    let digit = char::from(octet).to_digit(16).map_or(0, u64::from);
    // Sixteen digits overflow no u64, but no chunk of 2^63 octets is meant honestly either (AT-31).
    if digits >= 16 || size >> 59 != 0 {
        return Err(ChunkFault("a chunk size is too large"));
    }
    Ok(State::Size { size: size << 4 | digit, digits: digits + 1 })
}

#[cfg(test)]
#[path = "framing_tests.rs"]
mod tests;
