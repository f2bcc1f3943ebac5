//! Between the gateways: passes requests and answers on whole, writes each attempt down, and sees the moments that only the
//! wire shows.

use std::io::{self, Write as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use postrider::wire::hex;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use super::kill::Trigger;
use super::schedule::{Moment, Victim};
use super::watch::Commits;
use crate::consumer::now;
use crate::wire::{self, Kind, Message};

/// An attempt as it went by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Attempt {
    /// `eb:MessageId`.
    pub(super) message_id: String,
    /// SHA-256 of `ds:SignatureValue`.
    pub(super) signature: String,
    /// When the receiver had the request whole; `None` when it could not be reached.
    pub(super) whole: Option<u64>,
    /// When the answer was passed on; `None` when it never was.
    pub(super) answered: Option<u64>,
}

/// What the relay needs.
pub(super) struct Relay {
    pub(super) to: SocketAddr,
    pub(super) trigger: Arc<Trigger>,
    /// The receiver's database, to watch its commits.
    pub(super) database: PathBuf,
    pub(super) log: Mutex<std::fs::File>,
}

impl Relay {
    /// Runs until it is dropped.
    pub(super) async fn run(self: Arc<Self>, listener: TcpListener) {
        loop {
            let Ok((stream, _)) = listener.accept().await else { continue };
            let relay = Arc::clone(&self);
            // A broken connection is what this run is about.
            tokio::spawn(async move { relay.connection(stream).await });
        }
    }

    async fn connection(&self, mut from: TcpStream) -> io::Result<()> {
        let mut buffer = Vec::new();
        while let Some(request) = wire::read(&mut from, &mut buffer, Kind::Request).await? {
            let mut attempt = attempt(&request);
            let passed = self.pass(&mut from, &request, &mut attempt).await;
            self.write_down(&attempt)?;
            passed?;
        }
        Ok(())
    }

    async fn pass(&self, from: &mut TcpStream, request: &Message, attempt: &mut Attempt) -> io::Result<()> {
        let mut to = TcpStream::connect(self.to).await?;
        to.set_nodelay(true)?;
        let commits = Commits::open(&self.database).ok();
        let before = commits.as_ref().and_then(Commits::count);
        to.write_all(&request.raw).await?;
        attempt.whole = Some(now());
        let id = attempt.message_id.clone();
        let answered = Arc::new(AtomicBool::new(false));
        self.while_it_works(commits.zip(before), &id, &answered);
        let mut status = [0; 12];
        let seen = to.peek(&mut status).await?;
        answered.store(true, Ordering::SeqCst);
        // Only a message that was taken is answered with 200 in this run.
        let taken = status[..seen].ends_with(b" 200");
        if taken && self.trigger.pull(Moment::ReceiverAnswering, Victim::Red, Some(&id), true) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        let answer = wire::read(&mut to, &mut Vec::new(), Kind::Answer).await?;
        let answer = answer.ok_or(io::ErrorKind::UnexpectedEof)?;
        if answer.status == 200 && self.trigger.pull(Moment::SenderUnanswered, Victim::Blue, Some(&id), true) {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        from.write_all(&answer.raw).await?;
        attempt.answered = Some(now());
        Ok(())
    }

    /// The two moments between the last octet of the request and the first of the answer.
    fn while_it_works(&self, commits: Option<(Commits, u32)>, id: &str, answered: &Arc<AtomicBool>) {
        let (trigger, id, answered) = (Arc::clone(&self.trigger), id.to_owned(), Arc::clone(answered));
        if let Some(delay) = trigger.armed(Moment::ReceiverWorking) {
            tokio::spawn(async move {
                tokio::time::sleep(delay).await;
                if !answered.load(Ordering::SeqCst) {
                    trigger.pull(Moment::ReceiverWorking, Victim::Red, Some(&id), false);
                }
            });
        } else if trigger.armed(Moment::ReceiverCommitted).is_some()
            && let Some((commits, before)) = commits
        {
            std::thread::spawn(move || {
                while !answered.load(Ordering::SeqCst) && trigger.armed(Moment::ReceiverCommitted).is_some() {
                    if commits.count().is_some_and(|count| count != before) {
                        let begun = answered.load(Ordering::SeqCst);
                        trigger.pull(Moment::ReceiverCommitted, Victim::Red, Some(&id), begun);
                        return;
                    }
                    std::thread::sleep(Duration::from_micros(20));
                }
            });
        }
    }

    fn write_down(&self, attempt: &Attempt) -> io::Result<()> {
        let line = serde_json::to_string(attempt)? + "\n";
        self.log.lock().unwrap_or_else(PoisonError::into_inner).write_all(line.as_bytes())
    }
}

fn attempt(request: &Message) -> Attempt {
    let text = |before: &str| wire::between(&request.body, before.as_bytes(), b"<").unwrap_or_default();
    Attempt {
        message_id: String::from_utf8_lossy(text("MessageId>")).into_owned(),
        signature: hex(&openssl::sha::sha256(text("SignatureValue>"))),
        whole: None,
        answered: None,
    }
}
