//! A poster against scripted partners on loopback.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use futures_util::{StreamExt, stream, stream::BoxStream};
use http::HeaderMap;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
};

use super::*;
use crate::transport::body::BodyError;

const SHORT: Duration = Duration::from_millis(150);
const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

async fn partner() -> (TcpListener, SocketAddr) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    (listener, addr)
}

fn request(addr: SocketAddr, body: &'static [u8]) -> Request {
    let mut headers = HeaderMap::new();
    headers.insert("content-type", "application/soap+xml".parse().unwrap());
    headers.insert("content-length", "999".parse().unwrap());
    let url = format!("http://user:secret@{addr}/as4?x=1#part").parse().unwrap();
    Request::new(url, headers, Arc::new(Bytes::from_static(body)))
}

async fn accept(listener: &TcpListener) -> TcpStream {
    listener.accept().await.unwrap().0
}

/// Reads up to and with `end`.
async fn read_until(socket: &mut TcpStream, end: &str) -> String {
    let (mut read, mut octet) = (String::new(), [0]);
    while !read.ends_with(end) {
        socket.read_exact(&mut octet).await.unwrap();
        read.push(char::from(octet[0]));
    }
    read
}

/// Answers each request, whose body ends with `end`, with the next script.
async fn serve(mut socket: TcpStream, end: &str, scripts: &[&str]) -> Vec<String> {
    let mut seen = Vec::new();
    for script in scripts {
        seen.push(read_until(&mut socket, end).await);
        socket.write_all(script.as_bytes()).await.unwrap();
    }
    seen
}

/// Posts to a partner that reads all of the request and says `script`.
async fn answer(script: &'static str, adapt: impl FnOnce(&mut Request)) -> Result<Posted, PostError> {
    let (listener, addr) = partner().await;
    let mut request = request(addr, b"<end/>");
    adapt(&mut request);
    let server = tokio::spawn(async move {
        let mut socket = accept(&listener).await;
        read_until(&mut socket, "<end/>").await;
        let _ = socket.write_all(script.as_bytes()).await;
    });
    let outcome = Poster::default().post(&request).await;
    server.await.unwrap();
    outcome
}

#[tokio::test]
async fn posts_share_a_connection_and_say_what_was_said() {
    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move {
        let seen = serve(accept(&listener).await, "<end/>", &[OK, OK]).await;
        (seen, listener)
    });
    let poster = Poster::default();
    let first = poster.post(&request(addr, b"one<end/>")).await.unwrap();
    let second = poster.post(&request(addr, b"two<end/>")).await.unwrap();
    let (seen, _) = server.await.unwrap();
    assert_eq!(
        seen[0],
        format!(
            "POST /as4?x=1 HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/soap+xml\r\nContent-Length: 9\r\n\r\none<end/>"
        )
    );
    assert!(seen[1].ends_with("two<end/>"));
    assert_eq!((first.status.as_u16(), &first.body[..], first.peer), (200, &b"ok"[..], addr));
    assert_eq!(first.head, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n");
    assert!(first.fully_written && !first.earlier_written && second.fully_written && !second.earlier_written);
}

#[tokio::test]
async fn a_dead_pooled_connection_costs_nothing_but_is_told() {
    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move {
        // Takes the second request in whole and dies without a word.
        let mut first = accept(&listener).await;
        read_until(&mut first, "<end/>").await;
        first.write_all(OK.as_bytes()).await.unwrap();
        read_until(&mut first, "<end/>").await;
        drop(first);
        serve(accept(&listener).await, "<end/>", &[OK]).await
    });
    let poster = Poster::default();
    poster.post(&request(addr, b"one<end/>")).await.unwrap();
    let second = poster.post(&request(addr, b"two<end/>")).await.unwrap();
    assert!(second.earlier_written && second.fully_written);
    assert!(server.await.unwrap()[0].ends_with("two<end/>"));
}

#[tokio::test]
async fn a_connection_closed_while_resting_is_not_used() {
    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move {
        serve(accept(&listener).await, "<end/>", &[OK]).await;
        // Octets nobody asked for.
        let mut second = accept(&listener).await;
        read_until(&mut second, "<end/>").await;
        second.write_all(format!("{OK}HTTP/1.1 200 OK\r\n\r\n").as_bytes()).await.unwrap();
        serve(accept(&listener).await, "<end/>", &[OK]).await;
        drop(second);
    });
    let poster = Poster::default();
    for _ in 0..3 {
        let posted = poster.post(&request(addr, b"<end/>")).await.unwrap();
        assert!(!posted.earlier_written);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    server.await.unwrap();
}

#[tokio::test]
async fn an_early_answer_is_the_answer() {
    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move {
        let mut socket = accept(&listener).await;
        read_until(&mut socket, "\r\n\r\n").await;
        socket.write_all(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno").await.unwrap();
        // Closed with unread octets: the system resets the connection.
    });
    static LARGE: [u8; 16 << 20] = [b'x'; 16 << 20];
    let posted = Poster::default().post(&request(addr, &LARGE)).await.unwrap();
    assert_eq!((posted.status.as_u16(), &posted.body[..]), (403, &b"no"[..]));
    assert!(!posted.fully_written);
    server.await.unwrap();
}

#[tokio::test]
async fn how_far_the_request_got_is_known() {
    let error = answer("", |_| {}).await.unwrap_err();
    assert!(matches!(error.failure, Failure::NoAnswer(_)) && error.fully_written, "{error:?}");
    assert!(!error.to_string().contains("secret"), "{error}");

    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move { read_until(&mut accept(&listener).await, "\r\n\r\n").await });
    static LARGE: [u8; 16 << 20] = [b'x'; 16 << 20];
    let error = Poster::default().post(&request(addr, &LARGE)).await.unwrap_err();
    assert!(!error.fully_written, "{error:?}");
    assert!(matches!(error.failure, Failure::Write(_) | Failure::NoAnswer(_)), "{error:?}");
    server.await.unwrap();

    let (listener, addr) = partner().await;
    drop(listener);
    let error = Poster::default().post(&request(addr, b"x")).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Connect { .. }) && !error.fully_written, "{error:?}");
}

#[tokio::test]
async fn every_step_has_its_time() {
    let (listener, addr) = partner().await;
    let mut silent = request(addr, b"x");
    silent.time_outs.first_byte = SHORT;
    let error = Poster::default().post(&silent).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut(Step::FirstByte)) && error.fully_written, "{error:?}");

    static LARGE: [u8; 16 << 20] = [b'x'; 16 << 20];
    let mut deaf = request(addr, &LARGE);
    deaf.time_outs.first_byte = SHORT;
    let error = Poster::default().post(&deaf).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut(Step::FirstByte)) && !error.fully_written, "{error:?}");
    drop(listener);

    let error = answer("HTTP/1.1 200 OK\r\nContent-Le", |request| request.time_outs.total = SHORT).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut(_) | Failure::NoAnswer(_)), "{error:?}");

    let (listener, addr) = partner().await;
    let mut drip = request(addr, b"<end/>");
    drip.time_outs.total = SHORT;
    let server = tokio::spawn(async move {
        let mut socket = accept(&listener).await;
        read_until(&mut socket, "<end/>").await;
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n").await.unwrap();
        while socket.write_all(b"x").await.is_ok() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    let error = Poster::default().post(&drip).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Body(BodyError::Late { .. })) && error.fully_written, "{error:?}");
    server.await.unwrap();
}

#[tokio::test]
async fn odd_answers() {
    let redirect = "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://other.example/\r\nContent-Length: 0\r\n\r\n";
    assert_eq!(answer(redirect, |_| {}).await.unwrap().status, 307);
    let interim =
        "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n";
    let posted = answer(interim, |_| {}).await.unwrap();
    assert_eq!((posted.status.as_u16(), &posted.head[..]), (204, &b"HTTP/1.1 204 No Content\r\n\r\n"[..]));
    let until_close = "HTTP/1.0 200 OK\r\n\r\nall of it";
    assert_eq!(answer(until_close, |_| {}).await.unwrap().body, "all of it");
    let error = answer("SSH-2.0-OpenSSH_9.9\r\n\r\n", |_| {}).await.unwrap_err();
    assert!(matches!(error.failure, Failure::NotHttp(_)), "{error:?}");
    let error = answer("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\ncut", |_| {}).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Body(BodyError::Cut(_))), "{error:?}");
    let error =
        answer("HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 1\r\n\r\nx", |_| {}).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Coding), "{error:?}");
    let large = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n";
    let error = answer(large, |request| request.max_answer = 4).await.unwrap_err();
    assert!(matches!(error.failure, Failure::Body(BodyError::TooLarge { limit: 4 })), "{error:?}");
}

#[tokio::test]
async fn a_gzip_coded_answer_is_decoded() {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"<receipt/>").unwrap();
    let coded = encoder.finish().unwrap();
    let (listener, addr) = partner().await;
    tokio::spawn(async move {
        let mut socket = accept(&listener).await;
        read_until(&mut socket, "<end/>").await;
        let head = format!("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n", coded.len());
        socket.write_all(&[head.as_bytes(), &coded].concat()).await.unwrap();
    });
    assert_eq!(Poster::default().post(&request(addr, b"<end/>")).await.unwrap().body, "<receipt/>");
}

/// A stream of chunks, some of them errors.
struct Chunks(Option<u64>, Vec<Result<&'static [u8], io::ErrorKind>>);

impl BodySource for Chunks {
    fn len(&self) -> Option<u64> {
        self.0
    }

    fn open(&self) -> BoxStream<'static, io::Result<Bytes>> {
        let chunks = self.1.clone().into_iter().map(|chunk| Ok(Bytes::from_static(chunk?)));
        stream::iter(chunks.collect::<Vec<io::Result<Bytes>>>()).boxed()
    }
}

#[tokio::test]
async fn a_body_of_unknown_length_is_chunked() {
    let (listener, addr) = partner().await;
    let server = tokio::spawn(async move { serve(accept(&listener).await, "0\r\n\r\n", &[OK]).await });
    let mut chunked = request(addr, b"");
    chunked.body = Arc::new(Chunks(None, vec![Ok(b"one"), Ok(b""), Ok(b"four")]));
    assert!(Poster::default().post(&chunked).await.unwrap().fully_written);
    let seen = server.await.unwrap();
    assert!(seen[0].ends_with("Transfer-Encoding: chunked\r\n\r\n3\r\none\r\n4\r\nfour\r\n0\r\n\r\n"), "{seen:?}");
}

#[tokio::test]
async fn our_own_faults_are_ours() {
    let (listener, addr) = partner().await;
    for (len, chunks) in [
        (None, vec![Ok(&b"one"[..]), Err(io::ErrorKind::NotFound)]),
        (Some(10), vec![Ok(b"short")]),
        (Some(3), vec![Ok(b"longer")]),
    ] {
        let mut broken = request(addr, b"");
        broken.body = Arc::new(Chunks(len, chunks));
        let error = Poster::default().post(&broken).await.unwrap_err();
        assert!(matches!(error.failure, Failure::Source(_)) && !error.fully_written, "{len:?}: {error:?}");
    }
    drop(listener);
}

#[tokio::test]
async fn no_more_connections_than_allowed() {
    let (listener, addr) = partner().await;
    let poster = Arc::new(Poster::new(PoolOptions { max_connections: 1, ..PoolOptions::default() }));
    let holding = request(addr, b"<end/>");
    let first = poster.send(&holding);
    let server = async {
        let mut socket = accept(&listener).await;
        read_until(&mut socket, "<end/>").await;
        socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n").await.unwrap();
        socket
    };
    let (mut answered, mut socket) = tokio::join!(async { first.await.unwrap() }, server);
    let mut second = request(addr, b"<end/>");
    second.time_outs.total = SHORT;
    let error = poster.post(&second).await.unwrap_err();
    assert!(matches!(error.failure, Failure::TimedOut(Step::Queue)), "{error:?}");
    socket.write_all(b"ok").await.unwrap();
    assert_eq!(answered.body.collect(10).await.unwrap(), "ok");
    drop(answered);
    let server = tokio::spawn(async move { serve(socket, "<end/>", &[OK]).await });
    poster.post(&request(addr, b"<end/>")).await.unwrap();
    server.await.unwrap();
}

#[tokio::test]
async fn discovered_addresses_must_be_public() {
    let mut discovered = request("127.0.0.1:9".parse().unwrap(), b"x");
    discovered.public_only = true;
    let error = Poster::default().post(&discovered).await.unwrap_err();
    assert!(matches!(error.failure, Failure::NotPublic { .. }), "{error:?}");
}
