//! Verdicts that were reached before.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use time::OffsetDateTime;

use super::{Purpose, Verdict};

type Key = ([u8; 32], Purpose);

struct Entry {
    epoch: u64,
    from: OffsetDateTime,
    until: OffsetDateTime,
    verdict: Verdict,
}

/// Accepted certificates by the SHA-256 of their DER and the purpose. Refusals are not kept: the next message may bring
/// the intermediate that was missing, and a stranger cannot fill the memory. The oldest entry gives way.
pub(super) struct Cache {
    capacity: usize,
    entries: Mutex<(HashMap<Key, Entry>, VecDeque<Key>)>,
}

impl Cache {
    pub(super) fn new(capacity: usize) -> Self {
        Self { capacity, entries: Mutex::default() }
    }

    /// A verdict of this revocation epoch whose whole path is valid at `now`.
    pub(super) fn get(&self, key: Key, epoch: u64, now: OffsetDateTime) -> Option<Verdict> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let entry = entries.0.get(&key)?;
        (entry.epoch == epoch && entry.from <= now && now <= entry.until).then(|| entry.verdict.clone())
    }

    /// Keeps a verdict for judgements from `from` to `until`.
    pub(super) fn put(&self, key: Key, epoch: u64, (from, until): (OffsetDateTime, OffsetDateTime), verdict: &Verdict) {
        if self.capacity == 0 {
            return;
        }
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (map, order) = &mut *entries;
        if map.insert(key, Entry { epoch, from, until, verdict: verdict.clone() }).is_none() {
            order.push_back(key);
        }
        while map.len() > self.capacity {
            let Some(oldest) = order.pop_front() else { break };
            map.remove(&oldest);
        }
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.entries.lock().unwrap().0.len()
    }
}
