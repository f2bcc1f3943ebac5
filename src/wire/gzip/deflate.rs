//! Octets to gzip.

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use super::GzipError;

/// Compressed octets given out at a time.
const BLOCK: usize = 32 * 1024;

/// Octets compressed at a time. What DEFLATE makes of a payload depends on where it is cut, so all cuts are ours.
const SLICE: usize = 64 * 1024;

/// A member header that says nothing about who made it and when: no name, MTIME 0, XFL 0, OS 255 (unknown).
const HEADER: [u8; 10] = [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 255];

/// Compresses one part into one gzip member. Same octets, level and library: same result, however they were cut.
pub struct Deflater {
    deflate: Compress,
    crc: Crc,
    /// Octets that do not fill a slice yet.
    waiting: Vec<u8>,
    block: Box<[u8]>,
    started: bool,
    spoilt: bool,
}

impl Deflater {
    /// A deflater at the start of a part; `level` from 0 (stored) to 9 (smallest).
    pub fn new(level: u32) -> Self {
        Self {
            deflate: Compress::new(Compression::new(level.min(9)), false),
            crc: Crc::new(),
            waiting: Vec::new(),
            block: vec![0; BLOCK].into(),
            started: false,
            spoilt: false,
        }
    }

    /// Compresses more octets; `out` gets blocks of at most 32 KiB as they become full.
    ///
    /// # Errors
    /// When `out` fails; the deflater is of no use then.
    pub fn push<E: From<GzipError>>(
        &mut self,
        mut input: &[u8],
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if !self.waiting.is_empty() {
            let (first, rest) = input.split_at(input.len().min(SLICE - self.waiting.len()));
            self.waiting.extend_from_slice(first);
            input = rest;
            if self.waiting.len() == SLICE {
                let mut waiting = std::mem::take(&mut self.waiting);
                self.run(&waiting, FlushCompress::None, out)?;
                waiting.clear();
                self.waiting = waiting;
            }
        }
        while let Some((slice, rest)) = input.split_at_checked(SLICE) {
            self.run(slice, FlushCompress::None, out)?;
            input = rest;
        }
        self.waiting.extend_from_slice(input);
        if self.spoilt { Err(GzipError::Spoilt.into()) } else { Ok(()) }
    }

    /// Writes what is left, and the trailer.
    ///
    /// # Errors
    /// When `out` fails, or has failed before.
    pub fn finish<E: From<GzipError>>(mut self, out: &mut dyn FnMut(&[u8]) -> Result<(), E>) -> Result<(), E> {
        let waiting = std::mem::take(&mut self.waiting);
        self.run(&waiting, FlushCompress::Finish, out)?;
        let mut trailer = [0; 8];
        trailer[..4].copy_from_slice(&self.crc.sum().to_le_bytes());
        trailer[4..].copy_from_slice(&self.crc.amount().to_le_bytes());
        out(&trailer)
    }

    fn run<E: From<GzipError>>(
        &mut self,
        mut input: &[u8],
        flush: FlushCompress,
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if std::mem::replace(&mut self.spoilt, true) {
            return Err(GzipError::Spoilt.into());
        }
        if !std::mem::replace(&mut self.started, true) {
            out(&HEADER)?;
        }
        self.crc.update(input);
        loop {
            let (consumed, produced) = (self.deflate.total_in(), self.deflate.total_out());
            let status = self.deflate.compress(input, &mut self.block, flush).map_err(|_| GzipError::Spoilt)?;
            let consumed = usize::try_from(self.deflate.total_in() - consumed).unwrap_or(usize::MAX);
            let produced = usize::try_from(self.deflate.total_out() - produced).unwrap_or(usize::MAX);
            if let Some(octets) = self.block.get(..produced).filter(|octets| !octets.is_empty()) {
                out(octets)?;
            }
            input = input.get(consumed..).unwrap_or_default();
            let full = produced == self.block.len();
            match (status, flush) {
                (Status::StreamEnd, _) => break,
                (_, FlushCompress::Finish) if consumed == 0 && produced == 0 => return Err(GzipError::Spoilt.into()),
                (_, FlushCompress::Finish) => {}
                _ if input.is_empty() && !full => break,
                _ if consumed == 0 && produced == 0 => return Err(GzipError::Spoilt.into()),
                _ => {}
            }
        }
        self.spoilt = false;
        Ok(())
    }
}
