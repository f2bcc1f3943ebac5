//! AT-22, AT-30 and shutdown over raw sockets.

use std::time::Instant;

use super::*;

const SHORT: Duration = Duration::from_millis(150);

#[tokio::test]
async fn a_body_over_the_limit_is_413_while_it_is_read() {
    let server = start(|options| options.limits.max_message = 1000);
    let chunks = format!("{:x}\r\n{}\r\n0\r\n\r\n", 1001, "x".repeat(1001));
    let answer = server.converse(request("Transfer-Encoding: chunked\r\n", &chunks).as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 413 ") && answer.contains("connection: close"), "{answer}");
}

#[tokio::test]
async fn a_large_head_is_431() {
    let server = start(|_| {});
    for fields in [format!("X: {}\r\n", "x".repeat(70_000)), "X: y\r\n".repeat(101)] {
        let answer = server.converse(sized(&fields, "abc").as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 431 "), "{answer}");
    }
}

#[tokio::test]
async fn a_slow_head_is_408_and_a_silent_connection_is_closed() {
    let server = start(|options| options.limits.header_time = SHORT);
    let answer = server.converse(b"POST /as4 HTTP/1.1\r\nHost:").await;
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert_eq!(server.converse(b"").await, "");
}

#[tokio::test]
async fn a_resting_connection_is_closed_after_its_time() {
    let server = start(|options| options.limits.idle_time = SHORT);
    let mut socket = server.connect().await;
    socket.write_all(sized("", "abc").as_bytes()).await.unwrap();
    assert!(!read_one(&mut socket).await.contains("close"));
    assert_eq!(read_all(&mut socket).await, "");
}

#[tokio::test]
async fn a_slow_body_is_408() {
    let server = start(|options| {
        options.limits.min_rate = 1_000_000;
        options.limits.rate_grace = SHORT;
    });
    let answer = server.converse(request("Content-Length: 1000\r\n", "x").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("slower than"), "{answer}");
    let server = start(|options| options.limits.total_time = SHORT);
    let answer = server.converse(request("Transfer-Encoding: chunked\r\n", "1\r\nx\r\n").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 408 ") && answer.contains("not complete in time"), "{answer}");
}

#[tokio::test]
async fn a_thousand_idle_connections_keep_nobody_out() {
    let server = start(|options| options.limits.max_connections = 8);
    let mut strangers = Vec::new();
    for _ in 0..200 {
        strangers.push(server.connect().await);
    }
    let began = Instant::now();
    let answer = server.converse(sized("Connection: close\r\n", "abc").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(began.elapsed() < Duration::from_secs(2));
}

#[tokio::test]
async fn an_answer_nobody_reads_is_given_up() {
    #[derive(Clone)]
    struct Large;
    impl Endpoint for Large {
        async fn exchange(&self, mut exchange: Exchange) -> Answer {
            let _ = exchange.body.collect(10).await;
            Answer::new(http::StatusCode::OK, "text/plain", vec![b'x'; 64 << 20])
        }
    }
    let mut options = ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into());
    options.limits.write_time = SHORT;
    options.limits.shutdown_grace = Duration::from_secs(5);
    let listener = Listener::bind(options).unwrap();
    let (addr, (stop, down)) = (listener.local_addr(), watch::channel(false));
    let task = tokio::spawn(listener.serve(Large, down));
    let mut socket = TcpStream::connect(addr).await.unwrap();
    socket.write_all(sized("", "abc").as_bytes()).await.unwrap();
    socket.readable().await.unwrap();
    stop.send_replace(true);
    let began = Instant::now();
    task.await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(4), "the connection ended by itself");
}

#[tokio::test]
async fn shutdown_finishes_what_runs_and_takes_nothing_new() {
    let server = start(|_| {});
    let (mut busy, mut idle) = (server.connect().await, server.connect().await);
    idle.write_all(sized("", "abc").as_bytes()).await.unwrap();
    read_one(&mut idle).await;
    busy.write_all(sized("X-Do: wait\r\n", "abc").as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    server.stop.send_replace(true);
    assert_eq!(read_all(&mut idle).await, "");
    let answer = read_all(&mut busy).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.contains("connection: close"), "{answer}");
    server.task.await.unwrap();
    assert!(TcpStream::connect(server.addr).await.is_err());
}
