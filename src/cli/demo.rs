//! `postrider demo`: two gateways exchange real documents, with faults thrown in, and the promise is judged from outside.
//!
//! Each gateway is a process of its own. What is compared at the end is what lies in the consumers' folders and what a relay
//! between the two saw on the wire, never what a gateway says of itself.

mod documents;
mod screen;
mod site;
mod story;
mod verdict;
mod wire;

use clap::Args;
use tokio::signal::unix::{SignalKind, signal};

use super::exit;
use super::failure::Failure;

/// Two gateways exchange signed, encrypted, receipted documents, with faults thrown in.
#[derive(Clone, Debug, Default, Args)]
#[command(before_help = "Examples:\n  postrider demo\n  postrider demo --keep")]
pub struct DemoArgs {
    /// Leaves both gateways running, and their folders behind, until Ctrl-C.
    #[arg(long)]
    pub keep: bool,
}

/// Runs the command.
pub(super) fn run(args: &DemoArgs) -> Result<(), Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|e| Failure::new(exit::BUG, format!("the runtime cannot start: {e}")))?;
    runtime.block_on(told(args))
}

/// The story, until it ends or someone ends it; the gateways end with it.
async fn told(args: &DemoArgs) -> Result<(), Failure> {
    let failed = |e: std::io::Error| Failure::new(exit::BUG, format!("signals cannot be heard: {e}"));
    let (mut interrupt, mut terminate) =
        (signal(SignalKind::interrupt()).map_err(failed)?, signal(SignalKind::terminate()).map_err(failed)?);
    tokio::select! {
        ended = story::tell(args.keep) => ended,
        _ = interrupt.recv() => Err(Failure::new(exit::NO, "ended by Ctrl-C before the verdict")),
        _ = terminate.recv() => Err(Failure::new(exit::NO, "ended by SIGTERM before the verdict")),
    }
}
