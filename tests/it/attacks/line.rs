//! Senders that never finish, and heads that never end (AT-22, AT-29, AT-31).

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::{open, still_works};
use crate::support::http;

const HEAD: &str = "POST /as4 HTTP/1.1\r\nHost: gateway.example\r\nContent-Type: application/soap+xml\r\n";

/// Waits until the server closes, and gives what it said before.
fn end(stream: &mut TcpStream) -> String {
    let mut said = Vec::new();
    stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a socket has a time limit");
    match stream.read_to_end(&mut said) {
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => {}
        Err(error) => panic!("the connection stays open: {error}"),
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[test]
fn slow_senders_are_sent_away_and_nobody_waits_for_them() {
    let node = open(|builder| builder.limits("header_time = \"1s\"\ntotal_time = \"2s\""));
    let half_heads = (0..100).map(|_| "POST /as4 HTTP/1.1\r\nHost: ".to_owned());
    let half_bodies = (0..100).map(|_| format!("{HEAD}Content-Length: 1000\r\n\r\n<"));
    let half_chunks = (0..100).map(|_| format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n<\r\n"));
    let begun = Instant::now();
    let mut slow: Vec<TcpStream> = half_heads
        .chain(half_bodies)
        .chain(half_chunks)
        .map(|octets| {
            let mut stream = http::connect(node.msh).expect("the gateway listens");
            stream.write_all(octets.as_bytes()).expect("it takes octets");
            stream
        })
        .collect();
    still_works(&node);
    let ends: Vec<String> = slow.iter_mut().map(end).collect();
    assert!(begun.elapsed() < Duration::from_secs(10), "they were held for {:?}", begun.elapsed());
    let odd: Vec<_> = ends.iter().filter(|said| !said.is_empty() && !said.starts_with("HTTP/1.1 408")).collect();
    assert!(odd.is_empty(), "{odd:?}");
}

#[test]
fn a_head_without_measure_is_refused_and_the_connection_closed() {
    let node = open(|builder| builder);
    let hidden = "GET /hidden HTTP/1.1\r\nHost: gateway.example\r\n\r\n";
    for (fields, status) in [
        (format!("X: {}\r\n", "x".repeat(200_000)), 431),
        ("X: y\r\n".repeat(1_000), 431),
        ("Content-Length: 9223372036854775808\r\n".to_owned(), 400),
        ("Content-Length: +10\r\n".to_owned(), 400),
        ("Content-Length : 10\r\n".to_owned(), 400),
        ("Transfer-Encoding: xchunked\r\n".to_owned(), 400),
        ("Transfer-Encoding: gzip, chunked\r\n".to_owned(), 400),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n".to_owned(), 400),
        ("Transfer-Encoding: chunked\r\nContent-Length: 6\r\n".to_owned(), 400),
        ("X: y\r\n folded\r\n".to_owned(), 400),
    ] {
        let (answers, closed) =
            http::converse(node.msh, format!("{HEAD}{fields}\r\n{hidden}").as_bytes()).expect("an answer");
        let statuses: Vec<u16> = answers.iter().map(http::Message::status).collect();
        let shown: String = fields.chars().take(60).collect();
        assert_eq!((statuses, closed), (vec![status], true), "{shown}");
    }
    for size in ["0x10", "FFFFFFFFFFFFFFFF", "+5", ""] {
        let request = format!("{HEAD}Transfer-Encoding: chunked\r\n\r\n{size}\r\nhello\r\n0\r\n\r\n{hidden}");
        let (answers, closed) = http::converse(node.msh, request.as_bytes()).expect("an answer");
        let statuses: Vec<u16> = answers.iter().map(http::Message::status).collect();
        assert_eq!((statuses, closed), (vec![400], true), "a chunk of `{size}`");
    }
    still_works(&node);
}
