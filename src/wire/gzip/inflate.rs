//! gzip to octets.

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::GzipError;
use super::header::Header;

/// Inflated octets given out at a time.
const BLOCK: usize = 32 * 1024;

/// Members that anyone may have, however small they are.
const FREE_MEMBERS: u64 = 1024;
/// Beyond those, what a member must measure on average: starting one costs as much as inflating some kilobytes.
const MEMBER_OCTETS: u64 = 256;

/// How far a part may inflate (AT-20). Totals count over all members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InflateLimits {
    /// Octets that come out.
    pub output: u64,
    /// Octets that come out for each one that goes in.
    pub ratio: u64,
    /// Output up to which the ratio does not matter: short repetitive documents are no bombs.
    pub ratio_from: u64,
}

impl Default for InflateLimits {
    /// 4 GiB. The ratio is just below what DEFLATE can reach at all (1032), since an honest long list of equal lines
    /// comes close to it.
    fn default() -> Self {
        Self { output: 4 << 30, ratio: 1000, ratio_from: 1 << 20 }
    }
}

enum State {
    Header(Header),
    Content,
    Trailer([u8; 8], usize),
}

/// Inflates one part, of one or more members, and checks each one's CRC-32 and length. Its memory is constant.
pub struct Inflater {
    state: State,
    inflate: Decompress,
    crc: Crc,
    block: Box<[u8]>,
    limits: InflateLimits,
    consumed: u64,
    produced: u64,
    members: u64,
    spoilt: bool,
}

impl Inflater {
    /// An inflater at the start of a part.
    pub fn new(limits: InflateLimits) -> Self {
        Self {
            state: State::Header(Header::new()),
            inflate: Decompress::new(false),
            crc: Crc::new(),
            block: vec![0; BLOCK].into(),
            limits,
            consumed: 0,
            produced: 0,
            members: 0,
            spoilt: false,
        }
    }

    /// Octets given out so far.
    pub fn produced(&self) -> u64 {
        self.produced
    }

    /// Inflates more octets into `out`, in blocks of at most 32 KiB. Nothing given out is to be trusted before
    /// [`finish`](Self::finish) has agreed.
    ///
    /// # Errors
    /// When the data is damaged or over a limit, or `out` fails; the inflater is of no use then.
    pub fn push<E: From<GzipError>>(
        &mut self,
        mut input: &[u8],
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        if std::mem::replace(&mut self.spoilt, true) {
            return Err(GzipError::Spoilt.into());
        }
        while let Some((first, rest)) = input.split_first() {
            match &mut self.state {
                State::Header(header) => {
                    let fresh = header.is_fresh() && self.members > 0;
                    match header.step(*first) {
                        Err(GzipError::NotGzip) if self.members > 0 => {
                            let before = if fresh { self.consumed } else { self.consumed - 1 };
                            return Err(GzipError::TrailingGarbage(before).into());
                        }
                        Err(error) => return Err(error.into()),
                        Ok(true) => self.member()?,
                        Ok(false) => {}
                    }
                    self.consumed += 1;
                    input = rest;
                }
                State::Content => input = self.content(input, out)?,
                State::Trailer(octets, have) => {
                    octets[*have] = *first;
                    *have += 1;
                    self.consumed += 1;
                    input = rest;
                    if let State::Trailer(octets, 8) = self.state {
                        self.trailer(octets)?;
                    }
                }
            }
        }
        self.spoilt = false;
        Ok(())
    }

    /// There are no more octets: gives how many came out.
    ///
    /// # Errors
    /// When the last member is not whole.
    pub fn finish(&self) -> Result<u64, GzipError> {
        match &self.state {
            _ if self.spoilt => Err(GzipError::Spoilt),
            State::Header(header) if header.is_fresh() && self.members > 0 => Ok(self.produced),
            _ => Err(GzipError::Truncated(self.consumed)),
        }
    }

    fn member(&mut self) -> Result<(), GzipError> {
        self.members += 1;
        if self.members > FREE_MEMBERS && self.members > self.consumed / MEMBER_OCTETS {
            return Err(GzipError::TooManyMembers(self.members));
        }
        if self.members > 1 {
            self.inflate.reset(false);
            self.crc.reset();
        }
        self.state = State::Content;
        Ok(())
    }

    /// Inflates until the input or the member ends; gives the rest of the input.
    fn content<'i, E: From<GzipError>>(
        &mut self,
        mut input: &'i [u8],
        out: &mut dyn FnMut(&[u8]) -> Result<(), E>,
    ) -> Result<&'i [u8], E> {
        loop {
            let (consumed, produced) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(input, &mut self.block, FlushDecompress::None)
                .map_err(|_| GzipError::Damaged(self.consumed))?;
            let consumed = self.inflate.total_in() - consumed;
            let produced = self.inflate.total_out() - produced;
            self.consumed += consumed;
            self.produced += produced;
            let octets = self.block.get(..size(produced)).unwrap_or_default();
            self.crc.update(octets);
            if self.produced > self.limits.output
                || self.produced > self.limits.ratio_from && self.produced / self.limits.ratio.max(1) > self.consumed
            {
                return Err(GzipError::Bomb { limit: self.limits.output, ratio: self.limits.ratio }.into());
            }
            if !octets.is_empty() {
                out(octets)?;
            }
            input = input.get(size(consumed)..).unwrap_or_default();
            if status == Status::StreamEnd {
                self.state = State::Trailer([0; 8], 0);
                return Ok(input);
            }
            if consumed == 0 && produced == 0 && !input.is_empty() {
                return Err(GzipError::Damaged(self.consumed).into());
            }
            if input.is_empty() && size(produced) < self.block.len() {
                return Ok(input);
            }
        }
    }

    fn trailer(&mut self, octets: [u8; 8]) -> Result<(), GzipError> {
        let [a, b, c, d, length @ ..] = octets;
        if u32::from_le_bytes([a, b, c, d]) != self.crc.sum() {
            return Err(GzipError::Crc);
        }
        // ISIZE is the length modulo 2^32, and so is `amount`.
        if u32::from_le_bytes(length) != self.crc.amount() {
            return Err(GzipError::Length);
        }
        self.state = State::Header(Header::new());
        Ok(())
    }
}

/// A count that lies within a slice.
fn size(count: u64) -> usize {
    usize::try_from(count).unwrap_or(usize::MAX)
}
