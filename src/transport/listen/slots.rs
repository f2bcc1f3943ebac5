//! How many connections may stand at once, and which one gives way.
//!
//! A thousand half-open handshakes must not keep a partner out (AT-22, AT-30): when every slot is taken, the connection
//! that has been without a request for longest is closed.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use futures_util::future::{AbortHandle, AbortRegistration};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};

/// All slots of one listener.
#[derive(Debug)]
pub(super) struct Slots {
    free: Arc<Semaphore>,
    waiting: Mutex<Waiting>,
    /// A connection began to wait: somebody can give way again.
    left: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    next: u64,
    connections: BTreeMap<u64, AbortHandle>,
}

impl Slots {
    pub(super) fn new(slots: usize) -> Arc<Self> {
        let free = Arc::new(Semaphore::new(slots.clamp(1, Semaphore::MAX_PERMITS)));
        Arc::new(Self { free, waiting: Mutex::default(), left: Notify::new() })
    }

    /// A free slot, made free if need be, and what ends the connection in it when that has to give way.
    pub(super) async fn claim(self: &Arc<Self>) -> (Arc<Slot>, AbortRegistration) {
        loop {
            let left = self.left.notified();
            if let Ok(permit) = Arc::clone(&self.free).try_acquire_owned() {
                let (abort, registration) = AbortHandle::new_pair();
                let place = Mutex::new(None);
                let slot = Arc::new(Slot { slots: Arc::clone(self), abort, place, _permit: permit });
                slot.leave();
                return (slot, registration);
            }
            // The permit of an evicted connection comes back once its task is dropped.
            let evicted = self.evict();
            tokio::select! {
                () = left, if !evicted => {}
                permit = Arc::clone(&self.free).acquire_owned() => drop(permit),
            }
        }
    }

    /// Closes the connection that waits for longest; `false` if every one carries a request.
    pub(super) fn evict(&self) -> bool {
        let oldest = self.lock().connections.pop_first();
        if let Some((_, abort)) = &oldest {
            abort.abort();
        }
        oldest.is_some()
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one connection. It waits for its first request from the start.
#[derive(Debug)]
pub(super) struct Slot {
    slots: Arc<Slots>,
    abort: AbortHandle,
    /// The number under which it waits.
    place: Mutex<Option<u64>>,
    _permit: OwnedSemaphorePermit,
}

impl Slot {
    /// The connection carries no request (any more).
    pub(super) fn leave(&self) {
        let mut place = self.place();
        let mut waiting = self.slots.lock();
        if let Some(number) = place.take() {
            waiting.connections.remove(&number);
        }
        let number = waiting.next;
        waiting.next += 1;
        waiting.connections.insert(number, self.abort.clone());
        *place = Some(number);
        drop(waiting);
        self.slots.left.notify_one();
    }

    /// A request begins; `false` if the connection had to give way a moment ago.
    pub(super) fn take(&self) -> bool {
        match self.place().take() {
            Some(number) => self.slots.lock().connections.remove(&number).is_some(),
            None => true,
        }
    }

    fn place(&self) -> MutexGuard<'_, Option<u64>> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_connection_that_waits_for_longest_gives_way() {
        let slots = Slots::new(2);
        let (first, _) = slots.claim().await;
        let (second, _) = slots.claim().await;
        assert!(first.take());
        first.leave();
        let third = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.claim().await }
        });
        while !second.abort.is_aborted() {
            tokio::task::yield_now().await;
        }
        assert!(!second.take(), "it learns that it gave way");
        drop(second);
        let (third, _) = third.await.unwrap();
        assert!(!first.abort.is_aborted() && third.take());
    }

    #[tokio::test]
    async fn connections_with_requests_are_left_alone() {
        let slots = Slots::new(1);
        let (busy, _) = slots.claim().await;
        assert!(busy.take());
        assert!(!slots.evict());
        let next = tokio::spawn({
            let slots = Arc::clone(&slots);
            async move { slots.claim().await }
        });
        tokio::task::yield_now().await;
        assert!(!next.is_finished());
        busy.leave();
        while !busy.abort.is_aborted() {
            tokio::task::yield_now().await;
        }
        drop(busy);
        next.await.unwrap();
    }
}
