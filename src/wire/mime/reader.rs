//! The push reader of a `multipart/related` package.

use bytes::Bytes;

use super::delimiter::{Found, Scanner};
use super::error::MimeError;
use super::head::{Collector, PartHead};
use super::related::check_boundary;
use super::transfer::Decoder;

/// Bounds of one package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MimeLimits {
    /// Octets of one part's header section (FR-009).
    pub header_octets: usize,
    /// Lines of one part's header section (FR-009).
    pub header_lines: usize,
    /// Parts in all, the root among them; well above the 100 that must be possible (FR-010).
    pub parts: usize,
}

impl Default for MimeLimits {
    fn default() -> Self {
        Self { header_octets: 32 * 1024, header_lines: 128, parts: 1000 }
    }
}

/// What a package consists of, in order: `Head Data* PartEnd` for each part, then `End`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MimeEvent {
    /// A part begins.
    Head(PartHead),
    /// Content of the part, its transfer encoding undone; never empty.
    Data(Bytes),
    /// The part is whole, as far as MIME can tell.
    PartEnd,
    /// The closing delimiter; what follows it is ignored.
    End,
}

/// Where the reader stands.
enum Place {
    /// Before the first delimiter: ignored (EB-010).
    Preamble,
    /// In a part's header section.
    Head(Collector),
    /// In a part's content.
    Content(Decoder),
    /// After the closing delimiter: ignored (EB-010).
    Epilogue,
}

/// Takes a package in pieces of any size and gives its parts as they become known. Content passes through as slices
/// of what was pushed; held back are at most a delimiter line, one header section, one group of an encoding.
pub struct MultipartReader {
    boundary: String,
    limits: MimeLimits,
    scanner: Scanner,
    place: Place,
    parts: usize,
    failed: Option<MimeError>,
}

impl MultipartReader {
    /// A reader at the start of a package.
    ///
    /// # Errors
    /// When the boundary is empty, too long or holds control characters.
    pub fn new(boundary: &str, limits: MimeLimits) -> Result<Self, MimeError> {
        check_boundary(boundary)?;
        let scanner = Scanner::new(boundary);
        Ok(Self { boundary: boundary.to_owned(), limits, scanner, place: Place::Preamble, parts: 0, failed: None })
    }

    /// Reads one more piece. After an error, `out` holds what came before it, and every further call repeats it.
    ///
    /// # Errors
    /// When the package is malformed or over a limit.
    pub fn push(&mut self, chunk: Bytes, out: &mut Vec<MimeEvent>) -> Result<(), MimeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let outcome = self.read(chunk, out);
        self.failed = outcome.clone().err();
        outcome
    }

    /// There are no more octets.
    ///
    /// # Errors
    /// When the closing delimiter has not come (EB-023).
    pub fn finish(&mut self, _out: &mut Vec<MimeEvent>) -> Result<(), MimeError> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let place = match self.place {
            Place::Epilogue => return Ok(()),
            Place::Preamble => return Err(MimeError::NoParts(self.boundary.clone())),
            Place::Head(_) => "the header section",
            Place::Content(_) => "the content",
        };
        Err(MimeError::Truncated { part: self.parts, place, boundary: self.boundary.clone() })
    }

    /// Whether the closing delimiter has been read.
    pub fn is_complete(&self) -> bool {
        matches!(self.place, Place::Epilogue) && self.failed.is_none()
    }

    fn read(&mut self, mut rest: Bytes, out: &mut Vec<MimeEvent>) -> Result<(), MimeError> {
        while !rest.is_empty() {
            match &mut self.place {
                Place::Epilogue => return Ok(()),
                Place::Head(collector) => {
                    let Some(raw) = collector.take(&mut rest, &self.limits, self.parts)? else { return Ok(()) };
                    let head = PartHead::parse(raw, self.parts)?;
                    self.place = Place::Content(Decoder::new(head.encoding));
                    self.scanner.at_line_start();
                    out.push(MimeEvent::Head(head));
                }
                Place::Preamble | Place::Content(_) => match self.scanner.next(&mut rest) {
                    None => return Ok(()),
                    Some(Found::Data(data)) => self.data(data, out)?,
                    Some(Found::Part) => {
                        self.part_end(out)?;
                        self.part_begin()?;
                    }
                    Some(Found::Close) => {
                        self.part_end(out)?;
                        self.place = Place::Epilogue;
                        if self.parts == 0 {
                            return Err(MimeError::NoParts(self.boundary.clone()));
                        }
                        out.push(MimeEvent::End);
                    }
                },
            }
        }
        Ok(())
    }

    fn data(&mut self, data: Bytes, out: &mut Vec<MimeEvent>) -> Result<(), MimeError> {
        let Place::Content(decoder) = &mut self.place else { return Ok(()) };
        let (part, encoding) = (self.parts, decoder.name());
        decoder.push(data, &mut |octets| out.push(MimeEvent::Data(octets))).map_err(|problem| MimeError::Content {
            part,
            encoding,
            problem,
        })
    }

    fn part_end(&mut self, out: &mut Vec<MimeEvent>) -> Result<(), MimeError> {
        let Place::Content(decoder) = &mut self.place else { return Ok(()) };
        let (part, encoding) = (self.parts, decoder.name());
        decoder.finish(&mut |octets| out.push(MimeEvent::Data(octets))).map_err(|problem| MimeError::Content {
            part,
            encoding,
            problem,
        })?;
        out.push(MimeEvent::PartEnd);
        Ok(())
    }

    fn part_begin(&mut self) -> Result<(), MimeError> {
        if self.parts == self.limits.parts {
            return Err(MimeError::TooManyParts(self.limits.parts));
        }
        self.parts += 1;
        self.place = Place::Head(Collector::default());
        Ok(())
    }
}
