//! `tests/fixtures/cases/expected.toml` and `conformance/exceptions.toml`, read.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::OnceLock;

use base64::Engine as _;
use serde::Deserialize;

use crate::support::fixture;

/// A file of the folder.
pub(super) fn octets(file: &str) -> Vec<u8> {
    fs::read(fixture("cases").join(file)).unwrap_or_else(|e| panic!("{file}: {e}"))
}

/// Names of all case files.
pub(super) fn files() -> Vec<String> {
    let ours = ["README.md", "expected.toml", ".gitattributes"];
    let all = fs::read_dir(fixture("cases")).expect("the folder is there").filter_map(Result::ok);
    let names = all.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !ours.contains(&name.as_str())).collect()
}

/// All expectations.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Book {
    payload: BTreeMap<String, Payload>,
    pub(super) request: Vec<Request>,
    pub(super) answer: Vec<Answer>,
    pub(super) document: Vec<Document>,
}

/// Octets that a consumer should get.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "lowercase")]
enum Payload {
    Text(String),
    Base64(String),
}

/// The kind of answer that a request gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Receipt,
    Error,
    Nothing,
    Http,
}

/// A request and what it must come to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Request {
    pub(super) file: String,
    #[serde(default = "open")]
    pub(super) site: String,
    right: String,
    pub(super) answer: Kind,
    pub(super) status: Option<u16>,
    #[serde(default)]
    pub(super) codes: Vec<String>,
    pub(super) errors: Option<usize>,
    #[serde(default)]
    pub(super) says: Vec<String>,
    #[serde(default)]
    pub(super) copies: Vec<String>,
    #[serde(default)]
    pub(super) fields: BTreeMap<String, String>,
    pub(super) about: Option<String>,
    pub(super) recorded: Option<String>,
    pub(super) id: Option<String>,
    pub(super) delivered: Option<Vec<String>>,
    pub(super) pmode: Option<String>,
    #[serde(default)]
    pub(super) header: BTreeMap<String, Value>,
    #[serde(default = "once")]
    pub(super) times: usize,
    #[serde(default)]
    pub(super) signed: bool,
    #[serde(default)]
    pub(super) closes: bool,
    #[serde(default)]
    pub(super) alone: bool,
}

fn open() -> String {
    "open".to_owned()
}

fn once() -> usize {
    1
}

/// A value of the delivered `message.json`: a text, or one over and over.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Value {
    Text(String),
    Times { text: String, times: usize },
}

impl Value {
    pub(super) fn text(&self) -> String {
        match self {
            Self::Text(text) => text.clone(),
            Self::Times { text, times } => text.repeat(*times),
        }
    }
}

/// What a sender makes of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Then {
    Delivered,
    Taken,
    Awaited,
    Retried,
    Failed,
}

/// An answer to our push and what we must make of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Answer {
    pub(super) file: String,
    #[serde(default = "plain")]
    pub(super) pmode: String,
    right: String,
    pub(super) then: Then,
    pub(super) code: Option<String>,
    #[serde(default)]
    pub(super) says: Vec<String>,
}

fn plain() -> String {
    "plain".to_owned()
}

/// A business document, sent to a P-Mode that checks it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Document {
    pub(super) file: String,
    right: String,
    pub(super) answer: Kind,
    #[serde(default)]
    pub(super) codes: Vec<String>,
    #[serde(default)]
    pub(super) says: Vec<String>,
    #[serde(default)]
    pub(super) header: BTreeMap<String, Value>,
}

impl Book {
    pub(super) fn read() -> Self {
        let path = fixture("cases/expected.toml");
        let text = fs::read_to_string(&path).expect("the expectations are there");
        toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
    }

    /// The octets of a named payload.
    pub(super) fn payload(&self, name: &str) -> Vec<u8> {
        match self.payload.get(name).unwrap_or_else(|| panic!("no payload is named {name}")) {
            Payload::Text(text) => text.clone().into_bytes(),
            Payload::Base64(text) => base64::engine::general_purpose::STANDARD.decode(text).expect("it is base64"),
        }
    }

    /// Every file that an entry names.
    pub(super) fn files(&self) -> Vec<&str> {
        let requests = self.request.iter().map(|r| r.file.as_str());
        let answers = self.answer.iter().map(|a| a.file.as_str());
        requests.chain(answers).chain(self.document.iter().map(|d| d.file.as_str())).collect()
    }

    /// Entries that say nothing, or the same as another.
    pub(super) fn repeated(&self) -> Vec<String> {
        let requests = self.request.iter().map(|r| (&r.file, r.site.clone(), &r.right));
        let answers = self.answer.iter().map(|a| (&a.file, a.pmode.clone(), &a.right));
        let documents = self.document.iter().map(|d| (&d.file, String::new(), &d.right));
        let (mut seen, mut faults) = (Vec::new(), Vec::new());
        for (file, place, right) in requests.chain(answers).chain(documents) {
            if right.len() < 3 {
                faults.push(format!("{file}: the right behaviour is not said"));
            }
            if seen.contains(&(file, place.clone())) {
                faults.push(format!("{file} stands twice"));
            }
            seen.push((file, place));
        }
        faults
    }
}

/// A case that does not come out right yet.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Exception {
    pub(super) file: String,
    pub(super) issue: u32,
    pub(super) waits_for: String,
    /// What it is answered until then; nothing where nothing can be tried.
    pub(super) meanwhile: Option<String>,
    pub(super) reason: String,
}

/// All of them.
pub(super) fn exceptions() -> &'static [Exception] {
    #[derive(Deserialize)]
    struct List {
        #[serde(default)]
        case: Vec<Exception>,
    }
    static LIST: OnceLock<Vec<Exception>> = OnceLock::new();
    LIST.get_or_init(|| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/exceptions.toml");
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        toml::from_str::<List>(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display())).case
    })
}
