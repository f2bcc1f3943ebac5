//! What the endpoints share.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use openssl::sha::sha256;

use super::problem::Problem;
use crate::gateway::Gateway;
use crate::telemetry::metrics::Metrics;

/// What the admin listener is given.
#[derive(Clone)]
pub struct ApiState {
    /// The gateway.
    pub gateway: Arc<Gateway>,
    /// The numbers.
    pub metrics: Metrics,
    /// Names and secrets of the tokens. The name is the producer's name in the sender log.
    pub tokens: Vec<(String, String)>,
    /// Whether the process is stopping.
    pub stopping: Arc<AtomicBool>,
}

/// [`ApiState`] with the secrets hashed, and the submissions under way.
pub(super) struct Api {
    pub(super) gateway: Arc<Gateway>,
    pub(super) metrics: Metrics,
    tokens: Vec<(String, [u8; 32])>,
    stopping: Arc<AtomicBool>,
    under_way: Mutex<HashSet<(String, String)>>,
}

pub(super) type Shared = Arc<Api>;

impl From<ApiState> for Api {
    fn from(state: ApiState) -> Self {
        let tokens = state.tokens.into_iter().map(|(name, secret)| (name, sha256(secret.as_bytes()))).collect();
        let ApiState { gateway, metrics, stopping, .. } = state;
        Self { gateway, metrics, tokens, stopping, under_way: Mutex::default() }
    }
}

impl Api {
    /// The name of a token. Hashes of equal length are compared, all of them and in constant time: neither the time
    /// taken nor its position in the list tells how near a guess was.
    pub(super) fn token(&self, secret: &str) -> Option<&str> {
        let given = sha256(secret.as_bytes());
        let mut found = None;
        for (name, hash) in &self.tokens {
            if openssl::memcmp::eq(hash, &given) {
                found = Some(name.as_str());
            }
        }
        found
    }

    /// Whether the process is stopping.
    pub(super) fn is_stopping(&self) -> bool {
        self.stopping.load(Ordering::Relaxed)
    }

    /// Begins a submission under a key, unless one with the same key is under way in this process. The database decides
    /// in the end; this spares the second caller the upload of what would be a repeat.
    pub(super) fn begin(self: &Arc<Self>, producer: &str, key: &str) -> Result<UnderWay, Problem> {
        let entry = (producer.to_owned(), key.to_owned());
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        if under_way.insert(entry.clone()) {
            return Ok(UnderWay { api: Arc::clone(self), entry });
        }
        let detail = format!("a submission with the key `{key}` is in progress");
        Err(Problem::new(409, "submit.in_progress", detail).retry_after(1).next("repeat the request in a moment"))
    }
}

/// A submission under way; dropping it ends it.
pub(super) struct UnderWay {
    api: Shared,
    entry: (String, String),
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.api.under_way.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.entry);
    }
}
