//! What is driven: an endpoint somewhere, or a gateway started for this run.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use openssl::pkey::PKey;
use postrider::pmode::{Files, PMode, PModeSet};
use postrider::wss::{Certificate, PrivateKey};
use tempfile::TempDir;
use time::OffsetDateTime;
use url::Url;

use super::options::{Deliver, LoadArgs};
use crate::agreement::{Agreement, Side};
use crate::site::{Consumer, Pair, Server, Site, binary, ports};

/// The endpoint and the P-Mode that messages are made by.
pub(super) struct Target {
    /// Host and port.
    pub(super) address: String,
    /// Path and query.
    pub(super) path: String,
    /// Our P-Mode, and the set it stands in.
    pub(super) pmodes: PModeSet,
    /// Our key.
    pub(super) key: Option<PrivateKey>,
    /// Whether the partner's certificate is known, so that its receipts can be verified.
    pub(super) partner: bool,
    pid: Option<u32>,
    own: Option<(TempDir, Server, Site)>,
    bits: u32,
}

/// Files by their path.
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<Vec<u8>, String> {
        fs::read(path).map_err(|e| e.to_string())
    }
}

impl Target {
    pub(super) async fn find(args: &LoadArgs) -> anyhow::Result<Self> {
        if args.throw_away { Self::start(args).await } else { Self::named(args) }
    }

    /// An endpoint that is there.
    fn named(args: &LoadArgs) -> anyhow::Result<Self> {
        let url: Url = args.url.as_deref().context("no URL")?.parse().context("the URL")?;
        let side = Side {
            address: Some(url.to_string()),
            to_certificate: args.partner_certificate.as_deref().map(absolute).transpose()?,
            ..Side::default()
        };
        if args.agreement.security != crate::agreement::Security::Plain && side.to_certificate.is_none() {
            bail!(
                "name the partner's certificate with --partner-certificate: receipts are signed by it, and payloads encrypted to it"
            );
        }
        let key = match (&args.key, &args.certificate) {
            (Some(key), Some(certificate)) => Some(private_key(&fs::read(key)?, &fs::read(certificate)?)?),
            (None, None) if !args.agreement.security.signs() => None,
            _ => bail!("signing needs --key and --certificate"),
        };
        let bits = key.as_ref().map_or(2048, |key| key.key.bits());
        Self::made(&url, &args.agreement, &side, key, args.pid, bits)
    }

    /// A gateway of our own.
    async fn start(args: &LoadArgs) -> anyhow::Result<Self> {
        let postrider = binary(args.postrider.as_deref())?;
        let folder = tempfile::Builder::new().prefix("postrider-load.").tempdir()?;
        let agreement = &args.agreement;
        let (blue, red) = (Pair::make(&agreement.from, args.bits)?, Pair::make(&agreement.to, args.bits)?);
        let consumer = if args.deliver == Deliver::Folder { Consumer::Folder } else { Consumer::None };
        let site = Site::write(folder.path(), &agreement.to, ports()?, &red, &consumer, "")?;
        let theirs = Side {
            from_certificate: Some("../keys/partner.pem".to_owned()),
            deliver: (args.deliver == Deliver::Folder).then(|| "inbox".to_owned()),
            ..Side::default()
        };
        site.agree(&agreement.pmode(&theirs), &blue)?;
        let server = Server::start(&postrider, &site)?;
        site.ready(Duration::from_secs(30)).await?;
        let side = Side {
            address: Some(site.url()),
            to_certificate: Some(site.dir.join("keys/own.pem").display().to_string()),
            ..Side::default()
        };
        let key = private_key(&blue.key, &blue.certificate)?;
        let mut target = Self::made(&site.url().parse()?, agreement, &side, Some(key), Some(server.pid), args.bits)?;
        target.own = Some((folder, server, site));
        Ok(target)
    }

    fn made(
        url: &Url,
        agreement: &Agreement,
        side: &Side,
        key: Option<PrivateKey>,
        pid: Option<u32>,
        bits: u32,
    ) -> anyhow::Result<Self> {
        if url.scheme() != "http" {
            bail!("{url}: only http is driven, so that the figures are the gateway's and not those of TLS");
        }
        let now = OffsetDateTime::now_utc();
        let files = [(PathBuf::from("/load.xml"), agreement.pmode(side))];
        let pmodes = PModeSet::load(&files, &Disk, now).map_err(|errors| {
            anyhow::anyhow!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })?;
        let host = url.host_str().context("the URL has no host")?;
        Ok(Self {
            address: format!("{host}:{}", url.port_or_known_default().unwrap_or(80)),
            path: url[url::Position::BeforePath..url::Position::AfterQuery].to_owned(),
            partner: side.to_certificate.is_some() && agreement.security.signs(),
            pmodes,
            key,
            pid,
            own: None,
            bits,
        })
    }

    pub(super) fn pmode(&self) -> anyhow::Result<&Arc<PMode>> {
        self.pmodes.iter().next().context("there is no P-Mode")
    }

    pub(super) fn pid(&self) -> Option<u32> {
        self.pid
    }

    pub(super) fn bits(&self) -> u32 {
        self.bits
    }

    /// Ends a gateway of our own; gives what its log ends with, when it was talkative about errors.
    pub(super) async fn stop(&mut self) -> Option<String> {
        let (folder, mut server, _) = self.own.take()?;
        server.kill();
        server.gone().await.ok()?;
        let log = fs::read_to_string(folder.path().join("serve.log")).ok()?;
        let errors: Vec<&str> = log.lines().filter(|line| line.contains("ERROR")).take(5).collect();
        (!errors.is_empty()).then(|| errors.join("\n"))
    }
}

fn absolute(path: &Path) -> anyhow::Result<String> {
    let path = fs::canonicalize(path).with_context(|| path.display().to_string())?;
    Ok(path.display().to_string())
}

fn private_key(key: &[u8], certificate: &[u8]) -> anyhow::Result<PrivateKey> {
    let key = PKey::private_key_from_pem(key).context("the private key")?;
    let mut certificates = Certificate::all_from_pem(certificate).context("the certificate")?.into_iter().map(Arc::new);
    let certificate = certificates.next().context("the certificate file holds no certificate")?;
    Ok(PrivateKey { key, certificate, chain: certificates.collect() })
}
