//! Who still needs a payload file that no row names yet. A submission that is refused after its first payload, or a
//! message whose second part is bad, must not leave files that nobody will ever look for.

use std::collections::HashMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::Digest;
use super::store::Shared;

/// Files that are held, by digest. One process writes into the folder, so nobody else can hold one.
#[derive(Debug, Default)]
pub(super) struct Holds(HashMap<Digest, Held>);

#[derive(Debug)]
struct Held {
    holders: usize,
    /// Whether the holders made the file, and no row may name it: it goes with the last of them.
    fresh: bool,
}

impl Holds {
    /// One more holder of a file; `there` when it was in the store before.
    pub(super) fn hold(&mut self, digest: Digest, there: bool) {
        self.0.entry(digest).or_insert(Held { holders: 0, fresh: !there }).holders += 1;
    }

    /// One holder less. Tells whether the file goes with it.
    fn release(&mut self, digest: Digest, kept: bool) -> bool {
        let Some(held) = self.0.get_mut(&digest) else { return false };
        held.holders = held.holders.saturating_sub(1);
        held.fresh &= !kept;
        let goes = held.holders == 0 && held.fresh;
        if held.holders == 0 {
            self.0.remove(&digest);
        }
        goes
    }
}

/// Holds a payload file until a row names it. When the last holder goes and none has [kept](Hold::keep) it, the file goes.
#[derive(Clone)]
pub struct Hold(Arc<Inner>);

struct Inner {
    shared: Arc<Shared>,
    digest: Digest,
    kept: AtomicBool,
}

impl Hold {
    pub(super) fn new(shared: Arc<Shared>, digest: Digest) -> Self {
        Self(Arc::new(Inner { shared, digest, kept: AtomicBool::new(false) }))
    }

    /// The file stays, whatever becomes of its holders: called in the transaction that names it, before that commits.
    pub fn keep(&self) {
        self.0.kept.store(true, Ordering::Relaxed);
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let mut holds = self.shared.holds();
        if holds.release(self.digest, self.kept.load(Ordering::Relaxed)) {
            // Under the lock that names files, so that nobody gets this one meanwhile. What cannot be removed is litter.
            let _ = fs::remove_file(self.shared.path(self.digest));
        }
    }
}

impl std::fmt::Debug for Hold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Hold({})", self.0.digest)
    }
}

/// Two payloads are the same whoever holds them.
impl PartialEq for Hold {
    fn eq(&self, other: &Self) -> bool {
        self.0.digest == other.0.digest
    }
}

impl Eq for Hold {}
