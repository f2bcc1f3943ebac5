//! The REST API, as a business system uses it.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};

use super::http::{self, Message};

/// A client with its bearer token.
pub(crate) struct Api {
    /// The admin listener.
    pub admin: SocketAddr,
    /// The token.
    pub token: String,
}

/// A submission.
#[derive(Clone, Debug, Default)]
pub(crate) struct Submission {
    /// The JSON part.
    pub json: Value,
    /// Media type, file name and content of each payload.
    pub payloads: Vec<(String, String, Vec<u8>)>,
    /// `Idempotency-Key`.
    pub key: Option<String>,
}

impl Submission {
    /// By a P-Mode.
    pub(crate) fn to(pmode: &str) -> Self {
        Self { json: json!({ "pmode": pmode }), ..Self::default() }
    }

    /// A value of the JSON part.
    pub(crate) fn with(mut self, name: &str, value: Value) -> Self {
        self.json[name] = value;
        self
    }

    /// A message property.
    pub(crate) fn property(self, name: &str, value: &str) -> Self {
        self.typed_property(name, None, value)
    }

    /// A message property with a type.
    pub(crate) fn typed_property(mut self, name: &str, kind: Option<&str>, value: &str) -> Self {
        let property = match kind {
            Some(kind) => json!({"name": name, "value": value, "type": kind}),
            None => json!({"name": name, "value": value}),
        };
        match self.json["properties"].as_array_mut() {
            Some(all) => all.push(property),
            None => self.json["properties"] = json!([property]),
        }
        self
    }

    /// A payload.
    pub(crate) fn payload(mut self, media_type: &str, content: impl Into<Vec<u8>>) -> Self {
        let name = format!("payload-{}", self.payloads.len() + 1);
        self.payloads.push((media_type.to_owned(), name, content.into()));
        self
    }

    /// The idempotency key.
    pub(crate) fn key(mut self, key: &str) -> Self {
        self.key = Some(key.to_owned());
        self
    }

    fn body(&self) -> Vec<u8> {
        let mut body = format!(
            "--BoundaryOfTheTest\r\nContent-Disposition: form-data; name=\"submission\"\r\n\
             Content-Type: application/json\r\n\r\n{}\r\n",
            self.json
        )
        .into_bytes();
        for (media_type, name, content) in &self.payloads {
            body.extend_from_slice(
                format!(
                    "--BoundaryOfTheTest\r\nContent-Disposition: form-data; name=\"payload\"; filename=\"{name}\"\r\n\
                     Content-Type: {media_type}\r\n\r\n"
                )
                .as_bytes(),
            );
            body.extend_from_slice(content);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"--BoundaryOfTheTest--\r\n");
        body
    }
}

impl Api {
    /// Submits; the answer whatever it is.
    pub(crate) fn submit_raw(&self, submission: &Submission) -> Message {
        let body = submission.body();
        let key = submission.key.as_ref().map_or_else(String::new, |key| format!("Idempotency-Key: {key}\r\n"));
        let mut request = format!(
            "POST /api/v1/messages HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n{key}\
             Content-Type: multipart/form-data; boundary=BoundaryOfTheTest\r\nContent-Length: {}\r\n\r\n",
            self.admin,
            self.token,
            body.len()
        )
        .into_bytes();
        request.extend_from_slice(&body);
        http::exchange(self.admin, &request).expect("the API answers")
    }

    /// Submits and returns the MessageId.
    pub(crate) fn submit(&self, submission: &Submission) -> String {
        let answer = self.submit_raw(submission);
        assert_eq!(answer.status(), 201, "submitted: {}", answer.text());
        json(&answer)["id"].as_str().expect("the answer names the message").to_owned()
    }

    /// GET; the answer whatever it is.
    pub(crate) fn get(&self, path: &str) -> Message {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            self.admin, self.token
        );
        http::exchange(self.admin, request.as_bytes()).expect("the API answers")
    }

    /// Whether the gateway says that it is ready.
    pub(crate) fn ready(&self) -> bool {
        let request = format!("GET /health/ready HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n\r\n", self.admin);
        http::exchange(self.admin, request.as_bytes()).is_ok_and(|answer| answer.status() == 200)
    }

    /// One message; `None` when it is not known.
    pub(crate) fn message(&self, id: &str) -> Option<Value> {
        let answer = self.get(&format!("/api/v1/messages/{}", encoded(id)));
        match answer.status() {
            200 => Some(json(&answer)),
            404 => None,
            other => panic!("message {id}: {other} {}", answer.text()),
        }
    }

    /// What happened to a message.
    pub(crate) fn timeline(&self, id: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/v1/messages/{}/timeline", encoded(id)));
        assert_eq!(answer.status(), 200, "timeline of {id}: {}", answer.text());
        json(&answer)["events"].as_array().expect("a timeline has events").clone()
    }

    /// What happened to a message, as text.
    pub(crate) fn story(&self, id: &str) -> String {
        let line = |event: &Value| format!("{} {} {}\n", event["at"], event["code"], event["text"]);
        self.timeline(id).iter().map(line).collect()
    }

    /// Messages by a filter, every page.
    pub(crate) fn messages(&self, filter: &str) -> Vec<Value> {
        let (mut all, mut cursor) = (Vec::new(), String::new());
        loop {
            let answer = self.get(&format!("/api/v1/messages?limit=200&q={}{cursor}", encoded(filter)));
            assert_eq!(answer.status(), 200, "messages `{filter}`: {}", answer.text());
            let page = json(&answer);
            all.extend(page["messages"].as_array().expect("a list has messages").iter().cloned());
            match page["next"].as_str() {
                Some(next) => cursor = format!("&cursor={}", encoded(next)),
                None => return all,
            }
        }
    }

    /// Waits until a message is in a state. Fails at once when it ends in another.
    pub(crate) fn until(&self, id: &str, state: &str) -> Value {
        self.until_within(id, state, Duration::from_secs(30))
    }

    /// As [`until`](Self::until), with another limit.
    pub(crate) fn until_within(&self, id: &str, state: &str, limit: Duration) -> Value {
        let end = std::time::Instant::now() + limit;
        loop {
            let message = self.message(id);
            let now = message.as_ref().and_then(|m| m["state"].as_str()).unwrap_or("unknown").to_owned();
            if now == state {
                return message.expect("it has a state");
            }
            let ended = matches!(now.as_str(), "delivered" | "failed" | "cancelled");
            assert!(
                !ended && std::time::Instant::now() < end,
                "{id} should be {state} and is {now}:\n{}",
                self.story(id)
            );
            std::thread::sleep(Duration::from_millis(30));
        }
    }
}

/// The body as JSON.
pub(crate) fn json(answer: &Message) -> Value {
    serde_json::from_slice(&answer.body).unwrap_or_else(|e| panic!("not JSON ({e}): {}", answer.text()))
}

/// A path segment or query value.
fn encoded(value: &str) -> String {
    percent_encoding::utf8_percent_encode(value, percent_encoding::NON_ALPHANUMERIC).to_string()
}
