//! `Content-Encoding: gzip` of a whole message, undone before MIME is read (EB-020).

use std::io::Write;

use bytes::{Buf, Bytes};
use flate2::write::MultiGzDecoder;

use super::BodyError;

/// Deflate makes at most some thousand octets of one: this much input costs at most four mebibytes of output.
const STEP: usize = 4096;
/// Output that needs no justification by input.
const FREE: u64 = 1 << 20;

/// Inflates step by step, so that a bomb is met before it is in memory (AT-20).
#[derive(Debug)]
pub(super) struct Inflate {
    decoder: MultiGzDecoder<Vec<u8>>,
    waiting: Bytes,
    read: u64,
    written: u64,
    max_ratio: u64,
}

impl Inflate {
    pub(super) fn new(max_ratio: u64) -> Self {
        Self { decoder: MultiGzDecoder::new(Vec::new()), waiting: Bytes::new(), read: 0, written: 0, max_ratio }
    }

    /// Takes the next octets off the wire; [`Self::next`] must have said `None` before.
    pub(super) fn feed(&mut self, octets: Bytes) {
        self.waiting = octets;
    }

    /// Inflated octets, or `None` when more input is needed.
    pub(super) fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        while self.waiting.has_remaining() {
            let step = self.waiting.split_to(STEP.min(self.waiting.len()));
            self.read += step.len() as u64;
            self.decoder.write_all(&step).map_err(|error| BodyError::Encoding(error.to_string()))?;
            if let Some(octets) = self.take()? {
                return Ok(Some(octets));
            }
        }
        Ok(None)
    }

    /// The last octets, after the check sum agreed.
    pub(super) fn finish(&mut self) -> Result<Option<Bytes>, BodyError> {
        self.decoder.try_finish().map_err(|error| BodyError::Encoding(error.to_string()))?;
        self.take()
    }

    fn take(&mut self) -> Result<Option<Bytes>, BodyError> {
        let octets = std::mem::take(self.decoder.get_mut());
        self.written += octets.len() as u64;
        if self.written > FREE.saturating_add(self.read.saturating_mul(self.max_ratio)) {
            return Err(BodyError::Ratio { limit: self.max_ratio });
        }
        Ok((!octets.is_empty()).then(|| Bytes::from(octets)))
    }
}
