//! The `postrider` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    postrider::cli::main()
}
