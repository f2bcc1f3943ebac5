//! Which gateway a command talks to, and by what token.

use std::path::PathBuf;

use clap::Args;
use url::Url;

use super::arguments::Global;
use super::explain::configuration;
use super::failure::Failure;
use super::{exit, output};
use crate::config::{Config, Loaded, Secret, SecretText};

/// The admin API when nothing says otherwise.
const DEFAULT_ENDPOINT: &str = "http://127.0.0.1:4081";

/// Flags of commands that talk to a running gateway.
#[derive(Clone, Debug, Default, Args)]
pub struct ApiArgs {
    /// The admin API of the gateway; without it the one that the configuration names.
    #[arg(long, env = "POSTRIDER_ENDPOINT", value_name = "URL", value_parser = endpoint)]
    pub endpoint: Option<Url>,
    /// File with the bearer token; without it the first [[admin.token]] of the configuration.
    #[arg(long, env = "POSTRIDER_TOKEN_FILE", value_name = "FILE")]
    pub token_file: Option<PathBuf>,
}

/// A gateway to talk to.
#[derive(Clone, Debug)]
pub struct Endpoint {
    /// Root of the admin API.
    pub url: Url,
    /// The bearer token.
    pub token: Option<SecretText>,
}

impl ApiArgs {
    /// Finds the gateway: flag, then variable, then configuration, then the default address.
    ///
    /// The configuration's token goes only to the configuration's address, never to one that was named otherwise.
    pub fn resolve(&self, global: &Global) -> Result<Endpoint, Failure> {
        let named = self.token_file.clone().map(|path| Secret::File(path.into()));
        let (url, secret) = match &self.endpoint {
            Some(url) => (url.clone(), named),
            // A configuration that was named and is not there must not lead to another gateway.
            None => match configuration(global)? {
                Some(Loaded { config, .. }) => {
                    let configured = config.admin.token.first().map(|token| token.secret.clone());
                    (admin_url(&config)?, named.or(configured))
                }
                None => (parse(DEFAULT_ENDPOINT)?, named),
            },
        };
        if !matches!(url.scheme(), "http" | "https") || !url.has_host() {
            return Err(Failure::new(exit::USAGE, format!("{url} is not an http or https URL"))
                .next("write it like http://127.0.0.1:4081"));
        }
        let token = match secret {
            Some(secret) => Some(secret.read_text().map_err(|e| {
                Failure::new(exit::DENIED, e.to_string())
                    .next("name the file of a valid token with --token-file or POSTRIDER_TOKEN_FILE")
            })?),
            None => None,
        };
        if token.is_some() && url.scheme() == "http" && !is_local(&url) {
            output::tell("warning", &format!("the token goes to {url} in clear text: use https"));
        }
        Ok(Endpoint { url, token })
    }
}

fn endpoint(text: &str) -> Result<Url, String> {
    Url::parse(text).map_err(|e| format!("{e}; write it like http://127.0.0.1:4081"))
}

fn parse(url: &str) -> Result<Url, Failure> {
    Url::parse(url).map_err(|e| Failure::new(exit::USAGE, format!("{url} is not a URL: {e}")))
}

/// The admin listener as seen from this machine.
fn admin_url(config: &Config) -> Result<Url, Failure> {
    let mut address = config.admin.listen;
    if address.ip().is_unspecified() {
        let loopback = match address {
            std::net::SocketAddr::V4(_) => std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST),
            std::net::SocketAddr::V6(_) => std::net::IpAddr::V6(std::net::Ipv6Addr::LOCALHOST),
        };
        address.set_ip(loopback);
    }
    parse(&format!("http://{address}"))
}

fn is_local(url: &Url) -> bool {
    match url.host() {
        Some(url::Host::Domain(name)) => name == "localhost",
        Some(url::Host::Ipv4(ip)) => ip.is_loopback(),
        Some(url::Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn global(config: PathBuf) -> Global {
        Global { config, set: Vec::new(), output: None }
    }

    #[test]
    fn the_configuration_names_endpoint_and_token() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("postrider.toml");
        let text = "[admin]\nlisten = '0.0.0.0:5081'\n[[admin.token]]\nname = 'a'\nsecret = { file = 't' }\n";
        std::fs::write(&config, text).unwrap();
        std::fs::write(folder.path().join("t"), "abc\n").unwrap();

        let endpoint = ApiArgs::default().resolve(&global(config.clone())).unwrap();
        assert_eq!(endpoint.url.as_str(), "http://127.0.0.1:5081/");
        assert_eq!(endpoint.token.unwrap().expose(), "abc");

        let elsewhere = ApiArgs { endpoint: Some("http://127.0.0.1:1".parse().unwrap()), token_file: None };
        let endpoint = elsewhere.resolve(&global(config)).unwrap();
        assert!(endpoint.token.is_none(), "the token belongs to the configured gateway");
    }

    #[test]
    fn without_anything_the_default_holds() {
        let endpoint = ApiArgs::default().resolve(&global("postrider.toml".into())).unwrap();
        assert_eq!(endpoint.url.as_str(), "http://127.0.0.1:4081/");
        assert!(endpoint.token.is_none());
        let named = ApiArgs::default().resolve(&global("/nonexistent/postrider.toml".into())).unwrap_err();
        assert_eq!(named.exit, exit::CONFIG, "what was named must be there: {named}");
    }
}
