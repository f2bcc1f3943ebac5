//! A partner that does what a script says, and keeps everything it saw.

use std::collections::VecDeque;
use std::io::Write;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::http::{self, Message};

/// What it does with one request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Answers with these octets.
    Answer(Vec<u8>),
    /// Closes the connection without an answer.
    Drop,
    /// Waits, then does something else.
    Late(Duration, Box<Act>),
    /// Hands the request on and gives the answer back.
    Forward(SocketAddr),
    /// Hands the request on and loses the answer.
    LoseAnswer(SocketAddr),
    /// Answers by what the request is.
    Made(Make),
}

/// Makes an answer from a request.
#[derive(Clone)]
pub(crate) struct Make(Arc<MakeFn>);

type MakeFn = dyn Fn(&Message) -> Vec<u8> + Send + Sync;

impl std::fmt::Debug for Make {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Make")
    }
}

impl Act {
    /// Answers by what the request is.
    pub(crate) fn made(make: impl Fn(&Message) -> Vec<u8> + Send + Sync + 'static) -> Self {
        Self::Made(Make(Arc::new(make)))
    }

    /// Answers with these octets, in which the request's MessageId stands for the given one.
    pub(crate) fn about(id: &str, octets: Vec<u8>) -> Self {
        let id = id.to_owned();
        Self::made(move |request| about(&id, &octets, request))
    }
}

/// A request, and what was answered.
#[derive(Clone, Debug)]
pub(crate) struct Seen {
    /// When it was there.
    pub at: Instant,
    /// The request.
    pub request: Message,
    /// The answer, lost ones too.
    pub answer: Option<Message>,
}

/// The partner.
pub(crate) struct Peer {
    /// Where it listens.
    pub address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    script: Mutex<VecDeque<Act>>,
    seen: Mutex<Vec<Seen>>,
    connections: Mutex<usize>,
    stop: AtomicBool,
}

impl Peer {
    /// Acts one by one; the last goes on for ever.
    pub(crate) fn start(script: impl IntoIterator<Item = Act>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        let shared = Arc::new(Shared {
            script: Mutex::new(script.into_iter().collect()),
            seen: Mutex::default(),
            connections: Mutex::default(),
            stop: AtomicBool::new(false),
        });
        let theirs = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if theirs.stop.load(Ordering::Relaxed) {
                    return;
                }
                *theirs.connections.lock().expect("not poisoned") += 1;
                let shared = Arc::clone(&theirs);
                std::thread::spawn(move || {
                    // What goes wrong on a connection is the other side's to notice.
                    let _ = serve(&shared, stream);
                });
            }
        });
        Self { address, shared }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/as4", self.address)
    }

    /// Another script from now on.
    pub(crate) fn now(&self, script: impl IntoIterator<Item = Act>) {
        *self.shared.script.lock().expect("not poisoned") = script.into_iter().collect();
    }

    /// Everything seen.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().expect("not poisoned").clone()
    }

    /// What was seen of one message.
    pub(crate) fn seen_of(&self, id: &str) -> Vec<Seen> {
        self.seen().into_iter().filter(|seen| seen.request.text().contains(id)).collect()
    }

    /// Connections that were made.
    pub(crate) fn connections(&self) -> usize {
        *self.shared.connections.lock().expect("not poisoned")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Relaxed);
        drop(TcpStream::connect(self.address));
    }
}

fn serve(shared: &Shared, mut stream: TcpStream) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_mins(1)))?;
    while let Some(request) = http::read(&mut stream, false)? {
        let act = {
            let mut script = shared.script.lock().expect("not poisoned");
            if script.len() > 1 { script.pop_front() } else { script.front().cloned() }
        };
        let at = Instant::now();
        let (answer, lost) = perform(act.unwrap_or(Act::Drop), &request);
        let answer_octets = answer.as_ref().map(|a| a.octets.clone());
        shared.seen.lock().expect("not poisoned").push(Seen { at, request, answer });
        match answer_octets {
            Some(octets) if !lost => stream.write_all(&octets)?,
            _ => return Ok(()),
        }
    }
    Ok(())
}

fn perform(act: Act, request: &Message) -> (Option<Message>, bool) {
    let message = |octets: Vec<u8>| {
        http::read(&mut &*octets, true)
            .ok()
            .flatten()
            .unwrap_or(Message { octets: octets.clone(), ..Message::default() })
    };
    match act {
        Act::Answer(octets) => (Some(message(octets)), false),
        Act::Made(Make(make)) => (Some(message(make(request))), false),
        Act::Drop => (None, false),
        Act::Late(wait, then) => {
            std::thread::sleep(wait);
            perform(*then, request)
        }
        Act::Forward(to) => (http::exchange(to, &request.octets).ok(), false),
        Act::LoseAnswer(to) => (http::exchange(to, &request.octets).ok(), true),
    }
}

/// The answer with another id in it; its length is told anew where it was told.
fn about(id: &str, octets: &[u8], request: &Message) -> Vec<u8> {
    let Some(new) = super::message::element(&request.text(), "MessageId") else { return octets.to_vec() };
    let text = String::from_utf8_lossy(octets);
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let told = format!("Content-Length: {}", body.len());
    let body = body.replace(id, &new);
    let head = head.replace(&told, &format!("Content-Length: {}", body.len()));
    format!("{head}\r\n\r\n{body}").into_bytes()
}
