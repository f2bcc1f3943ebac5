//! `postrider serve`: puts the gateway together and runs it until it is told to stop.

mod listeners;
mod reload;
mod run;

use std::net::SocketAddr;

use clap::Args;

use super::arguments::{Global, address};
use super::failure::Failure;

pub(super) use listeners::tls as server_tls;

/// Runs the command.
pub(super) fn run(global: &Global, args: &ServeArgs) -> Result<(), Failure> {
    run::run(&args.global(global.clone()))
}

/// Runs the gateway.
#[derive(Clone, Debug, Default, Args)]
#[command(
    before_help = "Examples:\n  postrider serve\n  postrider serve --config /etc/postrider/postrider.toml --listen 0.0.0.0:4080"
)]
pub struct ServeArgs {
    /// Address of the first listener for partners; stronger than the configuration.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Address of the admin listener; stronger than the configuration.
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub admin: Option<SocketAddr>,
}

impl ServeArgs {
    /// The command line with these flags as configuration values.
    #[must_use]
    pub fn global(&self, mut global: Global) -> Global {
        let flags = [("msh.0.listen", self.listen), ("admin.listen", self.admin)];
        let set = flags.into_iter().filter_map(|(key, address)| Some((key.to_owned(), address?.to_string())));
        global.set.extend(set);
        global
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{Layer, parse};

    #[test]
    fn flags_become_configuration() {
        let args =
            ServeArgs { listen: Some("127.0.0.1:1".parse().unwrap()), admin: Some("127.0.0.1:2".parse().unwrap()) };
        let global = args.global(Global { config: "postrider.toml".into(), set: Vec::new(), output: None });
        let config = parse("".as_ref(), &[Layer::Flags(global.set)]).unwrap().config;
        assert_eq!((config.msh[0].listen.port(), config.admin.listen.port()), (1, 2));
    }
}
