//! The anchors of one message PKI, and the judgements made with them.

use std::sync::Arc;

use arc_swap::ArcSwap;
use time::OffsetDateTime;

use super::cache::Cache;
use super::revocation::{self, Crl, Revocation};
use super::{Purpose, TrustError, Verdict, check, path};
use crate::wss::Certificate;

/// Certificates that a message may bring along.
const MAX_CHAIN: usize = 10;

/// What to think of a certificate whose issuer has no usable list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MissingCrl {
    /// It is refused (hard fail).
    #[default]
    Refuse,
    /// It is accepted, and the verdict says so (soft fail).
    Accept,
}

/// How [`Trust`] judges.
#[derive(Clone, Debug)]
pub struct Options {
    /// Revocation lists. Without any, revocation is not asked.
    pub crls: Vec<Crl>,
    /// What to think of issuers that are missing among them.
    pub missing_crl: MissingCrl,
    /// How many verdicts are kept.
    pub cache: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { crls: Vec::new(), missing_crl: MissingCrl::default(), cache: 4096 }
    }
}

/// The lists in force, and how often they changed.
struct Lists {
    epoch: u64,
    crls: Vec<Crl>,
}

/// Judges message certificates against the anchors of one PKI.
pub struct Trust {
    anchors: Vec<Arc<Certificate>>,
    intermediates: Vec<Arc<Certificate>>,
    missing_crl: MissingCrl,
    lists: ArcSwap<Lists>,
    cache: Cache,
}

impl std::fmt::Debug for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Trust({:?})", self.anchors)
    }
}

impl Trust {
    /// `anchors` end a path (they need not be roots); `intermediates` are tried where a message brings none (WS-103).
    pub fn new(anchors: Vec<Certificate>, intermediates: Vec<Certificate>, options: Options) -> Self {
        let Options { crls, missing_crl, cache } = options;
        Self {
            anchors: anchors.into_iter().map(Arc::new).collect(),
            intermediates: intermediates.into_iter().map(Arc::new).collect(),
            missing_crl,
            lists: ArcSwap::from_pointee(Lists { epoch: 0, crls }),
            cache: Cache::new(cache),
        }
    }

    /// The certificates that end a path.
    pub fn anchors(&self) -> &[Arc<Certificate>] {
        &self.anchors
    }

    /// Puts other lists into force. Verdicts reached before count no more.
    pub fn replace_crls(&self, crls: &[Crl]) {
        self.lists.rcu(|old| Lists { epoch: old.epoch + 1, crls: crls.to_vec() });
    }

    /// Judges a certificate by its path to an anchor. `chain` is what the message brought along, in any order; it is
    /// not trusted.
    ///
    /// # Errors
    /// The first thing that is wrong: with the certificate itself, the path, or its revocation.
    pub fn judge(
        &self,
        leaf: &Certificate,
        chain: &[Arc<Certificate>],
        purpose: Purpose,
        now: OffsetDateTime,
    ) -> Result<Verdict, TrustError> {
        let lists = self.lists.load();
        let key = (*leaf.sha256(), purpose);
        if let Some(verdict) = self.cache.get(key, lists.epoch, now) {
            return Ok(verdict);
        }
        check::leaf(leaf, purpose, now)?;
        let path = self.path(leaf, chain, purpose, now)?;
        let revocation = self.revocation(&path, &lists, purpose, now)?;
        let verdict = accepted(&path, revocation);
        self.cache.put(key, lists.epoch, window(&path, &lists.crls, now), &verdict);
        Ok(verdict)
    }

    /// Judges a certificate that a P-Mode names: it needs no path. When it happens to have one, a list that revokes it
    /// is heeded.
    ///
    /// # Errors
    /// When it is outside its validity, not made for this, weak, of an unknown critical extension, or revoked.
    pub fn judge_pinned(
        &self,
        leaf: &Arc<Certificate>,
        purpose: Purpose,
        now: OffsetDateTime,
    ) -> Result<Verdict, TrustError> {
        check::leaf(leaf, purpose, now)?;
        let alone = path::store([leaf], &[], now)?;
        let pinned = path::find(&alone, leaf, std::iter::empty(), purpose, now)?;
        let lists = self.lists.load();
        let mut revocation = Revocation::Unchecked;
        if !lists.crls.is_empty()
            && let Ok(path) = self.path(leaf, &[], purpose, now)
        {
            revocation = match self.revocation(&path, &lists, purpose, now) {
                Err(TrustError::RevocationUnknown { reason, .. }) => Revocation::Unknown { why: reason },
                known => known?,
            };
        }
        Ok(accepted(&pinned, revocation))
    }

    fn path(
        &self,
        leaf: &Certificate,
        chain: &[Arc<Certificate>],
        purpose: Purpose,
        now: OffsetDateTime,
    ) -> Result<Vec<Certificate>, TrustError> {
        if chain.len() > MAX_CHAIN {
            return Err(TrustError::TooManyCertificates { given: chain.len(), limit: MAX_CHAIN });
        }
        let store = path::store(&self.anchors, &[], now)?;
        path::find(&store, leaf, chain.iter().chain(&self.intermediates), purpose, now)
    }

    /// After the path holds, so that a stranger cannot make us go through lists.
    fn revocation(
        &self,
        path: &[Certificate],
        lists: &Lists,
        purpose: Purpose,
        now: OffsetDateTime,
    ) -> Result<Revocation, TrustError> {
        if lists.crls.is_empty() {
            return Ok(Revocation::Unchecked);
        }
        let store = path::store(&self.anchors, &lists.crls, now)?;
        revocation::check(&store, path, &lists.crls, self.missing_crl, purpose)
    }

    /// How many verdicts are kept at present.
    #[cfg(test)]
    pub(super) fn cached(&self) -> usize {
        self.cache.len()
    }
}

fn accepted(path: &[Certificate], revocation: Revocation) -> Verdict {
    let valid_until = path.iter().map(Certificate::not_after).min().unwrap_or(OffsetDateTime::UNIX_EPOCH);
    Verdict { path: path.iter().map(|c| c.subject().to_owned()).collect(), valid_until, revocation }
}

/// From when to when a verdict on this path would be the same: all its certificates valid, and no list of theirs due.
fn window(path: &[Certificate], crls: &[Crl], now: OffsetDateTime) -> (OffsetDateTime, OffsetDateTime) {
    let from = path.iter().map(Certificate::not_before).max().unwrap_or(now);
    let ends = path.iter().map(Certificate::not_after);
    let of_path = crls.iter().filter(|crl| path.iter().any(|c| crl.is_of(c)));
    let due = of_path.filter_map(Crl::next_update).filter(|due| *due >= now);
    // Lists say from when they hold, too; what was judged at `now` is not taken for earlier.
    let from = if crls.is_empty() { from } else { from.max(now) };
    (from, ends.chain(due).min().unwrap_or(now))
}
