//! The request's entity on its way in: the SOAP part in memory, the other parts one after the other.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};

use crate::msh::Reject;
use crate::transport::body::{BodyError, BodyReader};
use crate::wire::mime::{ContentType, MimeError, MimeEvent, MimeLimits, MultipartReader, PartHead, Related};

/// Octets of a refused request that are kept as evidence.
const EVIDENCE: usize = 1 << 20;

/// Why an entity could not be read to its end.
#[derive(Debug, thiserror::Error)]
pub(super) enum IntakeError {
    /// The line: too large, too slow, cut off. Answered by an HTTP status.
    #[error(transparent)]
    Body(#[from] BodyError),
    /// What is on it.
    #[error(transparent)]
    Reject(#[from] Reject),
}

impl From<MimeError> for IntakeError {
    fn from(error: MimeError) -> Self {
        Self::Reject(Reject::Packaging(error.to_string()))
    }
}

/// Bounds of an entity.
#[derive(Clone, Copy, Debug)]
pub(super) struct IntakeLimits {
    /// Octets of the SOAP part, and of what may stand before it.
    pub(super) soap: usize,
    /// Parts.
    pub(super) parts: usize,
}

/// The SOAP part.
#[derive(Debug)]
pub(super) struct Root {
    /// Its octets, transfer encoding undone.
    pub(super) octets: Bytes,
    /// `charset` of its type.
    pub(super) charset: Option<String>,
    /// Its media type, to be compared with the envelope's version.
    pub(super) media_type: Option<String>,
}

/// What comes after the SOAP part.
#[derive(Debug)]
pub(super) enum Piece {
    /// A part begins.
    Head(Box<PartHead>),
    /// Octets of it, transfer encoding undone.
    Data(Bytes),
    /// It ends.
    End,
}

enum Framing {
    Bare(ContentType),
    Multipart { related: Related, reader: Box<MultipartReader> },
}

/// The entity.
pub(super) struct Intake<'b> {
    body: &'b mut BodyReader,
    framing: Framing,
    limits: IntakeLimits,
    ready: VecDeque<MimeEvent>,
    scratch: Vec<MimeEvent>,
    ended: bool,
    raw: Vec<Bytes>,
    kept: usize,
    heads: Vec<Bytes>,
}

impl<'b> Intake<'b> {
    /// Makes ready by the request's `Content-Type` (EB-002, EB-003).
    pub(super) fn new(
        content_type: Option<&str>,
        body: &'b mut BodyReader,
        limits: IntakeLimits,
    ) -> Result<Self, IntakeError> {
        let missing = || Reject::Packaging("the request has no Content-Type".to_owned());
        let outer = ContentType::parse(content_type.ok_or_else(missing)?)?;
        let framing = if outer.essence == "multipart/related" {
            let related = Related::read(&outer)?;
            let mime = MimeLimits { parts: limits.parts + 1, ..MimeLimits::default() };
            let reader = Box::new(MultipartReader::new(&related.boundary, mime)?);
            Framing::Multipart { related, reader }
        } else {
            Framing::Bare(outer)
        };
        let (ready, scratch, raw, heads) = (VecDeque::new(), Vec::new(), Vec::new(), Vec::new());
        Ok(Self { body, framing, limits, ready, scratch, ended: false, raw, kept: 0, heads })
    }

    /// Reads up to the end of the SOAP part. Parts that stand before it wait in memory, within the same bound.
    pub(super) async fn root(&mut self) -> Result<Root, IntakeError> {
        if let Framing::Bare(outer) = &self.framing {
            let (charset, media_type) = (outer.charset().map(str::to_owned), Some(outer.essence.clone()));
            let octets = self.bare().await?;
            return Ok(Root { octets, charset, media_type });
        }
        let (mut index, mut found) = (0, None);
        let (mut octets, mut before) = (BytesMut::new(), Vec::new());
        let mut waiting = 0;
        loop {
            let Some(event) = self.event().await? else {
                return Err(Reject::Packaging("the root part that `start` names is not there".to_owned()).into());
            };
            match (&event, found) {
                (MimeEvent::Head(head), None) if self.is_root(head, index)? => {
                    found = Some(Root {
                        octets: Bytes::new(),
                        charset: head.content_type.as_ref().and_then(ContentType::charset).map(str::to_owned),
                        media_type: head.content_type.as_ref().map(|c| c.essence.clone()),
                    });
                    continue;
                }
                (MimeEvent::Data(data), Some(root)) => {
                    octets.extend_from_slice(data);
                    found = Some(root);
                    self.bounded(octets.len(), "the SOAP part")?;
                    continue;
                }
                (MimeEvent::PartEnd, Some(root)) => {
                    before.into_iter().rev().for_each(|event| self.ready.push_front(event));
                    return Ok(Root { octets: octets.freeze(), ..root });
                }
                (_, other) => found = other,
            }
            if let MimeEvent::Head(_) = &event {
                index += 1;
            }
            if let MimeEvent::Data(data) = &event {
                waiting += data.len();
                self.bounded(waiting, "what stands before the SOAP part")?;
            }
            before.push(event);
        }
    }

    /// The next piece after the SOAP part; `None` at the end of a whole entity.
    pub(super) async fn piece(&mut self) -> Result<Option<Piece>, IntakeError> {
        loop {
            return Ok(match self.event().await? {
                Some(MimeEvent::Head(head)) => {
                    self.heads.push(head.raw.clone());
                    Some(Piece::Head(Box::new(head)))
                }
                Some(MimeEvent::Data(octets)) => Some(Piece::Data(octets)),
                Some(MimeEvent::PartEnd) => Some(Piece::End),
                Some(MimeEvent::End) => continue,
                None => None,
            });
        }
    }

    /// The entity's beginning as it came, for the record of a refusal.
    pub(super) fn evidence(&self) -> Vec<u8> {
        self.raw.iter().fold(Vec::with_capacity(self.kept), |mut all, chunk| {
            all.extend_from_slice(chunk);
            all
        })
    }

    /// The heads of the parts after the SOAP part.
    pub(super) fn heads(&self) -> &[Bytes] {
        &self.heads
    }

    fn is_root(&self, head: &PartHead, index: usize) -> Result<bool, IntakeError> {
        let Framing::Multipart { related, .. } = &self.framing else { return Ok(false) };
        if !related.is_root(head, index) {
            return Ok(false);
        }
        related.check_root(head)?;
        Ok(true)
    }

    fn bounded(&self, octets: usize, what: &str) -> Result<(), IntakeError> {
        if octets <= self.limits.soap {
            return Ok(());
        }
        Err(Reject::TooLarge(format!("{what} has more than {} octets", self.limits.soap)).into())
    }

    async fn bare(&mut self) -> Result<Bytes, IntakeError> {
        let mut all = BytesMut::new();
        while let Some(chunk) = self.chunk().await? {
            all.extend_from_slice(&chunk);
            self.bounded(all.len(), "the SOAP message")?;
        }
        self.ended = true;
        Ok(all.freeze())
    }

    async fn event(&mut self) -> Result<Option<MimeEvent>, IntakeError> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Ok(Some(event));
            }
            if self.ended {
                return Ok(None);
            }
            let chunk = self.chunk().await?;
            let Framing::Multipart { reader, .. } = &mut self.framing else { return Ok(None) };
            match chunk {
                Some(chunk) => reader.push(chunk, &mut self.scratch)?,
                None => {
                    self.ended = true;
                    reader.finish(&mut self.scratch)?;
                }
            }
            self.ready.extend(self.scratch.drain(..));
        }
    }

    async fn chunk(&mut self) -> Result<Option<Bytes>, IntakeError> {
        let chunk = self.body.next().await?;
        if let Some(chunk) = &chunk {
            let room = EVIDENCE - self.kept;
            if room > 0 {
                let kept = chunk.slice(..chunk.len().min(room));
                self.kept += kept.len();
                self.raw.push(kept);
            }
        }
        Ok(chunk)
    }
}
