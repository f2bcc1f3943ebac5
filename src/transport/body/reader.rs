//! Reading a body chunk by chunk.

use std::{
    collections::VecDeque,
    error::Error as _,
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use thiserror::Error;
use tokio::time::{Instant, timeout};

use super::inflate::Inflate;

/// Why a body could not be read to its end.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum BodyError {
    /// 413.
    #[error("the body is larger than the {limit} octets taken here; raise `max_message` if it is wanted")]
    TooLarge {
        /// `max_message`, or the bound of an answer.
        limit: u64,
    },
    /// 408: below the minimum rate.
    #[error("the body came slower than {min_rate} octets a second ({received} octets received)")]
    TooSlow {
        /// `min_rate`.
        min_rate: u64,
        /// Octets received until then.
        received: u64,
    },
    /// 408: over the total time.
    #[error("the body was not complete in time ({received} octets received)")]
    Late {
        /// Octets received until then.
        received: u64,
    },
    /// 413: a compression bomb.
    #[error("the body inflates to more than {limit} times its size")]
    Ratio {
        /// `max_ratio`.
        limit: u64,
    },
    /// 400: the gzip coding is broken.
    #[error("the content coding cannot be undone: {0}")]
    Encoding(String),
    /// 400: the chunked coding is broken, or the peer stopped sending.
    #[error("the body ends before its end: {0}")]
    Cut(String),
}

impl BodyError {
    /// The status that answers it.
    pub fn status(&self) -> u16 {
        match self {
            Self::TooLarge { .. } | Self::Ratio { .. } => 413,
            Self::TooSlow { .. } | Self::Late { .. } => 408,
            Self::Encoding(_) | Self::Cut(_) => 400,
        }
    }
}

/// The rate a sender must keep.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    /// Octets a second, on average over the time we waited.
    pub min_rate: u64,
    /// How long that may be missed.
    pub grace: Duration,
}

/// Bounds of one body.
#[derive(Clone, Copy, Debug)]
pub struct BodyLimits {
    /// Octets on the wire, and again inflated.
    pub max: u64,
    /// See [`crate::transport::limits::Limits::max_ratio`].
    pub max_ratio: u64,
    /// Time spent waiting for octets, in all. What the reader does in between does not count.
    pub wait: Duration,
    /// No waiting after this instant.
    pub until: Option<Instant>,
    /// The rate to keep, if any.
    pub pace: Option<Pace>,
}

#[derive(Debug)]
enum Source {
    Network(Incoming),
    Held(VecDeque<Bytes>),
}

/// A body that is read once, in chunks as they come off the wire (no copy is made of them).
#[derive(Debug)]
pub struct BodyReader {
    source: Source,
    limits: BodyLimits,
    inflate: Option<Inflate>,
    received: u64,
    given: u64,
    waited: Duration,
    ended: Arc<AtomicBool>,
    failure: Option<BodyError>,
}

impl BodyReader {
    /// A body held in memory: for replays and tests.
    pub fn held(chunks: impl IntoIterator<Item = Bytes>) -> Self {
        let limits = BodyLimits { max: u64::MAX, max_ratio: u64::MAX, wait: Duration::MAX, until: None, pace: None };
        Self::new(Source::Held(chunks.into_iter().collect()), limits, false, Arc::default())
    }

    pub(in crate::transport) fn network(
        body: Incoming,
        limits: BodyLimits,
        gzip: bool,
        ended: Arc<AtomicBool>,
    ) -> Self {
        Self::new(Source::Network(body), limits, gzip, ended)
    }

    fn new(source: Source, limits: BodyLimits, gzip: bool, ended: Arc<AtomicBool>) -> Self {
        let inflate = gzip.then(|| Inflate::new(limits.max_ratio));
        Self { source, limits, inflate, received: 0, given: 0, waited: Duration::ZERO, ended, failure: None }
    }

    /// The next octets (never empty), or `None` after the last. An error stays: asked again, the same comes again.
    pub async fn next(&mut self) -> Result<Option<Bytes>, BodyError> {
        if let Some(failure) = &self.failure {
            return Err(failure.clone());
        }
        let outcome = self.advance().await;
        if let Err(failure) = &outcome {
            self.failure = Some(failure.clone());
        }
        outcome
    }

    /// Everything that is left, up to `max` octets.
    pub async fn collect(&mut self, max: usize) -> Result<Bytes, BodyError> {
        let Some(first) = self.next().await? else { return Ok(Bytes::new()) };
        let mut all = Vec::new();
        let mut chunk = Some(first);
        while let Some(octets) = chunk {
            if all.len() + octets.len() > max {
                return Err(BodyError::TooLarge { limit: max as u64 });
            }
            chunk = self.next().await?;
            if all.is_empty() && chunk.is_none() {
                return Ok(octets);
            }
            all.extend_from_slice(&octets);
        }
        Ok(all.into())
    }

    /// Octets received so far, as they were on the wire without transfer coding.
    pub fn received(&self) -> u64 {
        self.received
    }

    async fn advance(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            if let Some(octets) = self.inflate.as_mut().map_or(Ok(None), Inflate::next)? {
                return self.give(octets).map(Some);
            }
            match (self.receive().await?, &mut self.inflate) {
                (Some(octets), Some(inflate)) => inflate.feed(octets),
                (Some(octets), None) => return Ok(Some(octets)),
                (None, Some(inflate)) => {
                    let last = inflate.finish()?;
                    self.inflate = None;
                    if let Some(octets) = last {
                        return self.give(octets).map(Some);
                    }
                    return Ok(None);
                }
                (None, None) => return Ok(None),
            }
        }
    }

    fn give(&mut self, octets: Bytes) -> Result<Bytes, BodyError> {
        self.given += octets.len() as u64;
        if self.given > self.limits.max { Err(BodyError::TooLarge { limit: self.limits.max }) } else { Ok(octets) }
    }

    /// The next octets off the wire.
    async fn receive(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let octets = match &mut self.source {
                Source::Held(chunks) => chunks.pop_front(),
                Source::Network(_) => self.receive_frame().await?,
            };
            let Some(octets) = octets else {
                self.ended.store(true, Ordering::Release);
                return Ok(None);
            };
            self.received += octets.len() as u64;
            if self.received > self.limits.max {
                return Err(BodyError::TooLarge { limit: self.limits.max });
            }
            if !octets.is_empty() {
                return Ok(Some(octets));
            }
        }
    }

    async fn receive_frame(&mut self) -> Result<Option<Bytes>, BodyError> {
        loop {
            let began = Instant::now();
            let (allowed, error) = self.allowance(began);
            let Source::Network(body) = &mut self.source else { return Ok(None) };
            let frame = timeout(allowed, body.frame()).await;
            self.waited += began.elapsed();
            match frame {
                Err(_) => return Err(error),
                Ok(None) => return Ok(None),
                Ok(Some(Err(error))) => return Err(cut(&error)),
                // Trailers say nothing in AS4 (FR-102).
                Ok(Some(Ok(frame))) => match frame.into_data() {
                    Ok(octets) => return Ok(Some(octets)),
                    Err(_trailers) => {}
                },
            }
        }
    }

    /// How long the next octets may take, and what it is when they take longer.
    fn allowance(&self, now: Instant) -> (Duration, BodyError) {
        let received = self.received;
        let mut allowed = self.limits.wait.saturating_sub(self.waited);
        let mut error = BodyError::Late { received };
        if let Some(until) = self.limits.until {
            allowed = allowed.min(until.saturating_duration_since(now));
        }
        if let Some(Pace { min_rate, grace }) = self.limits.pace.filter(|pace| pace.min_rate > 0) {
            let earned = Duration::from_millis(received.saturating_mul(1000) / min_rate);
            let paced = grace.saturating_add(earned).saturating_sub(self.waited);
            if paced < allowed {
                (allowed, error) = (paced, BodyError::TooSlow { min_rate, received });
            }
        }
        (allowed, error)
    }
}

/// Hyper wraps what our own framing said: that reason reads best.
fn cut(error: &hyper::Error) -> BodyError {
    let mut cause = error.source();
    while let Some(inner) = cause {
        if let Some(io) = inner.downcast_ref::<io::Error>() {
            return BodyError::Cut(io.to_string());
        }
        cause = inner.source();
    }
    BodyError::Cut(error.to_string())
}

#[cfg(test)]
#[path = "reader_tests.rs"]
mod tests;
