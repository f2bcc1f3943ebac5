//! Connections that are kept for the next message.

use std::{
    collections::HashMap,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use hyper::client::conn::http1::SendRequest;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    task::JoinHandle,
    time::Instant,
};

use super::{Failure, Step, TlsInfo, address::Authority, progress::Progress, request::PostBody};

/// How connections are kept.
#[derive(Clone, Copy, Debug)]
pub struct PoolOptions {
    /// Connections to one partner at a time; further posts wait.
    pub max_connections: usize,
    /// Resting connections kept for one partner.
    pub max_resting: usize,
    /// How long a connection may rest. Shorter than what servers grant, or posts meet dead connections.
    pub rest: Duration,
}

impl Default for PoolOptions {
    fn default() -> Self {
        Self { max_connections: 16, max_resting: 4, rest: Duration::from_secs(25) }
    }
}

/// The task that drives a connection; ends with it.
#[derive(Debug)]
pub(super) struct Ended(pub(super) JoinHandle<()>);

impl Drop for Ended {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// An open connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) sender: SendRequest<PostBody>,
    pub(super) _task: Ended,
    pub(super) progress: Arc<Progress>,
    pub(super) tls: Option<TlsInfo>,
    pub(super) peer: SocketAddr,
}

/// Connections are shared by posts that would make the very same one.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) authority: Authority,
    /// [`crate::transport::tls::ClientTls`] by its number.
    pub(super) tls: Option<u64>,
    pub(super) public_only: bool,
}

#[derive(Debug)]
pub(super) struct Pool {
    options: PoolOptions,
    hosts: Mutex<HashMap<Key, Arc<HostPool>>>,
}

#[derive(Debug)]
struct HostPool {
    permits: Arc<Semaphore>,
    resting: Mutex<Vec<(Instant, Connection)>>,
}

impl Pool {
    pub(super) fn new(options: PoolOptions) -> Self {
        Self { options, hosts: Mutex::default() }
    }

    /// The right to a connection of that key, when one is free.
    pub(super) async fn enter(&self, key: Key, deadline: Instant) -> Result<Entry, Failure> {
        let host = self.host(key);
        let permits = Arc::clone(&host.permits);
        match tokio::time::timeout_at(deadline, permits.acquire_owned()).await {
            Ok(Ok(permit)) => Ok(Entry { host, options: self.options, _permit: permit }),
            Ok(Err(_)) | Err(_) => Err(Failure::TimedOut(Step::Queue)),
        }
    }

    fn host(&self, key: Key) -> Arc<HostPool> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(host) = hosts.get(&key) {
            return Arc::clone(host);
        }
        // A good moment to forget partners that were renamed or given a new certificate.
        hosts.retain(|_, host| Arc::strong_count(host) > 1 || host.drop_stale(self.options.rest));
        let permits = Arc::new(Semaphore::new(self.options.max_connections.clamp(1, Semaphore::MAX_PERMITS)));
        let host = Arc::new(HostPool { permits, resting: Mutex::default() });
        hosts.insert(key, Arc::clone(&host));
        host
    }
}

impl HostPool {
    /// `true` if any is left.
    fn drop_stale(&self, rest: Duration) -> bool {
        let mut resting = self.resting.lock().unwrap_or_else(PoisonError::into_inner);
        resting.retain(|(since, connection)| since.elapsed() < rest && !connection.sender.is_closed());
        !resting.is_empty()
    }
}

/// The right to one connection.
#[derive(Debug)]
pub(super) struct Entry {
    host: Arc<HostPool>,
    options: PoolOptions,
    _permit: OwnedSemaphorePermit,
}

impl Entry {
    /// The connection that rested last, if it still lives.
    pub(super) async fn rested(&self) -> Option<Connection> {
        self.host.drop_stale(self.options.rest);
        loop {
            let (_, mut connection) = self.host.resting.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
            // What came unasked behind the last answer, or its end, is seen by the connection's task (FR-107).
            if connection.sender.ready().await.is_ok() {
                return Some(connection);
            }
        }
    }

    pub(super) fn lease(self, connection: Connection, ended: Arc<AtomicBool>) -> Lease {
        let progress = Arc::clone(&connection.progress);
        Lease { connection: Some(connection), entry: self, ended, progress }
    }
}

/// A connection in use. Goes back to rest when its exchange ended cleanly, and is closed otherwise.
#[derive(Debug)]
pub(super) struct Lease {
    connection: Option<Connection>,
    entry: Entry,
    ended: Arc<AtomicBool>,
    progress: Arc<Progress>,
}

impl Lease {
    pub(super) fn progress(&self) -> &Progress {
        &self.progress
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let Some(connection) = self.connection.take() else { return };
        let clean = self.ended.load(Ordering::Acquire) && self.progress.fully_written();
        let Entry { host, options, .. } = &self.entry;
        if clean && !connection.sender.is_closed() {
            let mut resting = host.resting.lock().unwrap_or_else(PoisonError::into_inner);
            if resting.len() < options.max_resting {
                resting.push((Instant::now(), connection));
            }
        }
    }
}
