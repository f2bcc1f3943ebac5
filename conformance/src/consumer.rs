//! A consumer as a process of its own: a webhook that writes down each delivery, on the disk before it answers.
//!
//! What it logs is what a business system would have seen: the verdict of a crash run rests on this file.

use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context;
use clap::Args;
use openssl::sha::Sha256;
use postrider::wire::hex;
use postrider::wire::mime::{ContentType, MimeEvent, MimeLimits, MultipartReader};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::wire::{self, Kind, Message};

/// Takes deliveries by webhook and appends each to a log.
#[derive(Clone, Debug, Args)]
pub struct ConsumerArgs {
    /// Where to listen.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:4090")]
    pub listen: SocketAddr,
    /// The log: one JSON object a line.
    #[arg(long, value_name = "FILE")]
    pub log: PathBuf,
    /// Of how many deliveries one is written down and then not answered; 0 answers all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub silent_every: u64,
}

/// A delivery as it is written down.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delivered {
    /// `Idempotency-Key`: what a consumer tells repetitions by.
    pub key: String,
    /// `eb:MessageId`.
    pub message_id: String,
    /// SHA-256 of each payload.
    pub sha256: Vec<String>,
    /// Milliseconds since 1970.
    pub at: u64,
}

struct Log {
    file: Mutex<File>,
    count: AtomicU64,
    silent_every: u64,
}

/// Runs until it is killed.
pub fn run(args: &ConsumerArgs) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    runtime.block_on(serve(args))
}

async fn serve(args: &ConsumerArgs) -> anyhow::Result<()> {
    let file = OpenOptions::new().create(true).append(true).open(&args.log)?;
    let log = Arc::new(Log { file: Mutex::new(file), count: AtomicU64::new(0), silent_every: args.silent_every });
    let listener = TcpListener::bind(args.listen).await.with_context(|| args.listen.to_string())?;
    loop {
        let (stream, _) = listener.accept().await?;
        let log = Arc::clone(&log);
        // A connection that breaks is the gateway's to repeat.
        tokio::spawn(async move { connection(stream, &log).await });
    }
}

async fn connection(mut stream: TcpStream, log: &Log) -> anyhow::Result<()> {
    let mut buffer = Vec::new();
    while let Some(request) = wire::read(&mut stream, &mut buffer, Kind::Request).await? {
        let status = match delivered(&request) {
            Ok(delivered) => {
                log.append(&delivered)?;
                let count = log.count.fetch_add(1, Ordering::Relaxed) + 1;
                if log.silent_every > 0 && count.is_multiple_of(log.silent_every) {
                    return Ok(());
                }
                "204 No Content"
            }
            Err(_) => "400 Bad Request",
        };
        stream.write_all(format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").as_bytes()).await?;
    }
    Ok(())
}

impl Log {
    fn append(&self, delivered: &Delivered) -> anyhow::Result<()> {
        let line = serde_json::to_string(delivered)? + "\n";
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(line.as_bytes())?;
        Ok(file.sync_data()?)
    }
}

/// Reads such a log. A last line that was cut off was not answered either.
pub fn read_log<T: for<'de> Deserialize<'de>>(path: &Path) -> anyhow::Result<Vec<T>> {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
    whole.lines().map(|line| serde_json::from_str(line).with_context(|| line.to_owned())).collect()
}

/// Milliseconds since 1970.
#[must_use]
pub fn now() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn delivered(request: &Message) -> anyhow::Result<Delivered> {
    let key = request.header("idempotency-key").context("no Idempotency-Key")?.to_owned();
    let outer = ContentType::parse(request.header("content-type").context("no Content-Type")?)?;
    let boundary = outer.param("boundary").context("no boundary")?;
    let mut reader = MultipartReader::new(boundary, MimeLimits::default())?;
    let mut events = Vec::new();
    reader.push(request.body.clone().into(), &mut events)?;
    reader.finish(&mut events)?;
    let (mut json, mut hash, mut sha256) = (Vec::new(), Sha256::new(), Vec::new());
    let mut part = 0;
    for event in events {
        match event {
            MimeEvent::Head(_) => part += 1,
            MimeEvent::Data(octets) if part == 1 => json.extend_from_slice(&octets),
            MimeEvent::Data(octets) => hash.update(&octets),
            MimeEvent::PartEnd if part > 1 => sha256.push(hex(&std::mem::replace(&mut hash, Sha256::new()).finish())),
            MimeEvent::PartEnd | MimeEvent::End => {}
        }
    }
    let message: Value = serde_json::from_slice(&json)?;
    let message_id = message["id"].as_str().context("no id")?.to_owned();
    Ok(Delivered { key, message_id, sha256, at: now() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_is_read_and_a_torn_line_is_not() {
        let body = "--b\r\nContent-Disposition: form-data; name=\"message\"\r\n\r\n{\"id\":\"m@x\"}\r\n--b\r\n\
                    Content-Disposition: form-data; name=\"payload\"\r\n\r\nabc\r\n--b--\r\n";
        let head = "POST / HTTP/1.1\r\nIdempotency-Key: k\r\nContent-Type: multipart/form-data; boundary=b\r\n";
        let mut text = format!("{head}Content-Length: {}\r\n\r\n{body}", body.len());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let read = |text: &str| {
            runtime.block_on(wire::read(&mut text.as_bytes(), &mut Vec::new(), Kind::Request)).unwrap().unwrap()
        };
        let found = delivered(&read(&text)).unwrap();
        assert_eq!((found.key.as_str(), found.message_id.as_str()), ("k", "m@x"));
        assert_eq!(found.sha256, ["ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"]);
        text = text.replace("Idempotency-Key: k\r\n", "");
        assert!(delivered(&read(&text)).is_err());

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        let line = serde_json::to_string(&found).unwrap();
        std::fs::write(&path, format!("{line}\n{}", &line[..20])).unwrap();
        assert_eq!(read_log::<Delivered>(&path).unwrap(), [found]);
        assert!(read_log::<Delivered>(&dir.path().join("none")).unwrap().is_empty());
    }
}
