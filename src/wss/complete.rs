//! The MIME headers that an `Attachment-Complete` part brings encrypted at its start (WS-045).

use super::error::{DecryptionCause, WssError};

/// Headers of one part.
const HEADERS: usize = 100;
/// Octets of one line, line end left out.
const LINE: usize = 998;

/// Splits the headers off a decrypted part as it streams. They replace the part's own, once its tag has held.
#[derive(Debug, Default)]
pub struct CompleteHead {
    line: Vec<u8>,
    lines: usize,
    headers: Vec<(String, String)>,
    done: bool,
}

impl CompleteHead {
    /// Takes the next octets and gives back those that belong to the content.
    ///
    /// # Errors
    /// When these are no MIME headers, or too many: the same answer as to any failed decryption.
    pub fn push<'o>(&mut self, octets: &'o [u8]) -> Result<&'o [u8], WssError> {
        let mut rest = octets;
        while !self.done {
            let Some(end) = memchr::memchr(b'\n', rest) else {
                self.hold(rest)?;
                return Ok(&[]);
            };
            self.hold(&rest[..end])?;
            rest = &rest[end + 1..];
            self.end_of_line()?;
        }
        Ok(rest)
    }

    /// The value of a header, folded lines joined.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Ends the part.
    ///
    /// # Errors
    /// When the empty line has not come.
    pub fn finish(&self) -> Result<(), WssError> {
        if self.done { Ok(()) } else { Err(failed()) }
    }

    fn hold(&mut self, octets: &[u8]) -> Result<(), WssError> {
        if self.line.len() + octets.len() > LINE + 1 {
            return Err(failed());
        }
        self.line.extend_from_slice(octets);
        Ok(())
    }

    fn end_of_line(&mut self) -> Result<(), WssError> {
        let line = std::mem::take(&mut self.line);
        let line = std::str::from_utf8(line.strip_suffix(b"\r").unwrap_or(&line)).map_err(|_| failed())?;
        if line.is_empty() {
            self.done = true;
            return Ok(());
        }
        self.lines += 1;
        if self.lines > HEADERS || line.len() > LINE {
            return Err(failed());
        }
        if let (Some(more), Some((_, value))) = (line.strip_prefix([' ', '\t']), self.headers.last_mut()) {
            value.push(' ');
            value.push_str(more.trim());
            return Ok(());
        }
        let (name, value) = line.split_once(':').ok_or_else(failed)?;
        self.headers.push((name.trim().to_owned(), value.trim().to_owned()));
        Ok(())
    }
}

fn failed() -> WssError {
    WssError::Decryption(DecryptionCause::Head)
}
