//! The business system that submits: an entry in its log before anything is sent, the same key until there is an answer.

use std::fs::File;
use std::io::Write as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::Context;
use postrider::wire::hex;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::kill::Trigger;
use super::options::CrashArgs;
use super::pair::Pair;
use super::schedule::{Chance, Moment, Victim};
use crate::wire;

/// Sizes on both sides of what lives in a database row.
const SIZES: [usize; 9] =
    [300, 4 << 10, 30 << 10, 60 << 10, (64 << 10) - 100, (64 << 10) + 100, 70 << 10, 200 << 10, 1 << 20];

/// Who submits at once.
const PRODUCERS: usize = 4;

/// A submission.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Submission {
    /// `Idempotency-Key`.
    pub(super) key: String,
    /// SHA-256 of the payload.
    pub(super) sha256: String,
    /// Octets.
    pub(super) size: usize,
    /// Every id that an answer gave; one and the same, if all is well.
    pub(super) ids: Vec<String>,
    /// Attempts to submit it.
    pub(super) attempts: u32,
    /// An answer that will not change: a failure of the run.
    pub(super) refused: Option<String>,
}

/// The producers.
pub(super) struct Producer {
    shared: Arc<Shared>,
    running: JoinSet<anyhow::Result<Vec<Submission>>>,
}

struct Shared {
    admin: SocketAddr,
    token: String,
    trigger: Arc<Trigger>,
    stop: AtomicBool,
    taken: AtomicUsize,
    /// Documents that may be on their way: the consumer's log gives places back.
    window: Arc<Semaphore>,
    log: Mutex<File>,
}

impl Producer {
    pub(super) fn start(args: &CrashArgs, pair: &Pair, seed: u64, trigger: Arc<Trigger>) -> anyhow::Result<Self> {
        let shared = Arc::new(Shared {
            admin: pair.blue.admin,
            token: pair.blue.token.clone(),
            trigger,
            stop: AtomicBool::new(false),
            taken: AtomicUsize::new(0),
            window: Arc::new(Semaphore::new(args.window.max(1))),
            log: Mutex::new(File::create(pair.dir.join("producer.log"))?),
        });
        let mut running = JoinSet::new();
        for number in 0..PRODUCERS {
            let shared = Arc::clone(&shared);
            let chance = Chance::new(seed ^ number as u64);
            running.spawn(async move { shared.produce(number, chance).await });
        }
        let (window, mut log) = (Arc::clone(&shared), pair.deliveries());
        running.spawn(async move {
            while !window.stop.load(Ordering::Relaxed) {
                window.window.add_permits(log.fresh()?);
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            Ok(Vec::new())
        });
        Ok(Self { shared, running })
    }

    /// Submissions that were answered.
    pub(super) fn taken(&self) -> usize {
        self.shared.taken.load(Ordering::Relaxed)
    }

    /// Lets each submission get its answer; gives them all.
    pub(super) async fn stop(mut self) -> anyhow::Result<Vec<Submission>> {
        self.shared.stop.store(true, Ordering::Relaxed);
        self.shared.window.add_permits(PRODUCERS);
        let mut all = Vec::new();
        while let Some(part) = self.running.join_next().await {
            all.extend(part??);
        }
        Ok(all)
    }
}

impl Shared {
    async fn produce(&self, number: usize, mut chance: Chance) -> anyhow::Result<Vec<Submission>> {
        let mut all = Vec::new();
        while !self.stop.load(Ordering::Relaxed) {
            self.window.acquire().await?.forget();
            let size = SIZES[usize::try_from(chance.below(SIZES.len() as u64))?];
            let mut payload = vec![0; size];
            openssl::rand::rand_bytes(&mut payload)?;
            let sha256 = hex(&openssl::sha::sha256(&payload));
            let key = format!("document-{number}-{}", all.len());
            let mut submission = Submission { key, sha256, size, ..Submission::default() };
            self.write_down(&submission)?;
            self.submit(&mut submission, &payload, &mut chance).await;
            self.write_down(&submission)?;
            self.taken.fetch_add(1, Ordering::Relaxed);
            all.push(submission);
        }
        Ok(all)
    }

    /// Until it is answered. Some are submitted once more after that: the id must be the same.
    async fn submit(&self, submission: &mut Submission, payload: &[u8], chance: &mut Chance) {
        let request = self.request(submission, payload);
        let wanted = 1 + usize::from(chance.below(8) == 0);
        while submission.ids.len() < wanted && submission.refused.is_none() && submission.attempts < 10_000 {
            submission.attempts += 1;
            match self.attempt(&request).await {
                Ok((200 | 201, id)) => submission.ids.push(id),
                Ok((409 | 429 | 503, _)) => tokio::time::sleep(Duration::from_millis(50)).await,
                Ok((status, said)) => submission.refused = Some(format!("HTTP {status} {said}")),
                Err(_) => tokio::time::sleep(Duration::from_millis(10 + chance.below(40))).await,
            }
        }
    }

    async fn attempt(&self, request: &[u8]) -> anyhow::Result<(u16, String)> {
        let mut stream = TcpStream::connect(self.admin).await?;
        stream.set_nodelay(true)?;
        stream.write_all(request).await?;
        if let Some(delay) = self.trigger.armed(Moment::SubmissionUnanswered) {
            tokio::time::sleep(delay).await;
            if self.trigger.pull(Moment::SubmissionUnanswered, Victim::Blue, None, false) {
                anyhow::bail!("killed before the answer was read");
            }
        }
        let answer = tokio::time::timeout(Duration::from_secs(30), wire::answer(&mut stream)).await??;
        if matches!(answer.status, 200 | 201) {
            let body: Value = serde_json::from_slice(&answer.body)?;
            return Ok((answer.status, body["id"].as_str().context("an answer without id")?.to_owned()));
        }
        Ok((answer.status, String::from_utf8_lossy(&answer.body).chars().take(300).collect()))
    }

    fn request(&self, submission: &Submission, payload: &[u8]) -> Vec<u8> {
        let boundary = format!("crash-{}", submission.sha256);
        let disposition = "Content-Disposition: form-data; name";
        let mut body = format!(
            "--{boundary}\r\n{disposition}=\"submission\"\r\nContent-Type: application/json\r\n\r\n{{\"pmode\":\"conformance\"}}\r\n\
             --{boundary}\r\n{disposition}=\"payload\"; filename=\"payload.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(payload);
        body.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
        let kind = format!("multipart/form-data; boundary={boundary}");
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("Content-Type", kind.as_str()),
            ("Authorization", bearer.as_str()),
            ("Idempotency-Key", submission.key.as_str()),
            ("Connection", "close"),
        ];
        wire::request("POST", &self.admin.to_string(), "/api/v1/messages", &headers, &body)
    }

    fn write_down(&self, submission: &Submission) -> anyhow::Result<()> {
        let line = serde_json::to_string(submission)? + "\n";
        Ok(self.log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())?)
    }
}
