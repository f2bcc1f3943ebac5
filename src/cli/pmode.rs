//! `postrider pmode`: what its verbs are given.

use std::path::PathBuf;

use clap::{Args, Subcommand};

/// The verbs.
#[derive(Clone, Debug, Subcommand)]
pub enum PModeCommand {
    /// Finds what is wrong with P-Mode files.
    Check(CheckArgs),
    /// Lists the P-Modes with partner, service and action.
    List(ListArgs),
    /// Tells which P-Mode a message matches, and why the others do not.
    Match(MatchArgs),
}

/// Arguments of `pmode check`.
#[derive(Clone, Debug, Args)]
#[command(before_help = "Examples:\n  postrider pmode check\n  postrider pmode check pmodes/red.xml")]
pub struct CheckArgs {
    /// Files or folders; without any the folder that the configuration names.
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Warnings count as errors.
    #[arg(long)]
    pub deny_warnings: bool,
}

/// Arguments of `pmode list`.
#[derive(Clone, Debug, Args)]
#[command(before_help = "Examples:\n  postrider pmode list\n  postrider pmode list --output json")]
pub struct ListArgs {
    /// Folder of the P-Modes, in place of the configured one.
    #[arg(long, value_name = "DIR")]
    pub pmodes: Option<PathBuf>,
}

/// Arguments of `pmode match`.
#[derive(Clone, Debug, Args)]
#[command(
    before_help = "Examples:\n  postrider pmode match capture.mime\n  postrider pmode match message.xml --pmodes pmodes"
)]
pub struct MatchArgs {
    /// The message: an HTTP capture, a MIME package or a SOAP envelope.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Folder of the P-Modes, in place of the configured one.
    #[arg(long, value_name = "DIR")]
    pub pmodes: Option<PathBuf>,
}
