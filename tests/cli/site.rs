//! A gateway's folder, and the program run in it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use super::ports;

/// Exit codes, as `src/cli/exit.rs` promises them.
pub(crate) mod exit {
    pub(crate) const OK: i32 = 0;
    pub(crate) const NO: i32 = 1;
    pub(crate) const USAGE: i32 = 2;
    pub(crate) const CONFIG: i32 = 3;
    pub(crate) const UNREACHABLE: i32 = 4;
    pub(crate) const DENIED: i32 = 5;
    pub(crate) const CONFLICT: i32 = 6;
    pub(crate) const REJECTED: i32 = 8;
}

/// How the program ended.
#[derive(Debug)]
pub(crate) struct Ran {
    line: String,
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Ran {
    fn of(line: String, output: &Output) -> Self {
        let text = |octets: &[u8]| String::from_utf8_lossy(octets).into_owned();
        let code = output.status.code().unwrap_or_else(|| panic!("`{line}` was killed"));
        let ran = Self { code, out: text(&output.stdout), err: text(&output.stderr), line };
        for trace in ["panicked", "RUST_BACKTRACE", "stack backtrace", "src/", "Err(", "called `"] {
            assert!(!ran.err.contains(trace), "{ran:#?}");
        }
        ran
    }

    /// It failed so, said all this, said what to do, and wrote no data.
    pub(crate) fn fails(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, code, "{self:#?}");
        assert_eq!(self.out, "", "no data: {self:#?}");
        self.says(said);
        let remedy = ["next: ", "tip: ", "[possible values", "--help", "Usage: "].iter().any(|r| self.err.contains(r));
        assert!(remedy, "it says what to do: {self:#?}");
    }

    /// All of this is on standard error.
    pub(crate) fn says(&self, said: &[&str]) {
        for part in said {
            assert!(self.err.contains(part), "`{part}` is missing after `{}`: {self:#?}", self.line);
        }
    }

    /// It went well.
    pub(crate) fn good(&self) -> &Self {
        assert_eq!(self.code, exit::OK, "{self:#?}");
        self
    }

    /// Standard output as one JSON document.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("not JSON ({e}): {self:#?}"))
    }
}

/// The program, without what the tests' own environment says.
pub(crate) fn program(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    let ours = |name: &str| name.starts_with("POSTRIDER") || name == "RUST_BACKTRACE" || name == "NO_COLOR";
    for (name, _) in std::env::vars().filter(|(name, _)| ours(name)) {
        command.env_remove(name);
    }
    command.current_dir(dir).stdin(Stdio::null());
    command
}

/// Runs it in a folder.
pub(crate) fn run(dir: &Path, words: &[&str]) -> Ran {
    let output = program(dir).args(words).output().unwrap();
    Ran::of(words.join(" "), &output)
}

/// Runs it with something on standard input.
pub(crate) fn run_with(dir: &Path, words: &[&str], input: &[u8]) -> Ran {
    let mut command = program(dir);
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that refuses early does not read to the end.
    let _ = child.stdin.take().unwrap().write_all(input);
    Ran::of(words.join(" "), &child.wait_with_output().unwrap())
}

/// Runs it as a user who owns nothing here: root may read and write whatever its permissions say.
pub(crate) fn run_as_nobody(dir: &Path, words: &[&str]) -> Ran {
    let root = std::fs::metadata("/proc/self").is_ok_and(|me| std::os::unix::fs::MetadataExt::uid(&me) == 0);
    if !root {
        return run(dir, words);
    }
    let plain = program(dir);
    let mut command = Command::new("setpriv");
    command.args(["--reuid=65534", "--regid=65534", "--clear-groups", "--"]).arg(plain.get_program()).args(words);
    for (name, _) in plain.get_envs() {
        command.env_remove(name);
    }
    let output = command.current_dir(dir).stdin(Stdio::null()).output().unwrap();
    Ran::of(words.join(" "), &output)
}

/// A gateway's folder, as `postrider init` writes it, with ports of its own.
pub(crate) struct Site {
    dir: tempfile::TempDir,
    pub(crate) msh: SocketAddr,
    pub(crate) admin: SocketAddr,
}

impl Site {
    pub(crate) fn new() -> Self {
        // Keys take a while: they are made once.
        static FIRST: OnceLock<tempfile::TempDir> = OnceLock::new();
        let first = FIRST.get_or_init(|| {
            let dir = tempfile::tempdir().unwrap();
            run(dir.path(), &["init", "--party", "blue", "--yes"]).good();
            dir
        });
        let dir = tempfile::Builder::new().prefix("postrider-cli-").tempdir().unwrap();
        let copied = Command::new("cp").arg("-a").arg(first.path().join(".")).arg(dir.path()).status().unwrap();
        assert!(copied.success());
        let (msh, admin) = (ports::free(), ports::free());
        let site = Self { dir, msh, admin };
        site.edit("postrider.toml", "#listen = \"127.0.0.1:4080\"", &format!("listen = \"{msh}\""));
        site.edit("postrider.toml", "#listen = \"127.0.0.1:4081\"", &format!("listen = \"{admin}\""));
        site.edit("pmodes/self-test.xml", "127.0.0.1:4080", &msh.to_string());
        site
    }

    pub(crate) fn dir(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        std::fs::write(self.path(name), content).unwrap();
    }

    pub(crate) fn edit(&self, name: &str, from: &str, to: &str) {
        let text = std::fs::read_to_string(self.path(name)).unwrap();
        assert!(text.contains(from), "{from}");
        self.write(name, text.replacen(from, to, 1));
    }

    pub(crate) fn run(&self, words: &[&str]) -> Ran {
        run(self.dir(), words)
    }

    /// Starts the gateway and waits until it listens.
    pub(crate) fn serve(&self) -> Serving {
        let mut child = program(self.dir());
        let mut child = child.arg("serve").stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        if !line.starts_with("READY ") {
            let mut said = String::new();
            let _ = child.stderr.take().unwrap().read_to_string(&mut said);
            panic!("it does not serve: {line}{said}");
        }
        // Nobody reads its log: it must not wait for a reader.
        let mut log = child.stderr.take().unwrap();
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Serving(child)
    }

    /// Every octet of the data folder, but for the index of the journal: it says who reads, and holds nothing.
    pub(crate) fn data(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut all = Vec::new();
        let mut open = vec![self.path("data")];
        while let Some(dir) = open.pop() {
            for path in std::fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()) {
                if path.is_dir() {
                    open.push(path);
                } else if !path.to_string_lossy().ends_with("-shm") && !path.to_string_lossy().ends_with(".lock") {
                    all.push((path.clone(), std::fs::read(&path).unwrap()));
                }
            }
        }
        all.sort();
        all
    }

    /// A database with the newest schema.
    pub(crate) fn migrated(&self) -> &Self {
        self.run(&["db", "migrate"]).good();
        self
    }
}

/// A running gateway; it ends with this value.
pub(crate) struct Serving(Child);

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
