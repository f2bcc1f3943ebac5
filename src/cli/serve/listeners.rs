//! Listeners for partners, from the configuration.

use std::fs;
use std::path::Path;

use crate::cli::exit;
use crate::cli::failure::Failure;
use crate::config::{ClientAuth, Config, LimitsConfig, MshListener, TlsConfig};
use crate::transport::limits::Limits;
use crate::transport::listen::{ListenOptions, Listener};
use crate::transport::tls::{ClientCertificates, Identity, ServerTls, ServerTlsOptions};

/// Binds every `[[msh]]`.
pub(super) fn bind(config: &Config) -> Result<Vec<Listener>, Failure> {
    config.msh.iter().map(|msh| one(msh, config)).collect()
}

fn one(msh: &MshListener, config: &Config) -> Result<Listener, Failure> {
    let mut options = ListenOptions::new(msh.listen);
    options.paths = vec![msh.path.clone()];
    options.limits = limits(&msh.limits, config);
    options.tls = msh.tls.as_ref().map(tls).transpose()?;
    Listener::bind(options).map_err(|e| {
        Failure::new(exit::CONFIG, format!("cannot listen on {}: {e}", msh.listen))
            .next("stop the process that has the address, or set another one in [[msh]] listen")
    })
}

fn limits(config: &LimitsConfig, all: &Config) -> Limits {
    Limits {
        max_message: config.message,
        header_time: config.header_time,
        total_time: config.total_time,
        min_rate: config.min_rate,
        shutdown_grace: all.shutdown.grace,
        ..Limits::default()
    }
}

pub(in crate::cli) fn tls(config: &TlsConfig) -> Result<ServerTls, Failure> {
    let chain = read(&config.certificate)?;
    let key = config.key.read().map_err(|e| Failure::new(exit::CONFIG, format!("the key of [msh.tls]: {e}")))?;
    let default = Identity::from_pem("[msh.tls]", &chain, &key, None).map_err(|e| failed(&e))?;
    let mut anchors = Vec::new();
    for path in &config.client_ca {
        anchors.extend(read(path)?);
    }
    let clients = match config.client_auth {
        ClientAuth::Off => ClientCertificates::Off,
        ClientAuth::Optional => ClientCertificates::Optional { anchors },
        ClientAuth::Required => ClientCertificates::Required { anchors },
    };
    ServerTls::new(&ServerTlsOptions { default, by_name: Vec::new(), clients }).map_err(|e| failed(&e))
}

fn failed(error: &crate::transport::tls::TlsError) -> Failure {
    Failure::new(exit::CONFIG, format!("[msh.tls]: {error}"))
}

fn read(path: &Path) -> Result<Vec<u8>, Failure> {
    fs::read(path).map_err(|e| Failure::new(exit::CONFIG, format!("{} cannot be read: {e}", path.display())))
}
