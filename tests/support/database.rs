//! The databases that a gateway is tried on.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

/// Which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Database {
    /// A file in the gateway's folder.
    Sqlite,
    /// A database of its own on a PostgreSQL server.
    Postgres,
}

impl Database {
    /// The URL of a new, empty database; `None` is the default.
    pub(crate) fn url(self) -> Option<String> {
        match self {
            Self::Sqlite => None,
            Self::Postgres => Some(new_database()),
        }
    }
}

/// The server of `POSTRIDER_TEST_POSTGRES`, or one that is started here and ends with the tests.
fn server() -> &'static str {
    static SERVER: OnceLock<String> = OnceLock::new();
    SERVER.get_or_init(|| match std::env::var("POSTRIDER_TEST_POSTGRES") {
        Ok(url) if !url.is_empty() => url,
        _ => start(),
    })
}

fn new_database() -> String {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let name = format!("it_{}_{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
    let server = server();
    let (before, _) = server.rsplit_once('/').expect("the URL names a database");
    let made = Command::new("psql")
        .args([server, "-qc", &format!("CREATE DATABASE {name}")])
        .output()
        .expect("psql is installed: tests/prepare.sh test");
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    format!("{before}/{name}")
}

/// A throw-away server on a socket, which is stopped when the pipe to its keeper closes: when this process ends.
fn start() -> String {
    let script = r#"
        set -eu
        bin="$(dirname "$(ls -d /usr/lib/postgresql/*/bin/initdb 2>/dev/null | sort -V | tail -1)")"
        [ -x "$bin/initdb" ] || bin="$(dirname "$(command -v initdb)")"
        work="$(mktemp -d)"; as=""
        if [ "$(id -u)" -eq 0 ]; then chown postgres:postgres "$work"; as="setpriv --reuid=postgres --regid=postgres --clear-groups"; fi
        chmod 755 "$work"; cd /
        $as "$bin/initdb" -D "$work/pg" -U postrider -A trust -E UTF8 --locale=C >"$work/initdb.log" 2>&1 </dev/null
        $as "$bin/pg_ctl" -D "$work/pg" -w -l "$work/postgres.log" start \
          -o "-c listen_addresses='' -c unix_socket_directories='$work' -c fsync=off -c max_connections=200" >/dev/null </dev/null
        echo "$work"
        cat >/dev/null
        $as "$bin/pg_ctl" -D "$work/pg" -m immediate -w stop >/dev/null 2>&1
        rm -rf "$work"
    "#;
    let work = super::others::keep(Command::new("bash").args(["-c", script]).stderr(Stdio::inherit()));
    assert!(Path::new(&work).is_dir(), "no PostgreSQL server could be started: tests/prepare.sh test installs one");
    format!("postgres://postrider@{}/postgres", work.replace('/', "%2F"))
}
