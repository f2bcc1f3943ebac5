//! Taking a payload in.

use std::{io::Write, sync::Arc};

use openssl::sha::Sha256;
use tempfile::NamedTempFile;

use super::{Digest, Hold, PayloadError, store::Shared};

/// Octets between two looks at the free space.
const SPACE_STEP: u64 = 64 << 20;

/// A payload on its way in. Dropped unfinished, it leaves nothing behind.
#[derive(Debug)]
pub struct Writer {
    shared: Arc<Shared>,
    hash: Option<Hash>,
    /// Everything while small; then what waits to be written.
    buffer: Vec<u8>,
    file: Option<NamedTempFile>,
    size: u64,
    checked: u64,
}

struct Hash(Sha256);

impl std::fmt::Debug for Hash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sha256")
    }
}

/// A payload that is written.
#[derive(Clone, PartialEq, Eq)]
pub enum Stored {
    /// Small: the caller keeps the octets in its row.
    Inline {
        /// SHA-256 of the octets.
        digest: Digest,
        /// The octets.
        octets: Vec<u8>,
    },
    /// In the store, durably for as long as it is held or named by a row.
    File {
        /// SHA-256 of the octets: its name.
        digest: Digest,
        /// How many octets.
        size: u64,
        /// Keeps it there until a row names it.
        hold: Hold,
    },
}

impl std::fmt::Debug for Stored {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let place = if matches!(self, Self::Inline { .. }) { "Inline" } else { "File" };
        f.debug_struct(place).field("digest", &self.digest()).field("size", &self.size()).finish()
    }
}

impl Stored {
    /// SHA-256 of the octets.
    pub fn digest(&self) -> Digest {
        match self {
            Self::Inline { digest, .. } | Self::File { digest, .. } => *digest,
        }
    }

    /// What keeps a file there until a row names it.
    pub fn hold(&self) -> Option<&Hold> {
        match self {
            Self::Inline { .. } => None,
            Self::File { hold, .. } => Some(hold),
        }
    }

    /// How many octets.
    pub fn size(&self) -> u64 {
        match self {
            Self::Inline { octets, .. } => octets.len() as u64,
            Self::File { size, .. } => *size,
        }
    }
}

impl Writer {
    pub(super) fn new(shared: Arc<Shared>, hashed: bool) -> Self {
        let hash = hashed.then(|| Hash(Sha256::new()));
        Self { shared, hash, buffer: Vec::new(), file: None, size: 0, checked: 0 }
    }

    /// Takes the next octets. Blocks where the disk does.
    pub fn push(&mut self, octets: &[u8]) -> Result<(), PayloadError> {
        if let Some(hash) = &mut self.hash {
            hash.0.update(octets);
        }
        self.size += octets.len() as u64;
        let inline = self.shared.options.inline;
        if self.buffer.len() + octets.len() <= inline {
            self.buffer.extend_from_slice(octets);
            return Ok(());
        }
        // Small pieces gather in the buffer; large ones go to the file as they are.
        self.spill()?;
        if octets.len() <= inline {
            self.buffer.extend_from_slice(octets);
            return Ok(());
        }
        self.write(octets)
    }

    /// Octets taken so far.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Ends the payload. A file is durable under its name when this returns.
    pub fn finish(mut self) -> Result<Stored, PayloadError> {
        let digest = match self.hash.take() {
            Some(hash) => Digest(hash.0.finish()),
            None => self.digest_again()?,
        };
        self.finish_named(digest)
    }

    /// Ends the payload under the digest that the caller computed over the very octets it pushed. What the writer
    /// hashed itself counts more.
    pub fn finish_as(mut self, digest: Digest) -> Result<Stored, PayloadError> {
        let digest = self.hash.take().map_or(digest, |hash| Digest(hash.0.finish()));
        self.finish_named(digest)
    }

    fn finish_named(mut self, digest: Digest) -> Result<Stored, PayloadError> {
        if self.file.is_none() {
            return Ok(Stored::Inline { digest, octets: std::mem::take(&mut self.buffer) });
        }
        self.spill()?;
        let Some(file) = self.file.take() else { return Ok(Stored::Inline { digest, octets: Vec::new() }) };
        file.as_file().sync_data().map_err(PayloadError::io("sync", file.path()))?;
        let hold = self.shared.name(file, digest)?;
        Ok(Stored::File { digest, size: self.size, hold })
    }

    /// The digest of what was written, read back.
    fn digest_again(&mut self) -> Result<Digest, PayloadError> {
        if self.file.is_none() {
            return Ok(Digest::of(&self.buffer));
        }
        self.spill()?;
        let Some(file) = &self.file else { return Ok(Digest::of(&[])) };
        let mut hash = Sha256::new();
        let reader = super::Reader::reopen(file)?;
        for chunk in reader {
            hash.update(&chunk?);
        }
        Ok(Digest(hash.finish()))
    }

    /// Moves the buffer into the file.
    fn spill(&mut self) -> Result<(), PayloadError> {
        let buffer = std::mem::take(&mut self.buffer);
        self.write(&buffer)?;
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    fn write(&mut self, octets: &[u8]) -> Result<(), PayloadError> {
        if self.file.is_none() || self.size >= self.checked {
            self.shared.check_space()?;
            self.checked = self.size + SPACE_STEP;
        }
        let mut file = match self.file.take() {
            Some(file) => file,
            None => self.shared.incoming()?,
        };
        file.write_all(octets).map_err(PayloadError::io("write", &self.shared.dir))?;
        self.file = Some(file);
        Ok(())
    }
}
