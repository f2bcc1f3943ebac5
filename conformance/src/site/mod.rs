//! A gateway of our own making: a folder with configuration, keys and P-Mode, and the process that serves it.

mod keys;
mod server;

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};

pub use keys::Pair;
pub use server::{Server, binary};

use crate::agreement::UNREGISTERED;

/// Free ports on loopback, all different.
pub fn ports<const N: usize>() -> io::Result<[SocketAddr; N]> {
    let held: Vec<_> = (0..N).map(|_| TcpListener::bind("127.0.0.1:0")).collect::<io::Result<_>>()?;
    let addresses: Vec<_> = held.iter().map(TcpListener::local_addr).collect::<io::Result<_>>()?;
    addresses.try_into().map_err(|_| io::Error::other("the system gave fewer ports"))
}

/// Where received messages go.
#[derive(Clone, Debug)]
pub enum Consumer {
    /// Nowhere: they stay in the gateway.
    None,
    /// Into folders below `in/`.
    Folder,
    /// To a webhook.
    Webhook(String),
}

/// A gateway's folder.
#[derive(Clone, Debug)]
pub struct Site {
    /// The folder.
    pub dir: PathBuf,
    /// Its party.
    pub party: String,
    /// Its AS4 listener.
    pub msh: SocketAddr,
    /// Its admin listener.
    pub admin: SocketAddr,
    /// Bearer token of the API.
    pub token: String,
}

impl Site {
    /// Writes the folder. What is not named here stays at its default.
    pub fn write(
        dir: &Path,
        party: &str,
        [msh, admin]: [SocketAddr; 2],
        pair: &Pair,
        consumer: &Consumer,
        further: &str,
    ) -> io::Result<Self> {
        let token = uuid::Uuid::new_v4().simple().to_string();
        for folder in ["keys", "pmodes"] {
            fs::create_dir_all(dir.join(folder))?;
        }
        fs::write(dir.join("keys/own.key"), &pair.key)?;
        fs::write(dir.join("keys/own.pem"), &pair.certificate)?;
        fs::write(dir.join("keys/admin.token"), &token)?;
        let keys = "[{ key = { file = \"keys/own.key\" }, certificate = \"keys/own.pem\" }]";
        let mut text = format!(
            "[host]\nname = \"{party}.example\"\n\n[[msh]]\nlisten = \"{msh}\"\n\n[admin]\nlisten = \"{admin}\"\n\n\
             [[admin.token]]\nname = \"conformance\"\nsecret = {{ file = \"keys/admin.token\" }}\n\n\
             [[party]]\nname = \"{party}\"\nid = \"{party}\"\ntype = \"{UNREGISTERED}\"\nsigning = {keys}\ndecryption = {keys}\n\n"
        );
        // Writing to a String cannot fail.
        let _ = match consumer {
            Consumer::None => Ok(()),
            Consumer::Folder => {
                writeln!(text, "[[backend]]\nname = \"inbox\"\nkind = \"folder\"\ndir = \"in\"\n")
            }
            Consumer::Webhook(url) => {
                writeln!(
                    text,
                    "[[backend]]\nname = \"inbox\"\nkind = \"webhook\"\nurl = \"{url}\"\nretries = 1000000\n"
                )
            }
        };
        if matches!(consumer, Consumer::Folder) {
            fs::create_dir_all(dir.join("in"))?;
        }
        fs::write(dir.join("postrider.toml"), text + further)?;
        Ok(Self { dir: dir.to_owned(), party: party.to_owned(), msh, admin, token })
    }

    /// Puts a P-Mode file into it, with the partner's certificate beside.
    pub fn agree(&self, pmode: &str, partner: &Pair) -> io::Result<()> {
        fs::write(self.dir.join("keys/partner.pem"), &partner.certificate)?;
        fs::write(self.dir.join("pmodes/conformance.xml"), pmode)
    }

    /// The URL of its AS4 endpoint.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}/as4", self.msh)
    }
}
