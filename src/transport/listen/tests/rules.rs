//! FR-100, FR-101, FR-103 over raw sockets.

use super::*;

#[tokio::test]
async fn methods_paths_and_media_types() {
    let server = start(|_| {});
    for (line, status) in [
        ("GET /as4", "405"),
        ("HEAD /as4", "405"),
        ("OPTIONS /as4", "405"),
        ("PUT /as4", "405"),
        ("POST /", "404"),
        ("GET /favicon.ico", "404"),
    ] {
        let answer =
            server.converse(format!("{line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n").as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{line}: {answer}");
        assert_eq!(answer.contains("allow: POST"), status == "405", "{line}: {answer}");
    }
    let text = "POST /as4 HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n\r\nabc";
    assert!(server.converse(text.as_bytes()).await.starts_with("HTTP/1.1 415 "));
}

#[tokio::test]
async fn a_refusal_without_a_body_keeps_the_connection() {
    let server = start(|_| {});
    let mut socket = server.connect().await;
    socket.write_all(b"GET /as4 HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
    assert!(!read_one(&mut socket).await.contains("connection: close"));
    socket.write_all(sized("", "one").as_bytes()).await.unwrap();
    assert!(read_one(&mut socket).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn the_body_is_asked_for_and_then_read() {
    let server = start(|_| {});
    let mut socket = server.connect().await;
    let head = request("Content-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n", "");
    socket.write_all(head.as_bytes()).await.unwrap();
    assert_eq!(read_one(&mut socket).await, "HTTP/1.1 100 Continue\r\n\r\n");
    socket.write_all(b"abc").await.unwrap();
    assert!(read_all(&mut socket).await.ends_with("3 octets: abc"));
}

#[tokio::test]
async fn a_body_announced_over_the_limit_is_not_asked_for() {
    let server = start(|options| options.limits.max_message = 1000);
    let answer = server.converse(request("Content-Length: 1001\r\nExpect: 100-continue\r\n", "").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn an_unknown_expectation_is_ignored() {
    let server = start(|_| {});
    let answer = server.converse(sized("Expect: something\r\nConnection: close\r\n", "abc").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

/// A client that writes everything before it reads anything must still get to read the early answer.
#[tokio::test]
async fn an_early_answer_can_be_read_after_a_long_upload() {
    let server = start(|_| {});
    let body = "x".repeat(20 << 20);
    for (octets, status) in [
        (sized("", &body).replace("/as4", "/other"), "404"),
        (sized("", &body).replace("soap+xml", "json"), "415"),
        (sized("X-Do: ignore the body\r\n", &body), "403"),
    ] {
        let answer = server.converse(octets.as_bytes()).await;
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
        assert!(answer.contains("connection: close"), "{answer}");
    }
}

#[tokio::test]
async fn a_panic_is_a_500_and_hurts_nobody_else() {
    let server = start(|_| {});
    let answer = server.converse(sized("X-Do: panic\r\n", "abc").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 500 ") && !answer.contains("asked to"), "{answer}");
    assert!(server.converse(sized("Connection: close\r\n", "abc").as_bytes()).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn a_client_that_closes_its_sending_half_gets_its_answer() {
    let server = start(|_| {});
    let mut socket = server.connect().await;
    socket.write_all(sized("X-Do: wait\r\n", "abc").as_bytes()).await.unwrap();
    socket.shutdown().await.unwrap();
    assert!(read_all(&mut socket).await.ends_with("3 octets: abc"));
}

#[tokio::test]
async fn gzip_of_the_whole_message_is_undone() {
    use std::io::Write as _;
    let server = start(|_| {});
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(b"<S:Envelope/>").unwrap();
    let body = encoder.finish().unwrap();
    let fields = format!("Content-Encoding: gzip\r\nContent-Length: {}\r\nConnection: close\r\n", body.len());
    let octets = [request(&fields, "").as_bytes(), &body].concat();
    assert!(server.converse(&octets).await.ends_with("13 octets: <S:Envelope/>"));
    let answer = server.converse(sized("Content-Encoding: br\r\n", "abc").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 415 "), "{answer}");
}

#[tokio::test]
async fn ipv6_and_a_taken_address() {
    let listener = Listener::bind(ListenOptions::new("[::1]:0".parse().unwrap())).unwrap();
    let addr = listener.local_addr();
    let error = Listener::bind(ListenOptions::new(addr)).unwrap_err().to_string();
    assert!(error.starts_with(&format!("cannot listen on {addr}: ")), "{error}");
    let (_stop, down) = watch::channel(false);
    tokio::spawn(listener.serve(Echo::default(), down));
    let mut socket = TcpStream::connect(addr).await.unwrap();
    socket.write_all(sized("Connection: close\r\n", "abc").as_bytes()).await.unwrap();
    assert!(read_all(&mut socket).await.starts_with("HTTP/1.1 200 "));
}
