//! The process of a gateway: started, asked whether it is ready, killed.

use std::fs::OpenOptions;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use tokio::process::{Child, Command};

use super::Site;
use crate::wire;

/// A running gateway. It is killed when dropped.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Its process id.
    pub pid: u32,
}

impl Server {
    /// Starts `postrider serve` in that folder; what it says is appended to `serve.log` there.
    pub fn start(postrider: &Path, site: &Site) -> anyhow::Result<Self> {
        let log = OpenOptions::new().create(true).append(true).open(site.dir.join("serve.log"))?;
        let child = Command::new(postrider)
            .args(["--config".as_ref(), site.dir.join("postrider.toml").as_os_str(), "serve".as_ref()])
            .stdin(Stdio::null())
            .stdout(log.try_clone()?)
            .stderr(log)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{} cannot be started", postrider.display()))?;
        let pid = child.id().context("the gateway ended at once")?;
        Ok(Self { child, pid })
    }

    /// Whether it still runs.
    pub fn running(&mut self) -> std::io::Result<bool> {
        self.child.try_wait().map(|ended| ended.is_none())
    }

    /// SIGKILL, without waiting for it.
    pub fn kill(&mut self) {
        // It fails when the process has ended: that is what is wanted.
        let _ = self.child.start_kill();
    }

    /// Waits for the end of a killed process.
    pub async fn gone(&mut self) -> std::io::Result<()> {
        self.child.wait().await.map(drop)
    }
}

impl Site {
    /// Waits until the gateway says that it is ready.
    pub async fn ready(&self, limit: Duration) -> anyhow::Result<()> {
        let begun = Instant::now();
        let ask = wire::request("GET", &self.admin.to_string(), "/health/ready", &[("Connection", "close")], b"");
        let mut last = String::from("nothing answered");
        while begun.elapsed() < limit {
            match tokio::time::timeout(Duration::from_secs(2), wire::call(self.admin, &ask)).await {
                Ok(Ok(answer)) if answer.status == 200 => return Ok(()),
                Ok(Ok(answer)) => last = format!("{} {}", answer.status, String::from_utf8_lossy(&answer.body)),
                Ok(Err(error)) => last = error.to_string(),
                Err(_) => "no answer within 2 s".clone_into(&mut last),
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let log = self.dir.join("serve.log");
        bail!("the gateway of {} is not ready after {limit:?}: {last}; see {}", self.party, log.display())
    }
}

/// The gateway's binary: as named, or beside this one.
pub fn binary(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(named) = named {
        return Ok(named.to_owned());
    }
    let own = std::env::current_exe()?;
    // Test binaries stand one folder below.
    let found = own.ancestors().skip(1).take(2).map(|dir| dir.join("postrider")).find(|path| path.is_file());
    found.with_context(|| format!("there is no `postrider` beside {}; name it with --postrider", own.display()))
}
