//! `postrider pmode`: what was agreed, and whether a message falls under it. Works without a running gateway.

mod check;
mod list;
mod matching;
mod show;

use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use time::OffsetDateTime;

use super::arguments::Global;
use super::exit;
use super::explain::configuration;
use super::failure::Failure;
use crate::gateway::{AgreementsError, load_pmodes};
use crate::pmode::{PModeSet, Problem};

pub use check::CheckArgs;
pub use list::ListArgs;
pub use matching::MatchArgs;
pub use show::ShowArgs;

/// The verbs.
#[derive(Clone, Debug, Subcommand)]
pub enum PModeCommand {
    /// Finds what is wrong with P-Mode files.
    Check(CheckArgs),
    /// Lists the P-Modes with partner, service and action.
    List(ListArgs),
    /// Prints a P-Mode with everything that it inherits, as XML.
    Show(ShowArgs),
    /// Tells which P-Mode a message matches, and why the others do not.
    Match(MatchArgs),
}

/// Where the P-Modes are.
#[derive(Clone, Debug, Default, Args)]
pub struct PModesArgs {
    /// Folder of the P-Modes, in place of the configured one.
    #[arg(long, value_name = "DIR")]
    pub pmodes: Option<PathBuf>,
}

impl PModesArgs {
    /// The folder: the flag's, or the configuration's.
    pub(super) fn dir(&self, global: &Global) -> Result<PathBuf, Failure> {
        if let Some(dir) = &self.pmodes {
            return Ok(dir.clone());
        }
        let loaded = configuration(global)?.ok_or_else(|| {
            let cause = format!("there is no {}, which would name the P-Mode folder", global.config.display());
            Failure::new(exit::USAGE, cause).next("--pmodes DIR").next("postrider init")
        })?;
        Ok(loaded.config.pmodes.dir.to_path_buf())
    }

    fn load(&self, global: &Global) -> Result<PModeSet, Failure> {
        load(&self.dir(global)?, OffsetDateTime::now_utc())
    }
}

/// What to do about a fault, where its own words do not say it.
pub(super) fn remedy(problem: &Problem) -> &'static str {
    match problem {
        Problem::Xml(_) | Problem::Root { .. } => {
            "write it as one <PMode> element; pmodes/partner.xml.sample of postrider init is a pattern"
        }
        Problem::File { .. } => {
            "name a file that the user running postrider can read; paths begin at the P-Mode's folder"
        }
        _ => "mend that line; postrider pmode check FILE looks at one file alone",
    }
}

/// What to do about a folder that cannot be read.
const FOLDER: &str = "name the folder of P-Mode files: --pmodes DIR, or [pmodes] dir in the configuration";

/// Loads a folder of P-Modes.
pub(super) fn load(dir: &Path, now: OffsetDateTime) -> Result<PModeSet, Failure> {
    load_pmodes(dir, now).map_err(|error| match error {
        AgreementsError::Folder { .. } => Failure::new(exit::CONFIG, error.to_string()).next(FOLDER),
        AgreementsError::PModes(errors) => {
            let cause = format!("the P-Modes of {} are not valid", dir.display());
            let failure = Failure::new(exit::CONFIG, cause).next("postrider pmode check");
            errors.iter().fold(failure, |failure, error| failure.detail(error.to_string()))
        }
    })
}

pub(super) fn run(global: &Global, command: &PModeCommand) -> Result<(), Failure> {
    match command {
        PModeCommand::Check(args) => check::run(global, args),
        PModeCommand::List(args) => list::run(global, args),
        PModeCommand::Show(args) => show::run(global, args),
        PModeCommand::Match(args) => matching::run(global, args),
    }
}
