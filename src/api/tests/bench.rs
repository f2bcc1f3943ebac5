//! A gateway that sends nothing, its API, and callers.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, request::Builder};
use http_body_util::BodyExt;
use serde_json::Value;
use tempfile::TempDir;
use time::OffsetDateTime;
use tower::ServiceExt;

use crate::api::{ApiState, router};
use crate::config::{Layer, parse};
use crate::gateway::{Gateway, assemble};
use crate::store::StoreError;
use crate::telemetry::metrics::{self, Metrics};

/// Two P-Modes: `plain` and `small`, which takes 1 kB.
const PMODES: [(&str, &str); 2] = [("plain", ""), ("small", "<PayloadProfile maxSize=\"1 kB\"/>")];

pub(super) struct Bench {
    pub(super) gateway: Arc<Gateway>,
    pub(super) stopping: Arc<AtomicBool>,
    router: Router,
    dir: TempDir,
}

/// An answer, read whole.
pub(super) struct Said {
    pub(super) status: StatusCode,
    pub(super) headers: HeaderMap,
    pub(super) body: Vec<u8>,
}

impl Said {
    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("{:?}", String::from_utf8_lossy(&self.body)))
    }

    /// The detail of a problem document, which has all that one has.
    pub(super) fn problem(&self, status: u16) -> String {
        let document = self.json();
        assert_eq!(self.status.as_u16(), status, "{document}");
        assert_eq!(self.headers["content-type"], "application/problem+json");
        assert_eq!(document["status"], status);
        assert_eq!(document["incident"].as_str(), self.headers["x-request-id"].to_str().ok());
        assert!(document["code"].as_str().is_some_and(|code| code.contains('.')), "{document}");
        for member in ["title", "next", "instance"] {
            assert!(document[member].as_str().is_some_and(|text| !text.is_empty()), "{member}: {document}");
        }
        document["detail"].as_str().unwrap().to_owned()
    }
}

fn numbers() -> Metrics {
    static METRICS: OnceLock<Metrics> = OnceLock::new();
    METRICS.get_or_init(|| metrics::init("test").unwrap()).clone()
}

pub(super) fn pmode(id: &str, business: &str) -> String {
    format!(
        "<PMode xmlns=\"urn:postrider:pmode:1\" id=\"{id}\" profile=\"plain\">\
         <Initiator><Party>urn:example:blue</Party></Initiator><Responder><Party>urn:example:red</Party></Responder>\
         <Leg><Protocol><Address>http://127.0.0.1:9/as4</Address></Protocol><BusinessInfo>\
         <Service>urn:example:service</Service><Action>{id}</Action>{business}</BusinessInfo></Leg></PMode>"
    )
}

impl Bench {
    pub(super) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("pmodes")).unwrap();
        for (id, business) in PMODES {
            std::fs::write(dir.path().join(format!("pmodes/{id}.xml")), pmode(id, business)).unwrap();
        }
        let text = "[host]\nname = \"blue.example\"\n[data]\ndir = \"data\"\n[pmodes]\ndir = \"pmodes\"\n\
                    [[party]]\nname = \"blue\"\nid = \"urn:example:blue\"\n";
        let file = Layer::File { path: dir.path().join("postrider.toml"), text: text.to_owned() };
        let config = parse(dir.path(), &[file]).unwrap().config;
        let gateway = assemble(&config, OffsetDateTime::now_utc()).unwrap();
        let stopping = Arc::new(AtomicBool::new(false));
        let router = router(ApiState {
            gateway: Arc::clone(&gateway),
            metrics: numbers(),
            tokens: vec![("erp".to_owned(), "geheim".to_owned()), ("crm".to_owned(), "secret".to_owned())],
            stopping: Arc::clone(&stopping),
        });
        Self { gateway, stopping, router, dir }
    }

    pub(super) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Serves over a socket.
    pub(super) fn serve(&self, listener: tokio::net::TcpListener) -> impl Future<Output = ()> + use<> {
        let router = self.router.clone();
        async move { axum::serve(listener, router).await.unwrap() }
    }

    /// A request without a token.
    pub(super) async fn raw(&self, request: Request<Body>) -> Said {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Said { status: parts.status, headers: parts.headers, body }
    }

    pub(super) async fn get(&self, target: &str) -> Said {
        self.raw(asked("GET", target).body(Body::empty()).unwrap()).await
    }

    pub(super) async fn act(&self, target: &str, body: &str) -> Said {
        self.raw(asked("POST", target).body(Body::from(body.to_owned())).unwrap()).await
    }

    /// A submission as a form, as commands make it.
    pub(super) async fn form(&self, key: &str, submission: &str, payloads: &[&[u8]]) -> Said {
        let request = asked("POST", "/api/v1/messages")
            .header("idempotency-key", key)
            .header("content-type", "multipart/form-data; boundary=B0");
        self.raw(request.body(Body::from(form(submission, payloads))).unwrap()).await
    }

    /// Submits, and gives the id.
    pub(super) async fn submitted(&self, key: &str, payload: &str) -> String {
        let said = self.form(key, r#"{"pmode":"plain"}"#, &[payload.as_bytes()]).await;
        assert_eq!(said.status, 201, "{}", said.json());
        said.json()["id"].as_str().unwrap().to_owned()
    }

    /// Changes what is stored.
    pub(super) async fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut crate::store::Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.gateway.store.write::<_, StoreError, _>(job).await.unwrap()
    }
}

/// A request with the token of `erp`.
pub(super) fn asked(method: &str, target: &str) -> Builder {
    Request::builder().method(method).uri(target).header("authorization", "Bearer geheim")
}

pub(super) fn form(submission: &str, payloads: &[&[u8]]) -> Vec<u8> {
    let disposition = "Content-Disposition: form-data; name";
    let mut body =
        format!("--B0\r\n{disposition}=\"submission\"\r\nContent-Type: application/json\r\n\r\n{submission}")
            .into_bytes();
    for (n, payload) in payloads.iter().enumerate() {
        let head = format!(
            "\r\n--B0\r\n{disposition}=\"payload\"; filename=\"doc-{n}.xml\"\r\nContent-Type: application/xml\r\n\r\n"
        );
        body.extend_from_slice(head.as_bytes());
        body.extend_from_slice(payload);
    }
    body.extend_from_slice(b"\r\n--B0--\r\n");
    body
}
