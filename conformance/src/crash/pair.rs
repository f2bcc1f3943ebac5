//! The two gateways, the relay between them, and the consumer: started, killed, started again.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::Context;
use tokio::net::TcpListener;
use tokio::process::{Child, Command};
use tokio::task::JoinHandle;

use super::kill::Trigger;
use super::options::CrashArgs;
use super::producer::Submission;
use super::relay::{Attempt, Relay};
use super::schedule::Victim;
use crate::agreement::{Agreement, Security, Side, UNREGISTERED};
use crate::consumer::{Delivered, read_log};
use crate::site::{self, Consumer, Server, Site, binary, ports};

/// Starting takes no longer than this, on a busy machine, in a debug build.
const START: Duration = Duration::from_mins(1);

/// Both gateways.
pub(super) struct Pair {
    pub(super) dir: PathBuf,
    pub(super) blue: Site,
    pub(super) red: Site,
    postrider: PathBuf,
    servers: [Arc<Mutex<Server>>; 2],
    trigger: Arc<Trigger>,
    consumer: Child,
    relay: JoinHandle<()>,
}

impl Pair {
    pub(super) async fn start(args: &CrashArgs, dir: &Path, trigger: Arc<Trigger>) -> anyhow::Result<Self> {
        let postrider = binary(args.postrider.as_deref())?;
        let [blue_msh, blue_admin, red_msh, red_admin, relayed, consumed] = ports()?;
        let (blue_keys, red_keys) = (site::Pair::make("blue", 2048)?, site::Pair::make("red", 2048)?);
        let polls = "[send]\npoll = \"200ms\"\n";
        let hook = Consumer::Webhook(format!("http://{consumed}/"));
        let blue = Site::write(&dir.join("blue"), "blue", [blue_msh, blue_admin], &blue_keys, &Consumer::None, polls)?;
        let red = Site::write(&dir.join("red"), "red", [red_msh, red_admin], &red_keys, &hook, polls)?;
        let retry = "retries=\"100000\" first=\"1s\" multiplier=\"1\" max=\"1s\" jitter=\"10%\" deadline=\"24h\"";
        let partner = Some("../keys/partner.pem".to_owned());
        let sender = Side {
            address: Some(format!("http://{relayed}/as4")),
            to_certificate: partner.clone(),
            retry: Some(retry.to_owned()),
            ..Side::default()
        };
        let receiver = Side { from_certificate: partner, deliver: Some("inbox".to_owned()), ..Side::default() };
        blue.agree(&agreement().pmode(&sender), &red_keys)?;
        red.agree(&agreement().pmode(&receiver), &blue_keys)?;
        let consumer = consumer(args, dir, consumed)?;
        let relay = Arc::new(Relay {
            to: red_msh,
            trigger: Arc::clone(&trigger),
            database: red.dir.join("data/postrider.db"),
            log: Mutex::new(File::create(dir.join("relay.log"))?),
        });
        let relay = tokio::spawn(relay.run(TcpListener::bind(relayed).await?));
        let servers = [&blue, &red].map(|site| Server::start(&postrider, site).map(|s| Arc::new(Mutex::new(s))));
        let [first, second] = servers;
        let servers = [first?, second?];
        trigger.aim(Victim::Blue, Arc::clone(&servers[0]));
        trigger.aim(Victim::Red, Arc::clone(&servers[1]));
        let pair = Self { dir: dir.to_owned(), blue, red, postrider, servers, trigger, consumer, relay };
        pair.ready().await?;
        Ok(pair)
    }

    fn place(victim: Victim) -> usize {
        usize::from(victim == Victim::Red)
    }

    /// Waits until both are ready.
    pub(super) async fn ready(&self) -> anyhow::Result<()> {
        self.blue.ready(START).await?;
        self.red.ready(START).await
    }

    /// Kills one.
    pub(super) fn kill(&self, victim: Victim) {
        self.servers[Self::place(victim)].lock().unwrap_or_else(PoisonError::into_inner).kill();
    }

    /// Starts a killed one again.
    pub(super) async fn restart(&mut self, victim: Victim) -> anyhow::Result<()> {
        let place = Self::place(victim);
        let server = Arc::clone(&self.servers[place]);
        // It must be gone before another takes its folder.
        let begun = Instant::now();
        while server.lock().unwrap_or_else(PoisonError::into_inner).running()? {
            anyhow::ensure!(begun.elapsed() < START, "a killed gateway does not end");
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
        let site = if victim == Victim::Blue { &self.blue } else { &self.red };
        self.servers[place] = Arc::new(Mutex::new(Server::start(&self.postrider, site)?));
        self.trigger.aim(victim, Arc::clone(&self.servers[place]));
        Ok(())
    }

    /// A reader of the consumer's log, as it grows.
    pub(super) fn deliveries(&self) -> Growing {
        Growing { path: self.dir.join("consumer.log"), seen: HashSet::new() }
    }

    /// Documents that the consumer has.
    pub(super) fn delivered(&self) -> anyhow::Result<usize> {
        let mut log = self.deliveries();
        log.fresh()
    }

    /// Waits until every answered submission has arrived, and every message has its receipt; whether that came.
    pub(super) async fn drain(&self, submissions: &[Submission], limit: Duration) -> anyhow::Result<bool> {
        let begun = Instant::now();
        let all: HashSet<&String> = submissions.iter().flat_map(|s| &s.ids).collect();
        loop {
            let arrived: Vec<Delivered> = read_log(&self.dir.join("consumer.log"))?;
            let arrived: HashSet<&String> = arrived.iter().map(|d| &d.message_id).collect();
            let attempts: Vec<Attempt> = read_log(&self.dir.join("relay.log"))?;
            let receipted: HashSet<&String> =
                attempts.iter().filter(|a| a.answered.is_some()).map(|a| &a.message_id).collect();
            if all.is_subset(&arrived) && all.is_subset(&receipted) {
                // Whatever would come twice gets the time to.
                tokio::time::sleep(Duration::from_secs(2)).await;
                return Ok(true);
            }
            if begun.elapsed() > limit {
                return Ok(false);
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    /// Ends everything; gives the logs of relay and consumer.
    pub(super) async fn stop(mut self) -> anyhow::Result<(Vec<Attempt>, Vec<Delivered>)> {
        self.kill(Victim::Blue);
        self.kill(Victim::Red);
        self.relay.abort();
        self.consumer.start_kill()?;
        self.consumer.wait().await?;
        Ok((read_log(&self.dir.join("relay.log"))?, read_log(&self.dir.join("consumer.log"))?))
    }
}

/// The consumer's log, read again and again.
pub(super) struct Growing {
    path: PathBuf,
    seen: HashSet<String>,
}

impl Growing {
    /// How many messages came that were not there before.
    pub(super) fn fresh(&mut self) -> anyhow::Result<usize> {
        let all: Vec<Delivered> = read_log(&self.path)?;
        Ok(all.into_iter().filter(|delivered| self.seen.insert(delivered.message_id.clone())).count())
    }
}

fn agreement() -> Agreement {
    Agreement {
        from: "blue".to_owned(),
        from_type: UNREGISTERED.to_owned(),
        to: "red".to_owned(),
        to_type: UNREGISTERED.to_owned(),
        service: "crash".to_owned(),
        service_type: "example".to_owned(),
        action: "Deliver".to_owned(),
        agreement: "https://agreements.example.org/crash".to_owned(),
        pmode_id: None,
        security: Security::Full,
        compress: true,
    }
}

fn consumer(args: &CrashArgs, dir: &Path, listen: std::net::SocketAddr) -> anyhow::Result<Child> {
    let own = args.consumer.clone().map_or_else(std::env::current_exe, Ok)?;
    let log = OpenOptions::new().create(true).append(true).open(dir.join("consumer.err"))?;
    Command::new(&own)
        .args(["consumer", "--listen", &listen.to_string(), "--silent-every", &args.silent_every.to_string(), "--log"])
        .arg(dir.join("consumer.log"))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .kill_on_drop(true)
        .spawn()
        .with_context(|| format!("{} cannot be started as consumer", own.display()))
}
