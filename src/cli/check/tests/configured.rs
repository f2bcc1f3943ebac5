//! Listeners, folders, webhooks, the database.

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;

use super::bench::{Issue, Site};
use crate::cli::check::Severity;
use crate::config::load;
use crate::store::{Store, StoreError, StoreOptions};

/// What the configuration alone is refused for.
fn refused(toml: &str) -> String {
    let site = Site::new();
    site.configure(toml);
    load(&site.path("postrider.toml"), &[]).unwrap_err().to_string()
}

#[test]
fn addresses_parse_and_none_is_taken_twice() {
    assert!(refused("[[msh]]\nlisten = \"localhost\"").contains("`msh[1].listen`"));
    for (listen, told) in [
        ("127.0.0.1:4080", "msh[0] listens there too"),
        ("0.0.0.0:4080", "msh[0] listens there too"),
        ("[::]:4080", "msh[0] listens there too"),
        ("127.0.0.1:4081", "`admin.listen`: msh[1] listens there too"),
        ("0.0.0.0:4081", "`admin.listen`: msh[1] listens there too"),
    ] {
        let said = refused(&format!("[[msh]]\nlisten = \"{listen}\""));
        assert!(said.contains(told) && said.contains("next: "), "{listen}: {said}");
    }
    let site = Site::new();
    site.configure("[[msh]]\nlisten = \"127.0.0.2:4080\"");
    assert_eq!(site.findings(), [], "another address of the same port");
}

#[test]
fn webhook_urls_parse_and_their_secrets_are_there() {
    let said = refused("[[backend]]\nname = \"hook\"\nkind = \"webhook\"\nurl = \"erp/as4\"");
    assert!(said.contains("`erp/as4` is not an http or https URL"), "{said}");
    let site = Site::new();
    site.configure("[[backend]]\nname = \"hook\"\nkind = \"webhook\"\nurl = \"https://erp.example\"\nsecret = { file = \"keys/hook\" }");
    let one = site.one();
    assert!(one.stops && one.message.contains("secret of backend `hook`"), "{one:?}");
}

#[test]
fn tls_of_a_listener_is_a_pair() {
    let site = Site::new();
    site.configure("[[msh]]\nlisten = \"127.0.0.2:4080\"\ntls = { certificate = \"keys/tls.pem\", key = { file = \"keys/tls.key\" } }");
    let ((key, certificate), other) = (Issue::new().pair(), Issue::new().certificate());
    site.write("keys/tls.key", key);
    site.write("keys/tls.pem", certificate);
    std::process::Command::new("chmod").arg("600").arg(site.path("keys/tls.key")).status().unwrap();
    assert_eq!(site.findings(), []);
    site.write("keys/tls.pem", other);
    let one = site.one();
    assert!(one.stops && one.message.contains("TLS of 127.0.0.2:4080: the key does not belong"), "{one:?}");
    site.write("keys/tls.pem", "-----BEGIN CERTIFICATE-----\nMIIB");
    let one = site.one();
    assert!(one.stops && one.message.contains("tls.pem holds no certificate"), "{one:?}");
}

#[test]
fn folders_are_there_and_are_folders() {
    let site = Site::new();
    site.write("in", "a file");
    let one = site.one();
    assert!(one.message.contains("folder of backend `inbox`") && one.message.contains("is a file"), "{one:?}");
    let site = Site::new();
    site.write("data", "a file");
    let found = site.findings();
    assert!(
        found.iter().any(|f| f.message.contains("the data folder") && f.message.contains("is a file")),
        "{found:#?}"
    );
    let site = Site::new();
    site.configure("[[folder]]\nname = \"erp\"\nwatch = \"out\"\npmode = \"self-test\"");
    let one = site.one();
    assert!(
        one.message.contains("the watched folder") && one.next.as_ref().unwrap().starts_with("mkdir -p"),
        "{one:?}"
    );
}

fn open(site: &Site) -> Store {
    try_open(site).unwrap()
}

fn try_open(site: &Site) -> Result<Store, StoreError> {
    let url = format!("sqlite:{}", site.path("data/postrider.db").display());
    Store::open(&StoreOptions { url, node: "n".to_owned(), connections: 1, group: 1 })
}

/// Every octet of the folder.
fn octets(site: &Site) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    let mut all: Vec<_> = std::fs::read_dir(site.root().join("data"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        // The index of the journal says who reads; it holds nothing.
        .filter(|path| path.is_file() && !path.to_string_lossy().ends_with("-shm"))
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn the_database_is_looked_at_and_left_as_it_is() {
    let site = Site::new();
    let store = open(&site);
    store.migrate().unwrap();
    // While a gateway runs on it, with what it wrote still in the journal.
    let before = octets(&site);
    assert!(before.iter().any(|(path, octets)| path.ends_with("postrider.db-wal") && !octets.is_empty()));
    assert_eq!(site.findings(), []);
    assert_eq!(octets(&site), before);
    drop(store);
    let before = octets(&site);
    assert_eq!(site.findings(), []);
    assert_eq!(octets(&site), before);
}

#[test]
fn migrations_are_pending_or_of_a_newer_version() {
    let site = Site::new();
    drop(open(&site));
    let one = site.one();
    assert!(one.severity == Severity::Warning && one.message.contains("lacks migrations: "), "{one:?}");
    open(&site).migrate().unwrap();
    let path = site.path("data/postrider.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')").unwrap();
    drop(connection);
    let before = octets(&site);
    let one = site.one();
    assert!(one.severity == Severity::Error && one.message.contains("newer than this program"), "{one:?}");
    assert!(try_open(&site).unwrap_err().to_string().contains("99990101000000"));
    assert_eq!(octets(&site), before);
}

#[test]
fn what_is_no_database_of_ours_is_told() {
    let site = Site::new();
    std::fs::create_dir(site.path("data")).unwrap();
    site.write("data/postrider.db", vec![7_u8; 5000]);
    let one = site.one();
    assert!(one.message.contains("postrider.db` cannot be used") && one.message.contains("not a database"), "{one:?}");
    std::fs::remove_file(site.path("data/postrider.db")).unwrap();
    let path = site.path("data/postrider.db");
    let mut connection = SqliteConnection::establish(path.to_str().unwrap()).unwrap();
    connection.batch_execute("CREATE TABLE theirs (a)").unwrap();
    drop(connection);
    assert!(site.one().message.contains("1 tables of another program"));
    let site = Site::new();
    site.replace("[store]", "[store]\nurl = \"postgres://127.0.0.1:9/none\"");
    let one = site.one();
    assert!(one.message.contains("the database cannot be reached"), "{one:?}");
}
