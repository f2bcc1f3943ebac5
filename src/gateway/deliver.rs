//! Hands received messages to their consumers: claims delivery jobs, offers, settles. At least once, always with the same
//! key; what is refused too often is parked, never dropped (IN-33).

use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use flate2::read::MultiGzDecoder;
use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};
use tokio::sync::{Semaphore, watch};
use url::Url;

use super::{Gateway, ids};
use crate::backend::webhook::{self, WebhookRequest};
use crate::backend::{Delivery, DeliveryPart, OpenPart, folder};
use crate::emit;
use crate::store::delivery::{self, Job};
use crate::store::payload::{Digest, PayloadStore};
use crate::store::{At, Message, Part, StoreError, event as timeline, message};
use crate::telemetry::{event, metrics};
use crate::transport::limits::TimeOuts;
use crate::transport::post::{BodySource, Request};

/// Offers before a message is parked.
const OFFERS: i32 = 30;

/// A consumer or a producer's notifier, as configured.
#[derive(Clone, Debug)]
pub enum Backend {
    /// A folder.
    Folder(PathBuf),
    /// A webhook.
    Webhook {
        /// Where.
        url: Url,
        /// Bearer token.
        secret: Option<String>,
        /// Time for one call.
        timeout: Duration,
        /// Offers after the first.
        retries: u32,
    },
}

/// Works until the process stops.
pub async fn run(gateway: Arc<Gateway>, mut stop: watch::Receiver<bool>) {
    let slots = Arc::new(Semaphore::new(gateway.workers.total));
    let mut due = gateway.store.watch();
    while !*stop.borrow() {
        let free = i64::try_from(slots.available_permits()).unwrap_or(i64::MAX);
        let jobs = if free > 0 { claim(&gateway, free).await } else { Vec::new() };
        let idle = jobs.is_empty();
        for job in jobs {
            let (gateway, slots) = (Arc::clone(&gateway), Arc::clone(&slots));
            tokio::spawn(async move {
                let Ok(_slot) = slots.acquire().await else { return };
                offer(&gateway, job).await;
            });
        }
        if idle {
            tokio::select! {
                () = due.wait() => {}
                () = tokio::time::sleep(gateway.workers.poll) => {}
                _ = stop.changed() => {}
            }
        } else {
            tokio::task::yield_now().await;
        }
    }
    let all = u32::try_from(gateway.workers.total).unwrap_or(u32::MAX);
    let _ = tokio::time::timeout(gateway.workers.grace, slots.acquire_many(all)).await;
}

async fn claim(gateway: &Gateway, free: i64) -> Vec<Job> {
    let (node, boot) = (gateway.store.node().to_owned(), gateway.store.boot().to_owned());
    let (now, each) = (At::from(ids::now()), i64::try_from(gateway.workers.total).unwrap_or(16));
    let jobs =
        gateway.store.write::<_, StoreError, _>(move |tx| delivery::claim(tx, &node, &boot, now, free, each)).await;
    jobs.unwrap_or_else(|error| {
        metrics::store_errors_total("claim").increment(1);
        emit!(event::STORE_UNAVAILABLE, {}, "the delivery jobs cannot be read: {error}");
        Vec::new()
    })
}

async fn offer(gateway: &Arc<Gateway>, job: Job) {
    let begun = std::time::Instant::now();
    let outcome = match load(gateway, &job).await {
        Ok((message, parts)) => hand_over(gateway, &job, &message, parts).await,
        Err(error) => Err(error.to_string()),
    };
    metrics::deliver_seconds("all").record(begun.elapsed().as_secs_f64());
    let result = match &outcome {
        Ok(()) => "done",
        Err(_) if job.attempts < limit(gateway, &job) => "retry",
        Err(_) => "failed",
    };
    metrics::deliveries_total(&job.backend, result).increment(1);
    if let Err(error) = write_down(gateway, &job, outcome).await {
        emit!(event::STORE_UNAVAILABLE, {}, "the delivery of {} cannot be written down: {error}", job.message);
    }
}

fn limit(gateway: &Gateway, job: &Job) -> i32 {
    match gateway.backends.get(&job.backend) {
        Some(Backend::Webhook { retries, .. }) => i32::try_from(*retries).unwrap_or(i32::MAX).saturating_add(1),
        _ => OFFERS,
    }
}

async fn load(gateway: &Gateway, job: &Job) -> Result<(Message, Vec<Part>), StoreError> {
    let id = job.message.clone();
    gateway
        .store
        .read(move |tx| {
            let found = message::find(tx, &id)?;
            let missing = || StoreError::Row { table: "delivery", why: format!("message {id} is not there") };
            Ok((found.ok_or_else(missing)?, message::parts(tx, &id)?))
        })
        .await
}

async fn hand_over(gateway: &Arc<Gateway>, job: &Job, message: &Message, parts: Vec<Part>) -> Result<(), String> {
    let Some(backend) = gateway.backends.get(&job.backend) else {
        return Err(format!("there is no backend `{}`; add a [[backend]] of that name", job.backend));
    };
    let delivery = delivery_of(gateway, job, message, parts);
    match backend {
        Backend::Folder(dir) => {
            let dir = dir.clone();
            let work = tokio::task::spawn_blocking(move || folder::deliver(&dir, &delivery));
            work.await.map_err(|e| e.to_string())?.map(drop).map_err(|e| e.to_string())
        }
        Backend::Webhook { url, secret, timeout, .. } => {
            post(gateway, url, webhook::request(delivery, secret.as_deref()), *timeout).await
        }
    }
}

/// What a consumer gets; of a sent message, what its producer is told.
fn delivery_of(gateway: &Gateway, job: &Job, message: &Message, parts: Vec<Part>) -> Delivery {
    let received = message.direction == "in";
    let header: Value = serde_json::from_str(&message.header).unwrap_or(Value::Null);
    let described: Vec<_> = parts
        .iter()
        .map(|part| {
            json!({"name": name(part), "content_id": part.content_id, "media_type": part.payload_type, "size": part.size,
                   "sha256": part.content_sha256, "file_name": part.file_name})
        })
        .collect();
    let schema = if received { "postrider.delivery/1" } else { "postrider.notification/1" };
    let value = json!({
        "schema": schema,
        "key": job.delivery_key,
        "id": message.message_id,
        "state": if received { Value::Null } else { json!(message.state) },
        "error": message.error,
        "partner": message.partner,
        "pmode": message.pmode,
        "received_at": message.created_at,
        "header": header,
        "payloads": if received { json!(described) } else { json!([]) },
    });
    let open = |part: Part| DeliveryPart {
        name: name(&part),
        media_type: part.payload_type.clone(),
        size: u64::try_from(part.size).unwrap_or(0),
        open: opener(gateway.payloads.clone(), part),
    };
    let parts = if received { parts.into_iter().map(open).collect() } else { Vec::new() };
    Delivery { key: job.delivery_key.clone(), message_id: message.message_id.clone(), message: value, parts }
}

/// A generated name: what a partner writes is never a path (AT-23).
fn name(part: &Part) -> String {
    let essence = part.payload_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let extension = match essence.as_str() {
        "application/xml" | "text/xml" => "xml",
        "application/json" => "json",
        "application/pdf" => "pdf",
        "application/gzip" => "gz",
        "application/zip" => "zip",
        "application/edifact" | "application/edi-x12" | "application/edi-consent" => "edi",
        "text/plain" => "txt",
        "text/csv" => "csv",
        "image/jpeg" => "jpg",
        "image/png" => "png",
        other if other.ends_with("+xml") => "xml",
        _ => "bin",
    };
    format!("part-{}.{extension}", part.position + 1)
}

/// Opens a payload from its signed form: inflated again, as often as needed.
pub(crate) fn opener(store: PayloadStore, part: Part) -> OpenPart {
    Box::new(move || {
        let stored: Box<dyn Read + Send> = match &part.octets {
            Some(octets) => Box::new(io::Cursor::new(octets.clone())),
            None => {
                let digest: Digest = part.sha256.parse().map_err(|_| io::Error::other("the digest is damaged"))?;
                Box::new(Chunks { reader: store.read(digest).map_err(io::Error::other)?, rest: Bytes::new() })
            }
        };
        Ok(if part.compressed { Box::new(MultiGzDecoder::new(stored)) } else { stored })
    })
}

struct Chunks {
    reader: crate::store::payload::Reader,
    rest: Bytes,
}

impl Read for Chunks {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.rest.is_empty() {
            match self.reader.next() {
                Some(chunk) => self.rest = chunk.map_err(io::Error::other)?,
                None => return Ok(0),
            }
        }
        let count = buffer.len().min(self.rest.len());
        buffer[..count].copy_from_slice(&self.rest.split_to(count));
        Ok(count)
    }
}

struct WebhookBody(Arc<WebhookRequest>);

impl BodySource for WebhookBody {
    fn len(&self) -> Option<u64> {
        Some(self.0.length)
    }

    fn open(&self) -> BoxStream<'static, io::Result<Bytes>> {
        let request = Arc::clone(&self.0);
        let (send, receive) = tokio::sync::mpsc::channel::<io::Result<Bytes>>(4);
        tokio::task::spawn_blocking(move || {
            let mut body = match request.open() {
                Ok(body) => body,
                Err(error) => return drop(send.blocking_send(Err(error))),
            };
            let mut buffer = vec![0; 64 * 1024];
            loop {
                let chunk = match body.read(&mut buffer) {
                    Ok(0) => return,
                    Ok(count) => Ok(Bytes::copy_from_slice(&buffer[..count])),
                    Err(error) => Err(error),
                };
                let failed = chunk.is_err();
                // Whoever read has gone, or there is nothing more to read.
                if send.blocking_send(chunk).is_err() || failed {
                    return;
                }
            }
        });
        stream::unfold(receive, |mut receive| async move { receive.recv().await.map(|chunk| (chunk, receive)) }).boxed()
    }
}

async fn post(gateway: &Gateway, url: &Url, call: WebhookRequest, timeout: Duration) -> Result<(), String> {
    let mut headers = HeaderMap::new();
    for (name, value) in &call.headers {
        let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
        headers.insert(name, HeaderValue::from_str(value).map_err(|e| e.to_string())?);
    }
    let mut request = Request::new(url.clone(), headers, Arc::new(WebhookBody(Arc::new(call))));
    request.time_outs =
        TimeOuts { first_byte: timeout, total: timeout.max(Duration::from_secs(1)), ..TimeOuts::default() };
    let posted = gateway.poster.post(&request).await.map_err(|e| e.to_string())?;
    if posted.status.is_success() {
        return Ok(());
    }
    let said: String = String::from_utf8_lossy(&posted.body).chars().filter(|c| !c.is_control()).take(200).collect();
    Err(format!("{url} answered {}: {said}", posted.status))
}

async fn write_down(gateway: &Arc<Gateway>, job: &Job, outcome: Result<(), String>) -> Result<(), StoreError> {
    let now = At::from(ids::now());
    let more = job.attempts < limit(gateway, job);
    let wait = Duration::from_secs(1 << u32::try_from(job.attempts.clamp(0, 9)).unwrap_or(0));
    let due = more.then(|| At(now.0 + wait));
    let row = job.clone();
    let result = outcome.clone();
    gateway
        .store
        .write::<_, StoreError, _>(move |tx| {
            let (settled, code, text) = match &result {
                Ok(()) => (
                    delivery::settle(tx, &row, now)?,
                    event::DELIVER_DONE.code,
                    format!("delivered to `{}`", row.backend),
                ),
                Err(why) => {
                    let code = if due.is_some() { event::DELIVER_RETRYING.code } else { event::DELIVER_FAILED.code };
                    let text = format!("offer {} to `{}`: {why}", row.attempts, row.backend);
                    (delivery::put_off(tx, &row, why, due, now)?, code, text)
                }
            };
            if settled {
                timeline::add(tx, &row.message, now, code, &text)?;
            }
            Ok(())
        })
        .await?;
    match outcome {
        Ok(()) => {
            emit!(event::DELIVER_DONE, { backend = job.backend }, "{} delivered to `{}`", job.message, job.backend);
        }
        Err(why) if more => emit!(event::DELIVER_RETRYING, { backend = job.backend }, "{}: {why}", job.message),
        Err(why) => emit!(event::DELIVER_FAILED, { backend = job.backend }, "{}: {why}", job.message),
    }
    Ok(())
}
