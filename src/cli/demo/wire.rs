//! The network between blue and red: a relay on loopback that can lose an answer, send a request twice at the same
//! instant, or stop in the middle of an exchange. It records what it saw, so that the story can be judged from outside.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;

/// What the relay does with the next request.
#[derive(Debug)]
pub(super) enum Fault {
    /// The answer comes from the receiver and is thrown away: a lost receipt.
    LoseAnswer,
    /// The request goes to the receiver twice, at the same instant.
    Twice,
    /// The request is passed on; the sender of this channel is told, and the answer is thrown away.
    TellAndLose(oneshot::Sender<()>),
}

/// One exchange as the relay saw it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Octets of the SOAP part of the request, as far as needed to find the MessageId.
    pub(super) message_id: String,
    /// The signature's value: the same on every attempt.
    pub(super) signature: String,
    /// The answer's octets; `None` when there was none.
    pub(super) answer: Option<Bytes>,
}

#[derive(Default)]
struct State {
    faults: std::collections::VecDeque<Fault>,
    seen: Vec<Seen>,
}

/// The relay; ends with the process.
#[derive(Clone)]
pub(super) struct Wire {
    state: Arc<Mutex<State>>,
    address: SocketAddr,
}

impl Wire {
    /// Listens on loopback and relays to `target`.
    pub(super) async fn to(target: SocketAddr) -> anyhow::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let wire = Self { state: Arc::default(), address: listener.local_addr()? };
        let relay = wire.clone();
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let relay = relay.clone();
                tokio::spawn(async move {
                    let service = service_fn(move |request| relay.clone().exchange(target, request));
                    // A connection that the story cuts ends with an error here: that is the point.
                    let _ = hyper::server::conn::http1::Builder::new()
                        .keep_alive(false)
                        .serve_connection(TokioIo::new(stream), service)
                        .await;
                });
            }
        });
        Ok(wire)
    }

    /// The address that the sender is told.
    pub(super) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Queues a fault for the next request.
    pub(super) fn next(&self, fault: Fault) {
        self.lock().faults.push_back(fault);
    }

    /// What was seen of one message, in order.
    pub(super) fn seen(&self, message_id: &str) -> Vec<Seen> {
        self.lock().seen.iter().filter(|s| s.message_id == message_id).cloned().collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn exchange(self, target: SocketAddr, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Cut> {
        let fault = self.lock().faults.pop_front();
        let (head, body) = request.into_parts();
        let body = body.collect().await.map_err(|_| Cut)?.to_bytes();
        let (message_id, signature) = (between(&body, "MessageId>", "<"), between(&body, "SignatureValue>", "<"));
        let again = || {
            let mut copy = Request::new(Full::new(body.clone()));
            *copy.method_mut() = head.method.clone();
            *copy.uri_mut() = head.uri.clone();
            *copy.headers_mut() = head.headers.clone();
            copy
        };
        let record = |answer: Option<Bytes>| {
            let seen = Seen { message_id: message_id.clone(), signature: signature.clone(), answer };
            self.lock().seen.push(seen);
        };
        match fault {
            Some(Fault::Twice) => {
                let (first, second) = tokio::join!(pass(target, again()), pass(target, again()));
                record(second.as_ref().map(|r| r.body().clone()));
                record(first.as_ref().map(|r| r.body().clone()));
                Ok(first.or(second).unwrap_or_else(bad_gateway).map(Full::new))
            }
            Some(Fault::LoseAnswer) => {
                record(pass(target, again()).await.map(|r| r.body().clone()));
                Err(Cut)
            }
            Some(Fault::TellAndLose(tell)) => {
                let passing = tokio::spawn(pass(target, again()));
                tokio::time::sleep(std::time::Duration::from_millis(3)).await;
                let _ = tell.send(());
                record(passing.await.ok().flatten().map(|r| r.body().clone()));
                Err(Cut)
            }
            None => {
                let answer = pass(target, again()).await;
                record(answer.as_ref().map(|r| r.body().clone()));
                Ok(answer.unwrap_or_else(bad_gateway).map(Full::new))
            }
        }
    }
}

/// The connection is closed without an answer.
#[derive(Debug, thiserror::Error)]
#[error("cut")]
struct Cut;

impl From<Infallible> for Cut {
    fn from(never: Infallible) -> Self {
        match never {}
    }
}

async fn pass(target: SocketAddr, request: Request<Full<Bytes>>) -> Option<Response<Bytes>> {
    let stream = TcpStream::connect(target).await.ok()?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.ok()?;
    tokio::spawn(connection);
    let (head, body) = sender.send_request(request).await.ok()?.into_parts();
    Some(Response::from_parts(head, body.collect().await.ok()?.to_bytes()))
}

fn bad_gateway() -> Response<Bytes> {
    let mut response = Response::new(Bytes::new());
    *response.status_mut() = StatusCode::BAD_GATEWAY;
    response
}

/// The text between two marks in what may be binary.
fn between(body: &[u8], from: &str, to: &str) -> String {
    let Some(start) = memchr::memmem::find(body, from.as_bytes()) else { return String::new() };
    let rest = &body[start + from.len()..];
    let end = memchr::memmem::find(rest, to.as_bytes()).unwrap_or(rest.len());
    String::from_utf8_lossy(&rest[..end]).into_owned()
}
