//! One gateway of the demonstration: its folder, its keys, and its process.

use std::fs::{self, File};
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use url::Url;

use super::documents::Document;
use crate::cli::client::{Answer, Client};
use crate::cli::endpoint::Endpoint;
use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::cli::init::keys::{Pair, Purpose, token};
use crate::cli::multipart::Multipart;
use crate::config::Secret;

const PARTY_TYPE: &str = "urn:oasis:names:tc:ebcore:partyid-type:unregistered";

/// The keys of a gateway.
pub(super) struct Keys {
    signing: Pair,
    decryption: Pair,
}

impl Keys {
    /// Draws throw-away keys.
    pub(super) fn draw(name: &str) -> Result<Self, Failure> {
        let failed = |e: openssl::error::ErrorStack| Failure::new(exit::BUG, format!("keys cannot be drawn: {e}"));
        Ok(Self {
            signing: Pair::make(&format!("{name}-signing"), Purpose::Signing).map_err(failed)?,
            decryption: Pair::make(&format!("{name}-decryption"), Purpose::Decryption).map_err(failed)?,
        })
    }
}

/// A gateway.
pub(super) struct Site {
    /// `blue`, `red` or `impostor`.
    pub(super) name: &'static str,
    /// Everything it has.
    pub(super) dir: PathBuf,
    /// Where partners connect.
    pub(super) msh: SocketAddr,
    /// Its API.
    pub(super) admin: SocketAddr,
    client: Client,
    child: Option<Child>,
}

impl Site {
    /// Writes its folder. `party` is who it says it is.
    pub(super) fn build(root: &Path, name: &'static str, party: &str, keys: &Keys) -> Result<Self, Failure> {
        let dir = root.join(name);
        let (msh, admin) = (free()?, free()?);
        let failed = |e: io::Error| Failure::new(exit::BUG, format!("{}: {e}", dir.display()));
        for folder in ["keys", "pmodes", "in"] {
            fs::create_dir_all(dir.join(folder)).map_err(failed)?;
        }
        let secret = token().map_err(|e| Failure::new(exit::BUG, e.to_string()))?;
        let write = |file: &str, octets: &[u8]| fs::write(dir.join(file), octets).map_err(failed);
        write("keys/admin.token", secret.as_bytes())?;
        for (file, octets) in [
            ("keys/signing.key", &keys.signing.key),
            ("keys/signing.pem", &keys.signing.certificate),
            ("keys/decryption.key", &keys.decryption.key),
            ("keys/decryption.pem", &keys.decryption.certificate),
        ] {
            write(file, octets)?;
        }
        write("postrider.toml", configuration(name, party, msh, admin).as_bytes())?;
        let url = Url::parse(&format!("http://{admin}")).map_err(|e| Failure::new(exit::BUG, e.to_string()))?;
        let read = Secret::File(dir.join("keys/admin.token").into()).read_text();
        let token = Some(read.map_err(|e| Failure::new(exit::BUG, e.to_string()))?);
        Ok(Self { name, dir, msh, admin, client: Client::new(Endpoint { url, token }), child: None })
    }

    /// Writes a P-Mode from `from` to `to`, whose certificates are beside it.
    pub(super) fn agree(&self, from: (&str, &Keys), to: (&str, &Keys), address: SocketAddr) -> Result<(), Failure> {
        let id = format!("{}-to-{}", from.0, to.0);
        let failed = |e: io::Error| Failure::new(exit::BUG, format!("{}: {e}", self.dir.display()));
        for (who, keys) in [from, to] {
            fs::write(self.dir.join(format!("keys/{who}-partner-signing.pem")), &keys.signing.certificate)
                .map_err(failed)?;
            fs::write(self.dir.join(format!("keys/{who}-partner-encryption.pem")), &keys.decryption.certificate)
                .map_err(failed)?;
        }
        let pmode = pmode(&id, from.0, to.0, address);
        fs::write(self.dir.join(format!("pmodes/{id}.xml")), pmode).map_err(failed)
    }

    /// Starts its process and waits until it serves.
    pub(super) async fn start(&mut self) -> Result<(), Failure> {
        let failed = |e: io::Error| Failure::new(exit::BUG, format!("{} cannot be started: {e}", self.name));
        let program = std::env::current_exe().map_err(failed)?;
        let log = File::options().create(true).append(true).open(self.dir.join("log")).map_err(failed)?;
        let mut command = Command::new(program);
        command.arg("serve").arg("--config").arg(self.dir.join("postrider.toml"));
        for (name, _) in std::env::vars_os().filter(|(name, _)| name.to_string_lossy().starts_with("POSTRIDER")) {
            command.env_remove(name);
        }
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).spawn().map_err(failed)?;
        self.child = Some(child);
        let begun = Instant::now();
        while self.client.get(&["health", "ready"], &[]).await.is_err() {
            let ended = self.child.as_mut().is_some_and(|c| c.try_wait().is_ok_and(|s| s.is_some()));
            if ended || begun.elapsed() > Duration::from_secs(15) {
                return Err(self.explain(Failure::new(exit::BUG, format!("{} does not start", self.name))));
            }
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Ok(())
    }

    /// SIGKILL: no warning, no clean-up.
    pub(super) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Submits a document; gives its MessageId.
    pub(super) async fn submit(&self, pmode: &str, document: &Document, key: &str) -> Result<String, Failure> {
        let path = self.dir.join(document.name);
        fs::write(&path, document.octets).map_err(|e| Failure::new(exit::BUG, e.to_string()))?;
        let boundary = format!("demo-{}", uuid::Uuid::new_v4().simple());
        let body = Multipart::new(&boundary, &json!({"pmode": pmode}), &[path], Some(document.media_type))?;
        let (kind, size) = (body.content_type(), body.size());
        let answer = self.client.upload(&["api", "v1", "messages"], key, &kind, size, body.body()).await?;
        match answer.body["id"].as_str() {
            Some(id) => Ok(id.to_owned()),
            None => Err(Failure::new(exit::BUG, format!("{} gave no id: {}", self.name, answer.body))),
        }
    }

    /// A message, or null while there is none.
    pub(super) async fn message(&self, id: &str) -> Value {
        self.get(&["api", "v1", "messages", id]).await
    }

    /// The timeline of a message.
    pub(super) async fn timeline(&self, id: &str) -> Vec<Value> {
        let answer = self.get(&["api", "v1", "messages", id, "timeline"]).await;
        answer["events"].as_array().cloned().unwrap_or_default()
    }

    /// What it refused.
    pub(super) async fn rejected(&self) -> Vec<Value> {
        self.get(&["api", "v1", "rejected"]).await["rejected"].as_array().cloned().unwrap_or_default()
    }

    /// Nothing while the process is away: that is part of the story.
    async fn get(&self, path: &[&str]) -> Value {
        self.client.get(path, &[]).await.map_or(Value::Null, |answer: Answer| answer.body)
    }

    /// The last lines of its log, for a failure.
    pub(super) fn explain(&self, failure: Failure) -> Failure {
        let log = fs::read_to_string(self.dir.join("log")).unwrap_or_default();
        let lines: Vec<_> = log.lines().rev().take(8).collect();
        lines.into_iter().rev().fold(failure, |failure, line| failure.detail(format!("{}: {line}", self.name)))
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A port of loopback that nobody has.
fn free() -> Result<SocketAddr, Failure> {
    TcpListener::bind("127.0.0.1:0")
        .and_then(|listener| listener.local_addr())
        .map_err(|e| Failure::new(exit::BUG, format!("no free port on loopback: {e}")))
}

fn configuration(name: &str, party: &str, msh: SocketAddr, admin: SocketAddr) -> String {
    format!(
        r#"[host]
name = "{name}.example"

[[msh]]
listen = "{msh}"

[admin]
listen = "{admin}"

[[admin.token]]
name = "erp"
secret = {{ file = "keys/admin.token" }}

[[party]]
name = "{party}"
id = "{party}"
type = "{PARTY_TYPE}"
signing = [{{ key = {{ file = "keys/signing.key" }}, certificate = "keys/signing.pem" }}]
decryption = [{{ key = {{ file = "keys/decryption.key" }}, certificate = "keys/decryption.pem" }}]

[[backend]]
name = "erp-in"
kind = "folder"
dir = "in"
"#
    )
}

fn pmode(id: &str, from: &str, to: &str, address: SocketAddr) -> String {
    format!(
        r#"<PMode xmlns="urn:postrider:pmode:1" id="{id}" profile="edelivery-1.15">
  <Initiator>
    <Party type="{PARTY_TYPE}">{from}</Party>
    <SigningCertificate file="../keys/{from}-partner-signing.pem"/>
  </Initiator>
  <Responder>
    <Party type="{PARTY_TYPE}">{to}</Party>
    <SigningCertificate file="../keys/{to}-partner-signing.pem"/>
    <EncryptionCertificate file="../keys/{to}-partner-encryption.pem"/>
  </Responder>
  <Leg>
    <Protocol><Address>http://{address}/as4</Address></Protocol>
    <BusinessInfo><Service>urn:postrider:demo</Service><Action>Invoice</Action></BusinessInfo>
    <ReceptionAwareness>
      <Retry retries="12" first="1s" multiplier="1.5" max="3s" jitter="10%" deadline="5min"/>
    </ReceptionAwareness>
    <Deliver to="erp-in"/>
  </Leg>
</PMode>
"#
    )
}
