//! The commands against an API that answers as the gateway's does, on a loopback socket.

use std::sync::{Arc, Mutex};

use axum::Json;
use axum::Router;
use axum::extract::{Multipart, Path, Query, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use clap::Parser;
use serde_json::{Value, json};

use super::arguments::run;
use super::{Cli, exit};

/// What the API was asked.
type Asked = Arc<Mutex<Vec<String>>>;

async fn list(
    State(asked): State<Asked>,
    Query(query): Query<std::collections::BTreeMap<String, String>>,
) -> Json<Value> {
    asked.lock().unwrap().push(format!("list {query:?}"));
    let (id, next) = if query.contains_key("cursor") { ("second", Value::Null) } else { ("first", json!("c1")) };
    Json(json!({"schema": "postrider.messages/1", "messages": [{"id": id, "state": "failed"}], "next": next}))
}

async fn show(State(asked): State<Asked>, Path(id): Path<String>) -> Response {
    let mut asked = asked.lock().unwrap();
    asked.push(format!("show {id}"));
    let looks = asked.iter().filter(|line| **line == format!("show {id}")).count();
    match id.as_str() {
        "none" => (StatusCode::NOT_FOUND, Json(json!({"title": "no such message"}))).into_response(),
        "stuck" => Json(json!({"id": id, "state": "pending"})).into_response(),
        "bad" => Json(json!({"id": id, "state": "failed", "error": "EBMS:0301"})).into_response(),
        _ => Json(json!({"id": id, "state": if looks < 3 { "sending" } else { "delivered" }})).into_response(),
    }
}

async fn timeline() -> Json<Value> {
    Json(
        json!({"schema": "postrider.timeline/1", "events": [{"at": "2027-01-01T00:00:00Z", "code": "submit.accepted", "text": "by erp"}]}),
    )
}

async fn submit(State(asked): State<Asked>, headers: HeaderMap, mut form: Multipart) -> Response {
    let header = |name: &str| headers.get(name).and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    if header("authorization") != "Bearer t0ken" {
        return (StatusCode::UNAUTHORIZED, Json(json!({"title": "no valid token"}))).into_response();
    }
    let mut line = format!("submit key={}", header("idempotency-key"));
    while let Some(field) = form.next_field().await.unwrap() {
        let name = field.name().unwrap_or_default().to_owned();
        let file = field.file_name().unwrap_or_default().to_owned();
        let kind = field.content_type().unwrap_or_default().to_owned();
        let content = field.bytes().await.unwrap();
        line = format!("{line} {name}:{file}:{kind}:{}", String::from_utf8_lossy(&content));
    }
    asked.lock().unwrap().push(line);
    (StatusCode::CREATED, Json(json!({"id": "new@blue", "state": "pending"}))).into_response()
}

async fn resend(State(asked): State<Asked>, Path(id): Path<String>, Json(order): Json<Value>) -> Response {
    asked.lock().unwrap().push(format!("resend {id} {order}"));
    if id == "done" {
        let problem = json!({"detail": "it is delivered", "next": "add --force"});
        return (StatusCode::CONFLICT, Json(problem)).into_response();
    }
    Json(json!({"id": id, "state": "pending"})).into_response()
}

/// Starts the API on a thread of its own; returns its address and what it is asked.
fn api() -> (String, Asked) {
    let asked = Asked::default();
    let router = Router::new()
        .route("/api/v1/messages", get(list).post(submit))
        .route("/api/v1/messages/{id}", get(show))
        .route("/api/v1/messages/{id}/timeline", get(timeline))
        .route("/api/v1/messages/{id}/resend", post(resend))
        .with_state(Arc::clone(&asked));
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async { axum::serve(tokio::net::TcpListener::from_std(socket).unwrap(), router).await })
    });
    (address, asked)
}

/// Runs a command line against the API; returns its exit code.
fn exit_of(address: &str, words: &[&str]) -> u8 {
    let line = [&["postrider"], words, &["--endpoint", address, "--output", "quiet"]].concat();
    let cli = Cli::try_parse_from(line).unwrap_or_else(|e| panic!("{e}"));
    run(cli).map_or_else(|failure| failure.exit, |()| exit::OK)
}

#[test]
fn a_list_pages_until_it_has_enough() {
    let (address, asked) = api();
    assert_eq!(exit_of(&address, &["message", "list", "state:failed", "partner:red", "--limit", "2"]), exit::OK);
    assert_eq!(
        *asked.lock().unwrap(),
        [
            r#"list {"limit": "2", "q": "state:failed partner:red"}"#,
            r#"list {"cursor": "c1", "limit": "1", "q": "state:failed partner:red"}"#
        ]
    );
}

#[test]
fn a_submission_carries_key_token_and_files_and_waits() {
    let (address, asked) = api();
    let folder = tempfile::tempdir().unwrap();
    let (token, file) = (folder.path().join("token"), folder.path().join("a.xml"));
    std::fs::write(&token, "t0ken\n").unwrap();
    std::fs::write(&file, "<a/>").unwrap();
    let (token, file) = (token.to_str().unwrap(), file.to_str().unwrap());
    let words = ["submit", file, "--pmode", "p", "--property", "n=v", "--key", "K1", "--token-file", token];

    assert_eq!(exit_of(&address, &[&words[..], &["--wait", "delivered"]].concat()), exit::OK);

    let asked = asked.lock().unwrap();
    assert_eq!(
        asked[0],
        r#"submit key=K1 submission::application/json:{"pmode":"p","properties":[{"name":"n","value":"v"}]} payload:a.xml:application/xml:<a/>"#
    );
    assert_eq!(asked[1..], ["show new@blue", "show new@blue", "show new@blue"]);
}

#[test]
fn exit_codes_tell_why() {
    let (address, _) = api();
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    assert_eq!(exit_of(&address, &["submit", path, "--pmode", "p"]), exit::DENIED);
    assert_eq!(exit_of(&address, &["message", "show", "none"]), exit::NO);
    assert_eq!(exit_of(&address, &["message", "show", "any"]), exit::OK);
    assert_eq!(exit_of(&address, &["message", "resend", "done"]), exit::CONFLICT);
    assert_eq!(exit_of(&address, &["message", "resend", "a", "b"]), exit::USAGE);
    let waiting = ["--wait", "delivered", "--timeout", "100ms"];
    assert_eq!(exit_of(&address, &[&["message", "resend", "stuck"], &waiting[..]].concat()), exit::TIMEOUT);
    assert_eq!(exit_of(&address, &[&["message", "resend", "bad"], &waiting[..]].concat()), exit::REJECTED);
}

#[test]
fn one_message_that_cannot_be_sent_again_does_not_hold_up_the_others() {
    let (address, asked) = api();
    let words = ["message", "resend", "done", "other", "--as", "new", "--reason", "INC-42"];
    assert_eq!(exit_of(&address, &words), exit::CONFLICT);
    assert_eq!(
        *asked.lock().unwrap(),
        [
            r#"resend done {"as":"new","force":false,"reason":"INC-42"}"#,
            r#"resend other {"as":"new","force":false,"reason":"INC-42"}"#
        ]
    );
}

#[test]
fn when_the_answer_is_lost_the_key_to_repeat_with_is_told() {
    let socket = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", socket.local_addr().unwrap());
    std::thread::spawn(move || drop(socket.accept()));
    let file = tempfile::NamedTempFile::new().unwrap();
    let path = file.path().to_str().unwrap();
    let cli = Cli::parse_from(["postrider", "submit", path, "--pmode", "p", "--key", "K7", "--endpoint", &address]);
    let failure = run(cli).unwrap_err();
    assert_eq!(failure.exit, exit::UNREACHABLE);
    assert!(failure.to_string().contains("--key K7"), "{failure}");
}
