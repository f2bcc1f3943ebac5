//! Tokens, paths, methods, health, metrics: what every caller meets.

use std::sync::atomic::Ordering;

use axum::body::Body;
use axum::http::Request;

use super::bench::{Bench, asked};

#[tokio::test(flavor = "multi_thread")]
async fn nobody_gets_in_without_a_token() {
    let bench = Bench::new();
    let with = |value: Option<&'static str>| {
        let mut request = Request::builder().uri("/api/v1/messages");
        if let Some(value) = value {
            request = request.header("authorization", value);
        }
        bench.raw(request.body(Body::empty()).unwrap())
    };
    for value in [
        None,
        Some(""),
        Some("Bearer"),
        Some("Bearer "),
        Some("Bearer gehei"),
        Some("Bearer geheim2"),
        Some("Basic geheim"),
        Some("geheim"),
    ] {
        let said = with(value).await;
        said.problem(401);
        assert_eq!(said.json()["code"], "admin.denied", "{value:?}");
        assert!(said.headers["www-authenticate"].to_str().unwrap().starts_with("Bearer"));
    }
    assert_eq!(with(Some("bearer  secret ")).await.status, 200);
    for target in ["/health/live", "/health/ready", "/metrics"] {
        let request = Request::builder().uri(target).body(Body::empty()).unwrap();
        assert_eq!(bench.raw(request).await.status, 200, "{target}");
    }
    for (method, target) in
        [("POST", "/api/v1/messages"), ("POST", "/api/v1/pmodes/reload"), ("GET", "/api/v1/messages/x/payloads/0")]
    {
        let request = Request::builder().method(method).uri(target).body(Body::empty()).unwrap();
        bench.raw(request).await.problem(401);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_paths_and_wrong_methods_are_problems() {
    let bench = Bench::new();
    assert!(bench.get("/api/v1/mesages").await.problem(404).contains("did you mean /api/v1/messages?"));
    let said = bench.get("/api/v1/messages/a@b/timelin").await;
    assert!(said.problem(404).contains("did you mean /api/v1/messages/a@b/timeline?"));
    bench.get("/").await.problem(404);
    bench.get("/x/%FF/%00").await.problem(404);
    let said = bench.raw(asked("DELETE", "/api/v1/messages").body(Body::empty()).unwrap()).await;
    assert!(said.problem(405).contains("DELETE"));
    assert!(said.headers["allow"].to_str().unwrap().contains("POST"));
    for id in ["none@x", "%00", "a%00b", "%2e%2e%2f", "%F0%9F%9A%80"] {
        bench.get(&format!("/api/v1/messages/{id}")).await.problem(404);
        bench.get(&format!("/api/v1/messages/{id}/explain")).await.problem(404);
    }
    bench.get("/api/v1/messages/%FF").await.problem(400);
    bench.get("/api/v1/rejected/%00/request").await.problem(404);
}

#[tokio::test(flavor = "multi_thread")]
async fn readiness_says_what_is_wrong() {
    let bench = Bench::new();
    let ready = bench.get("/health/ready").await;
    assert_eq!((ready.status.as_u16(), &ready.json()["status"]), (200, &"ready".into()));
    std::fs::remove_dir_all(bench.dir().join("data/payloads/incoming")).unwrap();
    bench.stopping.store(true, Ordering::Relaxed);
    let unready = bench.get("/health/ready").await;
    assert_eq!(unready.status, 503);
    let wrong = unready.json()["wrong"].as_array().unwrap().iter().map(|w| w["what"].clone()).collect::<Vec<_>>();
    assert_eq!(wrong, ["process", "payload store"]);
    assert_eq!(bench.get("/health/live").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_queues_are_counted_when_asked() {
    let bench = Bench::new();
    bench.submitted("k", "x").await;
    let said = bench.get("/metrics").await;
    assert!(said.headers["content-type"].to_str().unwrap().starts_with("text/plain"));
    let text = String::from_utf8(said.body).unwrap();
    // Other tests count in the same process: the value is theirs too.
    assert!(text.contains("postrider_queue_messages{queue=\"send\",state=\"pending\"}"), "{text}");
    assert!(text.contains("postrider_queue_messages{queue=\"deliver\",state=\"failed\"}"), "{text}");
}

/// Over a socket: who uploads much and is refused early still reads why.
#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_in_the_middle_of_an_upload_is_read() {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let bench = Bench::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(bench.serve(listener));
    for (target, token, status) in [("small", "geheim", "413"), ("small", "wrong", "401"), ("other", "geheim", "400")] {
        let mut line = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /api/v1/messages?pmode={target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: text/plain\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
        );
        line.write_all(head.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = line.split();
        let upload = async {
            let chunk = [b"10000\r\n".as_slice(), &vec![b'x'; 0x10000], b"\r\n"].concat();
            for _ in 0..64 {
                if writer.write_all(&chunk).await.is_err() {
                    return;
                }
            }
            let _ = writer.write_all(b"0\r\n\r\n").await;
        };
        let mut answer = Vec::new();
        let (read, ()) = tokio::join!(reader.read_to_end(&mut answer), upload);
        let text = String::from_utf8_lossy(&answer);
        assert!(text.starts_with(&format!("HTTP/1.1 {status}")), "{target} {token}: {read:?} {text:?}");
        assert!(text.contains("\"incident\""), "{text}");
    }
}
