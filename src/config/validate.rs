//! What single values cannot tell: what must hold between them.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::fault::Problem;
use super::model::{BackendKind, ClientAuth, Config, MshListener};
use super::secret::{StoreUrl, holds_password};
use super::tree::Origin;

/// Collects the faults of a decoded configuration.
struct Faults<'a> {
    found: Vec<Problem>,
    origin: &'a dyn Fn(&str) -> Option<Origin>,
}

impl Faults<'_> {
    fn add(&mut self, key: &str, message: impl Into<String>, remedy: impl Into<String>) {
        let origin = (self.origin)(key);
        self.found.push(Problem { origin, key: key.to_owned(), message: message.into(), remedy: Some(remedy.into()) });
    }

    /// Names that commands, P-Modes and the sender log use must be there once.
    fn unique<'n>(&mut self, list: &str, field: &str, names: impl Iterator<Item = &'n str>) {
        let mut seen: HashMap<&str, usize> = HashMap::new();
        for (n, name) in names.enumerate() {
            let key = format!("{list}[{n}].{field}");
            if name.trim().is_empty() {
                self.add(&key, "is empty", format!("give each [[{list}]] a {field}"));
            } else if let Some(first) = seen.get(name) {
                let message = format!("`{name}` is already the {field} of {list}[{first}]");
                self.add(&key, message, format!("rename or remove one [[{list}]]"));
            } else {
                seen.insert(name, n);
            }
        }
    }
}

/// Everything that does not hold. `origin` tells where the first value under a key came from.
pub(super) fn validate(config: &Config, origin: &dyn Fn(&str) -> Option<Origin>) -> Vec<Problem> {
    let mut faults = Faults { found: Vec::new(), origin };
    host(config, &mut faults);
    listeners(config, &mut faults);
    names(config, &mut faults);
    store(config, &mut faults);
    backends(config, &mut faults);
    send(config, &mut faults);
    log(config, &mut faults);
    faults.found
}

/// Message ids are RFC 2822 msg-ids (EB-021): the right-hand side is a dot-atom.
fn host(config: &Config, faults: &mut Faults<'_>) {
    let atom = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-/=?^_`{|}~".contains(c);
    let name = &config.host.name;
    if name.split('.').any(|label| label.is_empty() || !label.chars().all(atom)) {
        faults.add(
            "host.name",
            format!("`{name}` cannot stand in a message id"),
            "write a domain name, like \"as4.example.org\"",
        );
    }
}

fn listeners(config: &Config, faults: &mut Faults<'_>) {
    if config.msh.is_empty() {
        faults.add("msh", "there is no listener for partners", "add [[msh]]");
    }
    for (n, msh) in config.msh.iter().enumerate() {
        listener(&format!("msh[{n}]"), msh, faults);
        if collide(msh.listen, config.admin.listen) {
            faults.add(
                "admin.listen",
                format!("msh[{n}] listens there too"),
                "give the admin listener a port of its own",
            );
        }
        let twin = config.msh.iter().take(n).position(|other| collide(other.listen, msh.listen));
        if let Some(twin) = twin {
            faults.add(
                &format!("msh[{n}].listen"),
                format!("msh[{twin}] listens there too"),
                "give each [[msh]] a port of its own",
            );
        }
    }
    if !config.admin.listen.ip().is_loopback() && config.admin.token.is_empty() {
        faults.add(
            "admin.listen",
            "is open to the network and no token is set",
            "add [[admin.token]], or listen on 127.0.0.1",
        );
    }
}

/// Two listeners of one port: the same address, or one of them takes every address. Port 0 is a free one.
fn collide(one: SocketAddr, other: SocketAddr) -> bool {
    let every = one.ip().is_unspecified() || other.ip().is_unspecified();
    one.port() == other.port() && one.port() != 0 && (every || one.ip() == other.ip())
}

fn listener(key: &str, msh: &MshListener, faults: &mut Faults<'_>) {
    if !msh.path.starts_with('/') {
        faults.add(&format!("{key}.path"), format!("`{}` does not begin with /", msh.path), "write it like \"/as4\"");
    }
    let limits = &msh.limits;
    if limits.soap > limits.message {
        faults.add(&format!("{key}.limits.soap"), "is larger than limits.message", "lower it, or raise limits.message");
    }
    for (name, zero) in [
        ("soap", limits.soap == 0),
        ("message", limits.message == 0),
        ("ratio", limits.ratio == 0),
        ("header_time", limits.header_time.is_zero()),
        ("total_time", limits.total_time.is_zero()),
    ] {
        if zero {
            faults.add(&format!("{key}.limits.{name}"), "is zero, so that nothing gets in", "raise it");
        }
    }
    if let Some(tls) = &msh.tls {
        let asks = tls.client_auth != ClientAuth::Off;
        if asks && tls.client_ca.is_empty() {
            faults.add(
                &format!("{key}.tls.client_auth"),
                "asks for client certificates, and no client_ca says which",
                "add client_ca = [\"…\"]",
            );
        }
        if !asks && !tls.client_ca.is_empty() {
            faults.add(
                &format!("{key}.tls.client_ca"),
                "has no effect while client_auth is \"off\"",
                "set client_auth, or remove client_ca",
            );
        }
    }
}

fn names(config: &Config, faults: &mut Faults<'_>) {
    faults.unique("party", "name", config.party.iter().map(|p| p.name.as_str()));
    faults.unique("backend", "name", config.backend.iter().map(|b| b.name.as_str()));
    faults.unique("folder", "name", config.folder.iter().map(|f| f.name.as_str()));
    faults.unique("admin.token", "name", config.admin.token.iter().map(|t| t.name.as_str()));
    for (n, party) in config.party.iter().enumerate() {
        let twin = config.party.iter().take(n).position(|other| other.id == party.id && other.kind == party.kind);
        if let Some(twin) = twin {
            faults.add(
                &format!("party[{n}].id"),
                format!("party[{twin}] has this id and type too"),
                "one [[party]] for one id",
            );
        }
        if party.id.trim().is_empty() {
            faults.add(&format!("party[{n}].id"), "is empty", "write the party id that partners know");
        }
    }
    // Producers share one name space: two of the same name would share their keys (OUT-01).
    for (n, folder) in config.folder.iter().enumerate() {
        if config.admin.token.iter().any(|token| token.name == folder.name) {
            let message = format!("`{}` is the name of an admin token too", folder.name);
            faults.add(&format!("folder[{n}].name"), message, "give each producer a name of its own");
        }
    }
}

fn store(config: &Config, faults: &mut Faults<'_>) {
    for (name, zero) in [("connections", config.store.connections == 0), ("group", config.store.group == 0)] {
        if zero {
            faults.add(&format!("store.{name}"), "is zero", "write at least 1");
        }
    }
    let Some(StoreUrl::Plain(url)) = &config.store.url else { return };
    if url.starts_with("sqlite:") {
        return;
    }
    if !url.starts_with("postgres:") && !url.starts_with("postgresql:") {
        faults.add(
            "store.url",
            "is neither a sqlite: nor a postgres: URL",
            "write \"sqlite:path\" or \"postgres://host/database\"",
        );
        return;
    }
    let from_file = matches!((faults.origin)("store.url"), Some(Origin::File { .. } | Origin::Flag(_)));
    if holds_password(url) && from_file {
        faults.add("store.url", "holds a password", "use { env = \"DATABASE_URL\" } or { file = \"…\" }");
    }
}

fn backends(config: &Config, faults: &mut Faults<'_>) {
    for (n, backend) in config.backend.iter().enumerate() {
        match &backend.kind {
            BackendKind::Webhook { url, timeout, .. } => {
                let http = url::Url::parse(url).is_ok_and(|u| matches!(u.scheme(), "http" | "https") && u.has_host());
                if !http {
                    faults.add(
                        &format!("backend[{n}].url"),
                        format!("`{url}` is not an http or https URL"),
                        "write it like \"https://erp.example.org/as4\"",
                    );
                }
                if timeout.is_zero() {
                    faults.add(&format!("backend[{n}].timeout"), "is zero", "raise it");
                }
            }
            BackendKind::Folder { dir } => {
                if config.folder.iter().any(|folder| folder.watch == *dir) {
                    let message = "is watched by a [[folder]], which would send out what came in";
                    faults.add(&format!("backend[{n}].dir"), message, "use two folders");
                }
            }
        }
    }
}

fn send(config: &Config, faults: &mut Faults<'_>) {
    let send = &config.send;
    for (name, zero) in
        [("workers", send.workers == 0), ("per_partner", send.per_partner == 0), ("poll", send.poll.is_zero())]
    {
        if zero {
            faults.add(&format!("send.{name}"), "is zero, so that nothing is sent", "raise it");
        }
    }
}

fn log(config: &Config, faults: &mut Faults<'_>) {
    let levels = ["off", "error", "warn", "info", "debug", "trace"];
    for piece in config.log.level.split(',') {
        let level = piece.rsplit('=').next().unwrap_or(piece).trim().to_ascii_lowercase();
        if !levels.contains(&level.as_str()) {
            let remedy = match super::fault::nearest(&level, levels) {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("one of {}", levels.join(", ")),
            };
            faults.add("log.level", format!("`{level}` is not a level"), remedy);
        }
    }
}
