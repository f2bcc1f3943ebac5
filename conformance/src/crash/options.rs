//! The command line of `crash`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// Kills two exchanging gateways at random and at chosen moments, and checks that each document arrived exactly once.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider-conformance crash\n  postrider-conformance crash --kills 30 --seed 7 --keep /tmp/crash"
)]
pub struct CrashArgs {
    /// How many times a gateway is killed. At least 26 of them, two fifths of a long run, fall between the receiver's commit and its answer.
    #[arg(long, default_value_t = 500)]
    pub kills: usize,
    /// Seed of all choices; drawn and printed without it. Timing stays the machine's own.
    #[arg(long)]
    pub seed: Option<u64>,
    /// The gateway; without it the one beside this program.
    #[arg(long, value_name = "BIN")]
    pub postrider: Option<PathBuf>,
    /// Runs in this folder and leaves it there.
    #[arg(long, value_name = "DIR")]
    pub keep: Option<PathBuf>,
    /// Documents on their way at once.
    #[arg(long, default_value_t = 12)]
    pub window: usize,
    /// This program, which is also the consumer; without it the running one.
    #[arg(long, value_name = "BIN", hide = true)]
    pub consumer: Option<PathBuf>,
    /// Of how many deliveries the consumer leaves one unanswered; 0 answers all.
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub silent_every: u64,
    /// How long the last documents may take to arrive after the last kill, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "120")]
    pub drain: Duration,
    /// Prints JSON.
    #[arg(long)]
    pub json: bool,
}

fn seconds(text: &str) -> Result<Duration, std::num::ParseIntError> {
    text.parse().map(Duration::from_secs)
}
