//! `postrider-conformance`: load, crash, floor.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use postrider_conformance::consumer::{self, ConsumerArgs};
use postrider_conformance::crash::{self, CrashArgs};
use postrider_conformance::load::{self, Floor, LoadArgs};

/// Black-box tools for AS4 endpoints.
#[derive(Parser)]
#[command(
    version,
    before_help = "Examples:\n  postrider-conformance load --self\n  postrider-conformance crash --kills 100"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Load(Box<LoadArgs>),
    Crash(CrashArgs),
    #[command(hide = true)]
    Consumer(ConsumerArgs),
    /// Measures the cryptographic operations that no gateway can do without.
    Floor {
        /// Bits of the RSA keys.
        #[arg(long, default_value_t = 3072)]
        bits: u32,
    },
}

fn main() -> ExitCode {
    match run(&Cli::parse().command) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Whether the answer is yes.
fn run(command: &Command) -> anyhow::Result<bool> {
    match command {
        Command::Load(args) => {
            let report = load::run(args)?;
            let text = if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.to_string() };
            print!("{text}");
            Ok(report.good())
        }
        Command::Crash(args) => {
            let report = crash::run(args)?;
            let text = if args.json { serde_json::to_string_pretty(&report)? + "\n" } else { report.to_string() };
            print!("{text}");
            Ok(report.verdict.good())
        }
        Command::Consumer(args) => consumer::run(args).map(|()| true),
        Command::Floor { bits } => {
            println!("{}", serde_json::to_string_pretty(&Floor::measure(*bits)?)?);
            Ok(true)
        }
    }
}
