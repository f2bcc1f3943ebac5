//! Other AS4 implementations: the programs of `conformance/peers`.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock};

use super::keys::Identity;
use super::ports;

/// Where `conformance/peers/setup.sh` puts what it builds.
pub(crate) fn home() -> PathBuf {
    let cache = || std::env::var_os("XDG_CACHE_HOME").map_or_else(|| home_dir().join(".cache"), PathBuf::from);
    std::env::var_os("PEERS_HOME").map_or_else(|| cache().join("as4-peers"), PathBuf::from)
}

fn home_dir() -> PathBuf {
    PathBuf::from(std::env::var_os("HOME").expect("HOME is set"))
}

/// Whether a peer can be used. Without it, or with an old one, the test fails and says what to do, unless that is wanted.
pub(crate) fn available(peer: &str) -> bool {
    if std::env::var("POSTRIDER_WITHOUT_PEERS").is_ok_and(|v| v == "1") {
        eprintln!("POSTRIDER_WITHOUT_PEERS=1: nothing is tried with {peer}");
        return false;
    }
    let check =
        Command::new("bash").arg(script("setup.sh")).args(["--check", "keys", peer]).output().expect("bash is there");
    assert!(
        check.status.success(),
        "{}; or set POSTRIDER_WITHOUT_PEERS=1 to do without {peer}",
        String::from_utf8_lossy(&check.stderr).trim()
    );
    true
}

/// A party of the peers' keys: `partya`, `partyb` or `stranger`.
pub(crate) fn identity(name: &str) -> Identity {
    Identity::read(&home().join("keys"), name)
}

/// The certificate of the peers' authority.
pub(crate) fn authority() -> Vec<u8> {
    let path = home().join("keys/ca.cert.pem");
    std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}; run conformance/peers/setup.sh keys", path.display()))
}

fn script(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("conformance/peers").join(name)
}

/// For programs that live for seconds: the JVM's quick compiler alone halves what they cost.
fn quick(command: &mut Command) -> &mut Command {
    if std::env::var_os("JAVA_OPTS").is_none() {
        command.env("JAVA_OPTS", "-Xmx1g -XX:TieredStopAtLevel=1 -XX:+UseSerialGC");
    }
    command
}

/// Starts a keeper and returns its first line. It ends when its standard input closes: when this process does, however it ends.
pub(crate) fn keep(command: &mut Command) -> String {
    static KEPT: Mutex<Vec<Child>> = Mutex::new(Vec::new());
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        // A keyboard interrupt is for this process; the keeper then sees the pipe close.
        .process_group(0)
        .spawn()
        .expect("bash is there");
    let mut line = String::new();
    BufReader::new(child.stdout.as_mut().expect("it is piped")).read_line(&mut line).expect("it is text");
    KEPT.lock().expect("not poisoned").push(child);
    line.trim().to_owned()
}

/// A receiver that stays for all tests.
pub(crate) struct Receiver {
    /// Its port.
    pub port: u16,
    /// Where it stores what it gets.
    pub store: PathBuf,
}

impl Receiver {
    fn start(name: &str, options: &[&str]) -> Self {
        let port = ports::free().port();
        let store = std::env::temp_dir().join(format!("postrider-it-{}-{name}", std::process::id()));
        let run = script(&format!("{name}-receiver.sh"));
        let keeper = r#"
            set -u
            run="$1"; port="$2"; store="$3"; shift 3
            "$run" "$port" --store "$store" "$@" </dev/null 2>&1 | head -1
            cat >/dev/null
            "$run" stop "$port" >/dev/null 2>&1
            rm -rf "$store"
        "#;
        let mut command = Command::new("bash");
        command.args(["-c", keeper, "keeper"]).arg(run).arg(port.to_string()).arg(&store).args(options);
        let first = keep(quick(&mut command).stderr(Stdio::inherit()));
        assert!(first.starts_with("READY"), "{name} did not start: {first}");
        Self { port, store }
    }

    /// Its URL.
    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/as4", self.port)
    }

    /// The address that its URL names.
    pub(crate) fn address(&self) -> std::net::SocketAddr {
        ([127, 0, 0, 1], self.port).into()
    }

    /// Files whose path has the message id in it, by name.
    pub(crate) fn stored(&self, id: &str) -> Vec<(String, Vec<u8>)> {
        let safe: String =
            id.chars().map(|c| if c.is_ascii_alphanumeric() || "@._-".contains(c) { c } else { '_' }).collect();
        let files = super::inbox::Inbox::files(&self.store).into_iter();
        let mut found: Vec<_> = files
            .filter(|path| path.to_string_lossy().contains(&safe))
            .map(|path| {
                let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
                (name, std::fs::read(&path).expect("a stored file can be read"))
            })
            .collect();
        found.sort();
        found
    }
}

/// phase4, for every P-Mode: plain, signed and signenc by id, or by agreement `urn:postrider:agreement:<id>`; and Peppol's.
pub(crate) fn phase4() -> &'static Receiver {
    static PHASE4: OnceLock<Receiver> = OnceLock::new();
    PHASE4.get_or_init(|| {
        let mut maps = Vec::from(["plain", "signed", "signenc"].map(|id| format!("urn:postrider:agreement:{id}={id}")));
        maps.push("urn:fdc:peppol.eu:2017:agreements:tia:ap_provider=signenc".to_owned());
        let mut options = vec!["--default-pmode", "none"];
        options.extend(maps.iter().flat_map(|map| ["--map-agreement", map.as_str()]));
        Receiver::start("phase4", &options)
    })
}

/// Oxalis.
pub(crate) fn oxalis() -> &'static Receiver {
    static OXALIS: OnceLock<Receiver> = OnceLock::new();
    OXALIS.get_or_init(|| Receiver::start("oxalis", &[]))
}

/// as4 for Python.
pub(crate) fn pyas4() -> &'static Receiver {
    static PYAS4: OnceLock<Receiver> = OnceLock::new();
    PYAS4.get_or_init(|| Receiver::start("pyas4", &[]))
}

/// How a sender's run ended.
#[derive(Debug)]
pub(crate) struct Run {
    /// Messages with a good receipt.
    pub ok: u32,
    /// Messages without.
    pub failed: u32,
    /// All it said.
    pub text: String,
}

impl Run {
    fn read(text: &str) -> Self {
        let number = |name: &str| {
            let line = text.lines().rfind(|line| line.starts_with("RUN "));
            let word = line.and_then(|line| line.split(' ').find_map(|word| word.strip_prefix(name)));
            word.and_then(|n| n.parse().ok()).unwrap_or(0)
        };
        Self { ok: number("ok="), failed: number("failed="), text: text.to_owned() }
    }
}

/// Runs a sender once.
pub(crate) fn send(peer: &str, url: &str, options: &[&str]) -> Run {
    let run = quick(&mut Command::new("bash"))
        .arg(script(&format!("{peer}-send.sh")))
        .arg(url)
        .args(options)
        .stdin(Stdio::null())
        .output()
        .expect("bash is there");
    let text = String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr);
    Run::read(&text)
}
