//! A listener on loopback, and raw sockets against it.

mod framing;
mod limits;
mod rules;

use std::{
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    sync::watch,
    task::JoinHandle,
};

use super::*;

/// Reads each body and answers with what it saw.
#[derive(Clone, Debug, Default)]
struct Echo {
    seen: Arc<Mutex<Vec<String>>>,
    refused: Arc<Mutex<Vec<u16>>>,
}

impl Endpoint for Echo {
    async fn exchange(&self, mut exchange: Exchange) -> Answer {
        assert_eq!(exchange.id.get_version_num(), 7);
        let target = exchange.head.target.clone();
        match exchange.head.headers.get("x-do").map(http::HeaderValue::as_bytes) {
            Some(b"panic") => panic!("asked to"),
            Some(b"ignore the body") => return Answer::text(http::StatusCode::FORBIDDEN, "early"),
            Some(b"wait") => tokio::time::sleep(Duration::from_millis(200)).await,
            _ => {}
        }
        match exchange.body.collect(64 << 20).await {
            Ok(body) => {
                let text = String::from_utf8_lossy(body.get(..40).unwrap_or(&body)).into_owned();
                self.seen.lock().unwrap().push(format!("{target} {} {text}", body.len()));
                Answer::new(http::StatusCode::OK, "text/plain", format!("{} octets: {text}", body.len()))
            }
            Err(error) => Answer::from(&error),
        }
    }

    fn refused(&self, refusal: &Refusal) {
        self.refused.lock().unwrap().push(refusal.status.as_u16());
    }
}

struct Running {
    addr: SocketAddr,
    echo: Echo,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

fn start(adapt: impl FnOnce(&mut ListenOptions)) -> Running {
    let mut options = ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into());
    options.limits.drain_time = Duration::from_secs(2);
    adapt(&mut options);
    let listener = Listener::bind(options).unwrap();
    let (addr, echo, (stop, down)) = (listener.local_addr(), Echo::default(), watch::channel(false));
    let task = tokio::spawn(listener.serve(echo.clone(), down));
    Running { addr, echo, stop, task }
}

impl Running {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.addr).await.unwrap()
    }

    /// Sends the octets, then reads until the server closes.
    async fn converse(&self, octets: &[u8]) -> String {
        let mut socket = self.connect().await;
        socket.write_all(octets).await.unwrap();
        read_all(&mut socket).await
    }

    fn seen(&self) -> Vec<String> {
        self.echo.seen.lock().unwrap().clone()
    }
}

async fn read_all(socket: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    let read = tokio::time::timeout(Duration::from_secs(10), socket.read_to_end(&mut answer)).await;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    read.unwrap_or_else(|_| panic!("the server left the connection open after {answer:?}")).unwrap();
    answer
}

/// Reads one answer of known length off a connection that stays open.
async fn read_one(socket: &mut TcpStream) -> String {
    let mut answer = String::new();
    let mut octet = [0];
    while !answer.ends_with("\r\n\r\n") {
        socket.read_exact(&mut octet).await.unwrap();
        answer.push(char::from(octet[0]));
    }
    let length =
        answer.lines().find_map(|line| line.strip_prefix("content-length: ")).map_or(0, |n| n.parse().unwrap());
    let mut body = vec![0; length];
    socket.read_exact(&mut body).await.unwrap();
    answer + std::str::from_utf8(&body).unwrap()
}

fn request(fields: &str, body: &str) -> String {
    format!("POST /as4 HTTP/1.1\r\nHost: gateway.example\r\nContent-Type: application/soap+xml\r\n{fields}\r\n{body}")
}

fn sized(fields: &str, body: &str) -> String {
    request(&format!("Content-Length: {}\r\n{fields}", body.len()), body)
}
