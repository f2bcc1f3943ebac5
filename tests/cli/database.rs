//! Databases that are missing, damaged, another program's, newer, or not to be written.

use std::os::unix::fs::PermissionsExt;

use diesel::connection::SimpleConnection;
use diesel::prelude::*;
use diesel::sqlite::SqliteConnection;

use super::site::{Site, exit, run_as_nobody};

fn sql(site: &Site, statement: &str) {
    let path = site.path("data/postrider.db");
    SqliteConnection::establish(path.to_str().unwrap()).unwrap().batch_execute(statement).unwrap();
}

#[test]
fn a_database_that_is_not_there_is_not_made_by_looking() {
    let site = Site::new();
    site.run(&["db", "status"])
        .fails(exit::NO, &["there is no database yet at", "postrider.db", "postrider db migrate"]);
    site.run(&["check"]).good();
    assert!(!site.path("data").exists());
}

#[test]
fn a_damaged_file_is_named_and_left() {
    let site = Site::new();
    site.migrated();
    let file = site.path("data/postrider.db");
    let good = std::fs::read(&file).unwrap();
    let noise = vec![0x5a_u8; 20_000];
    let cut = good[..good.len() / 3].to_vec();
    let mut torn = good.clone();
    torn[..200].fill(0xff);
    for octets in [noise, cut, torn] {
        std::fs::write(&file, &octets).unwrap();
        for line in [&["db", "status"][..], &["db", "migrate"], &["serve"]] {
            let ran = site.run(line);
            ran.fails(exit::UNREACHABLE, &["data/postrider.db", "next: "]);
        }
        site.run(&["check", "--output", "table"]).fails(exit::NO, &["data/postrider.db", "next: "]);
        assert_eq!(std::fs::read(&file).unwrap(), octets);
    }
}

#[test]
fn the_database_of_another_program_is_left() {
    let site = Site::new();
    std::fs::create_dir(site.path("data")).unwrap();
    sql(&site, "CREATE TABLE theirs (a); INSERT INTO theirs VALUES (1)");
    let before = site.data();
    for line in [&["db", "status"][..], &["db", "migrate"], &["serve"]] {
        site.run(line).fails(exit::UNREACHABLE, &["data/postrider.db", "1 tables of another program", "next: "]);
        assert_eq!(site.data(), before, "{line:?}");
    }
}

#[test]
fn a_newer_database_is_left() {
    let site = Site::new();
    site.migrated();
    sql(&site, "INSERT INTO __diesel_schema_migrations (version) VALUES ('99990101000000')");
    let before = site.data();
    for line in [&["db", "migrate"][..], &["serve"]] {
        let said = ["the database is newer than this program", "99990101000000", "next: install the newer postrider"];
        site.run(line).fails(exit::CONFLICT, &said);
        assert_eq!(site.data(), before, "{line:?}");
    }
    let status = site.run(&["db", "status", "--output", "json"]);
    assert_eq!((status.code, &status.json()["newer"][0]), (exit::NO, &"99990101000000".into()), "{status:#?}");
    site.run(&["check", "--output", "table"]).fails(exit::NO, &["newer than this program", "next: "]);
    assert_eq!(site.data(), before);
}

#[test]
fn a_database_that_may_not_be_written_is_named() {
    let site = Site::new();
    site.migrated();
    // Everything may be read by everybody, and written by nobody.
    for (name, mode) in [(".", 0o755), ("keys", 0o755), ("data", 0o777)] {
        std::fs::set_permissions(site.path(name), std::fs::Permissions::from_mode(mode)).unwrap();
    }
    for entry in std::fs::read_dir(site.path("keys")).unwrap().chain(std::fs::read_dir(site.path("data")).unwrap()) {
        std::fs::set_permissions(entry.unwrap().path(), std::fs::Permissions::from_mode(0o444)).unwrap();
    }
    let before = site.data();
    for line in [&["db", "migrate"][..], &["serve"]] {
        let ran = run_as_nobody(site.dir(), line);
        ran.fails(exit::UNREACHABLE, &["data/postrider.db", "Permission denied", "next: "]);
    }
    run_as_nobody(site.dir(), &["db", "status"]).good();
    assert_eq!(site.data(), before);
}

#[test]
fn a_url_that_leads_nowhere_is_told() {
    let site = Site::new();
    for (url, code, said) in [
        ("mysql://x/y", exit::CONFIG, "neither a sqlite: nor a postgres: URL"),
        ("postgres://127.0.0.1:9/none", exit::UNREACHABLE, "cannot be reached"),
        ("postgres://a:geheim@127.0.0.1:9/none", exit::CONFIG, "holds a password"),
    ] {
        let set = format!("store.url={url}");
        for line in [&["db", "status"][..], &["db", "migrate"], &["serve"]] {
            let ran = site.run(&[line, &["--set", &set]].concat());
            ran.fails(code, &[said, "next: "]);
            assert!(!ran.err.contains("geheim"), "{ran:#?}");
        }
    }
}
