//! Waking whoever waits for work: in this process by an epoch that only grows, so that no wake is lost between two
//! waits; on other nodes by `NOTIFY`. Polling stays the fallback everywhere.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

use diesel::Connection;
use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use tokio::sync::watch;

/// How often the relay looks for what other nodes committed.
const LOOK: Duration = Duration::from_millis(25);
/// How long it waits before it connects again.
const RECONNECT: Duration = Duration::from_secs(1);
/// Name of the PostgreSQL channel.
const CHANNEL: &str = "postrider";

/// Wakes.
pub(super) struct Waker {
    epoch: watch::Sender<u64>,
    /// To the relay: this node committed something. One slot is enough, for a wake says no more than "look".
    others: Option<SyncSender<()>>,
}

impl Waker {
    /// For one process.
    pub(super) fn alone() -> Self {
        Self { epoch: watch::Sender::new(0), others: None }
    }

    /// For several nodes on one PostgreSQL database.
    pub(super) fn across(url: String) -> std::io::Result<Self> {
        let epoch = watch::Sender::new(0);
        let (others, local) = sync_channel(1);
        let relay = Relay { url, epoch: epoch.clone(), local, owed: false };
        std::thread::Builder::new().name("postrider-relay".to_owned()).spawn(move || relay.run())?;
        Ok(Self { epoch, others: Some(others) })
    }

    pub(super) fn wake(&self) {
        self.epoch.send_modify(|epoch| *epoch += 1);
        if let Some(others) = &self.others {
            // A full slot is a wake that is on its way already.
            let _ = others.try_send(());
        }
    }

    pub(super) fn watch(&self) -> Due {
        let mut epochs = self.epoch.subscribe();
        epochs.mark_changed();
        Due(epochs)
    }
}

/// One worker's view of the wakes: what came while it was busy is not lost.
#[derive(Debug)]
pub struct Due(watch::Receiver<u64>);

impl Due {
    /// Waits until there may be work: at once when there was a wake since the last time, and the first time.
    pub async fn wait(&mut self) {
        if self.0.changed().await.is_err() {
            // The store is closed: there will be no work.
            std::future::pending::<()>().await;
        }
    }
}

/// The thread that carries wakes between nodes, over one connection of its own.
struct Relay {
    url: String,
    epoch: watch::Sender<u64>,
    local: Receiver<()>,
    /// A wake that other nodes have not been told.
    owed: bool,
}

enum End {
    Closed,
    Lost,
}

impl Relay {
    fn run(mut self) {
        loop {
            if let Ok(mut connection) = self.connect()
                && matches!(self.carry(&mut connection), End::Closed)
            {
                return;
            }
            match self.local.recv_timeout(RECONNECT) {
                Ok(()) => self.owed = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn connect(&self) -> Result<PgConnection, Box<dyn std::error::Error>> {
        let mut connection = PgConnection::establish(&self.url)?;
        connection.batch_execute(&format!("LISTEN {CHANNEL}"))?;
        // What was said while nobody listened here is not known.
        self.bump();
        Ok(connection)
    }

    fn bump(&self) {
        self.epoch.send_modify(|epoch| *epoch += 1);
    }

    fn carry(&mut self, connection: &mut PgConnection) -> End {
        loop {
            match self.local.recv_timeout(LOOK) {
                Ok(()) => self.owed = true,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return End::Closed,
            }
            if self.owed {
                if connection.batch_execute(&format!("NOTIFY {CHANNEL}")).is_err() {
                    return End::Lost;
                }
                self.owed = false;
            }
            let mut heard = false;
            for notification in connection.notifications_iter() {
                match notification {
                    Ok(_) => heard = true,
                    Err(_) => return End::Lost,
                }
            }
            if heard {
                self.bump();
            }
        }
    }
}
