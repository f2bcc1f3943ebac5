//! `postrider demo`: what it is given.

use clap::Args;

/// Two gateways in one process exchange signed, encrypted, receipted documents, with faults thrown in.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider demo\n  postrider demo --keep")]
pub struct DemoArgs {
    /// Leaves the folders of both gateways behind, to look at.
    #[arg(long)]
    pub keep: bool,
}
