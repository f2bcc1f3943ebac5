//! Secrets: only ever references, read when they are used.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use thiserror::Error;

use super::path::FilePath;

/// Where a secret is found. The configuration never holds one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Secret {
    /// `{ file = "…" }`.
    File(FilePath),
    /// `{ env = "…" }`.
    Env(String),
    /// `{ credential = "…" }`: a file in the folder that systemd names in `CREDENTIALS_DIRECTORY`.
    Credential(String),
}

/// Why a secret could not be read.
#[derive(Debug, Error)]
pub enum SecretError {
    /// The file cannot be read.
    #[error("secret file {} cannot be read: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The variable is not set.
    #[error("environment variable {0} is not set or not UTF-8: set it for the process that runs postrider")]
    Env(String),
    /// There is no credentials folder.
    #[error(
        "credential `{0}` cannot be read, for CREDENTIALS_DIRECTORY is not set: add LoadCredential={0}:… to the systemd unit"
    )]
    NoCredentials(String),
    /// The secret is not text.
    #[error("{0} is not UTF-8 text")]
    NotText(Secret),
    /// The secret is empty.
    #[error("{0} is empty")]
    Empty(Secret),
}

/// A secret that was read. It shows itself only when asked by [`SecretText::expose`].
#[derive(Clone, PartialEq, Eq)]
pub struct SecretText(String);

impl SecretText {
    /// The secret itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("•••")
    }
}

impl Secret {
    /// Reads the octets, for instance of a private key.
    pub fn read(&self) -> Result<Vec<u8>, SecretError> {
        let path = match self {
            Self::File(path) => path.to_path_buf(),
            Self::Env(name) => {
                return std::env::var(name).map(String::into_bytes).map_err(|_| SecretError::Env(name.clone()));
            }
            Self::Credential(name) => match std::env::var_os("CREDENTIALS_DIRECTORY") {
                Some(folder) => PathBuf::from(folder).join(name),
                None => return Err(SecretError::NoCredentials(name.clone())),
            },
        };
        std::fs::read(&path).map_err(|source| SecretError::File { path, source })
    }

    /// Reads a line of text, without the end of line that editors add.
    pub fn read_text(&self) -> Result<SecretText, SecretError> {
        let text = String::from_utf8(self.read()?).map_err(|_| SecretError::NotText(self.clone()))?;
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Err(SecretError::Empty(self.clone()));
        }
        Ok(SecretText(text.to_owned()))
    }
}

impl fmt::Display for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "secret file {}", path.display()),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Credential(name) => write!(f, "credential `{name}`"),
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(SecretVisitor)
    }
}

/// The three ways to write a reference.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Reference {
    file: Option<FilePath>,
    env: Option<String>,
    credential: Option<String>,
}

struct SecretVisitor;

impl SecretVisitor {
    /// The literal is never part of the message.
    const LITERAL: &'static str = "a secret is written as a reference, never as its value: use { file = \"…\" }, { env = \"…\" } or { credential = \"…\" }";
}

impl<'de> Visitor<'de> for SecretVisitor {
    type Value = Secret;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a reference to a secret")
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<Secret, E> {
        Err(E::custom(Self::LITERAL))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<Secret, E> {
        Err(E::custom(Self::LITERAL))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<Secret, E> {
        Err(E::custom(Self::LITERAL))
    }

    fn visit_str<E: Error>(self, _: &str) -> Result<Secret, E> {
        Err(E::custom(Self::LITERAL))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Secret, A::Error> {
        let reference = Reference::deserialize(MapAccessDeserializer::new(map))?;
        match (reference.file, reference.env, reference.credential) {
            (Some(file), None, None) => Ok(Secret::File(file)),
            (None, Some(env), None) => Ok(Secret::Env(env)),
            (None, None, Some(credential)) => Ok(Secret::Credential(credential)),
            _ => Err(A::Error::custom(
                "a secret is exactly one of { file = \"…\" }, { env = \"…\" }, { credential = \"…\" }",
            )),
        }
    }
}

/// `store.url`: written out, or a reference when it holds a password.
#[derive(Clone, PartialEq, Eq)]
pub enum StoreUrl {
    /// The URL itself.
    Plain(String),
    /// Where it is found.
    Secret(Secret),
}

impl StoreUrl {
    /// Name by which the decoder knows the value, and resolves the path of a `sqlite:` URL.
    pub(super) const NAME: &'static str = "postrider::StoreUrl";

    /// The URL.
    pub fn read(&self) -> Result<SecretText, SecretError> {
        match self {
            Self::Plain(url) => Ok(SecretText(url.clone())),
            Self::Secret(secret) => secret.read_text(),
        }
    }
}

impl fmt::Debug for StoreUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(url) => f.debug_tuple("Plain").field(&masked(url)).finish(),
            Self::Secret(secret) => f.debug_tuple("Secret").field(secret).finish(),
        }
    }
}

/// Whether a URL holds a password, in its authority or, as libpq allows, in its query.
pub(super) fn holds_password(url: &str) -> bool {
    url::Url::parse(url).is_ok_and(|u| u.password().is_some() || u.query_pairs().any(|(key, _)| key == "password"))
}

/// The URL without what must not be shown.
pub(super) fn masked(url: &str) -> Cow<'_, str> {
    if !holds_password(url) {
        return Cow::Borrowed(url);
    }
    let scheme = url.split(':').next().unwrap_or_default();
    Cow::Owned(format!("{scheme}://•••"))
}

impl<'de> Deserialize<'de> for StoreUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct(Self::NAME, StoreUrlVisitor)
    }
}

struct StoreUrlVisitor;

impl<'de> Visitor<'de> for StoreUrlVisitor {
    type Value = StoreUrl;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a database URL or a reference to one")
    }

    fn visit_str<E: Error>(self, url: &str) -> Result<StoreUrl, E> {
        Ok(StoreUrl::Plain(url.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<StoreUrl, A::Error> {
        SecretVisitor.visit_map(map).map(StoreUrl::Secret)
    }
}
