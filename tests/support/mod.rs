//! What the scenarios stand on: gateways as processes, partners as scripts or as other implementations, raw HTTP.
//!
//! Nothing here uses the library: a gateway is seen from outside, as a partner and a business system see it.

pub(crate) mod api;
pub(crate) mod database;
pub(crate) mod http;
pub(crate) mod inbox;
pub(crate) mod keys;
pub(crate) mod message;
pub(crate) mod node;
pub(crate) mod others;
pub(crate) mod peer;
pub(crate) mod pmode;
pub(crate) mod ports;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A file of `tests/fixtures`.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Waits until `ready` gives a value; panics with `what` when it takes longer than `limit`.
pub(crate) fn wait<T>(what: &str, limit: Duration, mut ready: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + limit;
    loop {
        if let Some(value) = ready() {
            return value;
        }
        assert!(Instant::now() < end, "not within {limit:?}: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
