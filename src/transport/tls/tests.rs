//! Certificates made here, listeners and posters against each other and against OpenSSL.

use std::{
    io::{Read as _, Write as _},
    net::{SocketAddr, TcpStream},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use openssl::{
    asn1::Asn1Time,
    bn::BigNum,
    ec::{EcGroup, EcKey},
    hash::MessageDigest,
    nid::Nid,
    pkey::{PKey, Private},
    ssl::{SslConnector, SslMethod, SslVerifyMode, SslVersion},
    symm::Cipher,
    x509::{
        X509, X509NameBuilder,
        extension::{BasicConstraints, SubjectAlternativeName},
    },
};
use tokio::sync::watch;

use super::*;
use crate::transport::{
    listen::{Answer, Endpoint, Exchange, ListenOptions, Listener},
    post::{Failure, PostError, Posted, Poster, Request, Step},
};

/// A certificate and its key.
struct Made {
    certificate: X509,
    key: PKey<Private>,
}

/// What a certificate is to be.
struct Wanted<'w> {
    name: &'w str,
    san: &'w [&'w str],
    authority: bool,
    days: (i64, i64),
    curve: Nid,
    digest: MessageDigest,
}

impl Default for Wanted<'_> {
    fn default() -> Self {
        let (days, curve) = ((-1, 30), Nid::X9_62_PRIME256V1);
        Self { name: "node", san: &[], authority: false, days, curve, digest: MessageDigest::sha256() }
    }
}

fn make(wanted: &Wanted<'_>, issuer: Option<&Made>) -> Made {
    let key = PKey::from_ec_key(EcKey::generate(&EcGroup::from_curve_name(wanted.curve).unwrap()).unwrap()).unwrap();
    let mut name = X509NameBuilder::new().unwrap();
    name.append_entry_by_text("CN", wanted.name).unwrap();
    let name = name.build();
    let mut builder = X509::builder().unwrap();
    builder.set_version(2).unwrap();
    let mut serial = BigNum::new().unwrap();
    serial.rand(64, openssl::bn::MsbOption::MAYBE_ZERO, false).unwrap();
    builder.set_serial_number(&serial.to_asn1_integer().unwrap()).unwrap();
    builder.set_subject_name(&name).unwrap();
    builder.set_issuer_name(issuer.map_or(&name, |issuer| issuer.certificate.subject_name())).unwrap();
    let now = time::OffsetDateTime::now_utc().unix_timestamp();
    let at = |days: i64| Asn1Time::from_unix(now + days * 86_400).unwrap();
    builder.set_not_before(&at(wanted.days.0)).unwrap();
    builder.set_not_after(&at(wanted.days.1)).unwrap();
    builder.set_pubkey(&key).unwrap();
    let mut basic = BasicConstraints::new();
    if wanted.authority {
        basic.ca();
    }
    builder.append_extension(basic.critical().build().unwrap()).unwrap();
    if !wanted.san.is_empty() {
        let mut san = SubjectAlternativeName::new();
        for name in wanted.san {
            if name.parse::<std::net::IpAddr>().is_ok() {
                san.ip(name)
            } else {
                san.dns(name)
            };
        }
        let extension = san.build(&builder.x509v3_context(issuer.map(|issuer| &*issuer.certificate), None)).unwrap();
        builder.append_extension(extension).unwrap();
    }
    builder.sign(issuer.map_or(&key, |issuer| &issuer.key), wanted.digest).unwrap();
    Made { certificate: builder.build(), key }
}

fn authority(name: &str) -> Made {
    make(&Wanted { name, authority: true, ..Wanted::default() }, None)
}

/// A certificate for loopback.
fn local(issuer: &Made) -> Made {
    make(&Wanted { san: &["localhost", "127.0.0.1"], ..Wanted::default() }, Some(issuer))
}

impl Made {
    fn pem(&self) -> Vec<u8> {
        self.certificate.to_pem().unwrap()
    }

    fn der(&self) -> Vec<u8> {
        self.certificate.to_der().unwrap()
    }

    fn identity_with(&self, behind: &[&Made]) -> Identity {
        let chain: Vec<u8> = [self].iter().chain(behind).flat_map(|made| made.pem()).collect();
        Identity::from_pem("test", &chain, &self.key.private_key_to_pem_pkcs8().unwrap(), None).unwrap()
    }

    fn identity(&self) -> Identity {
        self.identity_with(&[])
    }
}

/// Keeps the client certificates.
#[derive(Clone, Default)]
struct Keep(Arc<Mutex<Vec<Option<Vec<u8>>>>>);

impl Endpoint for Keep {
    async fn exchange(&self, mut exchange: Exchange) -> Answer {
        assert!(exchange.secure);
        self.0.lock().unwrap().push(exchange.client_certificate);
        match exchange.body.collect(1 << 20).await {
            Ok(body) => Answer::new(StatusCode::OK, "text/xml", body),
            Err(error) => Answer::from(&error),
        }
    }
}

struct Running {
    addr: SocketAddr,
    keep: Keep,
    tls: ServerTls,
    _stop: watch::Sender<bool>,
}

fn start(options: &ServerTlsOptions, adapt: impl FnOnce(&mut ListenOptions)) -> Running {
    let tls = ServerTls::new(options).unwrap();
    let mut listen = ListenOptions::new("127.0.0.1:0".parse().unwrap());
    listen.tls = Some(tls.clone());
    adapt(&mut listen);
    let listener = Listener::bind(listen).unwrap();
    let (addr, keep, (stop, down)) = (listener.local_addr(), Keep::default(), watch::channel(false));
    tokio::spawn(listener.serve(keep.clone(), down));
    Running { addr, keep, tls, _stop: stop }
}

fn shown(identity: Identity) -> ServerTlsOptions {
    ServerTlsOptions { default: identity, by_name: Vec::new(), clients: ClientCertificates::Off }
}

impl Running {
    async fn post(&self, host: &str, tls: &ClientTls) -> Result<Posted, PostError> {
        Poster::default().post(&self.request(host, tls)).await
    }

    fn request(&self, host: &str, tls: &ClientTls) -> Request {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", "text/xml".parse().unwrap());
        let url = format!("https://{host}:{}/as4", self.addr.port()).parse().unwrap();
        let mut request = Request::new(url, headers, Arc::new(Bytes::from_static(b"<x/>")));
        request.tls = Some(tls.clone());
        request
    }

    fn kept(&self) -> Vec<Option<Vec<u8>>> {
        self.keep.0.lock().unwrap().clone()
    }
}

fn trusting(anchors: &[&Made], identity: Option<Identity>) -> ClientTls {
    let anchors = anchors.iter().flat_map(|made| made.pem()).collect();
    ClientTls::new(&ClientTlsOptions { trust: Trust::Anchors(anchors), identity }).unwrap()
}

/// A failed handshake, with what rustls says about it.
fn refused(outcome: Result<Posted, PostError>) -> String {
    match outcome {
        Err(PostError { failure: Failure::Tls(error), fully_written, .. }) => {
            assert!(!fully_written || error.to_string().contains("alert"), "{error}");
            error.to_string()
        }
        other => panic!("no TLS failure: {other:?}"),
    }
}

#[tokio::test]
async fn a_post_over_tls_by_name_and_by_address() {
    let ca = authority("ca");
    let node = local(&ca);
    let server = start(&shown(node.identity()), |_| {});
    let tls = trusting(&[&ca], None);
    for host in ["localhost", "127.0.0.1"] {
        let posted = server.post(host, &tls).await.unwrap();
        assert_eq!(posted.body, "<x/>");
        let info = posted.tls.unwrap();
        assert_eq!((info.protocol.as_str(), info.certificate), ("TLSv1_3", Some(node.der())));
    }
    assert_eq!(server.kept(), [None, None]);
}

#[tokio::test]
async fn bad_server_certificates_are_refused_with_the_reason() {
    let (ca, other) = (authority("ca"), authority("other"));
    let tls = trusting(&[&ca], None);
    let of = |wanted: Wanted<'_>, issuer| start(&shown(make(&wanted, Some(issuer)).identity()), |_| {});
    let san: &[&str] = &["localhost"];
    let post = async |server: Running| refused(server.post("localhost", &tls).await);
    assert!(post(of(Wanted { san, ..Wanted::default() }, &other)).await.contains("UnknownIssuer"));
    assert!(post(of(Wanted { san, days: (-9, -1), ..Wanted::default() }, &ca)).await.contains("expired"));
    assert!(post(of(Wanted { san, days: (1, 9), ..Wanted::default() }, &ca)).await.contains("not valid yet"));
    assert!(
        post(of(Wanted { san: &["other.example"], ..Wanted::default() }, &ca)).await.contains("not valid for name")
    );
    let nameless = post(of(Wanted { name: "localhost", ..Wanted::default() }, &ca)).await;
    assert!(nameless.contains("not valid for"), "{nameless}");
    let sha1 = post(of(Wanted { san, digest: MessageDigest::sha1(), ..Wanted::default() }, &ca)).await;
    assert!(sha1.to_lowercase().contains("signature"), "{sha1}");
}

#[tokio::test]
async fn chains_may_be_untidy_but_not_incomplete() {
    let (ca, other) = (authority("ca"), authority("other"));
    let middle = make(&Wanted { name: "middle", authority: true, ..Wanted::default() }, Some(&ca));
    let lower = make(&Wanted { name: "lower", authority: true, ..Wanted::default() }, Some(&middle));
    let node = make(&Wanted { san: &["localhost"], curve: Nid::SECP521R1, ..Wanted::default() }, Some(&lower));
    let tls = trusting(&[&ca], None);
    for chain in [&[&lower, &middle][..], &[&middle, &lower], &[&lower, &middle, &ca], &[&other, &middle, &lower]] {
        let server = start(&shown(node.identity_with(chain)), |_| {});
        assert_eq!(server.post("localhost", &tls).await.unwrap().status, 200);
    }
    let server = start(&shown(node.identity()), |_| {});
    assert!(refused(server.post("localhost", &tls).await).contains("UnknownIssuer"));
    let helped = trusting(&[&ca, &lower], None);
    assert_eq!(server.post("localhost", &helped).await.unwrap().status, 200);
}

#[tokio::test]
async fn a_self_signed_certificate_is_good_when_it_is_the_anchor() {
    let wanted = || Wanted { san: &["localhost"], authority: true, ..Wanted::default() };
    let (node, twin) = (make(&wanted(), None), make(&wanted(), None));
    let server = start(&shown(node.identity()), |_| {});
    assert_eq!(server.post("localhost", &trusting(&[&node], None)).await.unwrap().status, 200);
    refused(server.post("localhost", &trusting(&[&twin], None)).await);
    let wrong_name = refused(server.post("127.0.0.1", &trusting(&[&node], None)).await);
    assert!(wrong_name.contains("not valid for"), "{wrong_name}");
    let old = make(&Wanted { days: (-9, -1), ..wanted() }, None);
    let server = start(&shown(old.identity()), |_| {});
    let expired = refused(server.post("localhost", &trusting(&[&old], None)).await);
    assert!(expired.to_lowercase().contains("expired"), "{expired}");
}

#[tokio::test]
async fn client_certificates_are_asked_for_checked_and_shown() {
    let (ca, clients, other) = (authority("ca"), authority("clients"), authority("other"));
    let node = local(&ca);
    let partner = make(&Wanted::default(), Some(&clients));
    let pinned = make(&Wanted { name: "pinned", authority: true, ..Wanted::default() }, None);
    let stranger = make(&Wanted::default(), Some(&other));
    let anchors = [clients.pem(), pinned.pem()].concat();
    let with = |made: &Made| trusting(&[&ca], Some(made.identity()));

    let mut options = shown(node.identity());
    options.clients = ClientCertificates::Required { anchors: anchors.clone() };
    let server = start(&options, |_| {});
    for made in [&partner, &pinned] {
        assert_eq!(server.post("localhost", &with(made)).await.unwrap().status, 200);
    }
    assert_eq!(server.kept(), [Some(partner.der()), Some(pinned.der())]);
    assert!(refused(server.post("localhost", &trusting(&[&ca], None)).await).contains("alert"));
    assert!(refused(server.post("localhost", &with(&stranger)).await).contains("alert"));

    options.clients = ClientCertificates::Optional { anchors };
    let server = start(&options, |_| {});
    assert_eq!(server.post("localhost", &trusting(&[&ca], None)).await.unwrap().status, 200);
    assert_eq!(server.post("localhost", &with(&partner)).await.unwrap().status, 200);
    refused(server.post("localhost", &with(&stranger)).await);
    assert_eq!(server.kept(), [None, Some(partner.der())]);
}

/// Shakes hands with OpenSSL, then posts; the server's certificate, or why there is none.
fn shake(addr: SocketAddr, sni: Option<&str>, max: Option<SslVersion>) -> Result<Vec<u8>, String> {
    let mut connector = SslConnector::builder(SslMethod::tls()).unwrap();
    connector.set_verify(SslVerifyMode::NONE);
    if let Some(max) = max {
        connector.set_min_proto_version(None).unwrap();
        connector.set_max_proto_version(Some(max)).unwrap();
        connector.set_cipher_list("ALL:@SECLEVEL=0").unwrap();
    }
    let mut connect = connector.build().configure().unwrap();
    connect.set_use_server_name_indication(false);
    connect.set_verify_hostname(false);
    if let Some(name) = sni {
        connect.set_hostname(name).unwrap();
    }
    let tcp = TcpStream::connect(addr).unwrap();
    let mut stream = connect.connect("unused", tcp).map_err(|error| error.to_string())?;
    stream
        .write_all(b"POST /as4 HTTP/1.1\r\nHost: a\r\nContent-Type: text/xml\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx")
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| error.to_string())?;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    Ok(stream.ssl().peer_certificate().unwrap().to_der().unwrap())
}

async fn shake_off(addr: SocketAddr, sni: Option<&'static str>, max: Option<SslVersion>) -> Result<Vec<u8>, String> {
    tokio::task::spawn_blocking(move || shake(addr, sni, max)).await.unwrap()
}

#[tokio::test]
async fn the_server_name_chooses_and_odd_names_get_the_default() {
    let ca = authority("ca");
    let [default, one, wild] = [(); 3].map(|()| local(&ca));
    let mut options = shown(default.identity());
    options.by_name = vec![("One.example".to_owned(), one.identity()), ("*.wild.example".to_owned(), wild.identity())];
    let server = start(&options, |_| {});
    for (sni, expected) in [
        (None, &default),
        (Some("10.0.0.4"), &default),
        (Some("unknown.example"), &default),
        (Some("under_score.example"), &default),
        (Some("one.example"), &one),
        (Some("ONE.example."), &one),
        (Some("a.wild.example"), &wild),
        (Some("wild.example"), &default),
        (Some("a.b.wild.example"), &default),
    ] {
        assert!(shake_off(server.addr, sni, None).await == Ok(expected.der()), "{sni:?}");
    }
    server.tls.replace(&shown(one.identity())).unwrap();
    assert!(shake_off(server.addr, None, None).await == Ok(one.der()), "a renewed certificate needs no restart");
}

#[tokio::test]
async fn tls_1_2_is_the_oldest() {
    let ca = authority("ca");
    let server = start(&shown(local(&ca).identity()), |_| {});
    assert!(shake_off(server.addr, None, Some(SslVersion::TLS1_2)).await.is_ok());
    assert!(shake_off(server.addr, None, Some(SslVersion::TLS1_1)).await.is_err());
}

#[tokio::test]
async fn handshakes_that_go_nowhere_hold_nobody_up() {
    let ca = authority("ca");
    let server = start(&shown(local(&ca).identity()), |options| {
        options.limits.handshake_time = Duration::from_millis(200);
        options.limits.max_connections = 16;
    });
    let addr = server.addr;
    let half_open: Vec<TcpStream> = (0..100).map(|_| TcpStream::connect(addr).unwrap()).collect();
    let began = Instant::now();
    server.post("localhost", &trusting(&[&ca], None)).await.unwrap();
    assert!(began.elapsed() < Duration::from_secs(2));
    let closed = tokio::task::spawn_blocking(move || {
        let mut plain = TcpStream::connect(addr).unwrap();
        plain.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
        let mut rest = Vec::new();
        let _ = plain.read_to_end(&mut rest);
        assert!(!rest.starts_with(b"HTTP"), "an alert at most");
        let mut silent = &half_open[99];
        silent.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        // Closed or reset, but not left open until the read times out.
        silent.read(&mut [0; 16]).map_err(|error| error.kind())
    });
    let closed = closed.await.unwrap();
    assert!(matches!(closed, Ok(_) | Err(std::io::ErrorKind::ConnectionReset)), "{closed:?}");
}

#[tokio::test]
async fn a_stalled_handshake_has_its_time_and_another_partner_none_of_it() {
    let ca = authority("ca");
    let server = start(&shown(local(&ca).identity()), |_| {});
    let tls = trusting(&[&ca], None);
    let stalling = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let mut request = server.request("localhost", &tls);
    request.url.set_port(Some(stalling.local_addr().unwrap().port())).unwrap();
    request.time_outs.handshake = Duration::from_millis(300);
    let poster = Poster::default();
    let good = server.request("localhost", &tls);
    let (stalled, posted) = tokio::join!(poster.post(&request), poster.post(&good));
    assert!(matches!(stalled.unwrap_err().failure, Failure::TimedOut(Step::Handshake)));
    assert_eq!(posted.unwrap().status, 200);
}

#[tokio::test]
async fn connections_of_one_identity_are_never_used_for_another() {
    let (ca, clients) = (authority("ca"), authority("clients"));
    let mut options = shown(local(&ca).identity());
    options.clients = ClientCertificates::Required { anchors: clients.pem() };
    let server = start(&options, |_| {});
    let partners = [(); 2].map(|()| make(&Wanted::default(), Some(&clients)));
    let poster = Poster::default();
    for made in [&partners[0], &partners[1], &partners[0]] {
        poster.post(&server.request("localhost", &trusting(&[&ca], Some(made.identity())))).await.unwrap();
    }
    let expected = [&partners[0], &partners[1], &partners[0]].map(|made| Some(made.der()));
    assert_eq!(server.kept(), expected);
}

#[test]
fn keys_and_certificates_are_checked_when_they_are_read() {
    let (one, two) = (authority("one"), authority("two"));
    let key = one.key.private_key_to_pem_pkcs8().unwrap();
    let read = |chain: &[u8], key: &[u8], word: Option<&[u8]>| Identity::from_pem("tls.pem", chain, key, word);
    let locked = one.key.private_key_to_pem_pkcs8_passphrase(Cipher::aes_256_cbc(), b"word").unwrap();
    assert!(read(&one.pem(), &locked, Some(b"word")).is_ok());
    assert!(matches!(read(&one.pem(), &locked, Some(b"other")), Err(TlsError::Key { .. })));
    assert!(matches!(read(&one.pem(), &locked, None), Err(TlsError::Key { .. })));
    let error = read(&two.pem(), &key, None).unwrap_err();
    assert!(matches!(error, TlsError::Key { .. }) && error.to_string().starts_with("tls.pem: "), "{error}");
    assert!(matches!(read(&key, &key, None), Err(TlsError::NoCertificate { .. })));
    let both = [one.pem(), key].concat();
    assert!(read(&both, &both, None).is_ok(), "one file may hold both");
    assert!(!format!("{:?}", read(&both, &both, None)).contains("PRIVATE"));
}
