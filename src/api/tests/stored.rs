//! Whatever is wrong with a request, nothing of it stays: no message, no key, no payload, no unfinished file.

use std::path::{Path, PathBuf};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request};

use super::bench::{Bench, asked, form};

/// Larger than what goes into a row: it is written to a file while it arrives.
const LARGE: usize = 200_000;

/// Every file below a folder, but the store's lock.
fn files(dir: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for path in std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() { all.extend(files(&path)) } else { all.push(path) }
    }
    all.retain(|path| !path.ends_with(".lock"));
    all
}

async fn nothing_is_there(bench: &Bench, after: &str) {
    let list = bench.get("/api/v1/messages").await.json();
    assert_eq!(list["messages"], serde_json::json!([]), "{after}");
    assert_eq!(files(&bench.dir().join("data/payloads")), Vec::<PathBuf>::new(), "{after}");
}

/// A part of a form.
fn part(head: &str, content: &[u8]) -> Vec<u8> {
    [b"--B0\r\n", head.as_bytes(), b"\r\n\r\n", content, b"\r\n"].concat()
}

fn named(name: &str, content: &[u8]) -> Vec<u8> {
    part(&format!("Content-Disposition: form-data; name=\"{name}\""), content)
}

const END: &[u8] = b"--B0--\r\n";
const GOOD: &[u8] = br#"{"pmode":"plain"}"#;

#[tokio::test(flavor = "multi_thread")]
async fn of_a_form_that_is_wrong_nothing_stays() {
    let bench = Bench::new();
    let large = vec![b'x'; LARGE];
    let nested = [b"[".repeat(5000), b"]".repeat(5000)].concat();
    let good = named("submission", GOOD);
    let cases: [(&str, u16, Vec<u8>); 17] = [
        ("no form at all", 400, b"\x00\xff\xfe<a/>".to_vec()),
        ("another boundary", 400, form("{}", &[b"x"]).into_iter().map(|o| if o == b'0' { b'1' } else { o }).collect()),
        ("no end", 400, [good.clone(), named("payload", &large)].concat()),
        ("cut in a part's head", 400, [good.clone(), b"--B0\r\nContent-Dispo".to_vec()].concat()),
        (
            "cut in the submission",
            400,
            b"--B0\r\nContent-Disposition: form-data; name=\"submission\"\r\n\r\n{\"pm".to_vec(),
        ),
        ("nothing but its end", 400, END.to_vec()),
        ("payload without submission", 400, [&named("payload", &large), END].concat()),
        ("payload before submission", 400, [&named("payload", &large), &*good, END].concat()),
        ("two submissions", 400, [&*good, &named("payload", &large), &good, END].concat()),
        ("a field of another name", 400, [&*good, &named("payload", &large), &named("paylaod", b"x"), END].concat()),
        ("a field without name", 400, [&*good, &part("Content-Disposition: form-data", b"x"), END].concat()),
        ("a part without disposition", 400, [&*good, &part("Content-Type: text/xml", b"x"), END].concat()),
        ("no JSON", 400, [&named("submission", b"<a/>"), END].concat()),
        ("no UTF-8", 400, [&named("submission", b"{\"pmode\":\"pl\xe4in\"}"), END].concat()),
        ("JSON without end of depth", 400, [&named("submission", &nested), END].concat()),
        (
            "a P-Mode of no one",
            400,
            [&named("submission", br#"{"pmode":"nobody"}"#), &named("payload", &large), END].concat(),
        ),
        (
            "a bad media type of the second payload",
            400,
            [
                &*good,
                &named("payload", &large),
                &part("Content-Disposition: form-data; name=\"payload\"\r\nContent-Type: xml", &large),
                END,
            ]
            .concat(),
        ),
    ];
    for (what, status, body) in cases {
        let request = asked("POST", "/api/v1/messages")
            .header("idempotency-key", "k")
            .header("content-type", "multipart/form-data; boundary=B0");
        let said = bench.raw(request.body(Body::from(body)).unwrap()).await;
        assert_eq!(said.status.as_u16(), status, "{what}: {}", said.json());
        said.problem(status);
        nothing_is_there(&bench, what).await;
    }
    // The key is as free as before.
    bench.submitted("k", "x").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_what_is_too_large_nothing_stays() {
    let bench = Bench::new();
    let large = vec![b'x'; LARGE];
    bench.form("k", r#"{"pmode":"small"}"#, &[&large]).await.problem(413);
    nothing_is_there(&bench, "more than the P-Mode takes").await;
    let raw = asked("POST", "/api/v1/messages?pmode=small").header("content-type", "text/plain");
    bench.raw(raw.body(Body::from(large.clone())).unwrap()).await.problem(413);
    nothing_is_there(&bench, "as the body").await;
    let many: Vec<&[u8]> = std::iter::once(&*large).chain(vec![b"x".as_slice(); 101]).collect();
    bench.form("k", r#"{"pmode":"plain"}"#, &many).await.problem(413);
    nothing_is_there(&bench, "more payloads than are taken").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn keys_that_no_header_should_have_are_refused() {
    let bench = Bench::new();
    let large = vec![b'x'; LARGE];
    for key in [&b"a\tb"[..], b"caf\xc3\xa9", b"\xff", b" ", &[b'k'; 201]] {
        let mut request = asked("POST", "/api/v1/messages?pmode=plain")
            .header("content-type", "text/plain")
            .body(Body::from(large.clone()))
            .unwrap();
        request.headers_mut().insert("idempotency-key", HeaderValue::from_bytes(key).unwrap());
        let told = bench.raw(request).await.problem(400);
        assert!(told.contains("Idempotency-Key") && told.contains("1 to 200"), "{key:?}: {told}");
        nothing_is_there(&bench, &format!("{key:?}")).await;
    }
}

/// Every path that takes an id or a number, and the methods that it answers.
const PATHS: [(&str, &str); 15] = [
    ("/api/v1/messages", "POST,GET,HEAD"),
    ("/api/v1/messages/{}", "GET,HEAD"),
    ("/api/v1/messages/{}/timeline", "GET,HEAD"),
    ("/api/v1/messages/{}/attempts", "GET,HEAD"),
    ("/api/v1/messages/{}/explain", "GET,HEAD"),
    ("/api/v1/messages/{}/receipt", "GET,HEAD"),
    ("/api/v1/messages/{}/exchanges", "GET,HEAD"),
    ("/api/v1/messages/{}/exchanges/1/request", "GET,HEAD"),
    ("/api/v1/messages/{}/payloads/0", "GET,HEAD"),
    ("/api/v1/messages/{}/resend", "POST"),
    ("/api/v1/messages/{}/redeliver", "POST"),
    ("/api/v1/rejected", "GET,HEAD"),
    ("/api/v1/rejected/{}/request", "GET,HEAD"),
    ("/api/v1/pmodes", "GET,HEAD"),
    ("/api/v1/pmodes/reload", "POST"),
];

#[tokio::test(flavor = "multi_thread")]
async fn ids_are_never_paths() {
    let bench = Bench::new();
    let ids = [
        "..%2F..%2F..%2Fetc%2Fpasswd",
        "%2e%2e",
        "..%5c..%5cx",
        "%2Fetc%2Fpasswd",
        "....%2F%2F",
        "a%00.xml",
        "%0d%0aSet-Cookie:x",
        "data%2Fpostrider.db",
        "%E2%80%AE",
    ];
    for (path, methods) in PATHS.iter().filter(|(path, _)| path.contains("{}")) {
        let method = if *methods == "POST" { "POST" } else { "GET" };
        for id in ids {
            let target = path.replace("{}", id);
            let said = bench.raw(asked(method, &target).body(Body::empty()).unwrap()).await;
            said.problem(404);
            assert!(said.json()["detail"].as_str().is_some_and(|told| !told.contains('\0')), "{target}");
        }
        let long = path.replace("{}", &"x".repeat(5000));
        let told = bench.raw(asked(method, &long).body(Body::empty()).unwrap()).await.problem(404);
        assert!(told.len() < 1000, "{told}");
        let said = bench.raw(asked(method, &path.replace("{}", "%ff")).body(Body::empty()).unwrap()).await;
        said.problem(400);
    }
    nothing_is_there(&bench, "ids").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_path_has_its_methods_and_its_guard() {
    let bench = Bench::new();
    for (path, methods) in PATHS {
        let target = path.replace("{}", "x@y");
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH", "TRACE", "BREW"] {
            let without = Request::builder().method(method).uri(&target).body(Body::empty()).unwrap();
            let mut wrong = Request::builder().method(method).uri(&target).body(Body::empty()).unwrap();
            wrong.headers_mut().insert("authorization", "Bearer wrong".parse().unwrap());
            if methods.split(',').any(|known| known == method) {
                bench.raw(without).await.problem(401);
                bench.raw(wrong).await.problem(401);
                continue;
            }
            let said = bench.raw(asked(method, &target).body(Body::empty()).unwrap()).await;
            said.problem(405);
            assert_eq!(said.headers["allow"], methods, "{method} {target}");
        }
    }
}

/// A caller that goes away in the middle of its upload leaves no message, no file, and no key that is taken.
#[tokio::test(flavor = "multi_thread")]
async fn of_an_upload_that_breaks_off_nothing_stays() {
    use tokio::io::AsyncWriteExt;
    let bench = Bench::new();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(bench.serve(listener));
    let whole = form(r#"{"pmode":"plain"}"#, &[&vec![b'x'; LARGE], &vec![b'y'; LARGE]]);
    for (n, length) in [(1, 20), (2, 100), (3, LARGE / 2), (4, LARGE + 500), (5, whole.len() - 5)] {
        let mut line = tokio::net::TcpStream::connect(address).await.unwrap();
        let head = format!(
            "POST /api/v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer geheim\r\nIdempotency-Key: k\r\n\
             Content-Type: multipart/form-data; boundary=B0\r\nContent-Length: {}\r\n\r\n",
            whole.len()
        );
        line.write_all(head.as_bytes()).await.unwrap();
        line.write_all(&whole[..length]).await.unwrap();
        line.flush().await.unwrap();
        // The gateway has taken it before it is gone: a file is open for what is large.
        let begun = async {
            while length > LARGE / 4 && files(&bench.dir().join("data/payloads")).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), begun).await.unwrap();
        drop(line);
        let gone = async {
            while !files(&bench.dir().join("data/payloads")).is_empty() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), gone).await.unwrap_or_else(|_| panic!("{n}: files are left"));
        nothing_is_there(&bench, &format!("cut after {length}")).await;
    }
    let free = async {
        while bench.form("k", r#"{"pmode":"plain"}"#, &[b"x"]).await.status != 201 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), free).await.expect("the key is free again");
}
