//! The clock runs here: each connection writes one prepared request, reads the answer, and takes the next.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hdrhistogram::Histogram;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::options::{LoadArgs, Verify};
use super::prepare::Prepared;
use crate::wire::{self, Kind, Message};

/// Of how many answers one is kept for verification.
const SAMPLE: usize = 16;

/// What came back.
pub(super) struct Tally {
    /// Answers that are receipts for what was sent, by their look.
    pub(super) ok: u64,
    /// All others, by reason.
    pub(super) failed: BTreeMap<String, u64>,
    /// Microseconds from the first octet written to the last one read.
    pub(super) latency: Histogram<u64>,
    /// From the first message to the last answer.
    pub(super) elapsed: Duration,
    /// Answers to be verified, by the position of their message.
    pub(super) kept: Vec<(usize, Message)>,
    /// Whether the messages gave out before the time did.
    pub(super) all_sent: bool,
    /// Octets written.
    pub(super) octets: u64,
}

impl Tally {
    fn new() -> anyhow::Result<Self> {
        Ok(Self {
            ok: 0,
            failed: BTreeMap::new(),
            latency: Histogram::new_with_bounds(1, 600_000_000, 3)?,
            elapsed: Duration::ZERO,
            kept: Vec::new(),
            all_sent: false,
            octets: 0,
        })
    }

    fn add(&mut self, other: Self) -> anyhow::Result<()> {
        self.ok += other.ok;
        for (reason, count) in other.failed {
            *self.failed.entry(reason).or_default() += count;
        }
        self.latency.add(other.latency)?;
        self.elapsed = self.elapsed.max(other.elapsed);
        self.kept.extend(other.kept);
        self.octets += other.octets;
        Ok(())
    }

    fn fail(&mut self, reason: String) {
        *self.failed.entry(reason).or_default() += 1;
    }
}

struct Course<'a> {
    address: &'a str,
    prepared: &'a [Prepared],
    next: AtomicUsize,
    begun: Instant,
    duration: Duration,
    keep: usize,
}

/// Sends until the time is over or the messages are.
pub(super) async fn drive(address: &str, prepared: &[Prepared], args: &LoadArgs) -> anyhow::Result<Tally> {
    let keep = match args.verify {
        Verify::All => 1,
        Verify::Sample => SAMPLE,
        Verify::None => usize::MAX,
    };
    let course = Arc::new(Course {
        address,
        prepared,
        next: AtomicUsize::new(0),
        begun: Instant::now(),
        duration: args.duration,
        keep,
    });
    let mut tally = Tally::new()?;
    let workers = (0..args.concurrency.max(1)).map(|_| connection(Arc::clone(&course)));
    for part in futures_util::future::join_all(workers).await {
        tally.add(part?)?;
    }
    tally.all_sent = course.next.load(Ordering::Relaxed) >= prepared.len();
    Ok(tally)
}

async fn connection(course: Arc<Course<'_>>) -> anyhow::Result<Tally> {
    let mut tally = Tally::new()?;
    let mut socket: Option<TcpStream> = None;
    let mut buffer = Vec::with_capacity(64 * 1024);
    while course.begun.elapsed() < course.duration {
        let at = course.next.fetch_add(1, Ordering::Relaxed);
        let Some(message) = course.prepared.get(at) else { break };
        let begun = Instant::now();
        match exchange(&mut socket, course.address, &message.wire, &mut buffer).await {
            Ok(answer) => {
                tally.latency.saturating_record(u64::try_from(begun.elapsed().as_micros()).unwrap_or(u64::MAX));
                tally.elapsed = course.begun.elapsed();
                tally.octets += message.wire.len() as u64;
                judge(&mut tally, message, &answer);
                if answer.closes() {
                    socket = None;
                }
                if at.is_multiple_of(course.keep) {
                    tally.kept.push((at, answer));
                }
            }
            Err(error) => {
                socket = None;
                buffer.clear();
                tally.fail(error.to_string());
                // A server that refuses connections is not asked a million times.
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        }
    }
    Ok(tally)
}

async fn exchange(
    socket: &mut Option<TcpStream>,
    address: &str,
    octets: &[u8],
    buffer: &mut Vec<u8>,
) -> std::io::Result<Message> {
    let stream = match socket {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect(address).await?;
            stream.set_nodelay(true)?;
            socket.insert(stream)
        }
    };
    stream.write_all(octets).await?;
    wire::read(stream, buffer, Kind::Answer).await?.ok_or_else(|| std::io::Error::other("closed without an answer"))
}

/// By its look: status 200, a Receipt, and our message's id in it.
fn judge(tally: &mut Tally, message: &Prepared, answer: &Message) {
    let about = wire::find(&answer.body, message.message_id.as_str().as_bytes()).is_some();
    if answer.status == 200 && about && wire::find(&answer.body, b"Receipt>").is_some() {
        tally.ok += 1;
        return;
    }
    let attribute = |name: &str| {
        let found = wire::between(&answer.body, format!("{name}=\"").as_bytes(), b"\"").unwrap_or_default();
        String::from_utf8_lossy(found).into_owned()
    };
    let code = attribute("errorCode");
    let reason = match (code.is_empty(), answer.status) {
        (false, status) => format!("HTTP {status}, {code} {}", attribute("shortDescription")),
        (true, 200) => "HTTP 200 without a receipt for the message".to_owned(),
        (true, status) => {
            let text: String =
                String::from_utf8_lossy(&answer.body).chars().filter(|c| !c.is_control()).take(120).collect();
            format!("HTTP {status} {text}")
        }
    };
    tally.fail(reason);
}
