//! The admin API as commands use it: JSON over HTTP, with a bearer token.
//!
//! What goes wrong becomes an exit code in one place, `Client::call`.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, StatusCode, header};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use rustls::pki_types::ServerName;
use serde_json::Value;
use tokio::net::TcpStream;
use url::{Url, form_urlencoded};

use super::endpoint::Endpoint;
use super::exit;
use super::failure::Failure;

/// A body of a request.
pub type Body = UnsyncBoxBody<Bytes, std::io::Error>;

/// Time to connect, and to answer what is not an upload.
const CONNECT_TIME: Duration = Duration::from_secs(10);
const ANSWER_TIME: Duration = Duration::from_mins(1);
/// Largest answer that is read.
const ANSWER_SIZE: usize = 64 << 20;

/// What is escaped in a segment of a path: everything but the unreserved (RFC 3986 §2.3), and the @ that ids have.
const IN_SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'@');

/// An answer of the API.
#[derive(Clone, Debug)]
pub struct Answer {
    /// HTTP status, a success.
    pub status: StatusCode,
    /// The JSON of the body; null when there is none.
    pub body: Value,
}

/// Talks to one gateway.
#[derive(Clone, Debug)]
pub struct Client {
    endpoint: Endpoint,
}

/// Runs one command's conversation.
pub fn block_on<T>(conversation: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.map_err(|e| Failure::new(exit::BUG, format!("no runtime: {e}")))?.block_on(conversation)
}

impl Client {
    /// A client of that gateway.
    #[must_use]
    pub fn new(endpoint: Endpoint) -> Self {
        Self { endpoint }
    }

    /// `GET`.
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Answer, Failure> {
        let request = Request::builder().method(Method::GET).uri(self.target(path, query));
        within(ANSWER_TIME, self.call(request, empty())).await
    }

    /// `POST` of a JSON document. `key` makes a repeat harmless.
    pub async fn post(&self, path: &[&str], key: &str, body: &Value) -> Result<Answer, Failure> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.target(path, &[]))
            .header(header::CONTENT_TYPE, "application/json")
            .header("Idempotency-Key", key);
        within(ANSWER_TIME, self.call(request, full(body.to_string()))).await
    }

    /// `POST` of a body that streams, which may take its time.
    pub async fn upload(&self, path: &[&str], key: &str, kind: &str, size: u64, body: Body) -> Result<Answer, Failure> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(self.target(path, &[]))
            .header(header::CONTENT_TYPE, kind)
            .header(header::CONTENT_LENGTH, size)
            .header("Idempotency-Key", key);
        self.call(request, body).await
    }

    /// The request target: path segments and query values are escaped here and nowhere else. A `Url` would take an id
    /// such as `..` for a step upwards, and ask for something else.
    fn target(&self, path: &[&str], query: &[(&str, &str)]) -> String {
        let mut target = self.endpoint.url.path().trim_end_matches('/').to_owned();
        for segment in path {
            target.push('/');
            if segment.bytes().all(|octet| octet == b'.') {
                target.push_str(&segment.replace('.', "%2E"));
            } else {
                target.extend(utf8_percent_encode(segment, IN_SEGMENT));
            }
        }
        if !query.is_empty() {
            target.push('?');
            target.push_str(&form_urlencoded::Serializer::new(String::new()).extend_pairs(query).finish());
        }
        target
    }

    async fn call(&self, request: http::request::Builder, body: Body) -> Result<Answer, Failure> {
        let url = &self.endpoint.url;
        let authority = &url[url::Position::BeforeHost..url::Position::AfterPort];
        let mut request = request.header(header::HOST, authority).header(header::ACCEPT, "application/json");
        if let Some(token) = &self.endpoint.token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {}", token.expose()));
        }
        let request = request.body(body).map_err(|e| Failure::new(exit::USAGE, format!("no request: {e}")))?;
        let tcp = within(CONNECT_TIME, self.connect()).await?;
        let response = match url.scheme() {
            "https" => exchange(tls(url, tcp).await?, request).await,
            _ => exchange(tcp, request).await,
        };
        let (status, body) = response.map_err(|e| self.broken(e.as_ref()))?;
        let body: Value = serde_json::from_slice(&body).unwrap_or(Value::Null);
        if status.is_success() { Ok(Answer { status, body }) } else { Err(refusal(status, &body)) }
    }

    async fn connect(&self) -> Result<TcpStream, Failure> {
        let url = &self.endpoint.url;
        let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
        let port = url.port_or_known_default().unwrap_or(80);
        TcpStream::connect((host, port)).await.map_err(|e| {
            Failure::new(exit::UNREACHABLE, format!("no gateway answers at {url}: {e}"))
                .next("postrider serve")
                .next("or name another with --endpoint or POSTRIDER_ENDPOINT")
        })
    }

    fn broken(&self, error: &(dyn std::error::Error + Send + Sync + 'static)) -> Failure {
        let mut cause = format!("the exchange with {} broke off: {error}", self.endpoint.url);
        let mut source = error.source();
        while let Some(inner) = source {
            cause = format!("{cause}: {inner}");
            source = inner.source();
        }
        let next = "see that it is the admin listener of a gateway, and look into its log";
        Failure { uncertain: true, ..Failure::new(exit::UNREACHABLE, cause).next(next) }
    }
}

type Broken = Box<dyn std::error::Error + Send + Sync>;

/// One request on one connection.
async fn exchange<S>(stream: S, request: Request<Body>) -> Result<(StatusCode, Bytes), Broken>
where
    S: tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin + Send + 'static,
{
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let pump = tokio::spawn(connection);
    let response: http::Response<Incoming> = sender.send_request(request).await?;
    let status = response.status();
    let body = Limited::new(response.into_body(), ANSWER_SIZE).collect().await?.to_bytes();
    pump.abort();
    Ok((status, body))
}

async fn tls(url: &Url, tcp: TcpStream) -> Result<tokio_rustls::client::TlsStream<TcpStream>, Failure> {
    let failed = |what: String| Failure::new(exit::UNREACHABLE, format!("no TLS with {url}: {what}"));
    let mut roots = rustls::RootCertStore::empty();
    roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| failed(e.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
    let name = ServerName::try_from(host).map_err(|e| failed(e.to_string()))?;
    let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
    let handshake = async { connector.connect(name, tcp).await.map_err(|e| failed(e.to_string())) };
    within(CONNECT_TIME, handshake).await
}

async fn within<T>(limit: Duration, act: impl Future<Output = Result<T, Failure>>) -> Result<T, Failure> {
    tokio::time::timeout(limit, act).await.unwrap_or_else(|_| {
        let cause = format!("the gateway did not answer within {} s", limit.as_secs());
        Err(Failure::new(exit::UNREACHABLE, cause)
            .next("see that it runs and is not overloaded: /health/ready on its admin listener"))
    })
}

fn empty() -> Body {
    full(Bytes::new())
}

fn full(body: impl Into<Bytes>) -> Body {
    Full::new(body.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A problem document (RFC 9457) as a failure.
fn refusal(status: StatusCode, problem: &Value) -> Failure {
    let field = |name: &str| problem.get(name).and_then(Value::as_str).filter(|text| !text.is_empty());
    let exit = match status.as_u16() {
        401 | 403 => exit::DENIED,
        404 | 410 => exit::NO,
        409 | 412 => exit::CONFLICT,
        400..=499 => exit::REJECTED,
        502..=504 => exit::UNREACHABLE,
        _ => exit::BUG,
    };
    let cause = field("detail").or_else(|| field("title")).map_or_else(|| status.to_string(), str::to_owned);
    let mut failure = Failure { uncertain: status.is_server_error(), ..Failure::new(exit, cause) };
    for (name, word) in [("code", "code"), ("incident", "incident")] {
        if let Some(text) = field(name) {
            failure = failure.detail(format!("{word}: {text}"));
        }
    }
    match (field("next"), exit) {
        (Some(next), _) => failure.next(next),
        (None, exit::DENIED) => {
            failure.next("name the file of a valid token with --token-file or POSTRIDER_TOKEN_FILE")
        }
        (None, exit::BUG) => failure.next("report it with the gateway's log around this moment"),
        (None, _) => failure,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn client(url: &str) -> Client {
        Client::new(Endpoint { url: url.parse().unwrap(), token: None })
    }

    #[test]
    fn ids_and_filters_are_escaped() {
        let client = client("http://127.0.0.1:4081/behind/proxy/");
        assert_eq!(
            client.target(&["api", "v1", "messages", "a/b?@blue"], &[("q", "partner:red age:>1h")]),
            "/behind/proxy/api/v1/messages/a%2Fb%3F@blue?q=partner%3Ared+age%3A%3E1h"
        );
        for (id, escaped) in [("..", "%2E%2E"), (".", "%2E"), ("../x", "..%2Fx"), ("%2e%2e", "%252e%252e")] {
            let target = client.target(&["api", "v1", "messages", id], &[]);
            assert_eq!(target, format!("/behind/proxy/api/v1/messages/{escaped}"));
        }
    }

    #[test]
    fn refusals_have_their_exit_codes() {
        for (status, exit) in [
            (401, exit::DENIED),
            (404, exit::NO),
            (409, exit::CONFLICT),
            (422, exit::REJECTED),
            (500, exit::BUG),
            (503, exit::UNREACHABLE),
        ] {
            assert_eq!(refusal(StatusCode::from_u16(status).unwrap(), &Value::Null).exit, exit, "{status}");
        }
        let problem = json!({"title": "Conflict", "detail": "it is delivered", "code": "resend.delivered", "next": "add --force"});
        assert_eq!(
            refusal(StatusCode::CONFLICT, &problem).to_string(),
            "it is delivered\n   code: resend.delivered\n   next: add --force"
        );
    }

    #[test]
    fn nobody_there_is_unreachable() {
        let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let client = client(&format!("http://127.0.0.1:{port}"));
        let failure = block_on(async { client.get(&["api"], &[]).await }).unwrap_err();
        assert_eq!(failure.exit, exit::UNREACHABLE);
    }
}
