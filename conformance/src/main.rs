//! Black-box tools for any AS4 endpoint: a load generator with the cryptographic floor beside it, and a crash run that
//! kills the gateway while documents move.

mod load;

use clap::{Parser, Subcommand};

/// Black-box tools for AS4 endpoints.
#[derive(Parser)]
#[command(version, after_help = "Examples:\n  postrider-conformance floor")]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Measure the cryptographic operations that no gateway can do without.
    Floor,
}

fn main() -> anyhow::Result<()> {
    match Cli::parse().command {
        Command::Floor => {
            let floor = load::Floor::measure()?;
            println!("{}", serde_json::to_string_pretty(&floor)?);
            Ok(())
        }
    }
}
