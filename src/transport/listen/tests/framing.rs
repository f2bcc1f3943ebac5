//! FR-102, FR-106, AT-29 over raw sockets.

use super::*;

const HIDDEN: &str = "POST /as4 HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: 6\r\n\r\nhidden";

#[tokio::test]
async fn every_doubtful_framing_is_400_and_close_and_hides_nothing() {
    let server = start(|_| {});
    for fields in [
        "Content-Length: 6\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 6\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
        "Content-Length: 5\r\nContent-Length: 6\r\n",
        "Content-Length: +10\r\n",
        "Content-Length: 9223372036854775808\r\n",
        "Content-Length : 5\r\n",
        "X: folded\r\n line\r\n",
    ] {
        let answer = server.converse(request(fields, &format!("0\r\n\r\n{HIDDEN}")).as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{fields:?}: {answer}");
        assert!(answer.contains("connection: close"), "{fields:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{fields:?}: {answer}");
    }
    assert_eq!(server.seen(), [""; 0]);
    assert_eq!(*server.echo.refused.lock().unwrap(), [400; 10]);
}

#[tokio::test]
async fn every_broken_chunk_is_400_and_close_and_hides_nothing() {
    let server = start(|_| {});
    for chunks in
        ["0x10\r\n0123456789abcdef\r\n", "FFFFFFFFFFFFFFFF\r\nabc", "+5\r\nhello\r\n", "5\nhello\n", "5\r\nhello!\r\n"]
    {
        let octets = request("Transfer-Encoding: chunked\r\n", &format!("{chunks}0\r\n\r\n{HIDDEN}"));
        let answer = server.converse(octets.as_bytes()).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{chunks:?}: {answer}");
        assert!(answer.contains("connection: close"), "{chunks:?}: {answer}");
        assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{chunks:?}: {answer}");
    }
    assert_eq!(server.seen(), [""; 0]);
}

#[tokio::test]
async fn what_hides_behind_a_refused_request_is_not_executed() {
    let server = start(|_| {});
    let elsewhere = format!("POST /other HTTP/1.1\r\nContent-Length: {}\r\n\r\n{HIDDEN}", HIDDEN.len());
    let answer = server.converse(format!("{elsewhere}{HIDDEN}").as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 404 ") && answer.matches("HTTP/1.1").count() == 1, "{answer}");
    assert_eq!(server.seen(), [""; 0]);
}

#[tokio::test]
async fn octets_on_the_wrong_port_are_refused_at_once() {
    let server = start(|_| {});
    let answer = server.converse(b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03").await;
    assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
    let answer = server.converse(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 505 "), "{answer}");
}

#[tokio::test]
async fn one_octet_chunks_with_extensions_and_trailers_are_read() {
    let server = start(|_| {});
    let chunks: String = "<S:Envelope/>".chars().map(|c| format!("1;x=y\r\n{c}\r\n")).collect();
    let octets = format!(
        "POST /as4 HTTP/1.1\r\nhost: a\r\ncontent-type: text/xml\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n\
         {chunks}0\r\nX-Sum: 1\r\n\r\n"
    );
    let answer = server.converse(octets.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("13 octets: <S:Envelope/>"), "{answer}");
}

#[tokio::test]
async fn an_old_client_gets_an_answer_it_understands() {
    let server = start(|_| {});
    let answer = server.converse(b"POST /as4 HTTP/1.0\r\nContent-Type: text/xml\r\nContent-Length: 3\r\n\r\nabc").await;
    assert!(answer.starts_with("HTTP/1.0 200 ") || answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(answer.contains("content-length: 13") && !answer.contains("chunked"), "{answer}");
}

#[tokio::test]
async fn an_absolute_target_and_bare_line_feeds_are_read() {
    let server = start(|_| {});
    let absolute = "POST http://gateway.example/as4 HTTP/1.1\nHost: a\nContent-Type: text/xml\nContent-Length: 3\n\
                    Connection: close\n\nabc";
    let answer = server.converse(absolute.as_bytes()).await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(server.seen(), ["http://gateway.example/as4 3 abc"]);
}

#[tokio::test]
async fn an_upgrade_is_ignored_and_the_connection_stays() {
    let server = start(|_| {});
    let mut socket = server.connect().await;
    let upgrade = sized("Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\n", "one");
    socket.write_all(upgrade.as_bytes()).await.unwrap();
    assert!(read_one(&mut socket).await.ends_with("3 octets: one"));
    socket.write_all(sized("", "second").as_bytes()).await.unwrap();
    assert!(read_one(&mut socket).await.ends_with("6 octets: second"));
}

#[tokio::test]
async fn requests_sent_ahead_are_answered_one_after_the_other() {
    let server = start(|_| {});
    let chunked = request("Transfer-Encoding: chunked\r\n", "3\r\nsix\r\n0\r\n\r\n");
    let all = [sized("", "one"), sized("", ""), chunked, sized("Connection: close\r\n", "last")].concat();
    // In pieces, so that heads and bodies are cut at every place.
    for size in [1, 7, 64, 4096] {
        let mut socket = server.connect().await;
        for piece in all.as_bytes().chunks(size) {
            socket.write_all(piece).await.unwrap();
        }
        let answer = read_all(&mut socket).await;
        let bodies: Vec<&str> =
            answer.split("\r\n\r\n").skip(1).filter_map(|rest| rest.split("HTTP/1.1").next()).collect();
        assert_eq!(bodies, ["3 octets: one", "0 octets: ", "3 octets: six", "4 octets: last"], "{size}");
    }
}

#[tokio::test]
async fn the_head_is_kept_as_received() {
    #[derive(Clone)]
    struct Keep(Arc<Mutex<Vec<bytes::Bytes>>>);
    impl Endpoint for Keep {
        async fn exchange(&self, exchange: Exchange) -> Answer {
            self.0.lock().unwrap().push(exchange.head.octets);
            Answer::empty(http::StatusCode::NO_CONTENT)
        }
    }
    let listener = Listener::bind(ListenOptions::new((Ipv4Addr::LOCALHOST, 0).into())).unwrap();
    let (addr, (_stop, down)) = (listener.local_addr(), watch::channel(false));
    let keep = Keep(Arc::default());
    tokio::spawn(listener.serve(keep.clone(), down));
    let head = "POST /as4 HTTP/1.1\r\nhOST:  a\r\nContent-Type: text/xml \r\nX-Odd:\r\nContent-Length: 3\r\n\r\n";
    let mut socket = TcpStream::connect(addr).await.unwrap();
    socket.write_all(format!("{head}abc").as_bytes()).await.unwrap();
    let answer = read_all(&mut socket).await;
    assert!(answer.starts_with("HTTP/1.1 204 ") && answer.contains("connection: close"), "{answer}");
    assert_eq!(*keep.0.lock().unwrap(), [head]);
}
