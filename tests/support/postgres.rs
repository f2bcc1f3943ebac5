//! A PostgreSQL database for one test: on the server that `POSTRIDER_TEST_POSTGRES` names, or on a throw-away one.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::OnceLock;

use diesel::connection::SimpleConnection;
use diesel::pg::PgConnection;
use diesel::prelude::*;

/// A database that is dropped with this value.
pub(crate) struct TestDatabase {
    name: String,
    /// For `StoreOptions::url`.
    pub url: String,
}

impl TestDatabase {
    /// An empty database.
    pub(crate) fn new() -> Self {
        let name = format!("t{}", uuid::Uuid::new_v4().simple());
        admin(&format!("CREATE DATABASE {name}"));
        let url = of(&server().url, &name);
        Self { name, url }
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        admin(&format!("DROP DATABASE IF EXISTS {} WITH (FORCE)", self.name));
    }
}

/// Runs a statement outside the test's database.
pub(crate) fn admin(sql: &str) {
    let mut connection = PgConnection::establish(&server().url).expect("the test server answers");
    connection.batch_execute(sql).expect("an administrative statement");
}

/// The same server, another database.
fn of(url: &str, name: &str) -> String {
    let (address, options) = url.split_once('?').map_or((url, None), |(address, options)| (address, Some(options)));
    let slash = address.rfind('/').expect("a URL with a database");
    let options = options.map(|options| format!("?{options}")).unwrap_or_default();
    format!("{}/{name}{options}", &address[..slash])
}

struct Server {
    url: String,
    /// When this end of the pipe closes, however this process ends, the server is stopped.
    _guardian: Option<ChildStdin>,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| match std::env::var("POSTRIDER_TEST_POSTGRES") {
        Ok(url) if !url.is_empty() => Server { url, _guardian: None },
        _ => start(),
    })
}

fn binaries() -> PathBuf {
    let mut found: Vec<PathBuf> = std::fs::read_dir("/usr/lib/postgresql")
        .into_iter()
        .flatten()
        .flatten()
        .map(|version| version.path().join("bin"))
        .filter(|bin| bin.join("initdb").exists())
        .collect();
    found.sort();
    found.pop().expect("PostgreSQL is installed, or POSTRIDER_TEST_POSTGRES names a server")
}

fn start() -> Server {
    let dir = tempfile::Builder::new().prefix("pg").tempdir_in("/tmp").expect("a folder").keep();
    let root = Command::new("id").arg("-u").output().is_ok_and(|out| out.stdout.starts_with(b"0\n"));
    if root {
        run(Command::new("chown").arg("postgres").arg(&dir));
    }
    let (bin, data) = (binaries(), dir.join("data"));
    run(as_owner(root, &bin.join("initdb"), &dir)
        .arg("-D")
        .arg(&data)
        .args(["-U", "postgres", "-A", "trust", "-E", "UTF8"]));
    let options = format!(
        "-c listen_addresses='' -c unix_socket_directories='{}' -c fsync=off -c max_connections=300",
        dir.display()
    );
    run(as_owner(root, &bin.join("pg_ctl"), &dir)
        .args(["-w", "-o", &options, "-l"])
        .arg(dir.join("log"))
        .arg("-D")
        .arg(&data)
        .arg("start"));
    let pid = std::fs::read_to_string(data.join("postmaster.pid")).expect("a server that runs");
    let pid = pid.lines().next().expect("its id").to_owned();
    let folder = dir.display().to_string().replace('/', "%2F");
    Server { url: format!("postgres://postgres@{folder}/postgres"), _guardian: Some(guardian(&pid, &dir)) }
}

/// Waits until this process is gone, then stops the server by its id and removes its folder.
#[expect(clippy::zombie_processes, reason = "it outlives this process")]
fn guardian(pid: &str, dir: &Path) -> ChildStdin {
    let script = "trap '' INT TERM; read -r _; kill -INT \"$1\"; while kill -0 \"$1\" 2>/dev/null; do sleep 0.1; done; rm -rf \"$2\"";
    let mut child = Command::new("sh")
        .args(["-c", script, "guardian", pid])
        .arg(dir)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("a shell");
    child.stdin.take().expect("its input")
}

fn as_owner(root: bool, program: &Path, dir: &Path) -> Command {
    let mut command = if root {
        let mut command = Command::new("runuser");
        command.args(["-u", "postgres", "--"]).arg(program);
        command
    } else {
        Command::new(program)
    };
    command.current_dir(dir);
    command
}

fn run(command: &mut Command) {
    // Not to pipes: the server would keep them open.
    let status = command.stdin(Stdio::null()).stdout(Stdio::null()).status().expect("a program that starts");
    if !status.success() {
        let _ = writeln!(std::io::stderr(), "{command:?} failed");
    }
    assert!(status.success());
}
