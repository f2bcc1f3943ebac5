//! Giving a payload out.

use std::{
    fs::File,
    io::{self, Read},
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use futures_util::Stream;
use openssl::sha::Sha256;
use tokio::sync::mpsc;

use super::{Digest, PayloadError};

const CHUNK: usize = 256 << 10;
/// Chunks read ahead of the consumer.
const AHEAD: usize = 2;

/// A payload being read: an iterator over chunks that ends with a check of the digest.
pub struct Reader {
    file: File,
    path: PathBuf,
    size: u64,
    /// What the whole must hash to; `None` once the end was reached or an error given.
    check: Option<(Sha256, Option<Digest>)>,
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("path", &self.path).field("size", &self.size).finish_non_exhaustive()
    }
}

impl Reader {
    pub(super) fn open(path: &Path, digest: Digest) -> Result<Self, PayloadError> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => PayloadError::Missing { digest },
            _ => PayloadError::io("open", path)(error),
        })?;
        Self::new(file, path, Some(digest))
    }

    /// What was written to an unfinished file.
    pub(super) fn reopen(file: &tempfile::NamedTempFile) -> Result<Self, PayloadError> {
        let again = file.reopen().map_err(PayloadError::io("open", file.path()))?;
        Self::new(again, file.path(), None)
    }

    fn new(file: File, path: &Path, digest: Option<Digest>) -> Result<Self, PayloadError> {
        let size = file.metadata().map_err(PayloadError::io("look at", path))?.len();
        Ok(Self { file, path: path.to_owned(), size, check: Some((Sha256::new(), digest)) })
    }

    /// How many octets the payload has.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Reads on a blocking thread, a little ahead. Must be called within a tokio runtime.
    pub fn into_stream(self) -> PayloadStream {
        let (sender, receiver) = mpsc::channel(AHEAD);
        tokio::task::spawn_blocking(move || {
            for chunk in self {
                if sender.blocking_send(chunk).is_err() {
                    return;
                }
            }
        });
        PayloadStream(receiver)
    }

    fn chunk(&mut self) -> Result<Option<Bytes>, PayloadError> {
        let Some((hash, _)) = &mut self.check else { return Ok(None) };
        let mut chunk = Vec::with_capacity(CHUNK);
        let read = (&mut self.file).take(CHUNK as u64).read_to_end(&mut chunk);
        read.map_err(PayloadError::io("read", &self.path))?;
        if !chunk.is_empty() {
            hash.update(&chunk);
            return Ok(Some(chunk.into()));
        }
        match self.check.take() {
            Some((hash, Some(digest))) if hash.clone().finish() != digest.0 => Err(PayloadError::Damaged { digest }),
            _ => Ok(None),
        }
    }
}

impl Iterator for Reader {
    type Item = Result<Bytes, PayloadError>;

    fn next(&mut self) -> Option<Self::Item> {
        let chunk = self.chunk().transpose();
        if matches!(chunk, Some(Err(_))) {
            self.check = None;
        }
        chunk
    }
}

/// The chunks of a payload.
#[derive(Debug)]
pub struct PayloadStream(mpsc::Receiver<Result<Bytes, PayloadError>>);

impl Stream for PayloadStream {
    type Item = Result<Bytes, PayloadError>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.poll_recv(cx)
    }
}
