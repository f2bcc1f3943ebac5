//! A store on an empty database, and rows to put into it.

use postrider::store::inbox::{Received, StoredReply};
use postrider::store::sender_log::{self, Ended, Sending, Submitted};
use postrider::store::{
    At, Direction, Incoming, Message, Outgoing, Store, StoreError, StoreOptions, Tx, delivery, message,
};
use tempfile::TempDir;
use time::macros::datetime;

use crate::server::TestDatabase;

/// Declares each scenario once for each database.
macro_rules! both {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[test] fn $name() { super::$name(&crate::fixture::Fixture::sqlite()); })+
        }
        mod postgres {
            $(#[test] fn $name() { super::$name(&crate::fixture::Fixture::postgres()); })+
        }
    };
}
pub(crate) use both;

/// Dropped in this order: the store, then what it stood on.
pub(crate) struct Fixture {
    pub store: Store,
    pub options: StoreOptions,
    pub place: Place,
}

pub(crate) enum Place {
    Sqlite(#[expect(dead_code, reason = "removed when it is dropped")] TempDir),
    Postgres(#[expect(dead_code, reason = "removed when it is dropped")] TestDatabase),
}

fn options(url: String) -> StoreOptions {
    StoreOptions { url, node: "a".to_owned(), connections: 8, group: 256 }
}

fn migrated(options: &StoreOptions) -> Store {
    let store = Store::open(options).expect("a store");
    store.migrate().expect("its tables");
    store
}

impl Fixture {
    pub(crate) fn sqlite() -> Self {
        let dir = tempfile::tempdir().expect("a folder");
        let options = options(format!("sqlite:{}", dir.path().join("store.db").display()));
        Self { store: migrated(&options), options, place: Place::Sqlite(dir) }
    }

    pub(crate) fn postgres() -> Self {
        let database = TestDatabase::new();
        let options = options(database.url.clone());
        Self { store: migrated(&options), options, place: Place::Postgres(database) }
    }

    /// Another node on the same database.
    pub(crate) fn node(&self, name: &str) -> Store {
        Store::open(&StoreOptions { node: name.to_owned(), ..self.options.clone() }).expect("another node")
    }

    /// The same node after a restart.
    pub(crate) fn restarted(mut self) -> Self {
        // What stands in meanwhile is a database of its own.
        let elsewhere = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite:{}", elsewhere.path().join("other.db").display());
        self.store = Store::open(&options(url)).expect("a store");
        self.store = Store::open(&self.options).expect("the store again");
        self
    }

    pub(crate) fn write<T: Send + 'static>(
        &self,
        job: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError> + Send + 'static,
    ) -> T {
        self.store.write_blocking(job).expect("a transaction")
    }

    pub(crate) fn read<T>(&self, job: impl FnOnce(&mut Tx<'_>) -> Result<T, StoreError>) -> T {
        self.store.read_blocking(job).expect("a reading")
    }

    /// Submits a message that is due at `due`.
    pub(crate) fn submitted(&self, key: &str, partner: &str, due: At) -> Sending {
        let row = sending("erp", key, partner, due);
        let new = row.clone();
        let made = self.write(move |tx| submit(tx, &new));
        assert_eq!(made, Submitted::New);
        row
    }

    /// Claims as the node of this store.
    pub(crate) fn claim(&self, now: At, limit: i64, per_partner: i64) -> Vec<Sending> {
        claim(&self.store, now, limit, per_partner)
    }

    pub(crate) fn row(&self, id: &str) -> Sending {
        let id = id.to_owned();
        self.read(move |tx| Ok(sender_log::by_message(tx, &id)?.expect("a row")))
    }

    pub(crate) fn message(&self, id: &str) -> Message {
        self.read(|tx| Ok(message::find(tx, id)?.expect("a message")))
    }

    /// Stores a received message with delivery jobs for these backends.
    pub(crate) fn received(&self, id: &str, backends: &[&str], due: At) {
        let new = row(id, Direction::In, Incoming::Received.as_str(), "them", due);
        let jobs: Vec<_> = backends.iter().map(|backend| job(id, backend, due)).collect();
        self.write(move |tx| {
            message::insert(tx, &new, &[])?;
            jobs.iter().try_for_each(|job| delivery::add(tx, job))
        });
    }
}

pub(crate) fn claim(store: &Store, now: At, limit: i64, per_partner: i64) -> Vec<Sending> {
    let (node, boot) = (store.node().to_owned(), store.boot().to_owned());
    store
        .write_blocking::<_, StoreError, _>(move |tx| sender_log::claim(tx, &node, &boot, now, limit, per_partner))
        .expect("a claim")
}

pub(crate) fn offers(store: &Store, now: At, limit: i64, per_backend: i64) -> Vec<delivery::Job> {
    let (node, boot) = (store.node().to_owned(), store.boot().to_owned());
    store
        .write_blocking::<_, StoreError, _>(move |tx| delivery::claim(tx, &node, &boot, now, limit, per_backend))
        .expect("a claim")
}

pub(crate) fn submit(tx: &mut Tx<'_>, new: &Sending) -> Result<Submitted, StoreError> {
    let row = row(&new.message, Direction::Out, Outgoing::Pending.as_str(), &new.partner, new.created_at);
    sender_log::submit(tx, new, |tx| message::insert(tx, &row, &[]))
}

/// An instant, so many seconds after the first one.
pub(crate) fn at(seconds: i64) -> At {
    At(datetime!(2026-01-01 00:00 UTC) + time::Duration::seconds(seconds))
}

pub(crate) fn received(source: &str, id: &str, payload: &str, digests: &str) -> Received {
    Received {
        source: source.to_owned(),
        message_id: id.to_owned(),
        event_type: "as4.user_message".to_owned(),
        received_at: at(0),
        processed_at: None,
        result: None,
        payload_hash: format!("sha256:{payload}"),
        digest_set: format!("sha256:{digests}"),
        service: "urn:orders".to_owned(),
        action: "submit".to_owned(),
        parties: "them>us".to_owned(),
        partner: "them".to_owned(),
        signer: Some("CN=them".to_owned()),
        pmode: "orders".to_owned(),
        pmode_revision: "1".to_owned(),
        protocol: "as4".to_owned(),
        correlation: None,
        message: Some(format!("row-{source}-{id}")),
        duplicate_count: 0,
        last_seen_at: None,
        expires_at: at(30 * 86_400),
    }
}

pub(crate) fn reply(key: &Received, body: &str) -> StoredReply {
    StoredReply {
        source: key.source.clone(),
        message_id: key.message_id.clone(),
        digest_set: key.digest_set.clone(),
        status: 200,
        content_type: "application/soap+xml".to_owned(),
        body: body.as_bytes().to_vec(),
        created_at: key.received_at,
        valid_until: None,
    }
}

pub(crate) fn row(id: &str, direction: Direction, state: &str, partner: &str, now: At) -> Message {
    Message {
        id: id.to_owned(),
        direction: direction.as_str().to_owned(),
        message_id: format!("{id}@example"),
        state: state.to_owned(),
        partner: partner.to_owned(),
        us: "us".to_owned(),
        pmode: "orders".to_owned(),
        pmode_revision: "1".to_owned(),
        service: "urn:orders".to_owned(),
        action: "submit".to_owned(),
        conversation_id: "c1".to_owned(),
        ref_to: None,
        header: "{}".to_owned(),
        size: 10,
        payload_hash: "sha256:p".to_owned(),
        created_at: now,
        updated_at: now,
        error: None,
    }
}

pub(crate) fn sending(producer: &str, key: &str, partner: &str, due: At) -> Sending {
    Sending {
        producer: producer.to_owned(),
        key: key.to_owned(),
        message_id: format!("{producer}-{key}@example"),
        message: format!("row-{producer}-{key}"),
        payload_hash: "sha256:p".to_owned(),
        status: Outgoing::Pending.as_str().to_owned(),
        attempt_count: 0,
        created_at: at(0),
        next_attempt_at: Some(due),
        lease_owner: None,
        lease_until: None,
        fence: 0,
        boot_id: None,
        partner: partner.to_owned(),
        channel: "as4".to_owned(),
        pmode: "orders".to_owned(),
        pmode_revision: "1".to_owned(),
        unanswered: false,
        refused: false,
        last_error: None,
        proof: None,
        late: false,
        delivered_at: None,
        settled_at: None,
    }
}

pub(crate) fn job(message: &str, backend: &str, due: At) -> delivery::Job {
    let (id, key) = (format!("job-{message}-{backend}"), format!("key-{message}"));
    delivery::Job { next_at: Some(due), ..delivery::Job::new(id, message, backend, key, at(0)) }
}

pub(crate) fn ended(next: Outgoing, due: Option<At>) -> Ended {
    Ended {
        next,
        due,
        proof: None,
        outcome: "retry",
        detail: "HTTP 503".to_owned(),
        http_status: Some(503),
        fully_written: true,
        unanswered: false,
        refused: false,
    }
}

pub(crate) fn receipt() -> Ended {
    Ended {
        proof: Some("receipt"),
        outcome: "receipt",
        detail: String::new(),
        http_status: Some(200),
        ..ended(Outgoing::Delivered, None)
    }
}

/// Runs SQL as it stands.
pub(crate) fn execute(tx: &mut Tx<'_>, sql: &str) -> Result<(), StoreError> {
    use diesel::connection::SimpleConnection;
    match tx {
        Tx::Sqlite(c) => c.batch_execute(sql)?,
        Tx::Postgres(c) => c.batch_execute(sql)?,
    }
    Ok(())
}

impl Fixture {
    /// Runs SQL that differs between the databases.
    pub(crate) fn sql(&self, sqlite: &str, postgres: &str) {
        let sql = if self.store.is_sqlite() { sqlite } else { postgres }.to_owned();
        self.write(move |tx| execute(tx, &sql));
    }

    /// So many rows of one partner, all due since the first instant, without their messages.
    pub(crate) fn backlog(&self, partner: &str, rows: u32) {
        let select = |series: &str| {
            format!(
                "INSERT INTO sender_log (producer, key, message_id, message, payload_hash, status, created_at, \
                 next_attempt_at, partner, channel, pmode, pmode_revision) SELECT 'erp', '{partner}' || n, '{partner}' || n || \
                 '@example', '{partner}' || n, 'sha256:p', 'pending', '{instant}', '{instant}', '{partner}', 'as4', \
                 'orders', '1' FROM {series}",
                instant = at(0)
            )
        };
        self.sql(
            &select(&format!(
                "(WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < {rows}) SELECT n FROM s)"
            )),
            &format!("{}; ANALYZE sender_log", select(&format!("generate_series(1, {rows}) AS n"))),
        );
    }
}
