//! The files that `init` writes.

use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use openssl::error::ErrorStack;

use super::keys::{Pair, Purpose, token};
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::config::default_file;

/// Type of party ids that no register gives out.
pub(super) const UNREGISTERED: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";

const SELF_TEST: &str = include_str!("self-test.xml");
const PARTNER: &str = include_str!("partner.xml");

/// Who we are.
#[derive(Clone, Debug)]
pub(super) struct Identity {
    pub(super) party: String,
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) host: String,
}

/// What a file is made of, when its turn comes.
enum Content {
    Text(String),
    Key(Purpose),
    Certificate(Purpose),
    Token,
}

/// The files, in the order in which they are written.
pub(super) struct Plan {
    dir: PathBuf,
    party: String,
    files: Vec<(PathBuf, Content)>,
}

impl Plan {
    pub(super) fn new(dir: &Path, identity: &Identity) -> Self {
        let keys = dir.join("keys");
        let party = &identity.party;
        let key = |purpose: &str, kind: &str| keys.join(format!("{party}-{purpose}.{kind}"));
        let files = vec![
            (key("signing", "key"), Content::Key(Purpose::Signing)),
            (key("signing", "pem"), Content::Certificate(Purpose::Signing)),
            (key("decryption", "key"), Content::Key(Purpose::Decryption)),
            (key("decryption", "pem"), Content::Certificate(Purpose::Decryption)),
            (keys.join("admin.token"), Content::Token),
            (dir.join("pmodes/self-test.xml"), Content::Text(fill(SELF_TEST, identity))),
            (dir.join("pmodes/partner.xml.sample"), Content::Text(fill(PARTNER, identity))),
            (dir.join("postrider.toml"), Content::Text(configuration(identity))),
        ];
        Self { dir: dir.to_path_buf(), party: party.clone(), files }
    }

    /// The files that are there already.
    pub(super) fn taken(&self) -> Vec<&Path> {
        self.files.iter().map(|(path, _)| path.as_path()).filter(|path| path.symlink_metadata().is_ok()).collect()
    }

    /// Writes them all, none over another; returns their paths.
    pub(super) fn write(&self) -> Result<Vec<&Path>, Failure> {
        let openssl = |e: ErrorStack| Failure::new(exit::BUG, format!("OpenSSL made no key: {e}"));
        let signing = Pair::make(&format!("{}-signing", self.party), Purpose::Signing).map_err(openssl)?;
        let decryption = Pair::make(&format!("{}-decryption", self.party), Purpose::Decryption).map_err(openssl)?;
        let pair = |purpose: Purpose| if purpose == Purpose::Signing { &signing } else { &decryption };
        folder(&self.dir.join("pmodes"), 0o755)?;
        folder(&self.dir.join("keys"), 0o700)?;
        for (path, content) in &self.files {
            match content {
                Content::Text(text) => file(path, text.as_bytes(), 0o644)?,
                Content::Certificate(purpose) => file(path, &pair(*purpose).certificate, 0o644)?,
                Content::Key(purpose) => file(path, &pair(*purpose).key, 0o600)?,
                Content::Token => file(path, format!("{}\n", token().map_err(openssl)?).as_bytes(), 0o600)?,
            }
        }
        Ok(self.files.iter().map(|(path, _)| path.as_path()).collect())
    }
}

fn folder(path: &Path, mode: u32) -> Result<(), Failure> {
    let outcome = std::fs::DirBuilder::new().recursive(true).mode(mode).create(path);
    outcome.map_err(|e| Failure::file("made", path, &e))
}

/// The mode is given when the file is made, so that no key is readable for a moment.
fn file(path: &Path, content: &[u8], mode: u32) -> Result<(), Failure> {
    let opened = std::fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
    let written = opened.and_then(|mut file| file.write_all(content).and_then(|()| file.sync_all()));
    written.map_err(|e| Failure::file("written", path, &e))
}

/// An example P-Mode with our names in it.
fn fill(text: &str, identity: &Identity) -> String {
    text.replace("{party}", &identity.party)
        .replace("{id}", &escape(&identity.id))
        .replace("{type}", &escape(&identity.kind))
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// The commented default file with our party, the token and one consumer.
fn configuration(identity: &Identity) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let pair = |list: &str, purpose: &str| {
        let name = format!("keys/{}-{purpose}", identity.party);
        format!("{list} = [{{ key = {{ file = \"{name}.key\" }}, certificate = \"{name}.pem\" }}]")
    };
    default_file(&[
        ("name = \"localhost\"", &format!("name = {}", quoted(&identity.host))),
        ("[[admin.token]]", "[[admin.token]]"),
        ("name = \"admin\"", "name = \"admin\""),
        ("secret = { file = \"keys/admin.token\" }", "secret = { file = \"keys/admin.token\" }"),
        ("[[party]]", "[[party]]"),
        ("name = \"blue\"", &format!("name = {}", quoted(&identity.party))),
        ("id = \"blue\"", &format!("id = {}", quoted(&identity.id))),
        (&format!("type = \"{UNREGISTERED}\""), &format!("type = {}", quoted(&identity.kind))),
        (
            "signing = [{ key = { file = \"keys/blue-signing.key\" }, certificate = \"keys/blue-signing.pem\" }]",
            &pair("signing", "signing"),
        ),
        (
            "decryption = [{ key = { file = \"keys/blue-decryption.key\" }, certificate = \"keys/blue-decryption.pem\" }]",
            &pair("decryption", "decryption"),
        ),
        ("[[backend]]", "[[backend]]"),
        ("name = \"inbox\"", "name = \"inbox\""),
        ("kind = \"folder\"", "kind = \"folder\""),
        ("dir = \"in\"", "dir = \"in\""),
    ])
}
