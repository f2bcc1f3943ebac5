//! What `postrider.toml` says, typed.

use std::net::SocketAddr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::{Deserializer, Error};

use super::path::FilePath;
use super::secret::{Secret, SecretError, SecretText, StoreUrl};
use super::unit::{duration, octets, optional_duration};

/// The whole configuration of one process.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// `[host]`.
    pub host: HostConfig,
    /// `[data]`.
    pub data: DataConfig,
    /// `[[msh]]`: at least one.
    pub msh: Vec<MshListener>,
    /// `[admin]`.
    pub admin: AdminConfig,
    /// `[store]`.
    pub store: StoreConfig,
    /// `[[party]]`: our own parties.
    #[serde(default)]
    pub party: Vec<PartyConfig>,
    /// `[trust]`.
    pub trust: TrustConfig,
    /// `[wss]`.
    pub wss: WssConfig,
    /// `[pmodes]`.
    pub pmodes: PmodesConfig,
    /// `[[folder]]`: producers that drop files.
    #[serde(default)]
    pub folder: Vec<FolderConfig>,
    /// `[[backend]]`: consumers.
    #[serde(default)]
    pub backend: Vec<BackendConfig>,
    /// `[send]`.
    pub send: SendConfig,
    /// `[log]`.
    pub log: LogConfig,
    /// `[shutdown]`.
    pub shutdown: ShutdownConfig,
}

impl Config {
    /// The database: `store.url`, or `postrider.db` in the data folder.
    pub fn store_url(&self) -> Result<SecretText, SecretError> {
        match &self.store.url {
            Some(url) => url.read(),
            None => StoreUrl::Plain(format!("sqlite:{}", self.data.dir.join("postrider.db").display())).read(),
        }
    }
}

/// `[host]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// Right-hand side of the message ids that we make.
    pub name: String,
}

/// `[data]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataConfig {
    /// Folder of the database, the payload store and the spool.
    pub dir: FilePath,
}

/// `[[msh]]`: a listener for partners.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MshListener {
    /// Address and port.
    pub listen: SocketAddr,
    /// Path of the endpoint.
    pub path: String,
    /// TLS; without it the listener speaks plain HTTP.
    pub tls: Option<TlsConfig>,
    /// Limits of one request.
    pub limits: LimitsConfig,
}

/// `[msh.tls]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsConfig {
    /// PEM file: the server's certificate, then its chain.
    pub certificate: FilePath,
    /// Its private key, PEM.
    pub key: Secret,
    /// Whether partners show a certificate.
    #[serde(default)]
    pub client_auth: ClientAuth,
    /// PEM files of the authorities that client certificates must lead to.
    #[serde(default)]
    pub client_ca: Vec<FilePath>,
}

/// Whether TLS clients show a certificate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuth {
    /// None is asked for.
    #[default]
    Off,
    /// Asked for; checked when shown.
    Optional,
    /// No connection without one.
    Required,
}

/// `[msh.limits]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LimitsConfig {
    /// Octets of one message on the wire.
    #[serde(deserialize_with = "octets")]
    pub message: u64,
    /// Payload parts of one message.
    pub parts: u32,
    /// Octets of the SOAP part, which is held in memory.
    #[serde(deserialize_with = "octets")]
    pub soap: u64,
    /// How many times larger a part may become when it is inflated.
    pub ratio: u32,
    /// Time for the HTTP request's head.
    #[serde(deserialize_with = "duration")]
    pub header_time: Duration,
    /// Time for the whole request.
    #[serde(deserialize_with = "duration")]
    pub total_time: Duration,
    /// Octets a second below which a body is given up.
    #[serde(deserialize_with = "octets")]
    pub min_rate: u64,
}

/// `[admin]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminConfig {
    /// Address and port of API, metrics and health.
    pub listen: SocketAddr,
    /// Who may call the API. The name is the producer's name in the sender log.
    #[serde(default)]
    pub token: Vec<AdminToken>,
}

/// `[[admin.token]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdminToken {
    /// Who holds it.
    pub name: String,
    /// The bearer token.
    pub secret: Secret,
}

/// `[store]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoreConfig {
    /// `sqlite:path` or `postgres://…`; `None` is `postrider.db` in the data folder.
    pub url: Option<StoreUrl>,
    /// Connections held open, PostgreSQL and SQLite readers.
    pub connections: u32,
    /// Jobs that one SQLite commit may carry.
    pub group: u32,
    /// Payload parts up to this size live in the database row.
    #[serde(deserialize_with = "octets")]
    pub inline: u64,
}

/// `[[party]]`: one of our own parties.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartyConfig {
    /// Name in commands and logs.
    pub name: String,
    /// The ebMS PartyId.
    pub id: String,
    /// `PartyId/@type`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Signing keys: the current one first, then the next.
    #[serde(default)]
    pub signing: Vec<KeyConfig>,
    /// Decryption keys: every one is tried.
    #[serde(default)]
    pub decryption: Vec<KeyConfig>,
}

/// A private key and its certificate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeyConfig {
    /// The private key, PEM.
    pub key: Secret,
    /// PEM file of the certificate.
    pub certificate: FilePath,
    /// PEM file of the certificates between it and the root.
    pub chain: Option<FilePath>,
}

/// `[trust]`: whom signatures are accepted from beyond the certificates pinned in P-Modes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustConfig {
    /// PEM files of root certificates.
    #[serde(default)]
    pub anchors: Vec<FilePath>,
    /// PEM or DER files of revocation lists.
    #[serde(default)]
    pub crls: Vec<FilePath>,
    /// Whether a certificate without a current revocation list is refused.
    pub hard_fail: bool,
}

/// `[wss]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WssConfig {
    /// Whether libxmlsec1 checks every signature too.
    pub second_opinion: Switch,
    /// Attachments in total up to which it does.
    #[serde(deserialize_with = "octets")]
    pub second_opinion_max: u64,
    /// Who makes our signatures.
    pub signer: Signer,
}

/// `"on"` or `"off"`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Switch {
    /// Yes.
    On,
    /// No.
    Off,
}

/// Who makes signatures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signer {
    /// Postrider's own engine.
    Own,
    /// libxmlsec1.
    Xmlsec,
}

/// `[pmodes]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PmodesConfig {
    /// Folder of the P-Mode files.
    pub dir: FilePath,
    /// Whether changed files are loaded while running.
    pub reload: Switch,
}

/// `[[folder]]`: files that appear there are submitted.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FolderConfig {
    /// The producer's name in the sender log.
    pub name: String,
    /// The folder.
    pub watch: FilePath,
    /// The P-Mode by which they are sent.
    pub pmode: String,
    /// A file is taken when it has not changed for this long.
    #[serde(deserialize_with = "duration")]
    pub settle: Duration,
}

/// `[[backend]]`: where received messages are delivered to, by the name that P-Modes use.
#[derive(Clone, Debug)]
pub struct BackendConfig {
    /// Name.
    pub name: String,
    /// What it is.
    pub kind: BackendKind,
}

/// What a backend is.
#[derive(Clone, Debug)]
pub enum BackendKind {
    /// Each message becomes a folder of files.
    Folder {
        /// Where.
        dir: FilePath,
    },
    /// Each message is posted.
    Webhook {
        /// To where.
        url: String,
        /// Key of the signature over each request.
        secret: Option<Secret>,
        /// Time for one request.
        timeout: Duration,
        /// Requests after the first.
        retries: u32,
    },
}

/// The keys of `[[backend]]`, before it is known which of them fit its kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct BackendKeys {
    name: String,
    kind: BackendWord,
    dir: Option<FilePath>,
    url: Option<String>,
    secret: Option<Secret>,
    #[serde(default, deserialize_with = "optional_duration")]
    timeout: Option<Duration>,
    retries: Option<u32>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BackendWord {
    Folder,
    Webhook,
}

impl<'de> Deserialize<'de> for BackendConfig {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let keys = BackendKeys::deserialize(deserializer)?;
        let kind = match keys.kind {
            BackendWord::Folder => {
                let foreign =
                    [keys.url.is_some(), keys.secret.is_some(), keys.timeout.is_some(), keys.retries.is_some()];
                if foreign.contains(&true) {
                    return Err(D::Error::custom(
                        "a backend of kind \"folder\" has no url, secret, timeout or retries",
                    ));
                }
                BackendKind::Folder { dir: keys.dir.ok_or_else(|| D::Error::missing_field("dir"))? }
            }
            BackendWord::Webhook => {
                if keys.dir.is_some() {
                    return Err(D::Error::custom("a backend of kind \"webhook\" has no dir"));
                }
                BackendKind::Webhook {
                    url: keys.url.ok_or_else(|| D::Error::missing_field("url"))?,
                    secret: keys.secret,
                    timeout: keys.timeout.unwrap_or(Duration::from_secs(30)),
                    retries: keys.retries.unwrap_or(12),
                }
            }
        };
        Ok(Self { name: keys.name, kind })
    }
}

/// `[send]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SendConfig {
    /// Messages sent at once.
    pub workers: u32,
    /// Messages sent at once to one partner.
    pub per_partner: u32,
    /// How often the queue is looked at when nothing wakes a worker.
    #[serde(deserialize_with = "duration")]
    pub poll: Duration,
}

/// `[log]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogConfig {
    /// Lines for people or for machines.
    pub format: LogFormat,
    /// Level, or levels by module: `"info"`, `"info,postrider::gateway=debug"`.
    pub level: String,
}

/// Format of log lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// One JSON object a line.
    Json,
}

/// `[shutdown]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ShutdownConfig {
    /// Time that exchanges in flight get to end.
    #[serde(deserialize_with = "duration")]
    pub grace: Duration,
}
