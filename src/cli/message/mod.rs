//! `postrider message`: where it is, what happened to it, and sending it again.

mod explain;
mod list;
mod resend;
mod show;

use clap::Subcommand;

use super::arguments::Global;
use super::failure::Failure;

pub use explain::ExplainArgs;
pub use list::ListArgs;
pub use resend::{ResendArgs, ResendAs};
pub use show::ShowArgs;

/// The verbs.
#[derive(Debug, Subcommand)]
pub enum MessageCommand {
    /// Finds messages.
    List(ListArgs),
    /// Tells where a message is and what happened to it.
    Show(ShowArgs),
    /// Tells each decision and check of a message.
    Explain(ExplainArgs),
    /// Sends messages again.
    Resend(ResendArgs),
}

pub(super) fn run(global: &Global, command: MessageCommand) -> Result<(), Failure> {
    match command {
        MessageCommand::List(args) => list::run(global, &args),
        MessageCommand::Show(args) => show::run(global, &args),
        MessageCommand::Explain(args) => explain::run(global, &args),
        MessageCommand::Resend(args) => resend::run(global, &args),
    }
}
