//! The command line as a whole, and what each command is given.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use super::failure::Failure;
use super::output::{Format, Output, tell};
use super::{check, db, demo, exit, explain, generate, init, message, pmode, serve, submit};
use crate::config::{self, ConfigError, Loaded};

/// An AS4 / ebMS3 gateway: one business effect for one message.
#[derive(Debug, Parser)]
#[command(
    name = "postrider",
    version,
    before_help = "Examples:\n  postrider init && postrider serve        a gateway of your own\n  postrider message list state:failed      what needs a look",
    after_help = "Exit codes: 0 done, 1 the answer is no, 2 usage, 3 configuration, 4 unreachable, 5 denied, 6 conflict, 7 timeout, 8 refused, 70 bug.",
    disable_help_subcommand = true,
    propagate_version = true
)]
pub struct Cli {
    /// What applies to every command.
    #[command(flatten)]
    pub global: Global,
    /// The command.
    #[command(subcommand)]
    pub command: Command,
}

/// What applies to every command.
#[derive(Clone, Debug, Args)]
pub struct Global {
    /// The configuration file.
    #[arg(long, global = true, env = "POSTRIDER_CONFIG", value_name = "FILE", default_value = "postrider.toml")]
    pub config: PathBuf,
    /// Sets one value of the configuration, stronger than file and environment.
    #[arg(long, global = true, value_name = "KEY=VALUE", value_parser = key_value)]
    pub set: Vec<(String, String)>,
    /// How data is written; without it a table on a terminal, JSON elsewhere.
    #[arg(long, short = 'o', global = true, value_enum, value_name = "FORMAT")]
    pub output: Option<Format>,
}

impl Global {
    /// Loads the configuration that this command line means.
    pub fn load(&self) -> Result<Loaded, ConfigError> {
        config::load(&self.config, &self.set)
    }

    /// Where data goes.
    #[must_use]
    pub fn output(&self) -> Output {
        Output::stdout(self.output)
    }
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Two gateways exchange documents, faults included, and the promise is judged.
    Demo(demo::DemoArgs),
    /// Writes postrider.toml, keys, an admin token and example P-Modes.
    Init(init::InitArgs),
    /// Finds what is wrong with configuration, keys and P-Modes before a partner does.
    Check(check::CheckArgs),
    /// Runs the gateway.
    Serve(serve::ServeArgs),
    /// Submits files as one message.
    Submit(submit::SubmitArgs),
    /// Finds messages, tells what happened to them, sends them again.
    #[command(subcommand)]
    Message(message::MessageCommand),
    /// Tells what was agreed with partners: checks, lists, shows and matches P-Modes.
    #[command(subcommand, name = "pmode")]
    PMode(pmode::PModeCommand),
    /// Explains a captured exchange, offline: each decision, each digest, each certificate.
    Explain(explain::ExplainArgs),
    /// Migrates the database, or tells whether it must be.
    #[command(subcommand)]
    Db(db::DbCommand),
    /// Prints reference texts: the commented configuration, metrics, events.
    #[command(subcommand)]
    Generate(generate::GenerateCommand),
}

/// Reads the command line, runs the command, and tells how it ended.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => {
            let wrong = error.use_stderr();
            // Help that nobody reads to its end is no failure.
            let _ = error.print();
            return ExitCode::from(if wrong { exit::USAGE } else { exit::OK });
        }
    };
    match run(cli) {
        Ok(()) => ExitCode::from(exit::OK),
        Err(failure) => {
            if !failure.cause.is_empty() {
                tell("error", &failure.to_string());
            }
            ExitCode::from(failure.exit)
        }
    }
}

pub(super) fn run(cli: Cli) -> Result<(), Failure> {
    let global = cli.global;
    match cli.command {
        Command::Demo(args) => demo::run(&args),
        Command::Init(args) => init::run(&args),
        Command::Check(args) => check::run(&global, &args),
        Command::Serve(args) => serve::run(&global, &args),
        Command::Submit(args) => submit::run(&global, &args),
        Command::Message(command) => message::run(&global, command),
        Command::PMode(command) => pmode::run(&global, &command),
        Command::Explain(args) => explain::run(&global, &args),
        Command::Db(command) => db::run(&global, &command),
        Command::Generate(command) => generate::run(&global, &command),
    }
}

/// `key=value`, the key without blanks.
pub(super) fn key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.trim().is_empty() => Ok((key.trim().to_owned(), value.to_owned())),
        _ => Err("write KEY=VALUE".to_owned()),
    }
}

/// A number of things, at least one.
pub(super) fn count(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "write a number from 1 on".to_owned())
}

/// An address with its port.
pub(super) fn address(text: &str) -> Result<SocketAddr, String> {
    text.parse().map_err(|_| "write an IP address and a port, like 127.0.0.1:4080 or [::1]:4080".to_owned())
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    fn help(command: &mut clap::Command) -> String {
        command.render_help().to_string()
    }

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// Every command, nested ones too, begins its `-h` with two examples that it understands itself.
    #[test]
    fn every_help_begins_with_two_examples_that_parse() {
        let mut root = Cli::command();
        root.build();
        let mut open: Vec<clap::Command> = vec![root];
        while let Some(mut command) = open.pop() {
            open.extend(command.get_subcommands().cloned());
            if command.has_subcommands() && command.get_name() != "postrider" {
                continue;
            }
            let text = help(&mut command);
            let mut lines = text.lines();
            assert_eq!(lines.next(), Some("Examples:"), "{}", command.get_name());
            for line in lines.take(2) {
                let example = line.split("  ").find(|part| !part.is_empty()).unwrap_or_default();
                for one in example.split(" && ").filter(|one| !one.contains("serve")) {
                    let parsed = Cli::try_parse_from(one.split_whitespace().map(|w| w.trim_matches('\'')));
                    assert!(parsed.is_ok(), "`{one}`: {}", parsed.err().map(|e| e.to_string()).unwrap_or_default());
                }
            }
        }
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_nearest() {
        let error = Cli::try_parse_from(["postrider", "mesage", "list"]).unwrap_err().to_string();
        assert!(error.contains("message"), "{error}");
    }
}
