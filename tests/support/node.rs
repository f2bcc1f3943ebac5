//! One gateway: its folder, its process, and what is expected of it at the end.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use super::api::Api;
use super::database::Database;
use super::inbox::Inbox;
use super::keys::{Identity, pki};
use super::pmode::{PMode, UNREGISTERED};
use super::ports;

/// A gateway before it starts.
pub(crate) struct Builder {
    name: String,
    parties: String,
    keys: Vec<(String, Vec<u8>)>,
    anchors: Vec<String>,
    pmodes: Vec<PMode>,
    database: Database,
    limits: String,
    more: String,
    files: Vec<(String, Vec<u8>)>,
    msh: Option<SocketAddr>,
}

impl Builder {
    /// Its host name is `<name>.example`.
    pub(crate) fn new(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            parties: String::new(),
            keys: Vec::new(),
            anchors: Vec::new(),
            pmodes: Vec::new(),
            database: Database::Sqlite,
            limits: String::new(),
            more: String::new(),
            files: Vec::new(),
            msh: None,
        }
    }

    /// Blue or red, by `party`, with whatever key, and the certificates of both.
    pub(crate) fn of_two(name: &str, party: &str, key: &Identity) -> Self {
        Self::new(name)
            .party(party, Some(UNREGISTERED), Some(key))
            .certificate("blue", &pki().blue.certificate)
            .certificate("red", &pki().red.certificate)
    }

    /// A party of its own, with the key that it signs and decrypts with.
    pub(crate) fn party(mut self, id: &str, kind: Option<&str>, identity: Option<&Identity>) -> Self {
        let name: String = id.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
        let name = format!("{name}-{}", self.parties.matches("[[party]]").count());
        let _ = writeln!(self.parties, "[[party]]\nname = \"{name}\"\nid = \"{id}\"");
        if let Some(kind) = kind {
            let _ = writeln!(self.parties, "type = \"{kind}\"");
        }
        if let Some(identity) = identity {
            let pair = format!("[{{ key = {{ file = \"keys/{name}.key\" }}, certificate = \"keys/{name}.own.pem\" }}]");
            let _ = writeln!(self.parties, "signing = {pair}\ndecryption = {pair}");
            self.keys.push((format!("{name}.key"), identity.key.clone()));
            self.keys.push((format!("{name}.own.pem"), identity.certificate.clone()));
        }
        self
    }

    /// A certificate that P-Modes name as `../keys/<name>.pem`.
    pub(crate) fn certificate(mut self, name: &str, pem: &[u8]) -> Self {
        self.keys.push((format!("{name}.pem"), pem.to_owned()));
        self
    }

    /// An authority whose certificates may sign.
    pub(crate) fn anchor(mut self, name: &str, pem: &[u8]) -> Self {
        self.anchors.push(format!("\"keys/{name}.pem\""));
        self.certificate(name, pem)
    }

    /// A P-Mode.
    pub(crate) fn pmode(mut self, pmode: PMode) -> Self {
        self.pmodes.push(pmode);
        self
    }

    /// Another database.
    pub(crate) fn database(mut self, database: Database) -> Self {
        self.database = database;
        self
    }

    /// Keys of `[msh.limits]`, as TOML.
    pub(crate) fn limits(mut self, toml: &str) -> Self {
        self.limits = format!("[msh.limits]\n{toml}\n");
        self
    }

    /// More of the configuration, as TOML tables.
    pub(crate) fn toml(mut self, toml: &str) -> Self {
        let _ = writeln!(self.more, "{toml}");
        self
    }

    /// A file of its folder.
    pub(crate) fn file(mut self, name: &str, content: &[u8]) -> Self {
        self.files.push((name.to_owned(), content.to_owned()));
        self
    }

    /// Listens there; chosen before, so that another gateway's P-Mode can name it.
    pub(crate) fn listen(mut self, address: SocketAddr) -> Self {
        self.msh = Some(address);
        self
    }

    /// Writes the folder and starts the process.
    pub(crate) fn start(self) -> Node {
        let dir = tempfile::Builder::new().prefix("postrider-it-").tempdir().expect("a folder can be made");
        let (msh, admin) = (self.msh.unwrap_or_else(ports::free), ports::free());
        let write = |name: &str, content: &[u8]| {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().expect("it is in the folder")).expect("folders can be made");
            fs::write(&path, content).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        };
        let token = "token-of-the-test";
        write("keys/admin.token", token.as_bytes());
        self.keys.iter().for_each(|(name, content)| write(&format!("keys/{name}"), content));
        self.files.iter().for_each(|(name, content)| write(name, content));
        fs::create_dir_all(dir.path().join("pmodes")).expect("folders can be made");
        self.pmodes.iter().for_each(|p| write(&format!("pmodes/{}.xml", p.id), p.xml().as_bytes()));
        write("postrider.toml", self.configuration(msh, admin).as_bytes());
        let inbox = Inbox::new(dir.path().join("in"));
        let api = Api { admin, token: token.to_owned() };
        let mut node = Node { msh, api, inbox, dir, name: self.name, child: None, unsettled: false };
        node.run();
        node
    }

    fn configuration(&self, msh: SocketAddr, admin: SocketAddr) -> String {
        let url = self.database.url().map_or_else(String::new, |url| format!("[store]\nurl = \"{url}\"\n"));
        format!(
            "[host]\nname = \"{}.example\"\n[data]\ndir = \"data\"\n[[msh]]\nlisten = \"{msh}\"\n{}[admin]\nlisten = \"{admin}\"\n\
             [[admin.token]]\nname = \"test\"\nsecret = {{ file = \"keys/admin.token\" }}\n{url}{}[trust]\nanchors = [{}]\n\
             [pmodes]\ndir = \"pmodes\"\n[[backend]]\nname = \"inbox\"\nkind = \"folder\"\ndir = \"in\"\n\
             [send]\npoll = \"100ms\"\n[shutdown]\ngrace = \"5s\"\n{}",
            self.name,
            self.limits,
            self.parties,
            self.anchors.join(", "),
            self.more,
        )
    }
}

/// A running gateway. Dropping it fails the test when it left work or deliveries that nobody looked at.
pub(crate) struct Node {
    /// Where partners connect to.
    pub msh: SocketAddr,
    /// Its API.
    pub api: Api,
    /// What its consumer got.
    pub inbox: Inbox,
    dir: TempDir,
    name: String,
    child: Option<Child>,
    unsettled: bool,
}

impl Node {
    /// The URL for partners.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/as4", self.msh)
    }

    /// Its folder.
    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    /// Everything it logged.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.log_file()).unwrap_or_default()
    }

    fn log_file(&self) -> PathBuf {
        self.dir.path().join("postrider.log")
    }

    /// Messages may be left in the middle of their way when it ends.
    pub(crate) fn leaves_work(&mut self) {
        self.unsettled = true;
    }

    /// Starts the process and waits until it is ready.
    pub(crate) fn run(&mut self) {
        let log = File::options().create(true).append(true).open(self.log_file()).expect("a log can be written");
        let child = Command::new(env!("CARGO_BIN_EXE_postrider"))
            .arg("serve")
            .arg("--config")
            .arg(self.dir.path().join("postrider.toml"))
            .current_dir(self.dir.path())
            .env_remove("POSTRIDER_CONFIG")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("a file has two handles"))
            .stderr(log)
            .spawn()
            .expect("the gateway's program is there");
        self.child = Some(child);
        let end = Instant::now() + Duration::from_secs(30);
        while !self.api.ready() {
            let child = self.child.as_mut().expect("it was started");
            let ended = child.try_wait().expect("a child can be asked");
            assert!(ended.is_none() && Instant::now() < end, "{} is not ready ({ended:?}):\n{}", self.name, self.log());
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// The process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it runs").id()
    }

    /// SIGKILL.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("our own child can be killed");
            child.wait().expect("and waited for");
        }
    }

    /// SIGTERM, and SIGKILL when that is not heeded. Tells whether it was.
    pub(crate) fn stop(&mut self) -> bool {
        let Some(mut child) = self.child.take() else { return true };
        let asked = Command::new("kill").args(["-TERM", &child.id().to_string()]).status();
        let end = Instant::now() + Duration::from_secs(10);
        while asked.is_ok() && Instant::now() < end {
            if matches!(child.try_wait(), Ok(Some(_))) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
        false
    }

    /// Messages on their way: neither delivered nor failed.
    fn on_the_way(&self) -> Vec<Value> {
        let all = self.api.messages("").into_iter();
        all.filter(|m| !matches!(m["state"].as_str(), Some("delivered" | "failed" | "cancelled"))).collect()
    }

    fn settled(&mut self) -> Result<(), String> {
        if self.child.is_some() && !self.unsettled {
            let end = Instant::now() + Duration::from_secs(10);
            loop {
                let left = self.on_the_way();
                if left.is_empty() {
                    break;
                }
                if Instant::now() > end {
                    return Err(format!("{} has messages on their way: {left:#?}", self.name));
                }
                std::thread::sleep(Duration::from_millis(50));
            }
        }
        let untaken = self.inbox.untaken();
        if !untaken.is_empty() {
            return Err(format!("{} delivered what nobody expected: {untaken:?}", self.name));
        }
        if self.child.is_some() && !self.stop() {
            return Err(format!("{} did not end within 10 s of SIGTERM", self.name));
        }
        if self.log().contains("panicked at") {
            return Err(format!("{} panicked", self.name));
        }
        Ok(())
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.kill();
            let log = self.log();
            let lines: Vec<_> = log.lines().collect();
            let tail = lines[lines.len().saturating_sub(60)..].join("\n");
            eprintln!("---- log of {} ----\n{tail}\n----", self.name);
            return;
        }
        let settled = self.settled();
        let log = self.log();
        self.kill();
        if let Err(why) = settled {
            panic!("{why}\n---- log ----\n{log}");
        }
    }
}
