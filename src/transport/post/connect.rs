//! Opening a connection.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use rustls_pki_types::ServerName;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_rustls::{TlsConnector, client::TlsStream};
use url::Host;

use super::{
    Failure, Request, Step, TlsInfo,
    address::Authority,
    line::Line,
    pool::{Connection, Ended},
    progress::Progress,
};
use crate::transport::{socket::Socket, tls::ClientTls};

/// A fresh connection, ready for its first request.
pub(super) async fn open(request: &Request, authority: &Authority, deadline: Instant) -> Result<Connection, Failure> {
    let (tcp, peer) = connect(request, authority, deadline).await?;
    let _ = tcp.set_nodelay(true);
    let (socket, tls) = if authority.secure {
        let tls = request.tls.as_ref().ok_or(Failure::NoTls)?;
        let stream = shake(tls, authority, tcp, request.time_outs.handshake, deadline).await?;
        let info = tls_info(&stream);
        (Socket::Tls(Box::new(stream.into())), Some(info))
    } else {
        (Socket::Plain(tcp), None)
    };
    let progress = Arc::new(Progress::default());
    let line = TokioIo::new(Line::new(socket, Arc::clone(&progress)));
    let mut builder = http1::Builder::new();
    // Some old peers compare header names octet by octet.
    builder.title_case_headers(true);
    let (sender, connection) = builder.handshake(line).await.map_err(Failure::NoAnswer)?;
    let task = tokio::spawn(async move {
        if let Err(error) = connection.await {
            tracing::debug!(%error, "connection ended");
        }
    });
    Ok(Connection { sender, _task: Ended(task), progress, tls, peer })
}

async fn connect(
    request: &Request,
    authority: &Authority,
    deadline: Instant,
) -> Result<(TcpStream, SocketAddr), Failure> {
    let until = deadline.min(Instant::now() + request.time_outs.connect);
    let late = |_| Failure::TimedOut(Step::Connect);
    let addresses = timeout_at(until, authority.resolve(request.public_only)).await.map_err(late)??;
    let mut failure = Failure::TimedOut(Step::Connect);
    for (tried, addr) in addresses.iter().enumerate() {
        // A black hole must not use up the time of the addresses behind it.
        let left = u32::try_from(addresses.len() - tried).unwrap_or(u32::MAX);
        let share = until.saturating_duration_since(Instant::now()) / left;
        match timeout(share, TcpStream::connect(addr)).await {
            Ok(Ok(tcp)) => return Ok((tcp, *addr)),
            Ok(Err(source)) => failure = Failure::Connect { addr: *addr, source },
            Err(_) => failure = Failure::TimedOut(Step::Connect),
        }
    }
    Err(failure)
}

async fn shake(
    tls: &ClientTls,
    authority: &Authority,
    tcp: TcpStream,
    within: Duration,
    deadline: Instant,
) -> Result<TlsStream<TcpStream>, Failure> {
    let name = match &authority.host {
        Host::Domain(name) => ServerName::try_from(name.trim_end_matches('.').to_owned())
            .map_err(|_| Failure::Url(format!("{name} is no name a certificate could have")))?,
        // An address is checked against the certificate, but never sent as SNI (FR-098).
        Host::Ipv4(ip) => ServerName::IpAddress((*ip).into()),
        Host::Ipv6(ip) => ServerName::IpAddress((*ip).into()),
    };
    let until = deadline.min(Instant::now() + within);
    match timeout_at(until, TlsConnector::from(Arc::clone(&tls.config)).connect(name, tcp)).await {
        Ok(shaken) => shaken.map_err(Failure::Tls),
        Err(_) => Err(Failure::TimedOut(Step::Handshake)),
    }
}

fn tls_info(stream: &TlsStream<TcpStream>) -> TlsInfo {
    let (_, session) = stream.get_ref();
    let named = |name: Option<String>| name.unwrap_or_default();
    TlsInfo {
        protocol: named(session.protocol_version().map(|version| format!("{version:?}"))),
        cipher: named(session.negotiated_cipher_suite().map(|suite| format!("{:?}", suite.suite()))),
        certificate: session.peer_certificates().and_then(<[_]>::first).map(|der| der.to_vec()),
    }
}
