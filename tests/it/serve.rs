//! The running process: its listeners, TLS, what it tells about itself, reload and end.

use std::io::{Read, Write};
use std::net::SocketAddr;
use std::time::Duration;

use openssl::pkey::PKey;
use openssl::ssl::{SslConnector, SslMethod, SslStream};
use openssl::x509::X509;

use crate::support::api::Submission;
use crate::support::http;
use crate::support::keys::{Identity, pki};
use crate::support::message::{is_receipt, plain};
use crate::support::node::{Builder, Node};
use crate::support::pmode::{PMode, Party};
use crate::support::{ports, wait};

const MULTIPART: &str = "multipart/related; type=\"application/soap+xml\"; boundary=b1";

fn pmode() -> PMode {
    PMode::new("open", "plain")
        .parties(Party::uri("urn:example:party:a"), Party::uri("urn:example:party:b"))
        .agreement("urn:example:agreement:1")
        .service(None, "urn:example:service", "Deliver")
}

fn receiver() -> Builder {
    Builder::new("b").party("urn:example:party:b", None, None).pmode(pmode().deliver())
}

/// A further listener with TLS.
fn with_tls(builder: Builder, listen: &str, client: &str) -> Builder {
    builder
        .file("keys/tls.key", &pki().red.key)
        .file("keys/tls.pem", &pki().red.certificate)
        .file("keys/ca.pem", &pki().ca)
        .toml(&format!(
            "[[msh]]\nlisten = \"{listen}\"\n[msh.tls]\ncertificate = \"keys/tls.pem\"\n\
             key = {{ file = \"keys/tls.key\" }}\n{client}"
        ))
}

#[test]
fn a_message_goes_over_tls_and_ipv6_beside_a_plain_listener() {
    let port = ports::free().port();
    let red = with_tls(receiver(), &format!("[::1]:{port}"), "").start();
    let send = pmode().leg(&format!(
        "<Protocol><Address>https://[::1]:{port}/as4</Address><TlsAnchor file=\"../keys/ca.pem\"/></Protocol>"
    ));
    let blue =
        Builder::new("a").party("urn:example:party:a", None, None).file("keys/ca.pem", &pki().ca).pmode(send).start();
    let id = blue.api.submit(&Submission::to("open").payload("application/xml", "<order/>"));
    blue.api.until(&id, "delivered");
    assert_eq!(red.inbox.take(&id).part(1), b"<order/>");
    // The other listener takes plain HTTP still, and the same inbox stands behind both.
    let body = plain("both@node.example", "<order/>");
    let answer = http::exchange(red.msh, &http::post("/as4", MULTIPART, &body)).expect("it answers");
    assert!(is_receipt(&answer, "both@node.example"), "{}", answer.text());
    red.inbox.take("both@node.example");
}

/// A TLS connection that shows a certificate, or none.
fn tls(to: SocketAddr, shown: Option<&Identity>) -> std::io::Result<SslStream<std::net::TcpStream>> {
    let mut connector = SslConnector::builder(SslMethod::tls_client()).expect("OpenSSL is there");
    let ca = X509::from_pem(&pki().ca).expect("it is PEM");
    connector.cert_store_mut().add_cert(ca).expect("it is a certificate");
    if let Some(identity) = shown {
        let certificate = X509::from_pem(&identity.certificate).expect("it is PEM");
        let key = PKey::private_key_from_pem(&identity.key).expect("it is PEM");
        connector.set_certificate(&certificate).expect("it is a certificate");
        connector.set_private_key(&key).expect("they are a pair");
    }
    let stream = http::connect(to)?;
    connector.build().connect("localhost", stream).map_err(std::io::Error::other)
}

/// One message over TLS; `None` when the connection is refused, be it at the handshake or after it (TLS 1.3).
fn over_tls(to: SocketAddr, shown: Option<&Identity>, id: &str) -> Option<http::Message> {
    let mut stream = tls(to, shown).ok()?;
    stream.write_all(&http::post("/as4", MULTIPART, &plain(id, "<order/>"))).ok()?;
    http::read(&mut stream, true).ok().flatten()
}

#[test]
fn a_listener_that_asks_for_certificates_refuses_strangers() {
    let address = ports::free();
    let client = "client_auth = \"required\"\nclient_ca = [\"keys/ca.pem\"]\n";
    let node = with_tls(receiver(), &address.to_string(), client).start();
    let answer = over_tls(address, Some(&pki().blue), "shown@node.example").expect("blue is known");
    assert!(is_receipt(&answer, "shown@node.example"), "{}", answer.text());
    node.inbox.take("shown@node.example");
    assert!(over_tls(address, None, "none@node.example").is_none(), "without a certificate");
    assert!(over_tls(address, Some(&pki().stranger), "stranger@node.example").is_none(), "of another authority");
    for id in ["none@node.example", "stranger@node.example"] {
        assert_eq!(node.inbox.count(id), 0);
    }
}

#[test]
fn a_broken_p_mode_leaves_the_old_ones_in_force() {
    let node = receiver().start();
    let taken = |id: &str, action: &str| {
        let body = String::from_utf8(plain(id, "<order/>")).expect("it is text").replace("Deliver", action);
        let answer = http::exchange(node.msh, &http::post("/as4", MULTIPART, body.as_bytes())).expect("it answers");
        is_receipt(&answer, id)
    };
    let path = node.dir().join("pmodes/open.xml");
    let good = std::fs::read_to_string(&path).expect("it is there");
    std::fs::write(&path, good.replace("Leg>", "Legg>")).expect("it can be written");
    wait("the refusal in the log", Duration::from_secs(10), || {
        node.log().contains("pmode.reload_refused").then_some(())
    });
    assert!(node.log().contains("open.xml:2:") && node.log().contains("did you mean `Leg`?"), "{}", node.log());
    assert!(taken("old@node.example", "Deliver"), "the old set is in force");
    std::fs::write(&path, good.replace("Deliver<", "Hand-over<")).expect("it can be written");
    wait("the new set in force", Duration::from_secs(10), || taken("new@node.example", "Hand-over").then_some(()));
    assert!(!taken("late@node.example", "Deliver"), "the old set is gone");
    node.inbox.take("old@node.example");
    node.inbox.take("new@node.example");
}

/// A request that is on its way when SIGTERM comes is answered, and what it brought is not lost.
#[test]
fn what_has_begun_is_finished_at_the_end() {
    let mut node = receiver().start();
    let octets = http::post("/as4", MULTIPART, &plain("last@node.example", "<order/>"));
    let (first, rest) = octets.split_at(octets.len() / 2);
    let mut stream = http::connect(node.msh).expect("it listens");
    stream.write_all(first).expect("it reads");
    std::thread::sleep(Duration::from_millis(200));
    let listener = node.msh;
    let ended = std::thread::scope(|scope| {
        let ended = scope.spawn(|| node.stop());
        wait("no new connections", Duration::from_secs(5), || http::connect(listener).is_err().then_some(()));
        stream.write_all(rest).expect("it still reads");
        let answer = http::read(&mut stream, true).expect("it answers").expect("a whole answer");
        assert!(is_receipt(&answer, "last@node.example"), "{}", answer.text());
        let mut more = Vec::new();
        let closed = stream.read_to_end(&mut more);
        assert!(closed.is_ok() && more.is_empty(), "and closes");
        ended.join().expect("no panic")
    });
    assert!(ended, "it ends by itself");
    node.run();
    node.inbox.take("last@node.example");
}

#[test]
fn it_tells_how_it_is() {
    let node = receiver().start();
    let body = plain("counted@node.example", "<order/>");
    for _ in 0..2 {
        http::exchange(node.msh, &http::post("/as4", MULTIPART, &body)).expect("it answers");
    }
    node.inbox.take("counted@node.example");
    for path in ["/health/live", "/health/ready", "/metrics"] {
        assert_eq!(get(&node, path).status(), 200, "{path}");
    }
    let metrics = get(&node, "/metrics").text();
    let value = |begins: &str| {
        let line = metrics.lines().find(|line| line.starts_with(begins));
        line.and_then(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
    };
    assert_eq!(value("postrider_duplicates_total{"), Some(1.0), "{metrics}");
    assert_eq!(value("postrider_messages_total{"), Some(1.0), "{metrics}");
}

/// Without a token, as a monitor asks.
fn get(node: &Node, path: &str) -> http::Message {
    let request = format!("GET {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", node.api.admin);
    http::exchange(node.api.admin, request.as_bytes()).expect("it answers")
}
