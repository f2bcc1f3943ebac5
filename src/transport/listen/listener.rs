//! Accepting connections.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use futures_util::future::Abortable;
use thiserror::Error;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tokio_rustls::TlsAcceptor;

use super::{
    Endpoint, ProxyTrust,
    connection::{self, Ends, Setting, asked},
    slots::{Slot, Slots},
    wire::{Turn, Wire},
};
use crate::transport::{limits::Limits, socket::Socket, tls::ServerTls};

const BACKLOG: u32 = 1024;
/// How long accepting pauses when the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// The listener cannot stand.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The address is taken, not ours, or not allowed.
    #[error("cannot listen on {addr}: {source}; choose another address or stop what holds it")]
    Bind {
        /// The wanted address.
        addr: SocketAddr,
        /// What the system says.
        source: io::Error,
    },
}

/// One listener.
#[derive(Clone, Debug)]
pub struct ListenOptions {
    /// Where; port 0 lets the system choose.
    pub addr: SocketAddr,
    /// Paths of the AS4 endpoint.
    pub paths: Vec<String>,
    /// Plain HTTP without.
    pub tls: Option<ServerTls>,
    /// Bounds.
    pub limits: Limits,
    /// Proxies in front that are believed.
    pub proxy: Option<ProxyTrust>,
}

impl ListenOptions {
    /// Plain HTTP at `/as4` with default limits.
    pub fn new(addr: SocketAddr) -> Self {
        Self { addr, paths: vec!["/as4".to_owned()], tls: None, limits: Limits::default(), proxy: None }
    }
}

/// A bound listener; connections queue up until [`Listener::serve`].
#[derive(Debug)]
pub struct Listener {
    tcp: TcpListener,
    addr: SocketAddr,
    options: ListenOptions,
}

impl Listener {
    /// Binds the address. `[::]` takes IPv4 too.
    pub fn bind(options: ListenOptions) -> Result<Self, ListenError> {
        let refused = |source| ListenError::Bind { addr: options.addr, source };
        let tcp = listen(options.addr).map_err(refused)?;
        let addr = tcp.local_addr().map_err(refused)?;
        Ok(Self { tcp, addr, options })
    }

    /// The bound address.
    pub fn local_addr(&self) -> SocketAddr {
        self.addr
    }

    /// Takes requests until `shutdown` turns true (or its sender is gone); then refuses new connections and gives the
    /// running exchanges `shutdown_grace` to finish.
    pub async fn serve<E: Endpoint>(self, endpoint: E, mut shutdown: watch::Receiver<bool>) {
        let Self { tcp, addr, options } = self;
        let ListenOptions { paths, tls, limits, proxy, .. } = options;
        let limits = Arc::new(limits);
        let slots = Slots::new(limits.max_connections);
        let setting = Arc::new(Setting { endpoint, paths, limits: Arc::clone(&limits), proxy });
        let mut running = JoinSet::new();
        loop {
            let accepted = tokio::select! {
                accepted = tcp.accept() => accepted,
                Some(_) = running.join_next(), if !running.is_empty() => continue,
                () = asked(&mut shutdown) => break,
            };
            let (socket, peer) = match accepted {
                Ok(accepted) => accepted,
                Err(error) if is_of_one_connection(&error) => continue,
                Err(error) => {
                    // Nothing that goes wrong here ends the listener.
                    tracing::error!(%addr, %error, "cannot accept; raise the limit of open files if it is reached");
                    slots.evict();
                    sleep(PAUSE).await;
                    continue;
                }
            };
            let (slot, registration) = tokio::select! {
                claimed = slots.claim() => claimed,
                () = asked(&mut shutdown) => break,
            };
            let (tls, setting, down) = (tls.clone(), Arc::clone(&setting), shutdown.clone());
            running.spawn(Abortable::new(converse(setting, tls, socket, (peer, addr), slot, down), registration));
        }
        drop(tcp);
        let all = async { while running.join_next().await.is_some() {} };
        if timeout(limits.shutdown_grace, all).await.is_err() {
            tracing::warn!(%addr, "exchanges were still running when the grace of the shutdown ended");
        }
        running.shutdown().await;
    }
}

fn listen(addr: SocketAddr) -> io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(addr)?;
    socket.listen(BACKLOG)
}

fn is_of_one_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted)
}

async fn converse<E: Endpoint>(
    setting: Arc<Setting<E>>,
    tls: Option<ServerTls>,
    tcp: TcpStream,
    (peer, local): (SocketAddr, SocketAddr),
    slot: Arc<Slot>,
    mut shutdown: watch::Receiver<bool>,
) {
    // Small answers must not wait for an acknowledgement.
    let _ = tcp.set_nodelay(true);
    let local = tcp.local_addr().unwrap_or(local);
    let mut ends = Ends { peer, local, secure: tls.is_some(), client_certificate: None };
    let socket = match tls {
        None => Socket::Plain(tcp),
        Some(tls) => {
            let shaken = tokio::select! {
                shaken = timeout(setting.limits.handshake_time, TlsAcceptor::from(tls.current()).accept(tcp)) => shaken,
                () = asked(&mut shutdown) => return,
            };
            match shaken {
                Ok(Ok(stream)) => {
                    let chain = stream.get_ref().1.peer_certificates();
                    ends.client_certificate = chain.and_then(<[_]>::first).map(|der| der.to_vec());
                    Socket::Tls(Box::new(stream.into()))
                }
                Ok(Err(error)) => return tracing::info!(%peer, %error, "TLS handshake failed"),
                Err(_) => return tracing::info!(%peer, "TLS handshake took too long"),
            }
        }
    };
    let turn = Arc::new(Turn::default());
    let wire = Wire::new(socket, Arc::clone(&turn), slot, Arc::clone(&setting.limits));
    connection::serve(setting, wire, turn, ends, shutdown).await;
}
